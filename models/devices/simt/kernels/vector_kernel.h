// SPDX-License-Identifier: Apache-2.0
// Kernels that no tensor core works in, as plain values: what they do to each element or row, and how that is
// shared out among threads. As PyTorch's kernels for CUDA are laid out (ATen, native/cuda):
//
//   elementwise   CUDALoops.cuh: 128 threads, four elements each, one load of each operand
//   softmax       PersistentSoftmax.cuh: rows of up to 1024 elements, a warp a row, all of it in registers;
//                 SoftMax.cu: longer ones, a CTA a row, which reads it three times
//   norms         layer_norm_kernel.cu: 128 threads a row, which they read twice
//   copies        where elements lie apart (CUDALoops.cuh, unrolled_elementwise_kernel): as elementwise, but
//                 a load and a store for each element
//   gates         vLLM 0.2's silu_and_mul (activation_kernels.cu): a CTA of up to 1024 threads for each row
//                 of a product with an activation, element by element
//   rotary        vLLM's rotary_embedding (pos_encoding_kernels.cu): a CTA of up to 512 threads a token, a
//                 pair of elements in each round, of queries and then of keys (rotary_loops.h)
//   queries, keys and values  TensorRT-LLM's kernel ahead of attention (qkv_kernel.h)
//   lookups       IndexKernelUtils.cu, vectorized_gather_kernel: a CTA for each row, 16 bytes a thread, of up
//                 to 256 threads; EmbeddingBag.cu: the rows of a bag one behind the other
//   transposes    of the last dimension: tiles through shared memory (turn.h)
//   reductions    Reduce.cuh: a row for 32 threads, or for all of a CTA (or of several), of up to 512
//   top-k         TensorTopK.cu: a CTA a row looks for the k-th greatest digit by digit, and gathers what is
//                 greater; SortUtils.cuh: a second kernel sorts these, in shared memory
//   windows       AveragePool2d.cu (channels last), DepthwiseConv2d.cu: a thread a result, a loop over the
//                 window's rows and columns; CTAs of 128 threads stand for those of 1024, of which no thread
//                 shares or waits for anything but lines in the L1; whole maps: Reduce.cuh, warps of a CTA
//                 (and CTAs) that share windows, four loads each under way
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "models/devices/simt/kernels/conv_gather.h"
#include "models/devices/simt/kernels/instruction_mix.h"
#include "models/devices/simt/kernels/lookup.h"
#include "models/devices/simt/kernels/qkv_rows.h"
#include "models/devices/simt/kernels/rotary_loops.h"
#include "models/devices/simt/kernels/turn.h"
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
        Window,
        Lookup,
        Gate,
        Rotary,
        Turn,
        RowSum,
        TopK,
        Sort,
        Qkv
    };
    Kind kind = Kind::Elementwise;
    /// Elementwise and Window: one row of all results.
    std::int64_t rows = 1, cols = 1;
    DType in = DType::Bf16, out = DType::Bf16;
    int operands = 1;     ///< tensors of `in` of which a result needs one element each
    InstructionMix work;  ///< elementwise, windows: for each result, besides conversions
    int stores = 1;       ///< elementwise: values of a result, which lie apart
    /// Elementwise: elements do not lie one behind the other, and are loaded and stored one by one.
    bool scattered = false;
    std::int64_t positions = 1;  ///< Rotary: that the table has; row r has position r % positions
    std::int64_t key_cols = 0;   ///< Rotary: of a row, elements of keys, behind those of queries
    /// Rotary: elements of a row of the matrix that begins with queries and keys; 0: each lies by itself.
    std::int64_t packed_cols = 0;
    /// Rotary: cycles until a token's position, which says where its cosines and sines lie, comes out of the
    /// L2.
    std::int64_t position_latency = 0;
    LookupRows lookup = {};  ///< Lookup: `cols` is its width, and each row is its bag's sum
    /// Lookup: a CTA's bag is all lookups, one behind the other, and it stores its part of each.
    bool stores_each = false;
    /// Windows: where they lie (with all channels of a pixel), and what a thread does with each element that
    /// one has.
    std::optional<ConvGather> windows = {};
    InstructionMix of_tap;
    bool by_place = false;  ///< threads know where their results lie without dividing
    bool weighted = false;  ///< each has a weight: a depthwise convolution
    bool biased = false;    ///< and each result's channel a value that is added
    std::int64_t results_of_channel = 1;
    std::int64_t pieces = 1;  ///< CTAs one behind the other that stand for one: what one loads others find
    int sharing = 1;          ///< warps of a CTA that share the windows of its results
    std::int64_t parts = 1;   ///< CTAs that do
    /// Elements of a window that each thread has under way, where warps share it; of a row that is summed.
    static constexpr std::int64_t kUnderWay = 4;
    bool shift = false;  ///< norms: a value of each column is added
    /// Of torch.compile's norms, rows of so many elements are read once, and lie in registers.
    static constexpr std::int64_t kHeldRow = 1024;
    simt::Turn turn = {};  ///< Turn: what changes places, in which tiles
    QkvRows qkv = {};      ///< Qkv: whose rows, and who has them
    std::int64_t row_threads =
        1;               ///< RowSum, Sort: threads that share a row; `of_tap` and `work` are RowSum's, too
    std::int64_t k = 1;  ///< TopK: the greatest of a row that are looked for
    std::int64_t digits = 1;  ///< TopK: of two bits, that are counted
    /// TopK: what is sought is the only one with these digits, and is looked for.
    bool unique = false;

    int warps = 4;  ///< of a CTA
    int warp_threads = 32;
    MathLibrary math = MathLibrary::Cuda;
    Library made_by = Library::PyTorch;  ///< whose it is, where that says how it goes
    /// CTAs of an SM, where the grid has no more of them and each goes round; 0: as many as it holds.
    int most_resident = 0;
    std::int64_t vector = 1;  ///< elements of a thread's load
    int rows_of_lanes = 1;    ///< WarpSoftmax: that the threads who share rows have
    /// Rows that CTAs read again are in the L1 by then; otherwise in the L2.
    bool rereads_l1 = true;

    std::int64_t threads() const { return std::int64_t{warps} * warp_threads; }
    /// Rounds of a CTA's loop stand as CTAs of their own: none of them waits for what the one before stored.
    bool rounds_as_ctas() const {
        return kind == Kind::Lookup && made_by == Library::PyTorch2023 && !stores_each;
    }
    /// Few steps' work of warps that wait for nobody between two of them.
    bool warps_go_on() const { return kind == Kind::RowSum || kind == Kind::Lookup; }
    bool is_norm() const { return kind == Kind::LayerNorm || kind == Kind::RmsNorm; }
    bool row_of_cta() const {
        return kind == Kind::BlockSoftmax || is_norm() || kind == Kind::Gate || kind == Kind::Rotary ||
               kind == Kind::TopK;
    }
    /// Results one behind the other, in equal parts.
    bool of_elements() const { return kind == Kind::Elementwise || kind == Kind::Window; }
    /// Threads of a warp that share rows: all, but for short ones. WarpSoftmax only, as what follows.
    std::int64_t lanes() const { return std::min<std::int64_t>(warp_threads, padded()); }
    /// Elements of a row, up to a power of two.
    std::int64_t padded() const;
    /// Of a row, that a thread holds.
    std::int64_t held() const { return padded() / lanes(); }
    std::int64_t rows_of_cta() const {
        if (kind == Kind::RowSum || kind == Kind::Sort)
            return std::max<std::int64_t>(1, threads() / row_threads);
        return kind == Kind::WarpSoftmax ? threads() / lanes() * rows_of_lanes : 1;
    }
    std::int64_t elements_of_cta() const {
        if (kind == Kind::Lookup) return threads() * vector;
        return of_elements() ? threads() / sharing * vector : cols;
    }
    /// Lookup: CTAs that have a row's elements.
    std::int64_t ctas_of_row() const { return ceil_div(cols, elements_of_cta()); }
    std::int64_t ctas() const {
        if (kind == Kind::Lookup) return rows * ctas_of_row();
        if (kind == Kind::Turn) return turn.ctas();
        if (kind == Kind::Qkv) return qkv.ctas();
        return (of_elements() ? ceil_div(cols, elements_of_cta()) : ceil_div(rows, rows_of_cta())) * parts;
    }
    /// Of what CTAs share: a window, or a row that is summed.
    std::int64_t taps_of_part() const { return ceil_div(windows ? windows->taps() : cols, parts); }
    /// Of a row of a CTA: rounds in which each thread has one load. Of windows: their rows, or rounds of what
    /// is under way.
    std::int64_t trips() const {
        if (kind == Kind::RowSum) return ceil_div(taps_of_part(), row_threads * kUnderWay);
        if (kind == Kind::Qkv) return qkv.rounds();
        if (kind == Kind::Rotary) return rotary_loops().rounds();
        if (sharing > 1) return ceil_div(taps_of_part(), sharing * kUnderWay);
        if (windows) return windows->kernel_h;
        return row_of_cta() ? ceil_div(cols, threads() * vector) : 1;
    }
    /// Rotary: who has which pairs of a row.
    RotaryLoops rotary_loops() const { return {(cols - key_cols) / 2, key_cols / 2, warps, warp_threads}; }
    /// How often a row is read.
    int passes() const {
        if (kind == Kind::BlockSoftmax) return 3;
        if (kind == Kind::TopK) return static_cast<int>(digits) + (unique ? 1 : 0) + 2;  // both gathers
        if (!is_norm()) return 1;
        // The mean, squares of what differs from it, and results.
        if (made_by == Library::Inductor2023 && cols <= kHeldRow) return 1;
        if (made_by == Library::Inductor2023 && kind == Kind::LayerNorm) return 3;
        return 2;
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
        if (kind == Kind::Turn) return turn.words_of_thread();
        if (kind == Kind::Qkv) return qkv.computed ? 3 : 5;  // cosines and sines in two
        if (kind == Kind::RowSum) return kUnderWay / vector;
        if (kind == Kind::Sort) return 4;  // two elements, and where they stood
        if (sharing > 1) return kUnderWay;
        if (windows) return new_taps();
        return kind == Kind::WarpSoftmax ? rows_of_lanes * held() : 1;
    }
    /// Of a window's row, elements that no neighbour's window in the CTA has brought into the L1 before.
    std::int64_t new_taps() const {
        const bool neighbours = threads() * pieces > windows->channels * results_of_channel;
        return neighbours ? std::min(windows->kernel_w, windows->stride_w) : windows->kernel_w;
    }
    friend auto operator<=>(const VectorKernel&, const VectorKernel&) = default;
};

