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
    const bool given = keys.has("axis");
    const std::int64_t named = keys.integer("axis", 0, 0);
    if (!text.sound()) return std::nullopt;
    const Shape& shape = text.shape(0);
    const auto rank = static_cast<std::int64_t>(shape.size());
    if (rank < 2) {
        keys.fail(fmt::format("reads at least 2 dimensions, [.., seq, dim], but '{}' is {}",
                              text.operand(0).name, to_string(shape)));
        return std::nullopt;
    }
    const std::int64_t axis = given ? named : rank - 2;
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

const std::vector<std::string>& resize_kinds() {
    static const std::vector<std::string> names = {"nearest", "bilinear"};
    return names;
}

}  // namespace systole
