// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "models/devices/systolic/lowering/core_share.h"
#include "models/devices/systolic/lowering/workspace.h"
#include "sim/base/checked.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

Bytes stripe(const SystolicSpec& spec) {
    return std::max(Bytes(1), spec.scratchpad.bank_bytes * spec.scratchpad.banks);
}

/// What makes windows of a convolution begin or end outside its input.
std::string what_reaches_beyond(const Operator& op) {
    if (std::holds_alternative<ConvTranspose>(op)) return "its kernel";
    const auto& conv = std::get<Conv2d>(op);
    if (conv.depth && conv.depth->pad > conv.most_pad())
        return fmt::format("its zero padding of {} in depth", conv.depth->pad);
    if (!conv.round_up || conv.most_pad() >= conv.stride)
        return fmt::format("its zero padding of {}", conv.most_pad());
    return fmt::format("with round_up and a stride of {} its last window", conv.stride);
}

/// Rows (and columns) before or behind its input that windows of a convolution on the arrays begin or end at,
/// and its width and channels; nothing for other operators.
struct Reach {
    std::int64_t rows = 0, in_w = 1, in_c = 1;
};
std::optional<Reach> reach_of(const Operator& op) {
    if (const auto* conv = std::get_if<Conv2d>(&op); conv && !conv->depthwise())
        return Reach{conv->most_pad() + (conv->round_up ? std::max(conv->stride, conv->stride_w()) - 1 : 0) +
                         (conv->depth ? conv->depth->pad * conv->in_h : 0),
                     conv->in_w, conv->in_c};
    const auto* conv = std::get_if<ConvTranspose>(&op);
    if (conv == nullptr) return std::nullopt;
    // A phase's windows begin and end less than their taps away from some input.
    const std::int64_t taps =
        ceil_div(std::max(conv->kernel_h, conv->kernel_w) + conv->out_pad, conv->stride);
    return Reach{taps, conv->in_w, conv->in_c};
}

/// Results leave by whole columns of pixels, which those of a transposed convolution have no place for on
/// chip.
bool drains_columns(const MxuSpec& mxu) {
    return mxu.dataflow == Dataflow::InputStationary;
}

/// Bytes before and behind the resident tensors that addresses of zero padding may name (nothing is read
/// there); and, where others can live in DRAM, the tensors for which that would take too much.
struct PaddingMargin {
    std::int64_t bytes = 0;
    std::vector<bool> unfit;  // by tensor
};

PaddingMargin padding_margin(const Graph& graph, const DataflowSpecs& specs) {
    const SystolicSpec& spec = specs.any();
    PaddingMargin margin{0, std::vector<bool>(graph.tensors.size())};
    if (spec.placement.activation_bytes == Bytes(0)) return margin;
    const std::int64_t room = spec.placement.activation_bytes.value();
    const std::int64_t most = spec.placement.choose ? room / 8 : room / 2;
    for (const Layer& layer : graph.layers) {
        const std::optional<Reach> beyond = reach_of(layer.op);
        if (!beyond) continue;
        if (std::holds_alternative<ConvTranspose>(layer.op) && drains_columns(specs.of(layer).mxu))
            margin.unfit[graph.tensors[layer.output].view_of.value_or(layer.output)] = true;
        const TensorId input = layer.inputs.at(0);
        const std::int64_t pixel = row_bytes(graph.tensors[input].dtype, beyond->in_c).value();
        const auto reach = checked_mul(beyond->rows, (beyond->in_w + 1) * pixel);
        if (reach && *reach <= most) {
            margin.bytes = std::max(margin.bytes, *reach);
        } else if (spec.placement.choose) {
            margin.unfit[graph.tensors[input].view_of.value_or(input)] = true;
        } else {
            refuse(layer, fmt::format("{} reaches further than placement.activation_space",
                                      what_reaches_beyond(layer.op)));
        }
    }
    margin.bytes = round_up(margin.bytes, stripe(spec).value());
    return margin;
}

AllocationRules allocation_rules(const Graph& graph, const DataflowSpecs& specs, const PaddingMargin& margin,
                                 int cores) {
    const SystolicSpec& spec = specs.any();
    AllocationRules rules;
    rules.activations = spec.placement.activations;
    rules.resident_where_it_pays = spec.placement.choose;
    rules.never_resident = margin.unfit;
    rules.scratchpads = cores;
    if (cores > 1) {
        const std::vector<bool> unfit = not_shared_evenly(graph, cores);
        for (TensorId id = 0; id < unfit.size(); ++id)
            rules.never_resident[id] = rules.never_resident[id] || unfit[id];
    }
    rules.dram_capacity = spec.memory.capacity();
    rules.memory = fmt::format("{}'s {}", spec.name,
                               spec.memory.standard.empty() ? std::string("memory") : spec.memory.standard);
    rules.scratchpad_capacity = std::max(Bytes(0), spec.placement.activation_bytes - Bytes(2 * margin.bytes));
    rules.dram_alignment = std::max(Bytes(1), spec.memory.row_bytes * spec.memory.data_buses());
    rules.scratchpad_alignment = stripe(spec);
    rules.tile_rows = spec.mxu.rows;
    rules.tile_cols = spec.mxu.cols;
    for (const Layer& layer : graph.layers)
        rules.layer_weights.push_back(
            specs.of(layer).mxu.dataflow == Dataflow::InputStationary ? Layout::ColumnMajor : Layout::Tiled);
    return rules;
}

