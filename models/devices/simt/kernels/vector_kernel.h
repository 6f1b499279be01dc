// SPDX-License-Identifier: Apache-2.0
// Kernels that no tensor core works in, as plain values: what they do to each element or row, and how that is
// shared out among threads. As PyTorch's kernels for CUDA are laid out (ATen, native/cuda):
//
//   elementwise   CUDALoops.cuh: 128 threads, four elements each, one load of each operand
//   softmax       PersistentSoftmax.cuh: rows of up to 1024 elements, a warp a row, all of it in registers;
//                 SoftMax.cu: longer ones, a CTA a row, which reads it three times
//   norms         layer_norm_kernel.cu: 128 threads a row, which they read twice
//   copies        where elements lie apart (CUDALoops.cuh, unrolled_elementwise_kernel): as elementwise, but
//   a
//                 load and a store for each element
//   gates         vLLM 0.2's silu_and_mul (activation_kernels.cu): a CTA of up to 1024 threads for each row
//   of a
//                 product with an activation, element by element
//   rotary        vLLM's rotary_embedding (pos_encoding_kernels.cu): a CTA of up to 512 threads a token, a
//   pair
//                 of elements in each round
//   lookups       IndexKernelUtils.cu, vectorized_gather_kernel: a CTA for each row, 16 bytes a thread, of up
//                 to 256 threads; EmbeddingBag.cu: the rows of a bag one behind the other
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>

#include "models/devices/simt/kernels/instruction_mix.h"
#include "models/devices/simt/kernels/lookup.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/base/units.h"
#include "sim/workload/dtype.h"

namespace systole::simt {

struct VectorKernel {
    enum class Kind : std::uint8_t {
        Elementwise,
        WarpSoftmax,
        BlockSoftmax,
        LayerNorm,
        RmsNorm,
        Lookup,
        Gate,
        Rotary
    };
    Kind kind = Kind::Elementwise;
    /// Elementwise: one row of all elements.
    std::int64_t rows = 1, cols = 1;
    DType in = DType::Bf16, out = DType::Bf16;
    int operands = 1;     ///< tensors of `in` of which a result needs one element each
    InstructionMix work;  ///< elementwise: for each result, besides conversions
    bool shift = false;   ///< norms: a value of each column is added
    int stores = 1;       ///< elementwise: values of a result, which lie apart
    /// Elementwise: elements do not lie one behind the other, and are loaded and stored one by one.
    bool scattered = false;
    std::int64_t positions = 1;  ///< Rotary: that the table has; row r has position r % positions
    LookupRows lookup = {};      ///< Lookup: `cols` is its width, and each row is its bag's sum

    int warps = 4;            ///< of a CTA
    std::int64_t vector = 1;  ///< elements of a thread's load
    int rows_of_lanes = 1;    ///< WarpSoftmax: that the threads who share rows have
    /// Rows that CTAs read again are in the L1 by then; otherwise in the L2.
    bool rereads_l1 = true;

    std::int64_t threads() const { return std::int64_t{warps} * kWarpThreads; }
    bool row_of_cta() const {
        return kind == Kind::BlockSoftmax || kind == Kind::LayerNorm || kind == Kind::RmsNorm ||
               kind == Kind::Gate || kind == Kind::Rotary;
    }
    /// Threads of a warp that share rows: all, but for short ones. WarpSoftmax only, as what follows.
    std::int64_t lanes() const { return std::min<std::int64_t>(kWarpThreads, padded()); }
    /// Elements of a row, up to a power of two.
    std::int64_t padded() const;
    /// Of a row, that a thread holds.
    std::int64_t held() const { return padded() / lanes(); }
    std::int64_t rows_of_cta() const {
        return kind == Kind::WarpSoftmax ? threads() / lanes() * rows_of_lanes : 1;
    }
    std::int64_t elements_of_cta() const {
        return kind == Kind::Elementwise || kind == Kind::Lookup ? threads() * vector : cols;
    }
    /// Lookup: CTAs that have a row's elements.
    std::int64_t ctas_of_row() const { return ceil_div(cols, elements_of_cta()); }
    std::int64_t ctas() const {
        if (kind == Kind::Elementwise) return ceil_div(cols, elements_of_cta());
        return kind == Kind::Lookup ? rows * ctas_of_row() : ceil_div(rows, rows_of_cta());
    }
    /// Of a row of a CTA: rounds in which each thread has one load.
    std::int64_t trips() const { return row_of_cta() ? ceil_div(cols, threads() * vector) : 1; }
    /// How often a row is read.
    int passes() const {
        if (kind == Kind::BlockSoftmax) return 3;
        return kind == Kind::LayerNorm || kind == Kind::RmsNorm ? 2 : 1;
    }
    /// Rounds whose loads leave the SM, each waited for before the next.
    std::int64_t steps() const {
        if (kind == Kind::Lookup) return 1 + lookup.bag;  // indices, and row by row
        return trips() * (rereads_l1 ? 1 : passes());
    }
    /// Loads of a warp in a step.
    std::int64_t loads_of_step() const {
        if (kind == Kind::Elementwise) return operands * (scattered ? vector : 1);
        if (kind == Kind::Rotary) return 4;  // both elements, sine and cosine
        if (kind == Kind::Gate) return operands;
        return kind == Kind::WarpSoftmax ? rows_of_lanes * held() : 1;
    }
    friend auto operator<=>(const VectorKernel&, const VectorKernel&) = default;
};

/// The kernels that a library takes, without rereads_l1, which is for an SM to say.
VectorKernel elementwise_kernel(std::int64_t elements, int operands, const InstructionMix& work, DType in,
                                DType out);
VectorKernel softmax_kernel(std::int64_t rows, std::int64_t cols, DType in, DType out);
VectorKernel norm_kernel(const Norm& norm, DType in, DType out, Library library = Library::PyTorch);
/// Two operands of rows of `cols` elements, one of which passes through a function.
VectorKernel gate_kernel(std::int64_t rows, std::int64_t cols, const InstructionMix& work, DType in,
                         DType out);
VectorKernel rotary_kernel(const Rotary& rotary, DType in, DType out);
VectorKernel lookup_kernel(const LookupRows& lookup, DType in, DType out);

/// Whether rows that the CTAs of an SM read again are in its L1 still, beside what they read of columns. Each
/// brings a row while it reads that `passes` times: between two of these times, all bring so much less.
bool rows_stay(const VectorKernel& kernel, int resident, const SmSpec& sm);

/// "elementwise, 128 threads x 4"; "softmax, a warp a row"; "layer norm, 128 threads a row, 8 rounds".
std::string to_string(const VectorKernel& kernel);

}  // namespace systole::simt
