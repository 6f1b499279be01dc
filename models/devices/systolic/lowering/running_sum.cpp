// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/running_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/devices/systolic/lowering/staging.h"
#include "models/devices/systolic/lowering/vector_steps.h"
#include "sim/base/check.h"

namespace systole::systolic {

std::int64_t RunningSum::room(const Workspace& workspace) {
    return ring(workspace).capacity() / 4;
}

void RunningSum::open(std::int64_t bytes, Tokens& after) {
    tile_ = ring(workspace_).allocate(bytes, std::nullopt, after);
    if (tile_ == nullptr)
        refuse(layer_, fmt::format("its sums do not fit into placement.output_buffer (or weight_buffer where "
                                   "there is none), {} B, beside what is staged there",
                                   ring(workspace_).capacity()));
    ++tile_->holds;
}

void RunningSum::read_sums(std::int64_t bytes, VectorWork& work) const {
    const AddressStream pattern = piece_pattern(bytes);
    work.reads.push_back({workspace_.emitter.stream(pattern), tile_->address, 0, pattern.vectors(), 0});
    work.scratchpad_read += bytes;
}

/// Sums and results take each other's place in the tile.
void RunningSum::name_target(Turn turn, const TensorBox& result, std::int64_t sums, VectorWork& work) const {
    const bool outside = turn.last && in_place();
    const AddressStream pattern = outside ? rows_pattern(result.rows, result.stride, result.row_bytes)
                                          : piece_pattern(turn.last ? result.bytes() : sums);
    const std::int64_t address =
        outside ? workspace_.flow.region(layer_.output, result).address : tile_->address;
    work.write = {workspace_.emitter.stream(pattern), address, 0, pattern.vectors(), 0};
    work.scratchpad_written = turn.last ? result.bytes() : sums;
}

Token RunningSum::add(VectorWork work, Tokens after, Turn turn, const TensorBox& result) {
    const std::int64_t sums = work.elements * kSumBytes;
    const bool alone = turn.first && turn.last;
    if (turn.first && !(alone && in_place()))
        open(alone ? result.bytes() : std::max(sums, result.bytes()), after);
    SYSTOLE_CHECK(tile_ != nullptr || (alone && in_place()), "no sums of '{}' to add to", layer_.name);
    if (!turn.first) read_sums(sums, work);
    if (turn.last && in_place()) workspace_.flow.before_write(layer_.output, after);
    name_target(turn, result, sums, work);
    const Token token = workspace_.emitter.vector(work, after);
    if (tile_ != nullptr) tile_->users.add(token);
    if (!turn.last) return token;
    if (in_place()) {
        workspace_.flow.wrote(layer_.output, result, token);
    } else {
        tile_->ready.add(token);
        unstage(workspace_, *tile_, layer_.output, {{result, 0, result.row_bytes}});
    }
    if (BufferTile* closed = std::exchange(tile_, nullptr)) --closed->holds;
    return token;
}

}  // namespace systole::systolic
