// SPDX-License-Identifier: Apache-2.0
// Attention, and the cache of the keys and values that earlier steps made.
#include <fmt/format.h>

#include "sim/workload/op_readers.h"

namespace systole {
namespace {

/// Elements of a row of [batch, rows, heads * dim] or [batch, rows, heads, dim]; nothing for other shapes.
std::optional<std::int64_t> width_of(const Shape& shape) {
    if (shape.size() == 3) return shape[2];
    if (shape.size() == 4) return shape[2] * shape[3];
    return std::nullopt;
}

/// Whether rows of the tensor are `heads` heads, side by side or as a dimension; records a mistake if not.
bool expect_heads(LayerText& text, std::size_t operand, std::int64_t heads) {
    const Shape& shape = text.shape(operand);
    const auto width = width_of(shape);
    if (width && *width % heads == 0 && (shape.size() == 3 || shape[2] == heads)) return true;
    text.keys().fail(
        fmt::format("reads {0} heads, [batch, rows, {0} * dim] or [batch, rows, {0}, dim], but "
                    "'{1}' is {2}",
                    heads, text.operand(operand).name, to_string(shape)));
    return false;
}

/// Whether keys or values fit the queries, with rows of `dim`; sets kv_len.
bool take_keys(LayerText& text, std::size_t operand, std::int64_t dim, Attention& op) {
    const Tensor& tensor = text.operand(operand);
    const Shape& shape = tensor.shape;
    if (op.by_head) {
        op.kv_len = shape.size() == 4 ? shape[2] : 1;
        if (shape == Shape{op.batch, op.kv_heads, op.kv_len, dim}) return true;
        text.keys().fail(fmt::format("reads a cache [{}, {}, rows, {}], but '{}' is {}", op.batch,
                                     op.kv_heads, dim, tensor.name, to_string(shape)));
        return false;
    }
    if (!expect_heads(text, operand, op.kv_heads)) return false;
    op.kv_len = shape[1];
    if (shape[0] == op.batch && *width_of(shape) == op.kv_heads * dim) return true;
    text.keys().fail(fmt::format("reads keys and values [{}, rows, {} * {}], but '{}' is {}", op.batch,
                                 op.kv_heads, dim, tensor.name, to_string(shape)));
    return false;
}

}  // namespace

std::optional<LayerMeaning> read_kv_cache(LayerText& text) {
    CacheAppend op;
    op.heads = text.keys().integer("heads", 1);
    op.length = text.keys().integer("length", 1);
    if (!text.sound() || !expect_heads(text, 0, op.heads)) return std::nullopt;
    op.batch = text.shape(0)[0];
    op.rows = text.shape(0)[1];
    op.dim = *width_of(text.shape(0)) / op.heads;
    return LayerMeaning{op, {op.batch, op.heads, op.length, op.dim}};
}

std::optional<LayerMeaning> read_attention(LayerText& text) {
    Keys& keys = text.keys();
    Attention op;
    op.heads = keys.integer("heads", 1);
    op.kv_heads = keys.integer_if_given("kv_heads", 1).value_or(op.heads);
    op.causal = keys.flag("causal", false);
    op.value_width = keys.integer_if_given("value_dim", 1).value_or(0);
    const bool fused = keys.flag("fused", true);
    if (!text.sound() || !expect_heads(text, 0, op.heads)) return std::nullopt;
    const Shape& queries = text.shape(0);
    op.batch = queries[0];
    op.q_len = queries[1];
    op.head_dim = *width_of(queries) / op.heads;
    op.by_head = text.operand(1).role == TensorRole::KvCache;
    if (!take_keys(text, 1, op.head_dim, op)) return std::nullopt;
    const std::int64_t keys_seen = op.kv_len;
    op.shared = text.same_operand(1, 2);
    if (op.shared && op.value_dim() > op.head_dim) {
        keys.fail(fmt::format("rows of values are the first elements of the {} of keys, and cannot have {}",
                              op.head_dim, op.value_dim()),
                  "value_dim");
        return std::nullopt;
    }
    if (!op.shared && !take_keys(text, 2, op.value_dim(), op)) return std::nullopt;
    const Tensor &k = text.operand(1), &v = text.operand(2);
    const auto cached = [](const Tensor& one) { return one.role == TensorRole::KvCache; };
    if (op.kv_len != keys_seen || k.dtype != v.dtype || cached(k) != cached(v)) {
        keys.fail(fmt::format("reads keys and values alike, but '{}' is {} {} and '{}' is {} {}", k.name,
                              to_string(k.dtype), to_string(k.shape), v.name, to_string(v.dtype),
                              to_string(v.shape)));
        return std::nullopt;
    }
    if (op.heads > kMaxInteger / op.value_dim()) {
        keys.fail(fmt::format("{} heads of {} values are a row of more than {}", op.heads, op.value_dim(),
                              kMaxInteger),
                  "value_dim");
        return std::nullopt;
    }
    Shape output = queries;
    output.back() = queries.size() == 3 ? op.heads * op.value_dim() : op.value_dim();
    return LayerMeaning{op, output, std::nullopt, !fused};
}

}  // namespace systole
