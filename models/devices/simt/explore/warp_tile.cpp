// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/explore/warp_tile.h"

#include <array>

#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/sm/sm.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

/// One warp, a step as deep as two instructions: the least that the kernel's double buffers take.
CtaTile tile_of(const WarpTileShape& shape) {
    CtaTile tile;
    tile.m = shape.m;
    tile.n = shape.n;
    tile.k = 2 * k_of_fragment(shape.dtype);
    tile.stages = 2;
    tile.groups_m = tile.groups_n = 1;
    return tile;
}

/// What the warp's tensor core does in a clock; the other tensor cores have nothing to do, which the SM
/// counts as dependencies.
std::int32_t state_at(const Sm& sm, const SmSpec& spec, std::int64_t clock) {
    if (sm.busy(clock, clock + 1) > 0) return 0;
    LostTime lost = sm.lost(clock, clock + 1);
    lost[static_cast<std::size_t>(Loss::Dependency)] -= spec.sub_cores - 1;
    for (std::size_t loss = 0; loss < kLosses; ++loss)
        if (lost[loss] > 0) return static_cast<std::int32_t>(1 + loss);
    return static_cast<std::int32_t>(1 + static_cast<std::size_t>(Loss::Dependency));
}

}  // namespace

const char* problem_of(const WarpTileShape& shape, const SmSpec& sm) {
    if (!sm.tensor.macs[static_cast<std::size_t>(shape.dtype)])
        return "its tensor cores do not take this type";
    if (sm.issue_of(shape.dtype) != TensorIssue::Warp)
        return "its tensor cores are not those of mma.sync, which one warp issues (a100, l40s and l4 are)";
    const CtaTile tile = tile_of(shape);
    if (shape.k < tile.k || shape.k % tile.k != 0)
        return "k must be a multiple of two instructions' (32 in fp16)";
    if (!divides(tile, {shape.dtype, shape.dtype}, TensorIssue::Warp))
        return "m must be a multiple of 16, n of 8, and both of them at most 128 x 64 together";
    return nullptr;
}

WarpTileRecording record_warp_tile(const WarpTileShape& shape, const SmSpec& spec) {
    SYSTOLE_CHECK(problem_of(shape, spec) == nullptr, "{}", problem_of(shape, spec));
    const CtaTile tile = tile_of(shape);
    const std::int64_t macs = spec.macs(shape.dtype);
    const CtaProgram program = gemm_program(tile, {shape.dtype, shape.dtype}, shape.k / tile.k, spec);
    Sm sm(spec, macs, Sm::Memory([](Op, std::int64_t, std::int64_t at) { return at; }));
    sm.launch(program, 0);
    sm.run();
    const Sm::CtaTrace& trace = sm.trace(0);
    WarpTileRecording recording;
    recording.shape = shape;
    recording.mma_k = k_of_fragment(shape.dtype);
    recording.instructions = shape.m / 16 * (shape.n / 8) * (shape.k / recording.mma_k);
    recording.macs_per_cycle = macs;
    recording.latency = spec.tensor.latency.value();
    for (std::int64_t clock = trace.first_mma; clock < trace.last_mma_end; ++clock)
        recording.clocks.push_back(state_at(sm, spec, clock));
    recording.busy = sm.busy(trace.first_mma, trace.last_mma_end);
    recording.cycles_of_mma = recording.busy / recording.instructions;
    SYSTOLE_CHECK(recording.cycles_of_mma * recording.instructions == recording.busy,
                  "{} instructions keep a tensor core for {} cycles", recording.instructions, recording.busy);
    return recording;
}

}  // namespace systole::simt
