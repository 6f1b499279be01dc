// SPDX-License-Identifier: Apache-2.0
// Rows by indices: of a stored table, or of a tensor that the network made.
#include <fmt/format.h>

#include "sim/workload/op_readers.h"

namespace systole {
namespace {

Spread read_spread(Keys& keys) {
    return static_cast<Spread>(keys.choice("spread", spread_names(), 0));
}

/// Whether a tensor holds indices; records a mistake if not.
bool expect_indices(LayerText& text, const Tensor& tensor) {
    if (tensor.dtype == DType::Int32) return true;
    text.keys().fail(
        fmt::format("reads int32 indices, but '{}' is {}", tensor.name, to_string(tensor.dtype)));
    return false;
}

}  // namespace

std::optional<LayerMeaning> read_embedding(LayerText& text) {
    Keys& keys = text.keys();
    Embedding op;
    op.vocabulary = keys.integer("vocabulary", 1);
    op.width = keys.integer("width", 1);
    op.spread = read_spread(keys);
    op.bag = keys.integer("bag", 1, 1);
    if (!text.sound() || !expect_indices(text, text.operand(0))) return std::nullopt;
    Shape output = text.shape(0);
    op.lookups = elements(output);
    if (output.back() % op.bag != 0) {
        keys.fail(fmt::format("bags of {} do not divide the {} indices of a row of '{}' {}", op.bag,
                              output.back(), text.operand(0).name, to_string(output)),
                  "bag");
        return std::nullopt;
    }
    output.back() /= op.bag;
    output.push_back(op.width);
    return LayerMeaning{op, output};
}

std::optional<LayerMeaning> read_gather(LayerText& text) {
    Gather op;
    op.spread = read_spread(text.keys());
    if (!text.sound()) return std::nullopt;
    const Shape& table = text.shape(0);
    if (table.size() != 2) {
        text.keys().fail(fmt::format("reads rows of [rows, width], but '{}' is {}", text.operand(0).name,
                                     to_string(table)));
        return std::nullopt;
    }
    if (!expect_indices(text, text.operand(1))) return std::nullopt;
    op.rows = table[0];
    op.width = table[1];
    Shape output = text.shape(1);
    op.lookups = elements(output);
    output.push_back(op.width);
    return LayerMeaning{op, output};
}

const std::vector<std::string>& spread_names() {
    static const std::vector<std::string> names = {"even", "random"};
    return names;
}

}  // namespace systole
