// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/graph_builder.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "sim/base/checked.h"
#include "sim/workload/operator_shapes.h"

namespace systole {
namespace {

/// Integer arithmetic adds biases at accumulator width; floating point adds them in single precision. A
/// norm's shift is stored like its scale.
DType bias_dtype(const LayerPlan& plan, DType activations) {
    if (std::holds_alternative<Norm>(plan.op)) return plan.weight_dtype;
    const bool integer = activations == DType::Int4 || activations == DType::Int8 ||
                         activations == DType::Int16 || activations == DType::Int32;
    return integer ? DType::Int32 : DType::Fp32;
}

/// Whether rows of both shapes fall on the same bytes. Rows are padded to whole bytes, so rows of 4-bit
/// elements can only be joined or cut where none of them ends inside a byte.
bool same_bytes(DType dtype, const Shape& a, const Shape& b) {
    const auto whole = [&](const Shape& shape) { return bits_of(dtype).value() * shape.back() % 8 == 0; };
    return a.back() == b.back() || (whole(a) && whole(b));
}

/// Whether a slice along the rows of 4-bit elements begins between two of a byte.
bool begins_inside_byte(const Operator& op, const Tensor& in) {
    const auto* slice = std::get_if<Slice>(&op);
    const bool along_rows = slice && slice->inner == 1 && slice->in == in.shape.back();
    return along_rows && bits_of(in.dtype).value() * slice->begin % 8 != 0;
}

/// "blocks of 16 with fp8 scales".
std::string blocks_text(const WeightFormat& format) {
    return fmt::format("blocks of {} with {} scales", format.group, to_string(format.scale_dtype));
}

/// Of blocks, what both operands of a product must have in common, or what their numbers are made of.
bool same_blocks(const WeightFormat& a, const WeightFormat& b) {
    return a.scales == b.scales && a.group == b.group && a.scale_dtype == b.scale_dtype;
}

/// Why an operator cannot read `in`, where either has scales of blocks, or "".
std::string block_fault(const LayerPlan& plan, const Tensor& in) {
    const WeightFormat own = format_of(plan.op);
    const auto* scaling = std::get_if<Scaling>(&plan.op);
    const bool reads_blocks =
        own.scales == Scales::Block && (!scaling || scaling->kind == Scaling::Kind::Dequantize);
    const bool has_blocks = in.format.scales == Scales::Block;
    if (reads_blocks && !has_blocks)
        return fmt::format(
            "reads numbers in {}, but '{}' has no scales; make them by 'op: quantize', or "
            "declare them with the input",
            blocks_text(own), in.name);
    if (has_blocks && scaling && scaling->kind == Scaling::Kind::Dequantize && !reads_blocks)
        return fmt::format("'{}' has {}; give 'scales: block, group: {}'", in.name, blocks_text(in.format),
                           in.format.group);
    if (has_blocks && !reads_blocks)
        return fmt::format(
            "reads plain numbers, but '{}' has {}; a matmul with 'scales: block' reads them, "
            "and 'op: dequantize' makes them plain",
            in.name, blocks_text(in.format));
    if (has_blocks && !same_blocks(own, in.format))
        return fmt::format("has {}, but '{}' has {}", blocks_text(own), in.name, blocks_text(in.format));
    return "";
}

/// What an operator with scales cannot make of these dtypes, or "".
std::string dtype_fault(const LayerPlan& plan, const Tensor& in) {
    if (const auto* scaling = std::get_if<Scaling>(&plan.op)) {
        const bool narrow = scaling->kind == Scaling::Kind::Quantize;
        if (narrow && !is_floating(in.dtype))
            return fmt::format("reads floating-point numbers, but '{}' is {}", in.name, to_string(in.dtype));
        if (!narrow && !is_floating(plan.out_dtype))
            return fmt::format("makes floating-point numbers, not {}", to_string(plan.out_dtype));
        return "";
    }
    if (std::holds_alternative<Collective>(plan.op) && bits_of(in.dtype).value() < 8)
        return fmt::format("is done on whole bytes, but '{}' is {}", in.name, to_string(in.dtype));
    if (format_of(plan.op).scales == Scales::Block && !is_floating(in.dtype))
        return fmt::format("numbers in blocks are floating-point ones, but '{}' is {}", in.name,
                           to_string(in.dtype));
    if (format_of(plan.op).scales == Scales::Group && !is_floating(in.dtype))
        return fmt::format(
            "weights with scales of groups become numbers of the input's dtype, which must be a "
            "floating-point one; '{}' is {}",
            in.name, to_string(in.dtype));
    return "";
}

/// Whether the elements of a head do not fill their bytes.
bool ends_inside_byte(const Operator& op, const Tensor& in) {
    const auto* attention = std::get_if<Attention>(&op);
    const auto* append = std::get_if<CacheAppend>(&op);
    const std::int64_t bits = bits_of(in.dtype).value();
    if (attention) return bits * attention->head_dim % 8 != 0 || bits * attention->value_dim() % 8 != 0;
    return append && bits * append->dim % 8 != 0;
}

}  // namespace

std::optional<TensorId> GraphBuilder::add_tensor(Tensor tensor, const SourceMark& where) {
    if (!is_storable(tensor.shape)) {
        mistakes_->add(where, fmt::format("tensor '{}' {} has more than 2^56 elements", tensor.name,
                                          to_string(tensor.shape)));
        return std::nullopt;
    }
    graph_.tensors.push_back(std::move(tensor));
    uses_.push_back({where, false});
    return graph_.tensors.size() - 1;
}

std::optional<TensorId> GraphBuilder::add_input(std::string name, Shape shape, DType dtype,
                                                const SourceMark& where, TensorRole role,
                                                const WeightFormat& format) {
    const auto id = add_tensor({std::move(name), std::move(shape), dtype, role, {}, format}, where);
    if (id) graph_.inputs.push_back(*id);
    return id;
}

std::optional<TensorId> GraphBuilder::add_view(std::string name, TensorId base, Shape shape,
                                               const SourceMark& where) {
    const Tensor& source = graph_.tensors[base];
    if (!is_storable(shape) || elements(shape) != elements(source.shape)) {
        mistakes_->add(where, fmt::format("reshape '{}': {} does not hold as many elements as '{}' {}", name,
                                          to_string(shape), source.name, to_string(source.shape)));
        return std::nullopt;
    }
    if (!same_bytes(source.dtype, shape, source.shape)) {
        mistakes_->add(where,
                       fmt::format("reshape '{}': rows of {} are padded to whole bytes, so {} is no view of "
                                   "'{}' {}",
                                   name, to_string(source.dtype), to_string(shape), source.name,
                                   to_string(source.shape)));
        return std::nullopt;
    }
    uses_[base].read = true;
    const TensorId root = source.view_of.value_or(base);
    if (source.format.among_numbers() && shape.back() % source.format.group != 0) {
        mistakes_->add(where, fmt::format("reshape '{}': {} of '{}' would lie across rows of {}", name,
                                          blocks_text(source.format), source.name, to_string(shape)));
        return std::nullopt;
    }
    Tensor view{std::move(name), std::move(shape), source.dtype, source.role, root, source.format};
    view.replica = source.replica;
    return add_tensor(std::move(view), where);
}

std::optional<TensorId> GraphBuilder::add_replica(std::string name, TensorId base, std::int64_t chips,
                                                  const SourceMark& where) {
    const auto id = add_view(std::move(name), base, tensor(base).shape, where);
    if (!id) return id;
    Tensor& view = graph_.tensors[*id];
    view.replica = Replica{*id, view.replica ? view.replica->view : *view.view_of, chips};
    return id;
}

std::optional<TensorId> GraphBuilder::add_layer(LayerPlan plan) {
    std::vector<std::string> faults = find_faults(plan.op);
    const Tensor& first = tensor(plan.inputs.front());
    if (begins_inside_byte(plan.op, first))
        faults.push_back(fmt::format("column {} of '{}' begins inside a byte of {}",
                                     std::get<Slice>(plan.op).begin, first.name, to_string(first.dtype)));
    if (ends_inside_byte(plan.op, first))
        faults.push_back(fmt::format("rows of '{}' {} are cut by heads, inside a byte", first.name,
                                     to_string(first.dtype)));
    if (const std::string fault = dtype_fault(plan, first); !fault.empty()) faults.push_back(fault);
    for (const TensorId input : plan.inputs)
        if (const std::string fault = block_fault(plan, tensor(input)); !fault.empty())
            faults.push_back(fault);
    for (const std::string& fault : faults)
        mistakes_->add(plan.where, fmt::format("{} '{}': {}", op_name(plan.op), plan.name, fault));
    if (!faults.empty()) return std::nullopt;

    Layer layer{plan.name, plan.op, plan.inputs, {}, {}, 0, plan.where};
    for (const TensorId input : plan.inputs) uses_[input].read = true;
    const auto add_stored = [&](const std::optional<Shape>& shape, std::string_view part, DType dtype,
                                const WeightFormat& format = {}) {
        if (!shape) return std::optional<TensorId>{};
        const auto id = add_tensor(
            {fmt::format("{}.{}", plan.name, part), *shape, dtype, TensorRole::Weights, {}, format},
            plan.where);
        if (id) uses_[*id].read = true;
        return id;
    };
    const DType activations = tensor(plan.inputs.front()).dtype;
    const WeightFormat format = format_of(plan.op);
    layer.weights = add_stored(weights_shape(plan.op), "weights", plan.weight_dtype, format);
    layer.scales = add_stored(scales_shape(plan.op), "scales", format.scale_dtype);
    layer.bias = add_stored(bias_shape(plan.op), "bias", bias_dtype(plan, activations));
    const bool cache = std::holds_alternative<CacheAppend>(plan.op);
    const auto* scaling = std::get_if<Scaling>(&plan.op);
    const bool makes_blocks =
        scaling && scaling->kind == Scaling::Kind::Quantize && format.scales == Scales::Block;
    const auto output = add_tensor({plan.name,
                                    std::move(plan.output),
                                    plan.out_dtype,
                                    cache ? TensorRole::KvCache : TensorRole::Activation,
                                    {},
                                    makes_blocks ? format : WeightFormat{}},
                                   plan.where);
    if (!output) return std::nullopt;
    layer.output = *output;
    graph_.layers.push_back(std::move(layer));
    return output;
}

std::optional<TensorId> GraphBuilder::add_unfused(const LayerPlan& plan) {
    return std::holds_alternative<MatMul>(plan.op) ? add_unfused_matmul(plan) : add_unfused_attention(plan);
}

std::optional<TensorId> GraphBuilder::add_unfused_matmul(const LayerPlan& plan) {
    auto product = std::get<MatMul>(plan.op);
    const WeightFormat format = std::exchange(product.format, {});
    const auto refuse = [&](const std::string& why) {
        mistakes_->add(plan.where, fmt::format("matmul '{}': 'fused: false' {}", plan.name, why));
        return std::nullopt;
    };
    if (format.scales == Scales::None) return refuse("is for weights with 'scales'");
    if (format.scales == Scales::Block) return refuse("is for weights that activations without scales meet");
    if (product.experts > 0) return refuse("is for one matrix of weights, not for those of experts");
    if (format.sparse()) return refuse("makes all of the weights; give no 'sparsity' with it");
    std::vector<std::string> faults = find_faults(plan.op);
    if (!faults.empty()) return refuse("cannot be: " + faults.front());
    product.shared_weights = false;
    product.m *= std::exchange(product.batch, 1);
    const Shape shape = {product.k, product.n};
    const auto stored =
        add_tensor({plan.name + ".weights", shape, plan.weight_dtype, TensorRole::Weights}, plan.where);
    if (!stored) return std::nullopt;
    const DType dtype = tensor(plan.inputs[0]).dtype;
    const Scaling scaling{Scaling::Kind::Dequantize, product.k, product.n, format};
    const auto numbers =
        add_layer({plan.name + ".dequantize", scaling, {*stored}, shape, dtype, dtype, plan.where});
    if (!numbers) return std::nullopt;
    return add_layer(
        {plan.name, product, {plan.inputs[0], *numbers}, plan.output, dtype, plan.out_dtype, plan.where});
}

std::optional<TensorId> GraphBuilder::add_unfused_attention(const LayerPlan& plan) {
    const auto& whole = std::get<Attention>(plan.op);
    const Shape shape = {whole.batch, whole.kv_heads, whole.q_len, whole.group(), whole.kv_len};
    const auto part = [&](Attention::Part which) {
        Attention op = whole;
        op.part = which;
        return op;
    };
    const DType dtype = tensor(plan.inputs[0]).dtype;
    const auto scores = add_layer({plan.name + ".scores",
                                   part(Attention::Part::Scores),
                                   {plan.inputs[0], plan.inputs[1]},
                                   shape,
                                   dtype,
                                   dtype,
                                   plan.where});
    if (!scores) return std::nullopt;
    const Softmax softmax{elements(shape) / whole.kv_len, whole.kv_len};
    const auto shares =
        add_layer({plan.name + ".softmax", softmax, {*scores}, shape, dtype, dtype, plan.where});
    if (!shares) return std::nullopt;
    return add_layer({plan.name,
                      part(Attention::Part::Context),
                      {*shares, plan.inputs[2]},
                      plan.output,
                      dtype,
                      plan.out_dtype,
                      plan.where});
}

void GraphBuilder::add_output(TensorId tensor) {
    uses_[tensor].read = true;
    graph_.outputs.push_back(tensor);
}

Graph GraphBuilder::finish(const SourceMark& where) {
    mistakes_->throw_if_any();  // behind a mistake, what is unread says nothing
    report_unread();
    expect_countable(graph_, where, *mistakes_);
    mistakes_->throw_if_any();
    return std::move(graph_);
}

void GraphBuilder::report_unread() {
    std::set<std::pair<int, int>> told;  // a layer of a repeated block is told once
    for (TensorId id = 0; id < uses_.size(); ++id) {
        const SourceMark& where = uses_[id].where;
        if (uses_[id].read || !told.emplace(where.line, where.column).second) continue;
        mistakes_->add(where, is_input(id) && !tensor(id).view_of
                                  ? fmt::format("input '{}' is never read", tensor(id).name)
                                  : fmt::format("'{}' is never read and is no output", tensor(id).name));
    }
}

void expect_countable(const Graph& graph, const SourceMark& where, Mistakes& mistakes) {
    std::optional<std::int64_t> macs_sum = 0, bytes_sum = 0;
    for (const Layer& layer : graph.layers)
        if (macs_sum) macs_sum = checked_add(*macs_sum, macs(layer.op).value());
    for (const Tensor& tensor : graph.tensors)
        if (bytes_sum) bytes_sum = checked_add(*bytes_sum, stored_bytes(tensor).value());
    if (!macs_sum) mistakes.add(where, "all layers together have more than 2^63 multiply-accumulates");
    if (!bytes_sum) mistakes.add(where, "all tensors together have more than 2^63 bytes");
}

}  // namespace systole
