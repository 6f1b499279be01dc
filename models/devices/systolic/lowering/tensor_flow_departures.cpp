// SPDX-License-Identifier: Apache-2.0
// How outputs leave for where the protocol wants them.
#include <algorithm>
#include <utility>
#include <vector>

#include "models/devices/systolic/lowering/tensor_flow.h"

namespace systole::systolic {

void TensorFlow::depart_written(TensorId tensor, const TensorBox& box, Token writer) {
    depart_strips_before(emitter_.layer());
    State& state = states_[tensor];
    if (state.departure.unit != UnitKind::HostOut || !NarrowStrips::narrow(box, packet_)) {
        depart(tensor, box, writer);
        return;
    }
    if (state.strips.waiting().empty()) with_strips_.push_back(tensor);
    if (const auto wide = state.strips.join({box, writer, emitter_.core(), emitter_.layer()}, packet_))
        depart(tensor, wide->box, wide->writers);
}

void TensorFlow::depart_strips_before(std::int32_t layer) {
    std::erase_if(with_strips_, [&](TensorId tensor) {
        const auto& waiting = states_[tensor].strips.waiting();
        if (!waiting.empty() && waiting.front().layer >= layer) return false;
        depart_strips(tensor);
        return true;
    });
}

/// All at once, if it is the whole tensor.
void TensorFlow::depart_strips(TensorId tensor) {
    State& state = states_[tensor];
    const NarrowStrips strips = std::exchange(state.strips, {});
    if (strips.waiting().empty()) return;
    const int core = emitter_.core();
    const std::int32_t layer = emitter_.layer();
    if (!state.leaving && strips.bytes_waiting() == stored(tensor)) {
        emitter_.set_layer(strips.waiting().back().layer);
        depart_whole(tensor);
    } else {
        for (const NarrowStrips::Strip& strip : strips.waiting()) {
            emitter_.set_core(strip.core);
            emitter_.set_layer(strip.layer);
            depart(tensor, strip.box, strip.writers);
        }
    }
    emitter_.set_core(core);
    emitter_.set_layer(layer);
}

/// From each core its share, when all of the tensor is written.
void TensorFlow::depart_whole(TensorId tensor) {
    Tokens writers;
    for (const Write& w : states_[tensor].writes) writers.add(w.writer);
    for (int core = 0; core < cores_; ++core) {
        const Range bytes = share(tensor, core);
        emitter_.set_core(core);
        if (bytes.count > 0) depart(tensor, {bytes.begin, 1, bytes.count, 0}, writers);
    }
}

void TensorFlow::depart(TensorId tensor, const TensorBox& box, const Tokens& after) {
    const Passage& out = states_[tensor].departure;
    states_[tensor].leaving = true;
    const std::int64_t step =
        std::max<std::int64_t>(1, kChunkBytes / std::max<std::int64_t>(1, box.row_bytes));
    const std::int64_t piece = std::min(box.row_bytes, kChunkBytes);
    for (std::int64_t row = 0; row < box.rows; row += step) {
        for (std::int64_t byte = 0; byte < box.row_bytes; byte += piece) {
            TensorBox part{box.offset + row * box.stride + byte, std::min(step, box.rows - row),
                           std::min(piece, box.row_bytes - byte), box.stride};
            Transfer transfer;
            transfer.from = region(tensor, part);
            transfer.to = {out.outside.place, out.outside.address + part.offset, part.stride};
            transfer.rows = part.rows;
            transfer.row_bytes = part.row_bytes;
            transfer.operand = Operand::Outputs;
            read_by(tensor, emitter_.transfer(unit_index(out.unit), transfer, after));
        }
    }
}

void TensorFlow::finish() {
    for (const TensorId input : graph_.inputs) {
        State& state = states_[input];
        if (!state.arrival.exists) continue;
        arrive(input, 0, stored(input));
        if (!state.departure.exists || spec_.sequencer.whole_tensors) continue;
        const std::vector<Write> writes = state.writes;
        for (const Write& w : writes) {
            emitter_.set_core(core_at(input, w.begin));
            depart(input, {w.begin, 1, w.end - w.begin, 0}, w.writer);
        }
    }
    for (const TensorId tensor : with_strips_) depart_strips(tensor);
    if (!spec_.sequencer.whole_tensors) return;
    for (const TensorId output : graph_.outputs) {
        State& state = states_[root(output)];
        if (!state.departure.exists) continue;
        depart_whole(root(output));
        state.departure.exists = false;  // another output may be a view of it
    }
}

}  // namespace systole::systolic
