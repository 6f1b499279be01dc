// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/plan_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "models/devices/simt/kernels/moves.h"

namespace systole::simt {

constexpr std::int64_t kPlaceAlignment = 256;

std::int64_t alignment(const SimtSpec& spec) {
    return std::max(kPlaceAlignment, spec.memory.row_bytes.value() * spec.memory.data_buses());
}

PlacedTensors place_tensors(const Graph& graph, const SimtSpec& spec) {
    AllocationRules rules;
    rules.dram_capacity = spec.memory.capacity();
    rules.memory = fmt::format("{}'s {}", spec.name,
                               spec.memory.standard.empty() ? std::string("memory") : spec.memory.standard);
    rules.dram_alignment = Bytes(alignment(spec));
    rules.weights = Layout::ColumnMajor;
    rules.tile_rows = std::numeric_limits<std::int64_t>::max();  // rows that share a scale lie together
    PlacedTensors placed{allocate(graph, rules), 0};
    for (const Placement& place : placed.placements)
        if (place.space == Space::Dram)
            placed.end = std::max(placed.end, place.address + place.bytes.value());
    placed.end = round_up(placed.end, alignment(spec));
    return placed;
}

std::vector<TensorPlace> places(const Graph& graph, const std::vector<Placement>& placements) {
    std::vector<TensorPlace> all;
    for (TensorId id = 0; id < placements.size(); ++id)
        all.push_back({graph.tensors[id].name, std::string(to_string(Space::Dram)), "row-major",
                       placements[id].address, placements[id].bytes});
    return all;
}

void add_stored(const Graph& graph, const std::vector<std::size_t>& rows, ChipPlan& chip) {
    std::vector<std::int64_t> met(graph.tensors.size());
    std::vector<std::optional<std::size_t>> first(graph.tensors.size());  // layer that meets it
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        const Layer& layer = graph.layers[i];
        std::vector<TensorId> read = layer.inputs;
        for (const auto& stored : {layer.weights, layer.scales, layer.bias})
            if (stored) read.push_back(*stored);
        for (const TensorId id : read) met[id] += touched(graph, layer, id).value();
        read.push_back(layer.output);
        for (const TensorId id : read)
            if (!first[id]) first[id] = rows[i];
    }
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
        const Tensor& tensor = graph.tensors[id];
        if (tensor.role == TensorRole::Activation || tensor.role == TensorRole::Input || tensor.view_of)
            continue;
        const Bytes whole = stored_bytes(tensor);
        const Bytes passes = tensor.role == TensorRole::Weights ? std::min(whole, Bytes(met[id])) : whole;
        chip.compulsory_dram += passes;
        if (first[id]) chip.layers[*first[id]].stored += passes;
    }
}

std::vector<MatrixPlace*> weights_of(LayerPlan& layer) {
    std::vector<MatrixPlace*> all;
    for (KernelPlan& kernel : layer.kernels)
        if (auto* gemm = std::get_if<GemmPlan>(&kernel)) {
            all.insert(all.end(), {&gemm->a, &gemm->b});
            for (ColumnValues& values : gemm->columns) all.push_back(&values.place);
        } else if (auto* vector = std::get_if<VectorPlan>(&kernel)) {
            for (VectorOperand& operand : vector->in) all.push_back(&operand.place);
            for (MatrixPlace& column : vector->columns) all.push_back(&column);
        } else if (auto* stream = std::get_if<StreamPlan>(&kernel)) {
            all.push_back(&stream->from);
            for (ColumnValues& values : stream->columns) all.push_back(&values.place);
        }
    std::erase_if(all, [](const MatrixPlace* place) { return place->operand != Operand::Weights; });
    return all;
}

}  // namespace systole::simt
