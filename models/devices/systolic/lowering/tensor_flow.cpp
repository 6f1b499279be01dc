// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/tensor_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"

namespace systole::systolic {
namespace {

/// Pieces of an input on their way ahead of its first reader, where nobody fetches them ahead.
constexpr std::int64_t kPiecesAhead = 2;

Place place_of(Space space) {
    return space == Space::Dram ? Place::Dram : Place::Scratchpad;
}

bool overlap(const Placement& a, const Placement& b) {
    return a.space == b.space && a.address < b.address + b.bytes.value() &&
           b.address < a.address + a.bytes.value();
}

}  // namespace

TensorFlow::TensorFlow(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                       const std::vector<Placement>& placements, int cores, Emitter& emitter)
    : graph_(graph),
      spec_(spec),
      placements_(placements),
      cores_(cores),
      emitter_(emitter),
      states_(graph.tensors.size()),
      learnt_(graph.tensors.size()),
      packet_(spec.host.kind == HostLinkSpec::Kind::Pcie ? spec.host.pcie.max_payload.value() : 0) {
    for (const Layer& layer : graph.layers)
        if (std::holds_alternative<Optimizer>(layer.op) && layer.weights) learnt_[*layer.weights] = true;
    for (const Placement& p : placements) {
        if (p.space == Space::Dram) dram_end_ = std::max(dram_end_, p.address + p.bytes.value());
    }
    for (const TensorId input : graph.inputs) {
        if (graph.tensors[input].role == TensorRole::KvCache) continue;
        states_[input].arrival = passage(input, protocol.inputs_at, true);
    }
    for (const TensorId output : graph.outputs) {
        State& state = states_[root(output)];
        if (stays(root(output))) continue;
        if (!state.departure.exists) state.departure = passage(root(output), protocol.outputs_to, false);
    }
}

TensorFlow::Passage TensorFlow::passage(TensorId tensor, Protocol::Where where, bool arrival) {
    const bool in_dram = !resident(tensor);
    if (where == Protocol::Where::OnChip) {
        if (!in_dram) return {};
        throw UserError(
            fmt::format("run.{}: onchip: '{}' lives in DRAM on this device (placement.activations: {})",
                        arrival ? "inputs_at" : "outputs_to", graph_.tensors[tensor].name,
                        !spec_.placement.choose ? "dram"
                        : cores_ > 1            ? "auto, and others fill its activation_space, or its "
                                                  "layers cannot be shared by equal parts of it"
                                                : "auto, and others fill its activation_space"));
    }
    if (where == Protocol::Where::Dram) {
        if (in_dram) return {};
        const std::int64_t row =
            std::max<std::int64_t>(1, spec_.memory.row_bytes.value()) * spec_.memory.data_buses();
        const std::int64_t address = round_up(dram_end_, row);
        if (address > spec_.memory.capacity().value() - stored(tensor)) {
            throw UserError(fmt::format("DRAM has no room for '{}' ({} B) beside the weights",
                                        graph_.tensors[tensor].name, stored(tensor)));
        }
        dram_end_ = address + stored(tensor);
        return {true, arrival ? UnitKind::Load : UnitKind::Store, {Place::Dram, address, 0}};
    }
    const std::int64_t address = host_end_;
    host_end_ += stored(tensor);
    return {true, arrival ? UnitKind::HostIn : UnitKind::HostOut, {Place::Host, address, 0}};
}

std::int64_t TensorFlow::to_arrive(TensorId tensor) const {
    const State& state = states_[root(tensor)];
    const bool from_dram = state.arrival.exists && state.arrival.unit == UnitKind::Load;
    if (!from_dram) return 0;
    const std::int64_t begin = offset(tensor), end = begin + stored(tensor);
    std::int64_t there = 0;
    for (std::size_t core = 0; core < state.arrived.size(); ++core) {
        const std::int64_t first = share(tensor, static_cast<int>(core)).begin;
        there +=
            std::max<std::int64_t>(0, std::min(end, first + state.arrived[core]) - std::max(begin, first));
    }
    return stored(tensor) - there;
}

bool TensorFlow::stored_in_dram(TensorId tensor) const {
    const Passage& departure = states_[root(tensor)].departure;
    return !resident(tensor) || (departure.exists && departure.unit == UnitKind::Store);
}

Region TensorFlow::region(TensorId tensor, const TensorBox& box) const {
    const Placement& p = placements_[tensor];
    const std::int64_t before = resident(tensor) ? share(tensor, emitter_.core()).begin : 0;
    return {place_of(p.space), p.address + box.offset - before, box.stride};
}

void TensorFlow::enter(State& state, const TensorBox& box, Token writer) {
    if (!state.writes.empty()) {
        const Write& last = state.writes.back();
        state.sorted = state.sorted && last.begin <= box.offset && last.end <= box.end();
    }
    state.writes.push_back({box.offset, box.end(), writer});
    state.users.add(writer);
}

int TensorFlow::core_at(TensorId tensor, std::int64_t byte) const {
    int core = 0;
    while (core + 1 < cores_ && share(tensor, core + 1).begin <= byte) ++core;
    return core;
}

void TensorFlow::arrive_share(TensorId tensor, int core, std::int64_t until) {
    State& state = states_[tensor];
    state.arrived.resize(static_cast<std::size_t>(cores_));
    std::int64_t& arrived = state.arrived[static_cast<std::size_t>(core)];
    const Range bytes = share(tensor, core);
    const std::int64_t most = state.arrival.piece();
    until = std::min(bytes.count, round_up(until - bytes.begin, most));
    const int reader = emitter_.core();
    emitter_.set_core(core);
    while (arrived < until) {
        const std::int64_t chunk = std::min(most, bytes.count - arrived);
        const TensorBox box{bytes.begin + arrived, 1, chunk, 0};
        Transfer transfer;
        transfer.from = state.arrival.outside;
        transfer.from.address += box.offset;
        transfer.to = region(tensor, box);
        transfer.row_bytes = chunk;
        Tokens after;
        before_write(tensor, after);
        if (state.users.empty()) touched_.push_back(tensor);
        enter(state, box, emitter_.transfer(unit_index(state.arrival.unit), transfer, after));
        arrived += chunk;
    }
    emitter_.set_core(reader);
}

void TensorFlow::arrive(TensorId tensor, std::int64_t begin, std::int64_t end, std::int64_t ahead) {
    end = std::min(end, stored(tensor));
    for (int core = core_at(tensor, begin); core < cores_; ++core) {
        const Range bytes = share(tensor, core);
        if (core > 0 && bytes.begin >= end) break;
        arrive_share(tensor, core, std::min(end, bytes.end()) + ahead);
    }
}

void TensorFlow::fetch(TensorId tensor, std::int64_t begin, std::int64_t end) {
    begin += offset(tensor), end += offset(tensor);
    tensor = root(tensor);
    State& state = states_[tensor];
    if (!state.arrival.exists) return;
    state.fetched_ahead = true;
    arrive(tensor, begin, end);
}

void TensorFlow::before_read(TensorId tensor, std::int64_t begin, std::int64_t end, Tokens& after) {
    if (stays(tensor)) return;
    begin += offset(tensor), end += offset(tensor);
    tensor = root(tensor);
    State& state = states_[tensor];
    if (spec_.sequencer.whole_tensors) begin = 0, end = stored(tensor);
    if (state.arrival.exists) {
        const std::int64_t ahead = state.fetched_ahead ? 0 : kPiecesAhead * state.arrival.piece();
        arrive(tensor, begin, end, ahead);
    }
    auto at = state.writes.begin();
    if (state.sorted)
        at = std::ranges::partition_point(state.writes, [&](const Write& w) { return w.end <= begin; });
    for (; at != state.writes.end(); ++at) {
        if (at->begin < end && begin < at->end) after.add(at->writer);
        if (state.sorted && at->begin >= end) break;
    }
}

void TensorFlow::read_by(TensorId tensor, Token reader) {
    tensor = root(tensor);
    State& state = states_[tensor];
    if (stays(tensor)) {
        if (learnt_[tensor]) state.users.add(reader);
        return;
    }
    if (state.users.empty()) touched_.push_back(tensor);
    state.users.add(reader);
}

void TensorFlow::before_write(TensorId tensor, Tokens& after) {
    tensor = root(tensor);
    State& state = states_[tensor];
    if (stays(tensor)) return after.add(state.users);
    if (state.first_write_done) return after.add(state.before);
    state.first_write_done = true;
    // An input that lay here and was read only in part must have arrived whole, or its rest would come later.
    for (const TensorId input : graph_.inputs)
        if (input != tensor && states_[input].arrival.exists &&
            overlap(placements_[tensor], placements_[input]))
            arrive(input, 0, stored(input));
    Tokens& tenants = state.before;
    for (const TensorId other : touched_) {
        if (other == tensor || !overlap(placements_[tensor], placements_[other])) continue;
        tenants.add(states_[other].users);
    }
    after.add(tenants);
}

void TensorFlow::wrote(TensorId tensor, const TensorBox& own, Token writer) {
    if (stays(tensor)) return;
    TensorBox box = own;
    box.offset += offset(tensor);
    tensor = root(tensor);
    State& state = states_[tensor];
    if (state.users.empty()) touched_.push_back(tensor);
    enter(state, box, writer);
    if (state.departure.exists && !spec_.sequencer.whole_tensors) depart_written(tensor, box, writer);
}

}  // namespace systole::systolic