bool is_activation(const Tensor& tensor) {
    return tensor.role == TensorRole::Activation && !tensor.view_of;
}

bool names(const std::vector<std::string>& list, const Tensor& tensor) {
    return std::ranges::find(list, whole_name(tensor)) != list.end();
}

/// Only those that a mapping names may stay in the scratchpad.
void keep_to(const Graph& graph, const SystolicSpec& spec, const Mapping& mapping, AllocationRules& rules) {
    if (!spec.placement.choose)
        throw UserError(mapping.resident_where,
                        "'resident' needs a machine with placement.activations: auto");
    for (TensorId id = 0; id < graph.tensors.size(); ++id)
        if (is_activation(graph.tensors[id]) && !names(*mapping.resident, graph.tensors[id]))
            rules.never_resident[id] = true;
}

/// All that a mapping names do.
void check_residents(const Graph& graph, int cores, const Mapping& mapping,
                     const std::vector<Placement>& placements) {
    const std::vector<bool> unfit = not_shared_evenly(graph, cores);
    for (TensorId id = 0; id < placements.size(); ++id) {
        const Tensor& tensor = graph.tensors[id];
        if (is_activation(tensor) && placements[id].space != Space::Scratchpad &&
            names(*mapping.resident, tensor))
            throw UserError(
                mapping.resident_where,
                cores > 1 && unfit[id]
                    ? fmt::format("'{}' cannot stay in the scratchpad: {} cores cannot share the layers that "
                                  "write and read it by equal parts of it",
                                  tensor.name, cores)
                    : fmt::format("'{}' cannot stay in the scratchpad: placement.activation_space has no "
                                  "room for its {} beside the others",
                                  tensor.name, with_thousands(stored_bytes(tensor).value()) + " B"));
    }
}

/// Whether all parts of a tensor lie in the same memory. Those of tensors that do not may then stay nowhere
/// but in DRAM: a mapping names the whole of them.
bool parts_alike(const Graph& graph, const std::vector<Placement>& placements, AllocationRules& rules) {
    std::map<std::string_view, Space> spaces;
    std::set<std::string_view> torn;
    for (TensorId id = 0; id < placements.size(); ++id) {
        const Tensor& tensor = graph.tensors[id];
        if (!tensor.slice || tensor.view_of) continue;
        const auto [first, added] = spaces.emplace(whole_name(tensor), placements[id].space);
        if (!added && first->second != placements[id].space) torn.insert(first->first);
    }
    for (TensorId id = 0; id < placements.size(); ++id)
        if (graph.tensors[id].slice && torn.contains(whole_name(graph.tensors[id])))
            rules.never_resident[id] = true;
    return torn.empty();
}

}  // namespace

std::vector<std::string> residents(const Graph& graph, const std::vector<Placement>& placements) {
    std::vector<std::string> names;
    for (TensorId id = 0; id < placements.size(); ++id) {
        const Tensor& tensor = graph.tensors[id];
        if (is_activation(tensor) && placements[id].space == Space::Scratchpad &&
            (!tensor.slice || tensor.slice->index == 0))
            names.push_back(whole_name(tensor));
    }
    return names;
}

// Resident tensors keep clear of the margin that padding addresses may name.
std::vector<Placement> place_tensors(const Graph& graph, const DataflowSpecs& specs, const Protocol& protocol,
                                     const Mapping* mapping, int cores) {
    const SystolicSpec& spec = specs.any();
    if (cores == 0) cores = spec.cores;
    const PaddingMargin margin = padding_margin(graph, specs);
    AllocationRules rules = allocation_rules(graph, specs, margin, cores);
    const bool by_hand = mapping && mapping->resident;
    if (by_hand) keep_to(graph, spec, *mapping, rules);
    rules.outputs_in_dram = !by_hand && protocol.outputs_to == Protocol::Where::Dram;
    std::vector<Placement> placements = allocate(graph, rules);
    while (!parts_alike(graph, placements, rules)) placements = allocate(graph, rules);
    if (by_hand) check_residents(graph, cores, *mapping, placements);
    for (Placement& placement : placements) {
        if (placement.space == Space::Scratchpad) placement.address += margin.bytes;
    }
    return placements;
}

}  // namespace systole::systolic
