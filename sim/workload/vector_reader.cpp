// SPDX-License-Identifier: Apache-2.0
// Operators of today's networks that no array works on: resizing, rotary embeddings, the greatest elements of
// rows, the gates of recurrent cells.
#include <fmt/format.h>

#include "sim/workload/op_readers.h"

namespace systole {
namespace {

/// `scale` or `size`: the output's height and width; nothing after a mistake.
std::optional<std::array<std::int64_t, 2>> read_size(LayerText& text) {
    Keys& keys = text.keys();
    const bool scaled = keys.has("scale");
    if (scaled == keys.has("size"))
        keys.fail(scaled ? "'scale' and 'size' say the same; give one of the two"
                         : "'scale' or 'size' is missing: expected n or [h, w]",
                  "scale");
    std::array<std::int64_t, 2> size = {1, 1}, scale = {1, 1};
    if (keys.has("size")) size = keys.pair("size");
    if (scaled) scale = keys.pair("scale");
    keys.optional("scale");
    keys.optional("size");
    if (!text.expect_rank(4, "a feature map [n, h, w, c]")) return std::nullopt;
    if (!scaled) return size;
    const Shape& in = text.shape(0);
    size = {in[1] * scale[0], in[2] * scale[1]};
    if (size[0] <= kMaxInteger && size[1] <= kMaxInteger) return size;
    keys.fail(fmt::format("{} times {} has more than {} rows or columns", to_string(in),
                          to_string(Shape{scale[0], scale[1]}), kMaxInteger),
              "scale");
    return std::nullopt;
}

/// Whether all tensors but the last, the state [.., h], are [.., gates x h] of its dtype; records a mistake
/// if not.
bool expect_gates(LayerText& text, std::int64_t gates) {
    const Tensor& state = text.operand(text.operands() - 1);
    Shape wanted = state.shape;
    wanted.back() *= gates;
    for (std::size_t i = 0; i + 1 < text.operands(); ++i) {
        const Tensor& tensor = text.operand(i);
        if (tensor.shape == wanted && tensor.dtype == state.dtype) continue;
        text.keys().fail(fmt::format("beside the state '{}' {} {} it reads {} {}, but '{}' is {} {}",
                                     state.name, to_string(state.dtype), to_string(state.shape),
                                     to_string(state.dtype), to_string(wanted), tensor.name,
                                     to_string(tensor.dtype), to_string(tensor.shape)));
        return false;
    }
    return true;
}

}  // namespace

std::optional<LayerMeaning> read_resize(LayerText& text) {
    Resize op;
    op.kind = static_cast<Resize::Kind>(text.keys().choice("kind", resize_kinds()));
    const auto size = read_size(text);
    if (!size) return std::nullopt;
    const Shape& in = text.shape(0);
    op.batch = in[0], op.in_h = in[1], op.in_w = in[2], op.channels = in[3];
    op.out_h = (*size)[0], op.out_w = (*size)[1];
    return LayerMeaning{op, {op.batch, op.out_h, op.out_w, op.channels}};
}

std::optional<LayerMeaning> read_rotary(LayerText& text) {
    Keys& keys = text.keys();
    const std::optional<std::int64_t> given = keys.integer_if_given("axis", 0);
    if (!text.sound()) return std::nullopt;
    const Shape& shape = text.shape(0);
    const auto rank = static_cast<std::int64_t>(shape.size());
    if (rank < 2) {
        keys.fail(fmt::format("reads at least 2 dimensions, [.., seq, dim], but '{}' is {}",
                              text.operand(0).name, to_string(shape)));
        return std::nullopt;
    }
    const std::int64_t axis = given.value_or(rank - 2);
    if (axis > rank - 2) {
        keys.fail(fmt::format("'axis' must be 0 … {}, the dimension of positions in '{}' {}, not {}",
                              rank - 2, text.operand(0).name, to_string(shape), axis),
                  "axis");
        return std::nullopt;
    }
    Rotary op{1, shape[static_cast<std::size_t>(axis)], 1, shape.back()};
    for (std::int64_t d = 0; d + 1 < rank; ++d)
        if (d != axis) (d < axis ? op.outer : op.heads) *= shape[static_cast<std::size_t>(d)];
    return LayerMeaning{op, shape};
}

std::optional<LayerMeaning> read_top_k(LayerText& text) {
    static const std::vector<std::string> results = {"values", "indices"};
    Keys& keys = text.keys();
    TopK op;
    op.k = keys.integer("k", 1);
    op.indices = keys.choice("result", results, 0) == 1;
    if (op.indices && keys.has("out_dtype")) keys.fail("indices are int32; there is no choice", "out_dtype");
    if (!text.sound()) return std::nullopt;
    Shape output = text.shape(0);
    op.cols = output.back();
    op.rows = elements(output) / op.cols;
    output.back() = op.k;
    return LayerMeaning{op, output, op.indices ? std::optional(DType::Int32) : std::nullopt};
}

std::optional<LayerMeaning> read_reduce(LayerText& text) {
    const auto kind = static_cast<Reduce::Kind>(text.keys().choice("kind", reduce_kinds()));
    if (!text.sound()) return std::nullopt;
    Shape output = text.shape(0);
    const Reduce op{kind, elements(output) / output.back(), output.back()};
    output.back() = 1;
    return LayerMeaning{op, output};
}

std::optional<LayerMeaning> read_lstm_cell(LayerText& text) {
    if (!text.sound() || !expect_gates(text, 4)) return std::nullopt;
    Shape output = text.shape(1);
    const LstmCell op{elements(output) / output.back(), output.back()};
    output.back() *= 2;
    return LayerMeaning{op, output};
}

std::optional<LayerMeaning> read_gru_cell(LayerText& text) {
    if (!text.sound() || !expect_gates(text, 3)) return std::nullopt;
    const Shape& state = text.shape(2);
    return LayerMeaning{GruCell{elements(state) / state.back(), state.back()}, state};
}

const std::vector<std::string>& reduce_kinds() {
    static const std::vector<std::string> names = {"sum", "mean", "max", "min", "product"};
    return names;
}

const std::vector<std::string>& resize_kinds() {
    static const std::vector<std::string> names = {"nearest", "bilinear"};
    return names;
}

}  // namespace systole
