// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/workspace.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"

namespace systole::systolic {
namespace {

std::int64_t line(const SystolicSpec& spec) {
    return std::max<std::int64_t>(1, spec.scratchpad.bank_bytes.value());
}

/// Where area `index` of [resident, inputs, weights, outputs, end] begins.
std::int64_t area(const SystolicSpec& spec, int index) {
    const PlacementSpec& p = spec.placement;
    const Bytes sizes[] = {p.activation_bytes, p.input_buffer, p.weight_buffer, p.output_buffer};
    const std::int64_t stripe = line(spec) * std::max(1, spec.scratchpad.banks);
    std::int64_t begin = 0;
    for (int i = 0; i < index; ++i) begin = round_up(begin + sizes[i].value(), stripe);
    return begin;
}

BufferRing ring(const SystolicSpec& spec, int index, Bytes size) {
    return BufferRing(area(spec, index), size.value(), line(spec));
}

}  // namespace

ChipWorkspace::ChipWorkspace(const Graph& graph_, const SystolicSpec& spec_, const Protocol& protocol,
                             const std::vector<Placement>& placements_, int cores_)
    : graph(graph_),
      spec(spec_),
      placements(placements_),
      cores(cores_),
      emitter(spec_.cores, spec_.mxu.count, graph_.name),
      flow(graph_, spec_, protocol, placements_, cores_, emitter),
      spread(spec_.memory) {}

CoreStorage::CoreStorage(const SystolicSpec& spec)
    : inputs(ring(spec, 1, spec.placement.input_buffer)),
      weights(ring(spec, 2, spec.placement.weight_buffer)),
      outputs(ring(spec, 3, spec.placement.output_buffer)),
      accumulators(static_cast<std::size_t>(spec.mxu.count), BufferRing(0, spec.mxu.accumulator_rows)) {
    const std::int64_t end = area(spec, 3) + spec.placement.output_buffer.value();
    if (end > spec.scratchpad.capacity.value()) {
        throw UserError(fmt::format("{}: the scratchpad areas need {} B, the scratchpad has {} B", spec.name,
                                    end, spec.scratchpad.capacity.value()));
    }
}

Workspace::Workspace(ChipWorkspace& chip_, int core_, const SystolicSpec& spec_, CoreStorage& storage)
    : chip(chip_),
      core{core_, chip_.cores},
      graph(chip_.graph),
      spec(spec_),
      placements(chip_.placements),
      emitter(chip_.emitter),
      flow(chip_.flow),
      inputs(storage.inputs),
      weights(storage.weights),
      outputs(storage.outputs),
      accumulators(storage.accumulators) {}

Operand Workspace::operand(TensorId tensor) const {
    const TensorRole role = graph.tensors[tensor].role;
    if (role == TensorRole::Weights) return Operand::Weights;
    if (role == TensorRole::OptimizerState) return Operand::OptimizerState;
    return role == TensorRole::KvCache ? Operand::KvCache : Operand::Activations;
}

void refuse(const Layer& layer, const std::string& why) {
    throw UserError(layer.where, fmt::format("layer '{}': {}", layer.name, why));
}

}  // namespace systole::systolic
