// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/group_mma_program.h"

#include <utility>

#include "models/devices/simt/kernels/gemm_epilogue.h"
#include "models/devices/simt/kernels/mma_shapes.h"

namespace systole::simt {
namespace {

constexpr int kGroupWarps = 4;
// The next tap's column and row: they go on, are compared and wrap, and make the copy's offsets, as the last
// slice's channels do.
constexpr int kGatherOfStep = 8;
constexpr int kCopierRegisters = 40;  // what CUTLASS leaves its warps that copy

/// wgmma: a warp that copies, and groups of four that multiply.
class GroupMmaProgram {
public:
    GroupMmaProgram(const CtaTile& tile, const GemmFormats& formats)
        : tile_(tile),
          k_of_mma_(k_of_fragment(formats.in)),
          rows_(tile.m / tile.groups_m),
          cols_(tile.n / tile.groups_n),
          groups_(tile.groups_m * tile.groups_n),
          formats_(formats) {}

    /// Of tiles with so many steps, one behind the other.
    CtaProgram program(const std::vector<std::int64_t>& tiles) const {
        CtaProgram cta;
        const int warps = kGroupWarps * groups_;
        for (int i = 0; i < tile_.stages; ++i) cta.barriers.push_back({1, false});     // full
        for (int i = 0; i < tile_.stages; ++i) cta.barriers.push_back({warps, true});  // empty
        if (formats_.epilogue.join) {
            cta.barriers.push_back({1, false});     // the matrix to join is there
            cta.barriers.push_back({warps, true});  // its place is free
        }
        cta.barriers.push_back({warps, false});  // all are through with a tile
        cta.roles = {{warps, consumer(tiles)}, {1, producer(tiles)}};
        cta.registers_of_thread =
            static_cast<int>(rows_ * cols_ / (kGroupWarps * kWarpThreads)) + kOtherRegisters;
        cta.registers_of_copier = kCopierRegisters;
        return cta;
    }

private:
    Section set_up(int instructions) const {
        Section section;
        for (int i = 0; i < instructions; ++i)
            section.body.push_back({.op = Op::Integer, .reads = 1, .writes = 1});
        return section;
    }
    Section copies(std::int64_t steps) const {
        Section step;
        step.steps = true;
        step.trips = steps;
        step.body = {{.op = Op::Await, .barrier = tile_.stages, .ring = tile_.stages},
                     {.op = Op::BulkCopy,
                      .bytes = bytes_of(formats_.in, (tile_.m + tile_.n) * tile_.k),
                      .ring = tile_.stages},
                     {.op = Op::Integer}};
        step.body[1].amount = 1;
        if (formats_.gathers)
            for (int i = 0; i < kGatherOfStep; ++i) step.body.push_back({.op = Op::Integer});
        return step;
    }
    WarpProgram producer(const std::vector<std::int64_t>& tiles) const {
        WarpProgram program{set_up(30)};
        for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
            program.push_back(copies(tiles[tile]));
            if (!formats_.epilogue.join) continue;
            Section join;
            if (tile > 0) join.body.push_back({.op = Op::Await, .barrier = place_of_join()});
            join.body.push_back({.op = Op::BulkCopy,
                                 .bytes = tile_.m * tile_.n * element_bytes(formats_.out),
                                 .barrier = join_is_there()});
            program.push_back(std::move(join));
        }
        return program;
    }
    int join_is_there() const { return 2 * tile_.stages; }
    int place_of_join() const { return 2 * tile_.stages + 1; }
    int end_of_tile() const { return 2 * tile_.stages + (formats_.epilogue.join ? 2 : 0); }
    /// Every warp gives back the stage of the step before.
    void release(Section& section) const {
        section.body.push_back({.op = Op::Arrive, .barrier = tile_.stages, .ring = tile_.stages, .lag = 1});
    }
    void multiply(Section& section) const {
        section.body.push_back({.op = Op::Await, .ring = tile_.stages});
        for (std::int64_t k = 0; k < tile_.k / k_of_mma_; ++k)
            for (std::int64_t m = 0; m < rows_ / 64; ++m)
                section.body.push_back({.op = Op::GroupMma,
                                        .amount = 16 * cols_ * k_of_mma_,
                                        .bytes = (16 + cols_ / kGroupWarps) * kFragmentBytes});
        section.body.push_back({.op = Op::CommitMmas});
    }
    void multiply_all(std::int64_t steps, WarpProgram& program) const {
        Section first, rest;
        first.steps = rest.steps = true;
        multiply(first);
        multiply(rest);
        rest.body.push_back({.op = Op::WaitMmas, .amount = 1});
        release(rest);
        rest.trips = steps - 1;
        if (steps > 0) program.push_back(std::move(first));
        if (steps > 1) program.push_back(std::move(rest));
    }
    WarpProgram consumer(const std::vector<std::int64_t>& tiles) const {
        const WarpProgram epilogue =
            bulk_epilogue({rows_ / kGroupWarps, cols_, formats_.out, formats_.epilogue}, join_is_there());
        WarpProgram program{set_up(20)};
        for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
            const bool another = tile + 1 < tiles.size();
            multiply_all(tiles[tile], program);
            Section drain;
            drain.body.push_back({.op = Op::WaitMmas});
            if (another && tiles[tile] > 0) release(drain);
            program.push_back(std::move(drain));
            program.insert(program.end(), epilogue.begin(), epilogue.end());
            if (!another) continue;
            Section end;
            if (formats_.epilogue.join) end.body.push_back({.op = Op::Arrive, .barrier = place_of_join()});
            // Groups share the tile's place on its way out: CUTLASS lets them meet there.
            end.body.push_back({.op = Op::WaitStores});
            end.body.push_back({.op = Op::Arrive, .barrier = end_of_tile()});
            end.body.push_back({.op = Op::Await, .barrier = end_of_tile()});
            program.push_back(std::move(end));
        }
        return program;
    }

    const CtaTile tile_;
    const std::int64_t k_of_mma_, rows_, cols_;
    const int groups_;
    const GemmFormats formats_;
};

}  // namespace

CtaProgram group_mma_program(const CtaTile& tile, const GemmFormats& formats,
                             const std::vector<std::int64_t>& tiles) {
    return GroupMmaProgram(tile, formats).program(tiles);
}

}  // namespace systole::simt
