// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/vector_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/devices/simt/kernels/moves.h"
#include "models/devices/simt/kernels/qkv_kernel.h"
#include "models/devices/simt/kernels/reduce_kernel.h"
#include "models/devices/simt/kernels/time_vector.h"
#include "models/devices/simt/kernels/top_k.h"
#include "models/devices/simt/kernels/vector_program.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

namespace systole::simt {
namespace {

// Of a kernel: two minutes or so, and more bytes than a memory holds but for rows of a few bytes.
constexpr std::int64_t kMostCtas = std::int64_t{1} << 27;

/// Chips whose pipes are one vector ALU are AMD's.
MathLibrary library_of(const SmSpec& sm) {
    return sm.one_pipe ? MathLibrary::Ocml : MathLibrary::Cuda;
}

/// Of each result.
InstructionMix work_of(const Layer& layer, MathLibrary library) {
    if (const auto* activation = std::get_if<Activation>(&layer.op))
        return mix_of(activation->function, library);
    if (const auto* scaling = std::get_if<Scaling>(&layer.op)) {
        if (scaling->kind == Scaling::Kind::Dequantize) return mix_of(Elementwise::Kind::Mul);
        // The greatest of absolute values, and a share of a block's scale (TensorRT-LLM, quantization.cuh,
        // cvt_warp_fp16_to_fp4: an exchange with a neighbour, a product, two conversions and two reciprocals
        // for the eight or sixteen of a thread); then a product. The conversion saturates.
        if (scaling->format.scales == Scales::Block) return {.fp32 = 1, .integer = 2};
        return quotient(library) + mix_of(Function::Round) + mix_of(Function::Clip);
    }
    const auto& elementwise = std::get<Elementwise>(layer.op);
    return mix_of(elementwise.kind) + mix_of(elementwise.post, library);
}

constexpr std::int64_t kIndexBytes = 4;

/// What it asks for of an SM's shared memory, if anything.
std::string with_shared(const CtaProgram& program) {
    return program.shared > Bytes(0) ? fmt::format(", {} of shared memory", format_bytes(program.shared))
                                     : "";
}

/// Layers that one kernel does ahead of attention.
bool is_qkv(std::span<const Layer> layers) {
    return layers.size() >= kQkvLayers && std::holds_alternative<CacheAppend>(layers.back().op);
}

/// Rotary embeddings that one kernel does.
bool is_pair(std::span<const Layer> layers) {
    return (layers.size() == kTurnedByVllm || layers.size() == kTurnedViews) &&
           std::holds_alternative<Rotary>(layers.back().op);
}

/// Of a layer or a chain, what is kept: the last one's; of a top-k, values and indices; of queries and keys,
/// both.
std::vector<TensorId> outputs_of(std::span<const Layer> layers) {
    std::vector<TensorId> outputs{layers.back().output};
    if (layers.size() > 1 && std::holds_alternative<TopK>(layers.front().op))
        outputs.push_back(layers.front().output);
    if (is_pair(layers)) outputs.push_back(layers.last(kTurnedByVllm).front().output);
    // Of what is done ahead of attention, turned queries and the cache of keys.
    if (is_qkv(layers)) {
        const std::span<const Layer> own = layers.last(kQkvLayers);
        outputs.insert(outputs.end(), {own[0].output, own[2].output});
    }
    return outputs;
}

/// Each of which several CTAs have a part of.
std::int64_t results_of(const VectorKernel& kernel) {
    return kernel.windows ? kernel.cols : kernel.rows;
}

}  // namespace

DType slots_of(DType dtype, const SmSpec& sm) {
    if (sm.macs(dtype) > 0) return dtype;
    std::optional<DType> first;  // of pipelines where there are no tensor cores
    for (std::size_t i = 0; i < kDTypes; ++i) {
        if (sm.tensor.macs[i]) return static_cast<DType>(i);
        if (!first && sm.macs(static_cast<DType>(i)) > 0) first = static_cast<DType>(i);
    }
    return first.value_or(DType::Fp32);
}

std::optional<std::string> what_no_vector_kernel_does(const Layer& layer) {
    const std::string name = op_name(layer);
    if (std::holds_alternative<Activation>(layer.op) || std::holds_alternative<Scaling>(layer.op))
        return std::nullopt;
    if (const auto* elementwise = std::get_if<Elementwise>(&layer.op)) {
        if (elementwise->slope != Function::None) return name + " with a slope";
        return std::nullopt;
    }
    if (const auto* pool = std::get_if<Pool>(&layer.op)) {
        if (pool->gradient) return "the gradient of " + name;
        return std::nullopt;
    }
    if (const auto* conv = std::get_if<Conv2d>(&layer.op); conv != nullptr && conv->depthwise()) {
        if (conv->depth) return name;
        if (conv->format != WeightFormat{} || layer.scales) return name + " with scaled or sparse weights";
        return std::nullopt;
    }
    if (const auto* softmax = std::get_if<Softmax>(&layer.op)) {
        if (softmax->gradient) return "the gradient of " + name;
        return std::nullopt;
    }
    if (const auto* norm = std::get_if<Norm>(&layer.op)) {
        if (norm->gradient) return "the gradient of " + name;
        return std::nullopt;
    }
    if (const auto* slice = std::get_if<Slice>(&layer.op); slice && slice->gradient)
        return "the gradient of " + name;
    if (const auto* top = std::get_if<TopK>(&layer.op)) {
        if (top->gradient) return "the gradient of " + name;
        return std::nullopt;
    }
    if (const auto* reduce = std::get_if<Reduce>(&layer.op)) {
        if (reduce->columns && layer.inputs.size() > 1) return name + " of products";
        return std::nullopt;
    }
    if (is_move(layer.op)) return std::nullopt;
    return name;
}

/// A function of one tensor times another of the same shape, in either order.
bool VectorPlanner::is_gate(std::span<const Layer> layers, int operands, std::int64_t results) const {
    bool function = false, product = false;
    for (const Layer& layer : layers) {
        const auto* elementwise = std::get_if<Elementwise>(&layer.op);
        function = function || std::holds_alternative<Activation>(layer.op) ||
                   (elementwise && elementwise->post != Function::None);
        if (!elementwise) continue;
        product = elementwise->kind == Elementwise::Kind::Mul && !elementwise->stored &&
                  elements(graph_.tensors[layer.inputs.at(1)].shape) == results;
    }
    return function && product && operands == 2;
}

VectorKernel VectorPlanner::kernel_of(std::span<const Layer> layers) const {
    const Layer &layer = layers.front(), &last = layers.back();
    const DType in = graph_.tensors[layer.inputs.at(0)].dtype, out = graph_.tensors[last.output].dtype;
    if (const auto* softmax = std::get_if<Softmax>(&layer.op))
        return softmax_kernel(softmax->rows, softmax->cols, in, out, spec_.kernels.layers);
    if (const auto* norm = std::get_if<Norm>(&layer.op)) {
        VectorKernel kernel = norm_kernel(*norm, in, out, spec_.kernels.layers);
        kernel.shift = layer.bias.has_value();
        return kernel;
    }
    if (const auto* pool = std::get_if<Pool>(&layer.op)) return pool_kernel(*pool, in, out, spec_.sm);
    if (const auto* reduce = std::get_if<Reduce>(&layer.op))
        return reduce->columns ? column_sum_kernel(*reduce, in, out, spec_.sm)
                               : row_sum_kernel(*reduce, in, out, spec_.sm);
    if (const auto* top = std::get_if<TopK>(&layer.op)) return top_k_kernel(*top, in);
    if (const auto* conv = std::get_if<Conv2d>(&layer.op)) return depthwise_kernel(*conv, in, out);
    int operands = 1;
    InstructionMix work;
    for (const Layer& one : layers) {
        operands += std::holds_alternative<Elementwise>(one.op) || one.scales ? 1 : 0;
        work += work_of(one, library_of(spec_.sm));
    }
    const Shape& shape = graph_.tensors[last.output].shape;
    if (spec_.kernels.layers == Library::Vllm && is_gate(layers, operands, elements(shape)))
        return gate_kernel(elements(shape) / shape.back(), shape.back(), work, in, out);
    return elementwise_kernel(elements(shape), operands, work, in, out, spec_.kernels.layers);
}

void VectorPlanner::add_operands(const Layer& layer, std::optional<TensorId> made, VectorPlan& plan) const {
    const auto* elementwise = std::get_if<Elementwise>(&layer.op);
    const bool by_element = plan.kernel.kind == VectorKernel::Kind::Elementwise;
    const auto add = [&](TensorId id, Operand operand, std::int64_t items) {
        const std::int64_t own = elements(graph_.tensors[id].shape);
        const MatrixPlace at = place(id, operand);
        if (id != made)
            plan.in.push_back(
                {at, own, by_element ? met_again(plan.kernel.cols, own, items) : OperandMap{}, at.bytes});
    };
    add(layer.inputs.at(0), Operand::Activations, 1);
    if (elementwise && elementwise->stored)
        add(layer.weights.value(), Operand::Weights, elementwise->items);
    else if (elementwise)
        add(layer.inputs.at(1), Operand::Activations, elementwise->items);
    // A row of scales for each group of rows, or for all.
    if (const auto* scaling = std::get_if<Scaling>(&layer.op); scaling && layer.scales)
        add(*layer.scales, Operand::Weights,
            scaling->format.scales == Scales::Group ? scaling->rows / scaling->format.group : 1);
    if (std::holds_alternative<Norm>(layer.op) || std::holds_alternative<Conv2d>(layer.op)) {
        if (layer.weights) plan.columns.push_back(place(*layer.weights, Operand::Weights));
        if (layer.bias) plan.columns.push_back(place(*layer.bias, Operand::Weights));
    }
}

void VectorPlanner::add_operands(const Layer& layer, const Move& move, VectorPlan& plan) const {
    for (const Move::From& from : move.from) {
        const TensorRole role = graph_.tensors[from.tensor].role;
        const Operand operand = role == TensorRole::Weights   ? Operand::Weights
                                : role == TensorRole::KvCache ? Operand::KvCache
                                                              : Operand::Activations;
        plan.in.push_back({place(from.tensor, operand), elements(graph_.tensors[from.tensor].shape), from.map,
                           touched(graph_, layer, from.tensor)});
    }
    plan.stores = move.to;
}

VectorPlan VectorPlanner::timed(const Layer& layer, const VectorKernel& kernel) {
    if (kernel.ctas() > kMostCtas)
        throw UserError(layer.where,
                        fmt::format("'{}': {} takes {} CTAs ({}); at most {} are simulated", layer.name,
                                    op_name(layer), kernel.ctas(), to_string(kernel), kMostCtas));
    // Other rows go as these do.
    VectorKernel of_cta = kernel;
    of_cta.rows = 1;
    of_cta.lookup = {.bag = kernel.lookup.bag};
    of_cta.turn = kernel.turn.of_tile();
    of_cta.qkv = kernel.qkv.of_cta();
    if (kernel.of_elements()) of_cta.cols = kernel.elements_of_cta();
    if (kernel.windows) of_cta.windows->images = 1;
    auto known = kept_.vectors.find(of_cta);
    if (known == kept_.vectors.end()) {
        KeptTimings::Vector timed{of_cta, {}};
        timed.timing = time_vector(timed.kernel, spec_.sm);
        known = kept_.vectors.emplace(of_cta, timed).first;
    }
    if (!known->second.timing) {
        const CtaProgram program = vector_program(kernel);
        throw UserError(
            layer.where,
            fmt::format("'{}': no kernel for {} fits an SM of {} ({} threads, {} registers each{})",
                        layer.name, op_name(layer), spec_.name, kernel.threads(), program.registers_of_thread,
                        with_shared(program)));
    }
    VectorPlan plan;
    plan.kernel = kernel;
    plan.kernel.rereads_l1 = known->second.kernel.rereads_l1;
    plan.timing = *known->second.timing;
    if (kernel.kind == VectorKernel::Kind::Qkv)
        plan.timing = with_places_of(kernel.qkv, plan.timing, spec_.sm);
    plan.sms = spec_.sm.count;
    return plan;
}

VectorOperand VectorPlanner::operand(TensorId id, Operand kind) const {
    return {place(id, kind), elements(graph_.tensors[id].shape)};
}

/// By the table of queries, which is that of keys, too.
VectorPlan VectorPlanner::rotary_plan(std::span<const Layer> layers) {
    const std::span<const Layer> own = layers.last(kTurnedByVllm);
    const Layer &queries = own.front(), &keys = own.back();
    VectorKernel kernel =
        rotary_kernel(std::get<Rotary>(queries.op), graph_.tensors[queries.inputs.at(0)].dtype,
                      graph_.tensors[queries.output].dtype, std::get<Rotary>(keys.op).heads);
    if (layers.size() == kTurnedViews) kernel.packed_cols = std::get<Slice>(layers.front().op).in;
    kernel.position_latency = spec_.l2.latency.value();
    kernel = with_warps_of(kernel, spec_.sm.warp_threads);
    kernel.math = library_of(spec_.sm);
    VectorPlan plan = timed(queries, kernel);
    for (const Layer* layer : {&queries, &keys}) {
        plan.in.push_back(operand(layer->inputs.at(0), Operand::Activations));
        if (kernel.packed_cols == 0) continue;
        const Bytes part = plan.in.back().place.bytes;
        plan.in.back() = operand(layers.front().inputs.at(0), Operand::Activations);
        plan.in.back().touched = part;
    }
    plan.in.push_back(operand(*queries.weights, Operand::Weights));
    plan.to = operand(queries.output, Operand::Outputs);
    plan.beside = place(keys.output, Operand::Outputs);
    return plan;
}

/// Rotary embeddings of queries and keys, and two caches.
VectorPlan VectorPlanner::qkv_plan(std::span<const Layer> layers) {
    const std::span<const Layer> own = layers.last(kQkvLayers);
    VectorPlan plan =
        timed(layers.front(), with_warps_of(qkv_kernel(graph_, layers, spec_), spec_.sm.warp_threads));
    for (const Layer* reader : {&own[0], &own[1], &own[3]}) {
        plan.in.push_back(operand(reader->inputs.at(0), Operand::Activations));
        if (!plan.kernel.qkv.packed) continue;
        const Bytes part = plan.in.back().place.bytes;
        plan.in.back() = operand(layers.front().inputs.at(0), Operand::Activations);
        plan.in.back().touched = part;
    }
    if (!plan.kernel.qkv.computed) plan.in.push_back(operand(*own[0].weights, Operand::Weights));
    plan.to = operand(own[0].output, Operand::Outputs);
    for (const Layer& cache : own.subspan(2)) plan.caches.push_back(place(cache.output, Operand::KvCache));
    if (plan.kernel.qkv.keeps_keys) plan.beside = place(own[1].output, Operand::Outputs);
    return plan;
}

VectorPlan VectorPlanner::plan(std::span<const Layer> layers) {
    if (is_qkv(layers)) return qkv_plan(layers);
    if (is_pair(layers)) return rotary_plan(layers);
    const Layer& layer = layers.front();
    const auto move = move_of(graph_, layer);
    VectorKernel kernel = move ? move->kernel : kernel_of(layers);
    if (kernel.kind == VectorKernel::Kind::Lookup && kernel.lookup.bag == 1 && of_2023(spec_.kernels.layers))
        kernel = by_element(kernel);
    if (kernel.kind == VectorKernel::Kind::Rotary) kernel.position_latency = spec_.l2.latency.value();
    kernel = with_warps_of(kernel, spec_.sm.warp_threads);
    kernel.math = library_of(spec_.sm);
    VectorPlan plan = timed(layer, kernel);
    // Values and indices of a top-k are of one operand.
    const std::size_t reading = kernel.kind == VectorKernel::Kind::TopK ? 1 : layers.size();
    if (move) add_operands(layer, *move, plan);
    for (std::size_t i = 0; i < reading && !move; ++i)
        add_operands(layers[i], i > 0 ? std::optional(layers[i - 1].output) : std::nullopt, plan);
    const TensorId output = layers.back().output;
    const bool cache = std::holds_alternative<CacheAppend>(layer.op);
    plan.to = {place(output, cache ? Operand::KvCache : Operand::Outputs),
               elements(graph_.tensors[output].shape),
               {},
               touched(graph_, layers.back(), output)};
    if (kernel.weighted)
        plan.macs_per_cycle = spec_.macs_per_cycle(slots_of(kernel.in, spec_.sm)) / spec_.sm.count;
    return plan;
}

// What nobody asked for is left all the same.
void VectorPlanner::add_top_k(std::span<const Layer> layers, const Room& room, VectorPlan& plan) const {
    const auto& top = std::get<TopK>(layers.front().op);
    std::optional<MatrixPlace> values, indices;
    for (const Layer& layer : layers)
        (std::get<TopK>(layer.op).indices ? indices : values) = place(layer.output, Operand::Outputs);
    const std::int64_t results = top.rows * top.k;
    if (!values)
        values =
            room(Bytes(ceil_div(results * bits_of(plan.kernel.in).value(), 8)), "the values of its top-k");
    if (!indices) indices = room(Bytes(results * kIndexBytes), "where the values of its top-k stood");
    plan.to = {*values, results, {}, values->bytes};
    plan.beside = *indices;
}

/// Of what lies there in any order.
VectorPlan VectorPlanner::sort_plan(const Layer& layer, const VectorPlan& found) {
    const VectorKernel kernel = sort_kernel(std::get<TopK>(layer.op), found.kernel.in, spec_.sm);
    VectorPlan plan = timed(layer, with_warps_of(kernel, spec_.sm.warp_threads));
    const std::int64_t results = kernel.rows * kernel.cols;
    plan.in = {found.to, {found.beside, results, {}, found.beside.bytes}};
    plan.to = found.to;
    plan.beside = found.beside;
    return plan;
}

LayerPlan VectorPlanner::layer_plan(std::span<const Layer> layers, const Room& room) {
    VectorPlan vector = plan(layers);
    LayerPlan layer;
    layer.name = (is_qkv(layers)    ? layers.last(kQkvLayers)
                  : is_pair(layers) ? layers.last(kTurnedByVllm)
                                    : layers)
                     .front()
                     .name;
    for (const Layer& one : layers) layer.op += (layer.op.empty() ? "" : " + ") + op_name(one);
    layer.mapping =
        fmt::format("{}, {}", to_string(vector.kernel),
                    waves_text(vector.kernel.ctas(), spec_.sm.count, vector.timing.resident, spec_.sm));
    layer.dtype = slots_of(vector.kernel.in, spec_.sm);
    layer.macs = macs(layers.front().op);
    for (const TensorId id : outputs_of(layers)) layer.compulsory_dram += touched(graph_, layers.back(), id);
    for (std::size_t i = 0; i < vector.in.size(); ++i) {
        // Of a tensor that several operands are parts of, all of it once.
        const auto same = [&](const VectorOperand& other) {
            return other.place.address == vector.in[i].place.address;
        };
        if (std::none_of(vector.in.begin(), vector.in.begin() + static_cast<std::ptrdiff_t>(i), same))
            layer.compulsory_dram += vector.in[i].touched;
    }
    // Queries, keys and values that are parts of one.
    if (vector.kernel.qkv.packed) layer.compulsory_dram += vector.in[1].touched + vector.in[2].touched;
    if (vector.kernel.packed_cols > 0) layer.compulsory_dram += vector.in[1].touched;
    for (const MatrixPlace& matrix : vector.columns) layer.compulsory_dram += matrix.bytes;
    if (vector.kernel.parts > 1)
        vector.sums = room(Bytes(results_of(vector.kernel) * vector.kernel.parts * kPartialBytes),
                           "sums of parts of what it adds up");
    if (vector.kernel.kind == VectorKernel::Kind::TopK) {
        add_top_k(layers, room, vector);
        layer.kernels.emplace_back(vector);
        if (vector.kernel.k > 1) {
            layer.kernels.emplace_back(sort_plan(layers.front(), vector));
            layer.mapping += ", then a sort";
        }
        return layer;
    }
    layer.kernels.emplace_back(std::move(vector));
    return layer;
}

}  // namespace systole::simt
