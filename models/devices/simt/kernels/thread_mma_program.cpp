// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/thread_mma_program.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "models/devices/simt/kernels/gemm_epilogue.h"
#include "models/devices/simt/kernels/mma_shapes.h"

namespace systole::simt {
namespace {

constexpr int kEpilogueWarps = 4;  // of which each reaches a quarter of the lanes of tensor memory
// nvjet's CTAs have 256 threads (a captured launch of nvjet_sm100_tst_128x256_64x6_2x2_2cta_h_bz_NNT): a warp
// that copies, one that multiplies, and two that do nothing here, besides these four.
constexpr int kIdleWarps = 2;
constexpr std::int64_t kRowsOfMma = 128, kHalfRows = 64, kColumnsOfMma = 256;  // PTX ISA, tcgen05.mma: shapes
constexpr std::int64_t kLeastColumns = 32, kMostColumns = 512;                 // PTX ISA, tcgen05.alloc
// The next tap's column and row: they go on, are compared and wrap, and make the copy's offsets.
constexpr int kGatherOfStep = 8;
constexpr int kRegisters = 128;  // of a thread: sums lie in tensor memory, and a piece of 32 in registers

/// Rows of A, or columns of B, whose scales are copied together (PTX ISA, tcgen05.cp: .32x128b.warpx4, four
/// scales of each of 128).
constexpr std::int64_t kScaledRows = 128;

/// Of tensor memory, for the scales of a step: four in a column of each of 32 lanes, for each of its four
/// instructions (CUTLASS, dense_blockscaled_gemm_persistent.py: num_sfa_tmem_cols).
std::int64_t scale_columns(const CtaTile& tile, const GemmFormats& formats) {
    constexpr std::int64_t kLanes = 32;
    if (formats.blocks.group == 0) return 0;
    const std::int64_t instructions = tile.k / k_of_fragment(formats.in);
    return (round_up(tile.m, kScaledRows) + round_up(tile.n, kScaledRows)) / kLanes * instructions;
}

class ThreadMmaProgram {
public:
    ThreadMmaProgram(const CtaTile& tile, const GemmFormats& formats)
        : tile_(tile),
          k_of_mma_(k_of_fragment(formats.in)),
          buffers_(accumulators_of(tile)),
          formats_(formats) {}

    CtaProgram program(const std::vector<std::int64_t>& tiles) const {
        CtaProgram cta;
        for (int i = 0; i < tile_.stages; ++i) cta.barriers.push_back({2, false});  // full: A and B
        for (int i = 0; i < tile_.stages; ++i) cta.barriers.push_back({1, true});   // empty
        for (int i = 0; i < buffers_; ++i) cta.barriers.push_back({1, false});      // sums are there
        for (int i = 0; i < buffers_; ++i)
            cta.barriers.push_back({kEpilogueWarps, true});  // their place is free
        cta.barriers.push_back({1, false});                  // the matrix to join is there
        cta.barriers.push_back({kEpilogueWarps, true});      // its place is free
        cta.roles = {{kEpilogueWarps, bringer(tiles)},
                     {1, multiplier(tiles)},
                     {1, copier(tiles)},
                     {kIdleWarps, {set_up(1)}}};
        cta.step_role = 1;
        cta.registers_of_thread = kRegisters;
        // Where two tiles' sums and scales do not fit, they share columns, which the epilogue reads first
        // (CUTLASS, dense_blockscaled_gemm_persistent.py: overlapping_accum); that it is waited for is not
        // kept.
        const std::int64_t columns = std::clamp(
            buffers_ * tensor_columns(tile_) + scale_columns(tile_, formats_), kLeastColumns, kMostColumns);
        cta.tensor = Bytes(kTensorColumnBytes *
                           static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(columns))));
        return cta;
    }

private:
    static Section set_up(int instructions) {
        Section section;
        for (int i = 0; i < instructions; ++i)
            section.body.push_back({.op = Op::Integer, .reads = 1, .writes = 1});
        return section;
    }
    int empty() const { return tile_.stages; }
    int sums_are_there(std::size_t tile) const {
        return 2 * tile_.stages + static_cast<int>(tile) % buffers_;
    }
    int sums_are_read(std::size_t tile) const { return sums_are_there(tile) + buffers_; }
    int join_is_there() const { return 2 * (tile_.stages + buffers_); }
    int place_of_join() const { return join_is_there() + 1; }
    /// Of what a cluster shares, a CTA copies its part for all.
    std::int64_t own_rows() const { return ceil_div(tile_.m, std::int64_t{tile_.cluster_n}); }
    std::int64_t own_columns() const { return ceil_div(tile_.n, std::int64_t{tile_.cluster_m}); }

    /// Of so many rows of A or columns of B in a step, with their scales: these are asked for by copies of
    /// their own, which are not told apart.
    std::int64_t step_bytes(std::int64_t rows) const {
        return bytes_of(formats_.in, rows * tile_.k) + formats_.blocks.bytes(rows * tile_.k);
    }

