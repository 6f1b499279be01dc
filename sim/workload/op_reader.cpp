// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/op_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "sim/workload/op_readers.h"

namespace systole {
namespace {

using Meaning = std::optional<LayerMeaning>;

std::int64_t rows_of(const Shape& shape) {
    return elements(shape) / shape.back();
}

/// A product of each of several stored matrices with rows of its own.
Meaning read_experts(LayerText& text, MatMul& matmul, bool fused) {
    if (!text.expect_rank(3, "rows for each expert, [met, rows, k]")) return std::nullopt;
    Shape output = text.shape(0);
    matmul.batch = output[0];
    matmul.m = output[1];
    matmul.k = std::exchange(output[2], matmul.n);
    return LayerMeaning{matmul, output, std::nullopt, !fused};
}

Meaning read_matmul(LayerText& text) {
    Keys& keys = text.keys();
    MatMul matmul;
    matmul.n = keys.integer("n", 1);
    matmul.experts = keys.integer_if_given("experts", 1).value_or(0);
    matmul.bias = keys.flag("bias", false);
    matmul.post = read_post(keys);
    matmul.format = read_weight_format(keys);
    const bool fused = keys.flag("fused", true);
    if (!text.sound()) return std::nullopt;
    Shape output = text.shape(0);
    if (output.size() < 2) {
        keys.fail(fmt::format("reads at least 2 dimensions, [.., k], but '{}' is {}", text.operand(0).name,
                              to_string(output)));
        return std::nullopt;
    }
    if (matmul.experts > 0) return read_experts(text, matmul, fused);
    if (output.size() == 4) {  // a feature map: the rows are whole images
        if (bits_of(text.operand(0).dtype).value() * output[3] % 8 != 0) {
            keys.fail(fmt::format("cannot flatten '{}' {}: its {} channels end inside a byte",
                                  text.operand(0).name, to_string(output), to_string(text.operand(0).dtype)));
            return std::nullopt;
        }
        output = {output[0], output[1] * output[2] * output[3]};
    }
    matmul.k = output.back();
    matmul.m = rows_of(output);
    output.back() = matmul.n;
    return LayerMeaning{matmul, output, std::nullopt, !fused};
}

Meaning read_batched_matmul(LayerText& text) {
    MatMul matmul;
    matmul.shared_weights = false;
    matmul.transposed_a = text.keys().flag("transpose_a", false);
    matmul.transposed_b = text.keys().flag("transpose_b", false);
    if (!text.sound()) return std::nullopt;
    const Shape &a = text.shape(0), &b = text.shape(1);
    const std::size_t rank = a.size();
    const std::size_t k_of_a = matmul.transposed_a ? rank - 2 : rank - 1;
    const std::size_t k_of_b = matmul.transposed_b ? rank - 1 : rank - 2;
    const bool fits = rank >= 2 && b.size() == rank && a[k_of_a] == b[k_of_b] &&
                      std::equal(a.begin(), a.end() - 2, b.begin());
    if (!fits) {
        text.keys().fail(fmt::format("reads [.., {}] and [.., {}], but '{}' is {} and '{}' is {}",
                                     matmul.transposed_a ? "k, m" : "m, k",
                                     matmul.transposed_b ? "n, k" : "k, n", text.operand(0).name,
                                     to_string(a), text.operand(1).name, to_string(b)));
        return std::nullopt;
    }
    matmul.m = matmul.transposed_a ? a[rank - 1] : a[rank - 2];
    matmul.k = a[k_of_a];
    matmul.n = matmul.transposed_b ? b[rank - 2] : b[rank - 1];
    matmul.batch = elements(a) / (matmul.m * matmul.k);
    Shape output = a;
    output[rank - 2] = matmul.m;
    output[rank - 1] = matmul.n;
    return LayerMeaning{matmul, output};
}

Meaning read_activation(LayerText& text) {
    Activation op;
    op.function = read_function(text.keys());
    if (!text.sound()) return std::nullopt;
    op.elements = elements(text.shape(0));
    return LayerMeaning{op, text.shape(0)};
}

/// The window of a pool that is not global, and its stride.
void read_window(Keys& keys, Pool& pool) {
    std::tie(pool.window_h, pool.window_w) = std::tuple_cat(keys.pair("window"));
    if (pool.window_h != pool.window_w && !keys.has("stride"))
        keys.fail("a window that is not square needs a 'stride'", "window");
    const Steps steps = read_steps(keys, pool.window_h);
    pool.stride = steps.stride, pool.pad = steps.pad, pool.uneven = steps.uneven;
}

Meaning read_pool(LayerText& text) {
    Keys& keys = text.keys();
    Pool pool;
    pool.kind = static_cast<Pool::Kind>(keys.choice("kind", pool_kinds()));
    const bool global = keys.flag("global", false);
    if (!global) read_window(keys, pool);
    if (!text.expect_rank(4, "a feature map [n, h, w, c]")) return std::nullopt;
    const Shape& in = text.shape(0);
    pool.batch = in[0], pool.in_h = in[1], pool.in_w = in[2], pool.channels = in[3];
    if (global) pool.window_h = pool.in_h, pool.window_w = pool.in_w;
    return LayerMeaning{pool, {pool.batch, pool.out_h(), pool.out_w(), pool.channels}};
}

Meaning read_softmax(LayerText& text) {
    if (!text.sound()) return std::nullopt;
    const Shape& shape = text.shape(0);
    return LayerMeaning{Softmax{rows_of(shape), shape.back()}, shape};
}

Meaning read_norm(LayerText& text) {
    const auto kind = static_cast<Norm::Kind>(text.keys().choice("kind", norm_kinds()));
    if (!text.sound()) return std::nullopt;
    const Shape& shape = text.shape(0);
    return LayerMeaning{Norm{kind, rows_of(shape), shape.back()}, shape};
}

Meaning read_transpose(LayerText& text) {
    Transpose op;
    op.permutation = text.keys().integers("permutation", 0);
    if (!text.sound()) return std::nullopt;
    op.shape = text.shape(0);
    std::vector<std::int64_t> sorted = op.permutation, identity(op.shape.size());
    std::ranges::sort(sorted);
    for (std::size_t d = 0; d < identity.size(); ++d) identity[d] = static_cast<std::int64_t>(d);
    if (sorted != identity) {
        text.keys().fail(
            fmt::format("the permutation {} must name each dimension of '{}' {} once, from 0 to {}",
                        to_string(op.permutation), text.operand(0).name, to_string(op.shape),
                        op.shape.size() - 1),
            "permutation");
        return std::nullopt;
    }
    Shape output;
    for (const std::int64_t from : op.permutation) output.push_back(op.shape[static_cast<std::size_t>(from)]);
    return LayerMeaning{op, output};
}

Meaning read_reshape(LayerText& text) {
    const Shape shape = text.keys().integers("shape", 1);
    if (!text.sound()) return std::nullopt;
    return LayerMeaning{std::nullopt, shape};  // the builder compares the elements
}

const std::vector<OpSyntax>& syntaxes() {
    static const std::vector<OpSyntax> all = {{"conv2d", 1, read_conv2d},
                                              {"conv3d", 1, read_conv3d},
                                              {"conv_transpose", 1, read_conv_transpose},
                                              {"matmul", 1, read_matmul},
                                              {"batched_matmul", 2, read_batched_matmul},
                                              {"elementwise", 1, read_elementwise, true},
                                              {"activation", 1, read_activation},
                                              {"pool", 1, read_pool},
                                              {"softmax", 1, read_softmax},
                                              {"norm", 1, read_norm},
                                              {"reduce", 1, read_reduce},
                                              {"transpose", 1, read_transpose},
                                              {"reshape", 1, read_reshape},
                                              {"embedding", 1, read_embedding},
                                              {"gather", 2, read_gather},
                                              {"concat", 2, read_concat, true},
                                              {"slice", 1, read_slice},
                                              {"resize", 1, read_resize},
                                              {"rotary", 1, read_rotary},
                                              {"top_k", 1, read_top_k},
                                              {"lstm_cell", 2, read_lstm_cell},
                                              {"gru_cell", 3, read_gru_cell},
                                              {"quantize", 1, read_quantize},
                                              {"dequantize", 1, read_dequantize},
                                              {"collective", 1, read_collective},
                                              {"kv_cache", 1, read_kv_cache},
                                              {"attention", 3, read_attention}};
    return all;
}

}  // namespace

bool LayerText::expect_rank(std::size_t rank, std::string_view meaning) {
    if (!sound()) return false;
    if (shape(0).size() == rank) return true;
    keys_->fail(fmt::format("reads {}, but '{}' is {}", meaning, operand(0).name, to_string(shape(0))));
    return false;
}

const OpSyntax* find_op_syntax(std::string_view name) {
    const auto found = std::ranges::find(syntaxes(), name, &OpSyntax::name);
    return found == syntaxes().end() ? nullptr : &*found;
}

std::vector<std::string> op_syntax_names() {
    std::vector<std::string> names;
    for (const OpSyntax& syntax : syntaxes()) names.push_back(syntax.name);
    return names;
}

const std::vector<std::string>& pool_kinds() {
    static const std::vector<std::string> names = {"max", "average"};
    return names;
}

const std::vector<std::string>& norm_kinds() {
    static const std::vector<std::string> names = {"layer", "rms"};
    return names;
}

Function read_post(Keys& keys) {
    return static_cast<Function>(keys.choice("activation", function_names(), 0));
}

Function read_function(Keys& keys) {
    static const std::vector<std::string> names(function_names().begin() + 1, function_names().end());
    return static_cast<Function>(1 + keys.choice("function", names));
}

}  // namespace systole