/// The kernels that a library takes, without rereads_l1, which is for an SM to say.
VectorKernel elementwise_kernel(std::int64_t elements, int operands, const InstructionMix& work, DType in,
                                DType out, Library library = Library::PyTorch);
VectorKernel softmax_kernel(std::int64_t rows, std::int64_t cols, DType in, DType out,
                            Library library = Library::PyTorch);
VectorKernel norm_kernel(const Norm& norm, DType in, DType out, Library library = Library::PyTorch);
/// Two operands of rows of `cols` elements, one of which passes through a function.
VectorKernel gate_kernel(std::int64_t rows, std::int64_t cols, const InstructionMix& work, DType in,
                         DType out);
/// With heads of keys, which the same kernel turns.
VectorKernel rotary_kernel(const Rotary& rotary, DType in, DType out, std::int64_t key_heads = 0);
VectorKernel lookup_kernel(const LookupRows& lookup, DType in, DType out);
/// The same as ATen of 2023 had it (Indexing.cu, indexSelectLargeIndex): a thread for each element divides
/// for its row's number and place. Its loop's rounds stand as CTAs of their own, of which an SM has eight at
/// a time. Of up to 16 lookups (indexSelectSmallIndex) each thread has an element of a row's length, and goes
/// through all of them.
VectorKernel by_element(VectorKernel lookup);
VectorKernel turn_kernel(Turn turn, DType in, DType out);
VectorKernel pool_kernel(const Pool& pool, DType in, DType out, const SmSpec& sm);
VectorKernel depthwise_kernel(const Conv2d& conv, DType in, DType out);

/// The same kernel with warps of so many threads: elementwise ones and norms keep their warps (ATen's
/// thread_constants.h: four), others their threads.
VectorKernel with_warps_of(VectorKernel kernel, int threads);

/// Whether rows that the CTAs of an SM read again are in its L1 still, beside what they read of columns. Each
/// brings a row while it reads that `passes` times: between two of these times, all bring so much less.
bool rows_stay(const VectorKernel& kernel, int resident, const SmSpec& sm);

/// "elementwise, 128 threads x 4"; "softmax, a warp a row"; "layer norm, 128 threads a row, 8 rounds".
std::string to_string(const VectorKernel& kernel);

}  // namespace systole::simt