    WarpProgram copier(const std::vector<std::int64_t>& tiles) const {
        WarpProgram program{set_up(30)};
        for (const std::int64_t steps : tiles) {
            Section step;
            step.steps = true;
            step.trips = steps;
            step.body = {
                {.op = Op::Await, .barrier = empty(), .ring = tile_.stages},
                {.op = Op::BulkCopy, .bytes = step_bytes(own_rows()), .ring = tile_.stages},
                {.op = Op::BulkCopy, .amount = 1, .bytes = step_bytes(own_columns()), .ring = tile_.stages},
                {.op = Op::Integer}};
            if (formats_.gathers)
                for (int i = 0; i < kGatherOfStep; ++i) step.body.push_back({.op = Op::Integer});
            program.push_back(std::move(step));
            if (!formats_.epilogue.join) continue;
            program.push_back({{{.op = Op::Await, .barrier = place_of_join()},
                                {.op = Op::BulkCopy,
                                 .bytes = tile_.m * tile_.n * element_bytes(formats_.out),
                                 .barrier = join_is_there()}}});
        }
        return program;
    }
    /// One slice of K: all rows and columns.
    void multiply(Section& section) const {
        for (std::int64_t row = 0; row < tile_.m; row += kRowsOfMma)
            for (std::int64_t column = 0; column < tile_.n; column += kColumnsOfMma) {
                const std::int64_t rows = std::min(kRowsOfMma, tile_.m - row);
                const std::int64_t width = std::min(kColumnsOfMma, tile_.n - column);
                // 64 rows of one SM leave half of the lanes idle, and take as long as 128; those of a pair
                // take all, each row in two lanes with half of the columns each (PTX ISA, data path layouts
                // B, E and F). Either way A comes out of shared memory for 128 lanes.
                const std::int64_t lanes = tile_.pair ? rows : kRowsOfMma;
                section.body.push_back(
                    {.op = Op::TensorMma,
                     .amount = lanes * width * k_of_mma_,
                     .bytes = (kRowsOfMma + (tile_.pair ? width / 2 : width)) * kFragmentBytes});
            }
    }
    WarpProgram multiplier(const std::vector<std::int64_t>& tiles) const {
        WarpProgram program{set_up(20)};
        for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
            program.push_back({{{.op = Op::Await, .barrier = sums_are_read(tile)}}});
            Section step;
            step.steps = true;
            step.trips = tiles[tile];
            step.body.push_back({.op = Op::Await, .ring = tile_.stages});
            // CUTLASS, sm100_blockscaled_mma_warpspecialized.hpp: a step's scales go ahead of its products.
            if (formats_.blocks.group > 0)
                step.body.push_back({.op = Op::TensorCopy, .bytes = scale_bytes(tile_, formats_.blocks)});
            for (std::int64_t k = 0; k < tile_.k / k_of_mma_; ++k) multiply(step);
            step.body.push_back({.op = Op::CommitTensor, .barrier = empty(), .ring = tile_.stages});
            program.push_back(std::move(step));
            program.push_back({{{.op = Op::CommitTensor, .barrier = sums_are_there(tile)}}});
        }
        return program;
    }
    WarpProgram bringer(const std::vector<std::int64_t>& tiles) const {
        const WarpProgram epilogue = tensor_epilogue(
            {tile_.m / kEpilogueWarps, tile_.n, formats_.out, formats_.epilogue}, join_is_there());
        WarpProgram program{set_up(20)};
        for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
            program.push_back({{{.op = Op::Await, .barrier = sums_are_there(tile)}}});
            program.insert(program.end(), epilogue.begin(), epilogue.end());
            Section end;
            end.body.push_back({.op = Op::Arrive, .barrier = sums_are_read(tile)});
            if (formats_.epilogue.join) end.body.push_back({.op = Op::Arrive, .barrier = place_of_join()});
            program.push_back(std::move(end));
        }
        return program;
    }

    const CtaTile tile_;
    const std::int64_t k_of_mma_;
    const int buffers_;
    const GemmFormats formats_;
};

}  // namespace

std::int64_t scale_bytes(const CtaTile& tile, BlockScales blocks) {
    return blocks.bytes((round_up(tile.m, kScaledRows) + round_up(tile.n, kScaledRows)) * tile.k);
}

std::int64_t tensor_columns(const CtaTile& tile) {
    return tile.pair ? ceil_div(tile.m * tile.n, kTensorLanes) : ceil_div(tile.m, kTensorLanes) * tile.n;
}

int accumulators_of(const CtaTile& tile) {
    return 2 * tensor_columns(tile) <= kMostColumns ? 2 : 1;
}

bool thread_mma_divides(const CtaTile& tile, const GemmFormats& formats) {
    const std::int64_t depth = bytes_of(formats.in, tile.k);
    const std::int64_t columns_unit = tile.pair ? 16 : 8;
    // Scales go with instructions of 128 rows of an SM (PTX ISA, tcgen05.mma: shapes of .kind::mxf4nvf4).
    if (formats.blocks.group > 0 && tile.m % kRowsOfMma != 0) return false;
    return tile.stages >= 2 && tile.m > 0 && tile.m % kHalfRows == 0 && tile.n > 0 &&
           tile.n % columns_unit == 0 && depth > 0 && depth % kFragmentBytes == 0 &&
           tensor_columns(tile) + scale_columns(tile, formats) <= kMostColumns &&
           (!tile.pair || tile.cluster_m % 2 == 0);
}

CtaProgram thread_mma_program(const CtaTile& tile, const GemmFormats& formats,
                              const std::vector<std::int64_t>& tiles) {
    return ThreadMmaProgram(tile, formats).program(tiles);
}

}  // namespace systole::simt
