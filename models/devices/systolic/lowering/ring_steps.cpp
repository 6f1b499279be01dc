// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/ring_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/attention_blocks.h"
#include "models/devices/systolic/lowering/vector_steps.h"
#include "sim/base/check.h"

namespace systole::systolic {

RingParts::RingParts(const Workspace& workspace, const Layer& layer, const Collective& op)
    : chips_(op.chips), outer_(op.outer) {
    const auto bytes = [&](TensorId tensor) { return stored_bytes(workspace.graph.tensors[tensor]).value(); };
    row_ = std::max(bytes(layer.inputs.at(0)), bytes(layer.output)) / op.outer / op.chips;
}

RingSteps::RingSteps(Workspace& workspace, std::int64_t layer, std::int64_t most_bytes)
    : workspace_(workspace),
      layer_(layer),
      source_(workspace.graph.layers[static_cast<std::size_t>(layer)]),
      op_(std::get<Collective>(source_.op)),
      input_(source_.inputs.at(0)),
      output_(source_.output),
      parts_(workspace, source_, op_),
      cut_(parts_.alone(), most_bytes),
      pieces_(static_cast<std::size_t>(cut_.count())) {}

/// Group by group of pieces, in each hop by hop.
RingSteps::Hop RingSteps::hop(std::int64_t step) const {
    const std::int64_t group = step / (hops() * kTogether);
    const std::int64_t inside = step % (hops() * kTogether);
    const std::int64_t pieces = std::min(kTogether, cut_.count() - group * kTogether);
    return {inside / pieces, group * kTogether + inside % pieces};
}

bool RingSteps::stage_inputs(std::int64_t step, Holds& holds) {
    const Hop at = hop(step);
    if (!is_sum(at) || workspace_.flow.resident(input_)) return true;
    const TensorBox from = own(at);
    return stage(workspace_, workspace_.inputs, key(step), holds, [&] {
        return Staging{input_, workspace_.operand(input_), from.bytes(), {{from, 0, from.row_bytes}}};
    });
}

RingSteps::Crossing RingSteps::cross(const Region& from, const Region& to, const TensorBox& shape,
                                     Operand operand, const Tokens& after, const Tokens& room) {
    const Region link{Place::ChipLink, 0, shape.row_bytes};
    Tokens both = after;
    both.add(room);
    const auto emit = [&](UnitKind unit, const Region& source, const Region& target, const Tokens& tokens) {
        Transfer transfer;
        transfer.from = source;
        transfer.to = target;
        transfer.rows = shape.rows;
        transfer.row_bytes = shape.row_bytes;
        transfer.operand = operand;
        return workspace_.emitter.transfer(unit_index(unit), transfer, tokens);
    };
    const Token sent = emit(UnitKind::LinkOut, from, link, after);
    return {sent, emit(UnitKind::LinkIn, link, to, both)};
}

BufferTile& RingSteps::allocate(std::int64_t bytes, Tokens& room) {
    BufferRing& ring = scratch_ring(workspace_);
    BufferTile* const tile = ring.allocate(bytes, std::nullopt, room);
    if (tile == nullptr)
        refuse(source_, fmt::format("parts of its sum find no room in {} B of placement.output_buffer, or of "
                                    "weight_buffer where there is none",
                                    ring.capacity()));
    return *tile;
}

/// What came in, and this chip's own of it.
Token RingSteps::add(const Hop& hop, std::int64_t step, const BufferTile& received, Tokens after,
                     BufferTile* to) {
    const TensorBox from = own(hop), into = result(hop);
    const bool in_place = workspace_.flow.resident(input_);
    BufferTile* const staged = in_place ? nullptr : workspace_.inputs.find(key(step));
    VectorWork work;
    const auto access = [&](const AddressStream& pattern, std::int64_t address) {
        return EdgeRead{workspace_.emitter.stream(pattern), address, 0, pattern.vectors(), 0};
    };
    work.reads.push_back(access(piece_pattern(from.bytes()), received.address));
    if (in_place) {
        workspace_.flow.before_read(input_, from.offset, from.end(), after);
        work.reads.push_back(access(rows_pattern(from.rows, from.stride, from.row_bytes),
                                    workspace_.flow.region(input_, from).address));
    } else {
        SYSTOLE_CHECK(staged != nullptr, "step {} of layer {} is not staged", step, layer_);
        after.add(staged->ready);
        work.reads.push_back(access(piece_pattern(from.bytes()), staged->address));
    }
    work.write = to != nullptr ? access(piece_pattern(from.bytes()), to->address)
                               : access(rows_pattern(into.rows, into.stride, into.row_bytes),
                                        workspace_.flow.region(output_, into).address);
    work.elements = from.bytes() * 8 / bits_of(workspace_.dtype(input_)).value();
    work.lane_cycles = work.elements * workspace_.spec.vector.cost.simple;
    work.scratchpad_read = 2 * from.bytes();
    work.scratchpad_written = from.bytes();
    const Token token = workspace_.emitter.vector(work, after);
    if (in_place)
        workspace_.flow.read_by(input_, token);
    else
        staged->users.add(token);
    return token;
}

void RingSteps::sum(const Hop& hop, std::int64_t step) {
    Piece& mine = piece(hop);
    const TensorBox first = box(parts_.among_all(op_.chips - 1), hop);
    const std::int64_t bytes = first.bytes();
    const bool last = hop.number == op_.chips - 2;
    Tokens after = mine.sent, room;
    BufferTile& received = allocate(bytes, room);
    Holds holds;
    holds.hold(received);
    const Region to{Place::Scratchpad, received.address, first.row_bytes};
    Crossing crossing;
    if (mine.sum == nullptr) {
        workspace_.flow.before_read(input_, first.offset, first.end(), after);
        crossing = cross(workspace_.flow.region(input_, first), to, first, Operand::PartialSums, after, room);
        workspace_.flow.read_by(input_, crossing.sent);
    } else {
        after.add(mine.sum->ready);
        const Region from{Place::Scratchpad, mine.sum->address, first.row_bytes};
        crossing = cross(from, to, first, Operand::PartialSums, after, room);
        mine.sum->users.add(crossing.sent);
        mine.held.release();
        mine.sum = nullptr;
    }
    mine.sent = crossing.sent;
    received.ready.add(crossing.received);
    // In step: the neighbour's is here when this chip's is there.
    Tokens ready = received.ready;
    ready.add(mine.sent);
    if (last && workspace_.flow.resident(output_)) {
        workspace_.flow.before_write(output_, ready);
        const Token token = add(hop, step, received, ready, nullptr);
        received.users.add(token);
        return workspace_.flow.wrote(output_, result(hop), token);
    }
    BufferTile& sum = allocate(bytes, ready);
    const Token token = add(hop, step, received, ready, &sum);
    received.users.add(token);
    sum.ready.add(token);
    if (last) unstage(workspace_, sum, output_, {{result(hop), 0, first.row_bytes}});
    if (last && !gathers()) return;
    mine.sum = &sum;
    mine.held.hold(sum);
}

void RingSteps::gather(const Hop& hop) {
    Piece& mine = piece(hop);
    const std::int64_t number = hop.number - (sums() ? op_.chips - 1 : 0);
    const TensorBox to = box(parts_.among_all(op_.chips - 1 - number), hop);
    Tokens after = mine.sent, room;
    workspace_.flow.before_write(output_, room);
    const Region target = workspace_.flow.region(output_, to);
    Crossing crossing;
    if (mine.sum != nullptr) {
        after.add(mine.sum->ready);
        crossing = cross({Place::Scratchpad, mine.sum->address, to.row_bytes}, target, to,
                         Operand::Activations, after, room);
        mine.sum->users.add(crossing.sent);
        mine.held.release();
        mine.sum = nullptr;
    } else {
        const bool first = number == 0 && !sums();
        const TensorId tensor = first ? input_ : output_;
        const TensorBox from =
            box(first ? parts_.alone() : parts_.among_all(number == 0 ? 0 : op_.chips - number), hop);
        workspace_.flow.before_read(tensor, from.offset, from.end(), after);
        crossing = cross(workspace_.flow.region(tensor, from), target, to, Operand::Activations, after, room);
        workspace_.flow.read_by(tensor, crossing.sent);
    }
    mine.sent = crossing.sent;
    workspace_.flow.wrote(output_, to, crossing.received);
}

void RingSteps::work(std::int64_t step) {
    const Hop at = hop(step);
    if (is_sum(at))
        sum(at, step);
    else
        gather(at);
}

}  // namespace systole::systolic
