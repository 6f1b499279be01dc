// SPDX-License-Identifier: Apache-2.0
// A graph of one operator from the columns of `systole op` (docs/formats.md).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/workload/graph_builder.h"
#include "sim/workload/keys.h"
#include "sim/workload/op_reader.h"
#include "sim/workload/single_readers.h"
#include "sim/workload/trace.h"

namespace systole {
namespace {

using config::YamlEntry;
using config::YamlNode;

/// As in a trace, where a product of two activations has layers of their own behind it.
void refuse_epilogue(Keys& keys) {
    const auto refuse = [&](const char* key) {
        keys.fail(
            fmt::format("'{}' goes with stored weights; with 'batch' above 1 both operands are activations",
                        key),
            key);
    };
    if (keys.flag("bias", false)) refuse("bias");
    if (read_post(keys) != Function::None) refuse("activation");
}

Single read_matmul(Keys& keys) {
    MatMul m;
    m.m = keys.integer("m", 1);
    m.n = keys.integer("n", 1);
    m.k = keys.integer("k", 1);
    m.batch = keys.integer("batch", 1, 1);
    m.shared_weights = m.batch == 1;
    if (!m.shared_weights) {
        refuse_weight_format(keys);
        refuse_epilogue(keys);
        return {m, {{m.batch, m.m, m.k}, {m.batch, m.k, m.n}}, {m.batch, m.m, m.n}};
    }
    m.bias = keys.flag("bias", false);
    m.post = read_post(keys);
    m.format = read_weight_format(keys);
    const bool fused = keys.flag("fused", true);
    return {m, {{m.m, m.k}}, {m.m, m.n}, !fused};
}

Single read_embedding(Keys& keys) {
    Embedding e;
    e.vocabulary = keys.integer("vocabulary", 1);
    e.width = keys.integer("width", 1);
    e.lookups = keys.integer("lookups", 1);
    e.spread = static_cast<Spread>(keys.choice("spread", spread_names(), 0));
    e.bag = keys.integer("bag", 1, 1);
    if (e.lookups % e.bag != 0)
        keys.fail(fmt::format("bags of {} do not divide the {} lookups", e.bag, e.lookups));
    return {e, {{e.lookups}}, {e.lookups / e.bag, e.width}};
}

Single read_gather(Keys& keys) {
    Gather g;
    g.rows = keys.integer("rows", 1);
    g.width = keys.integer("width", 1);
    g.lookups = keys.integer("lookups", 1);
    g.spread = static_cast<Spread>(keys.choice("spread", spread_names(), 0));
    return {g, {{g.rows, g.width}, {g.lookups}}, {g.lookups, g.width}};
}

Single read_slice(Keys& keys) {
    Slice s;
    s.outer = keys.integer("rows", 1);
    s.in = keys.integer("cols", 1);
    s.begin = keys.integer("begin", 0, 0);
    s.size = keys.integer("size", 1);
    if (s.begin + s.size > s.in)
        keys.fail(fmt::format("{} from {} on reach beyond the {} columns", s.size, s.begin, s.in));
    return {s, {{s.outer, s.in}}, {s.outer, s.size}};
}

Single read_scaling(Keys& keys, Scaling::Kind kind) {
    const Scaling s{kind, keys.integer("rows", 1), keys.integer("cols", 1), read_scaling_format(keys)};
    return {s, {{s.rows, s.cols}}, {s.rows, s.cols}};
}

Single read_collective(Keys& keys) {
    Collective c;
    c.kind = static_cast<Collective::Kind>(keys.choice("kind", collective_kinds()));
    c.chips = read_chips(keys);
    c.row = keys.integer("elements", 1);
    if (c.kind == Collective::Kind::AllReduce || c.kind == Collective::Kind::AllToAll)
        return {c, {{c.row}}, {c.row}};
    if (c.kind == Collective::Kind::ReduceScatter)
        return {c, {{c.row}}, {std::max<std::int64_t>(1, c.row / c.chips)}};
    if (c.row > kMaxInteger / c.chips)
        keys.fail(fmt::format("{} elements of {} chips are more than {}", c.row, c.chips, kMaxInteger));
    return {c, {{c.row}}, {c.row * c.chips}};
}

Single read_quantize(Keys& keys) {
    return read_scaling(keys, Scaling::Kind::Quantize);
}

Single read_dequantize(Keys& keys) {
    return read_scaling(keys, Scaling::Kind::Dequantize);
}

Single read_attention(Keys& keys) {
    Attention a;
    a.batch = keys.integer("batch", 1, 1);
    a.q_len = keys.integer("q_len", 1);
    a.kv_len = keys.integer("kv_len", 1);
    a.heads = keys.integer("heads", 1, 1);
    a.kv_heads = keys.integer("kv_heads", 1, a.heads);
    a.head_dim = keys.integer("head_dim", 1);
    a.causal = keys.flag("causal", false);
    a.by_head = keys.flag("cache", false);
    const bool fused = keys.flag("fused", true);
    const auto rows_of = [&](std::int64_t heads) {
        if (heads <= kMaxInteger / a.head_dim) return heads * a.head_dim;
        keys.fail(
            fmt::format("{} heads of {} elements are a row of more than {}", heads, a.head_dim, kMaxInteger));
        return std::int64_t{1};
    };
    const Shape q = {a.batch, a.q_len, rows_of(a.heads)};
    const Shape k = a.by_head ? Shape{a.batch, a.kv_heads, a.kv_len, a.head_dim}
                              : Shape{a.batch, a.kv_len, rows_of(a.kv_heads)};
    return {a, {q, k, k}, q, !fused};
}

struct SingleSyntax {
    std::string name;
    Single (*read)(Keys& keys);
};

const std::vector<SingleSyntax>& single_syntaxes() {
    static const std::vector<SingleSyntax> all = {{"matmul", read_matmul},
                                                  {"conv2d", read_single_conv2d},
                                                  {"conv3d", read_single_conv3d},
                                                  {"conv_transpose", read_single_conv_transpose},
                                                  {"pool", read_single_pool},
                                                  {"elementwise", read_single_elementwise},
                                                  {"softmax", read_single_softmax},
                                                  {"norm", read_single_norm},
                                                  {"activation", read_single_activation},
                                                  {"reduce", read_single_reduce},
                                                  {"transpose", read_single_transpose},
                                                  {"embedding", read_embedding},
                                                  {"gather", read_gather},
                                                  {"slice", read_slice},
                                                  {"resize", read_single_resize},
                                                  {"rotary", read_single_rotary},
                                                  {"top_k", read_single_top_k},
                                                  {"lstm_cell", read_single_lstm_cell},
                                                  {"gru_cell", read_single_gru_cell},
                                                  {"attention", read_attention},
                                                  {"collective", read_collective},
                                                  {"quantize", read_quantize},
                                                  {"dequantize", read_dequantize}};
    return all;
}

const SingleSyntax& find_syntax(const std::string& name, const SourceMark& where) {
    const auto found = std::ranges::find(single_syntaxes(), name, &SingleSyntax::name);
    if (found != single_syntaxes().end()) return *found;
    std::vector<std::string> known;
    for (const SingleSyntax& syntax : single_syntaxes()) known.push_back(syntax.name);
    throw UserError(where, fmt::format("unknown operator '{}'{}; expected one of: {}", excerpt(name),
                                       did_you_mean(name, known), fmt::join(known, ", ")));
}

using Places = std::map<std::string, SourceMark>;

const SourceMark& place_of(const std::string& key, const SourceMark& where, const Places& places) {
    const auto known = places.find(key);
    return known == places.end() ? where : known->second;
}

/// The keys as a map. An empty cell of a table says nothing.
YamlNode as_map(const std::map<std::string, std::string>& keys, const SourceMark& where,
                const Places& places) {
    YamlNode map;
    map.kind = YamlNode::Kind::Map;
    map.where = where;
    for (const auto& [key, text] : keys) {
        if (text.empty()) continue;
        YamlNode value;
        value.kind = YamlNode::Kind::Scalar;
        value.where = place_of(key, where, places);
        value.scalar = text;
        map.entries.push_back(YamlEntry{key, value.where, std::move(value)});
    }
    return map;
}

struct SingleDtypes {
    DType a, b, out;
};

/// An embedding reads indices, so its `dtype` is the table's; everywhere else `dtype_a` is what is read.
SingleDtypes read_dtypes(Keys& keys, const Operator& op) {
    const DType dtype = keys.dtype("dtype").value_or(DType::Bf16);
    if (std::holds_alternative<Embedding>(op))
        return {DType::Int32, dtype, keys.dtype("dtype_out").value_or(dtype)};
    if (std::holds_alternative<Gather>(op)) return {dtype, DType::Int32, dtype};
    if (std::holds_alternative<Collective>(op)) return {dtype, dtype, dtype};
    if (const auto* scaling = std::get_if<Scaling>(&op)) {
        const bool narrow = scaling->kind == Scaling::Kind::Quantize;
        const DType from = keys.dtype("dtype").value_or(narrow ? DType::Bf16 : DType::Int8);
        return {from, from, keys.dtype("dtype_out").value_or(narrow ? DType::Int8 : DType::Bf16)};
    }
    const bool two_operands = std::holds_alternative<MatMul>(op) || std::holds_alternative<Conv2d>(op) ||
                              std::holds_alternative<ConvTranspose>(op) ||
                              std::holds_alternative<Attention>(op);
    const DType a = two_operands ? keys.dtype("dtype_a").value_or(dtype) : dtype;
    const DType b = two_operands ? keys.dtype("dtype_b").value_or(dtype) : dtype;
    const auto* matmul = std::get_if<MatMul>(&op);
    const bool scaled = matmul && matmul->format.scales == Scales::Block;
    return {a, b, keys.dtype("dtype_out").value_or(scaled ? DType::Bf16 : a)};
}

/// Of blocks, both operands have scales.
WeightFormat input_format(const Operator& op) {
    const auto* matmul = std::get_if<MatMul>(&op);
    const auto* scaling = std::get_if<Scaling>(&op);
    WeightFormat format;
    if (matmul) format = matmul->format;
    if (scaling && scaling->kind == Scaling::Kind::Dequantize) format = scaling->format;
    format.kept = 0, format.of = 1;
    return format.scales == Scales::Block ? format : WeightFormat{};
}

/// Keys and values in head-major order are a cache's.
TensorRole role(const Operator& op, std::size_t input) {
    const auto* attention = std::get_if<Attention>(&op);
    return attention && attention->by_head && input > 0 ? TensorRole::KvCache : TensorRole::Input;
}

}  // namespace

Graph single_operator(const std::string& name, const std::map<std::string, std::string>& texts,
                      const SourceMark& where, const Places& places) {
    const SingleSyntax& syntax = find_syntax(name, place_of("op", where, places));
    const YamlNode map = as_map(texts, where, places);
    const Parameters none;
    Mistakes mistakes;
    Keys keys(map, none, mistakes, name);
    Single single = syntax.read(keys);
    const SingleDtypes dtypes = read_dtypes(keys, single.op);
    keys.finish();
    mistakes.throw_if_any();

    GraphBuilder builder(name, mistakes);
    LayerPlan plan{name, single.op, {}, std::move(single.output), dtypes.b, dtypes.out, where};
    for (std::size_t i = 0; i < single.inputs.size(); ++i) {
        const auto input = builder.add_input(std::string(1, static_cast<char>('a' + i)), single.inputs[i],
                                             i == 0 ? dtypes.a : dtypes.b, where, role(single.op, i),
                                             input_format(single.op));
        if (input) plan.inputs.push_back(*input);
    }
    mistakes.throw_if_any();
    const auto output = single.unfused ? builder.add_unfused(plan) : builder.add_layer(std::move(plan));
    mistakes.throw_if_any();
    builder.add_output(*output);
    return builder.finish(where);
}

}  // namespace systole
