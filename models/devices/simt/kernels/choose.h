// SPDX-License-Identifier: Apache-2.0
// Which kernel a product is given, as a library of kernels chooses: from a catalogue of tiles, by an
// estimate.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "models/devices/simt/kernels/cta_timing.h"
#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/kernels/kept_timings.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

/// The tiles that libraries have for this way to the tensor cores; those that do not divide for a format are
/// left out by the chooser. Libraries of convolutions have some of their own; that of vLLM 0.2's time
/// (PyTorch 2.1, cuBLAS 12.1) has Hopper's before nvjet, that of PyTorch's of 2023 rocBLAS's for MFMA.
const std::vector<CtaTile>& catalogue(TensorIssue issue, bool convolution = false,
                                      Library library = Library::PyTorch);

/// A tile of the catalogue, which is of 16 bits, with operands of other formats: its steps take as many bytes
/// (nvjet_tst_128x256_64x4, nvjet_qqtst_112x128_128x7 of fp8, nvjet_sm100_ootst_128x128_256x7 of fp4), and
/// its stages have their scales, too. On FP32 pipes and for MFMA: as it is.
CtaTile for_operands(const CtaTile& tile, DType dtype, BlockScales blocks, TensorIssue issue);

/// Those of products of one row, on FP32 pipes, likewise; none for a format that these do not convert.
std::vector<CtaTile> gemv_catalogue(TensorIssue issue, DType dtype);

/// A kernel with how its CTAs go.
struct TimedKernel {
    GemmKernel kernel;
    CtaTiming timing;
    double estimate = 0;  ///< cycles of the kernel, and of the one that adds parts
    double weight = 0;    ///< by which a library chooses: the estimate, and what it has against small tiles
};

/// Keeps what it found out about tiles: asking twice costs nothing. Not for several threads.
class KernelChooser {
public:
    explicit KernelChooser(const SimtSpec& spec) : spec_(spec) {}

    /// How CTAs of the tile go; nothing if they fit no SM.
    const std::optional<CtaTiming>& timing(const CtaTile& tile, const GemmFormats& formats);
    /// All kernels that could do it, the one that the library takes first; empty if none fits an SM.
    std::vector<TimedKernel> weigh(const GemmShape& shape);
    /// What planners of other kernels found out.
    KeptTimings& kept() { return kept_; }

private:
    /// The one of least weight first.
    std::vector<TimedKernel> by_weight(const GemmShape& shape);
    void add(const GemmShape& shape, bool swapped, const CtaTile& tile, std::vector<TimedKernel>& all);
    void weigh(const GemmKernel& kernel, const CtaTiming& timing, std::vector<TimedKernel>& all);
    /// Whether the library has tiles for so few rows or columns, and takes no wider ones.
    bool takes_narrow_only(const GemmShape& shape) const;
    /// `turned`: the product's transpose.
    void add_gemv(const GemmShape& shape, const GemmShape& turned, std::vector<TimedKernel>& all);

    const SimtSpec spec_;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, int, int, int, int, int, int, bool, bool,
                        GemmFormats>,
             std::optional<CtaTiming>>
        known_;
    KeptTimings kept_;
};

/// `CalibratedSpec::larger_tiles`, as far as it is the library's: it was found with products of
/// TensorRT-LLM (2025); libraries of 2023 (`of_2023`: cuBLAS 11 and 12.1) go by what they expect.
double larger_tiles(const SimtSpec& spec);

/// Cycles of the core clock that the kernel is expected to take, with the one that adds its parts.
double estimate(const GemmKernel& kernel, const CtaTiming& timing, const SimtSpec& spec);

}  // namespace systole::simt
