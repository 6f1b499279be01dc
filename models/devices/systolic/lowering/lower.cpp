// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "models/devices/systolic/lowering/cores_at_work.h"
#include "models/devices/systolic/lowering/dataflow_specs.h"
#include "models/devices/systolic/lowering/extents.h"
#include "models/devices/systolic/lowering/gemm.h"
#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/placement.h"
#include "models/devices/systolic/lowering/workspace.h"
#include "sim/base/checked.h"

namespace systole::systolic {
namespace {

/// The least commands of a layer, whatever the mapping, or more than a program may have where that leaves 64
/// bits. With a weight FIFO every weight tile costs a transfer, and a pass for every accumulator's worth of
/// rows; otherwise every output tile costs a pass (of all its folds) and a drain.
std::int64_t least_commands(const Operator& op, const MxuSpec& mxu) {
    const Extents e = extents_of(op);
    const std::int64_t sparsity = mxu.sparse_kept > 0 ? mxu.sparse_of / mxu.sparse_kept : 1;
    const std::int64_t deepest = sparsity * mxu.rows * std::max<std::int64_t>(1, mxu.highest_rate().macs);
    std::int64_t tiles[] = {ceil_div(e.k, deepest), ceil_div(e.n, mxu.cols)};
    std::int64_t each = 1 + ceil_div(e.m, mxu.accumulator_rows);
    if (mxu.dataflow == Dataflow::OutputStationary)
        tiles[0] = ceil_div(e.m, mxu.rows), each = 2;
    else if (mxu.dataflow == Dataflow::InputStationary)
        tiles[0] = 1, tiles[1] = ceil_div(e.m, mxu.cols), each = 2;
    else if (mxu.direct())
        tiles[0] = 1, each = 2;
    const auto count = checked_mul(tiles[0], tiles[1]);
    const auto all = count ? checked_mul(*count, e.items * each) : std::nullopt;
    return all.value_or(static_cast<std::int64_t>(Emitter::kMaxCommands) + 1);
}

/// Finds out early what the emitter would find out after minutes.
void refuse_endless(const Graph& graph, const DataflowSpecs& specs) {
    std::int64_t commands = 0;
    for (const Layer& layer : graph.layers) {
        const MxuSpec& mxu = specs.of(layer).mxu;
        commands += least_commands(layer.op, mxu);
        if (commands > static_cast<std::int64_t>(Emitter::kMaxCommands))
            refuse(layer,
                   fmt::format("up to here the program needs at least {} commands on arrays of {}x{}; at "
                               "most {} are simulated",
                               commands, mxu.rows, mxu.cols, Emitter::kMaxCommands));
    }
}

/// Numbers with scales of blocks, which no array multiplies and no lane makes.
void refuse_blocks(const Graph& graph) {
    for (const Layer& layer : graph.layers) {
        std::vector<TensorId> tensors = layer.inputs;
        tensors.push_back(layer.output);
        for (const TensorId id : tensors)
            if (graph.tensors[id].format.scales == Scales::Block)
                refuse(layer,
                       fmt::format("'{}' has a scale for each block of {}, which devices of kind systolic do "
                                   "not run; those of kind simt with sm.tensor.block_scales do",
                                   graph.tensors[id].name, graph.tensors[id].format.group));
    }
}

/// Each tensor of the layer that lives in DRAM, or has to come from there or go there, once.
std::int64_t compulsory_bytes(const Workspace& workspace, const Layer& layer, const LayerPlan& plan) {
    const TensorFlow& flow = workspace.flow;
    std::map<TensorId, std::int64_t> bytes;
    const bool later_part = layer.slice && layer.slice->index > 0;
    const auto touch = [&](TensorId tensor, std::int64_t count) {
        // Of a layer in parts, the first one's.
        if (later_part && workspace.graph.tensors[tensor].role == TensorRole::Weights) return;
        std::int64_t& known = bytes[workspace.graph.tensors[tensor].view_of.value_or(tensor)];
        known = std::max(known, count);
    };
    for (const LayerPlan::Touched& t : plan.touched)
        touch(t.tensor, flow.resident(t.tensor) ? std::min(t.bytes, flow.to_arrive(t.tensor)) : t.bytes);
    std::int64_t written = stored_bytes(workspace.graph.tensors[layer.output]).value();
    if (const auto* append = std::get_if<CacheAppend>(&layer.op))
        written = written / append->length * append->rows;
    if (flow.stored_in_dram(layer.output)) touch(layer.output, written);
    std::int64_t sum = 0;
    for (const auto& [tensor, count] : bytes) sum += count;
    return sum;
}

/// What has to pass the DRAM's bus whatever the mapping, once it is settled what stays in the scratchpad:
/// inputs that live there or come from there, outputs likewise …
std::int64_t interface_bytes(const Graph& graph, const TensorFlow& flow) {
    std::int64_t sum = 0;
    for (const TensorId input : graph.inputs)
        sum += flow.resident(input) ? flow.to_arrive(input) : stored_bytes(graph.tensors[input]).value();
    for (const TensorId output : graph.outputs) {
        const Tensor& tensor = graph.tensors[output];
        const bool stays = tensor.role == TensorRole::KvCache || tensor.role == TensorRole::OptimizerState;
        const bool stored = flow.stored_in_dram(output) && !stays;
        if (stored) sum += stored_bytes(tensor).value();
    }
    return sum;
}

/// … and the weights that a layer touches, with the first layer that does, or its state; an optimizer writes
/// those that others have read. Of a cache, all rows pass once: the old ones are read, the new ones written.
std::int64_t weight_bytes(const Graph& graph, const Layer& layer, const LayerPlan& plan,
                          std::vector<bool>& counted) {
    if (layer.slice && layer.slice->index > 0) return 0;
    std::int64_t sum = 0;
    if (std::holds_alternative<CacheAppend>(layer.op))
        sum += stored_bytes(graph.tensors[layer.output]).value();
    const bool writes = std::holds_alternative<Optimizer>(layer.op);
    for (const LayerPlan::Touched& touched : plan.touched) {
        const TensorRole role = graph.tensors[touched.tensor].role;
        const bool weights = role == TensorRole::Weights && (writes || !counted[touched.tensor]);
        if (weights && !writes) counted[touched.tensor] = true;
        if (weights || role == TensorRole::OptimizerState) sum += touched.bytes;
    }
    return sum;
}

/// The next part of a layer's batch arrives while this one is worked on.
void fetch_next_part(TensorFlow& flow, const Graph& graph, const Layer& layer) {
    if (!layer.slice) return;
    for (const TensorId input : layer.inputs) {
        const Tensor& part = graph.tensors[input];
        if (!part.view_of) continue;
        const Bytes behind = stored_bytes(graph.tensors[*part.view_of]) - part.view_offset;
        flow.fetch(input, 0, std::min(behind, stored_bytes(part) * 2).value());
    }
}

/// A type at which the matrix units' capacity can be counted: the layer's own, or else the first they have.
DType capacity_dtype(const MxuSpec& mxu, const LayerPlan& plan) {
    const DType dtype = plan.dtype;
    if (mxu.rate_of(dtype, plan.second_dtype)) return dtype;
    const auto found = std::ranges::find_if(mxu.rate, [](const auto& rate) { return rate.has_value(); });
    return found == mxu.rate.end() ? dtype : static_cast<DType>(found - mxu.rate.begin());
}

/// The steps of every core; `first`: the plan of the first one. Collectives are the first core's.
std::vector<std::shared_ptr<Steps>> steps_of(std::vector<Workspace>& cores, const LayerPlan& first,
                                             std::int32_t index) {
    const Layer& layer = cores.front().graph.layers[static_cast<std::size_t>(index)];
    const bool shared = cores.size() > 1 && !std::holds_alternative<Collective>(layer.op);
    std::vector<std::shared_ptr<Steps>> all{first.steps};
    for (std::size_t core = 1; core < cores.size() && shared; ++core)
        all.push_back(plan(cores[core], index).steps);
    if (!shared || first.dealt) return all;
    for (std::size_t core = 0; core < all.size(); ++core)
        all[core] = std::make_shared<StepRange>(all[core], cores[core].core.of(all[core]->count()));
    return all;
}

/// How a layer is mapped onto cores, in words.
std::string said_of_cores(const LayerPlan& plan, const Layer& layer, int cores, int at_work) {
    if (cores == 1 || plan.mapping.find(" cores over ") != std::string::npos) return plan.mapping;
    const bool matrix = std::holds_alternative<MatMul>(layer.op) || std::holds_alternative<Conv2d>(layer.op);
    const auto* conv = std::get_if<Conv2d>(&layer.op);
    if (at_work == 1 || std::holds_alternative<Collective>(layer.op) ||
        (matrix && !(conv && conv->depthwise())))
        return fmt::format("one of {} cores; {}", cores, plan.mapping);
    return fmt::format("{} cores; {}", cores, plan.mapping);
}

/// How a layer is mapped, in words.
std::string said_of(const LayerPlan& plan, const Layer& layer, const DataflowSpecs& specs, int at_work) {
    const SystolicSpec& spec = specs.of(layer);
    const std::string mapping = said_of_cores(plan, layer, spec.cores, at_work);
    return specs.mixed() && uses_arrays(layer.op)
               ? fmt::format("{}; {}", to_string(spec.mxu.dataflow), mapping)
               : mapping;
}

/// A run of folds is one command: it may stand for many only where issuing them costs nothing, neither time
/// nor room in a queue.
bool runs_are_free(const SystolicSpec& spec) {
    return spec.mxu.direct() && spec.mxu.dataflow != Dataflow::OutputStationary &&
           spec.sequencer.issue_cycles == Cycles(0) && spec.sequencer.queue_depth == kUnboundedQueue;
}

/// A layer of the same turn of a block by the name that it has there: turns are mapped alike, and say so
/// alike.
std::string name_beside(const Layer& layer, const std::string& other) {
    const std::string turn = layer.name.substr(0, layer.name.rfind('.') + 1);
    return other.starts_with(turn) ? other.substr(turn.size()) : other;
}

}  // namespace

LayerPlan plan(Workspace& workspace, std::int32_t index) {
    const Operator& op = workspace.graph.layers[static_cast<std::size_t>(index)].op;
    if (std::holds_alternative<Transpose>(op)) return plan_transpose(workspace, index);
    if (std::holds_alternative<Embedding>(op) || std::holds_alternative<Gather>(op))
        return plan_lookup(workspace, index);
    if (std::holds_alternative<EmbeddingGradient>(op)) return plan_embedding_gradient(workspace, index);
    if (std::holds_alternative<Optimizer>(op)) return plan_optimizer(workspace, index);
    if (const auto* r = std::get_if<Reduce>(&op); r && r->columns) return plan_column_sums(workspace, index);
    if (std::holds_alternative<Concat>(op) || std::holds_alternative<Slice>(op))
        return plan_movement(workspace, index);
    if (const auto* e = std::get_if<Elementwise>(&op); e && (e->stored || e->times > 1))
        return plan_broadcast(workspace, index);
    if (std::holds_alternative<Rotary>(op)) return plan_rotary(workspace, index);
    if (std::holds_alternative<Resize>(op)) return plan_resize(workspace, index);
    if (std::holds_alternative<Scaling>(op)) return plan_scaling(workspace, index);
    if (std::holds_alternative<ConvTranspose>(op)) return plan_conv_transpose(workspace, index);
    if (std::holds_alternative<Collective>(op)) return plan_collective(workspace, index);
    if (std::holds_alternative<CacheAppend>(op)) return plan_kv_cache(workspace, index);
    const auto* attention = std::get_if<Attention>(&op);
    if (attention && attention->part == Attention::Part::Whole) return plan_attention(workspace, index);
    const auto* conv = std::get_if<Conv2d>(&op);
    const bool depthwise = conv && conv->depthwise();
    const bool matrix = std::holds_alternative<MatMul>(op) || std::holds_alternative<Conv2d>(op) || attention;
    return matrix && !depthwise ? plan_matrix(workspace, index) : plan_vector(workspace, index);
}

LayerPlan plan_matrix(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    GemmProblem problem = gemm_problem(workspace, layer);
    const GemmMapping mapping = map_gemm(workspace, layer, problem);
    LayerPlan result;
    result.dealt = true;
    result.cycles = mapping.tiling.cycles;
    if (workspace.core.index == 0) {
        workspace.chip.used.layers.emplace(whole_name(layer), used_mapping(problem, mapping));
        if (!mapping.variants.empty()) workspace.chip.variants.emplace(whole_name(layer), mapping.variants);
        result.mapping = describe_mapping(problem, mapping);
    }
    result.dtype = workspace.dtype(problem.input);
    result.second_dtype = other_than(result.dtype, problem.second_dtype);
    result.touched.push_back({problem.input, problem.source->covered_bytes()});
    const Tensor& second = workspace.graph.tensors[problem.second];
    result.touched.push_back(
        {problem.second, problem.items * row_bytes(second.dtype, problem.k * problem.n).value()});
    // Of experts, those that are met.
    const auto met = [&](TensorId tensor) {
        const std::int64_t all = stored_bytes(workspace.graph.tensors[tensor]).value();
        return problem.experts > 0 ? ceil_div(all, problem.experts) * problem.items : all;
    };
    if (second.format.packed()) result.touched.back().bytes = met(problem.second);
    for (const TensorId column : problem.columns) result.touched.push_back({column, met(column)});
    if (problem.join) {
        result.mapping += fmt::format("; joined by {}", name_beside(layer, layer.joined->name));
        result.touched.push_back(
            {problem.join->tensor, stored_bytes(workspace.graph.tensors[problem.join->tensor]).value()});
    }
    result.steps = std::make_shared<GemmSteps>(workspace, index, std::move(problem), mapping.tiling);
    return result;
}

Lowered lower(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
              const LoweringOptions& options) {
    LoweringOptions all = options;
    if (all.cores == 0) all.cores = cores_at_work(graph, spec, protocol, options.mapping, options.dataflows);
    // First of all: whether memories hold the network.
    return lower_at(place_tensors(graph, DataflowSpecs(graph, spec, options.dataflows), protocol,
                                  options.mapping, all.cores),
                    graph, spec, protocol, all);
}

Lowered lower_at(std::vector<Placement> placements, const Graph& graph, const SystolicSpec& spec,
                 const Protocol& protocol, const LoweringOptions& options) {
    const DataflowSpecs specs(graph, spec, options.dataflows);
    refuse_blocks(graph);
    refuse_endless(graph, specs);
    check_updates(graph);
    Lowered lowered;
    lowered.placements = std::move(placements);
    const int at_work = options.cores == 0 ? spec.cores : options.cores;
    ChipWorkspace chip(graph, spec, protocol, lowered.placements, at_work);
    chip.mapping = options.mapping;
    chip.tried = options.tried;
    chip.most_variants = options.most_variants;
    if (options.choices) chip.choices = &lowered.choices;
    std::vector<CoreStorage> storage(static_cast<std::size_t>(at_work), CoreStorage(spec));
    std::map<Dataflow, std::vector<Workspace>> cores_in;
    for (const SystolicSpec& own : specs.all())
        for (int core = 0; core < at_work; ++core) {
            auto& cores = cores_in[own.mxu.dataflow];
            cores.emplace_back(chip, core, own, storage[static_cast<std::size_t>(core)]);
            cores.back().runs_of_folds = options.runs_of_folds && runs_are_free(own);
        }
    Pipeline pipeline(cores_in.at(specs.first()));
    std::int64_t compulsory = interface_bytes(graph, chip.flow);
    std::vector<bool> counted(graph.tensors.size());  // weights, in it
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        const Layer& layer = graph.layers[i];
        const auto index = static_cast<std::int32_t>(i);
        std::vector<Workspace>& cores = cores_in.at(specs.of(layer).mxu.dataflow);
        const LayerPlan planned = plan(cores.front(), index);
        chip.emitter.add_layer({layer.name, op_name(layer), said_of(planned, layer, specs, at_work),
                                macs(layer.op).value(), compulsory_bytes(cores.front(), layer, planned),
                                capacity_dtype(spec.mxu, planned), planned.second_dtype,
                                specs.own_dataflow(layer), layer.slice ? layer.slice->count : 1});
        lowered.weights.emplace_back(weight_bytes(graph, layer, planned, counted));
        compulsory += lowered.weights.back().value();
        fetch_next_part(chip.flow, graph, layer);
        pipeline.run(steps_of(cores, planned, index), index);
    }
    pipeline.finish();
    chip.flow.finish();
    lowered.program = chip.emitter.take();
    lowered.mapping = std::move(chip.used);
    lowered.variants = std::move(chip.variants);
    if (at_work < spec.cores) lowered.mapping.cores = at_work;
    if (spec.placement.choose) lowered.mapping.resident = residents(graph, lowered.placements);
    lowered.program.dataflow = specs.first();
    if (options.dataflows) lowered.mapping.dataflows = *options.dataflows;
    lowered.program.compulsory_dram = compulsory;
    lowered.program.inputs_at = to_string(protocol.inputs_at);
    lowered.program.outputs_to = to_string(protocol.outputs_to);
    return lowered;
}

}  // namespace systole::systolic
