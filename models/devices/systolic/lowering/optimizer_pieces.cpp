// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/optimizer_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/devices/systolic/lowering/workspace.h"

namespace systole::systolic {
namespace {

/// Rows of bytes that follow each other are one row.
TensorBox dense(TensorBox box) {
    if (box.rows == 1 || box.stride != box.row_bytes) return box;
    return {box.offset, 1, box.bytes(), 0};
}

/// Bytes of an element that has whole bytes.
std::int64_t whole_bytes(const Layer& layer, const Tensor& tensor) {
    const std::int64_t bits = bits_of(tensor.dtype).value();
    if (bits % 8 != 0)
        refuse(layer,
               fmt::format("'{}' of type '{}' has no whole bytes: steps of training write and read others",
                           tensor.name, to_string(tensor.dtype)));
    return bits / 8;
}

}  // namespace

UpdatePieces::UpdatePieces(const Graph& graph, const Layer& layer, const Placement& weights)
    : placement_(weights) {
    const Tensor& tensor = graph.tensors[*layer.weights];
    if (tensor.format != WeightFormat{} || !weights.parts.empty())
        refuse(layer, fmt::format("the weights '{}' are {}, which no step of training writes", tensor.name,
                                  weights.parts.empty() ? "packed" : "those of a transposed convolution"));
    weight_ = whole_bytes(layer, tensor);
    gradient_ = whole_bytes(layer, graph.tensors[layer.inputs.at(0)]);
    take_shape(graph, layer);
}

/// Matrices as those who multiply with them see them; all others are a column of elements.
void UpdatePieces::take_shape(const Graph& graph, const Layer& layer) {
    const auto& op = std::get<Optimizer>(layer.op);
    k_ = op.elements;
    if (placement_.layout == Layout::RowMajor) return;
    const auto first = std::ranges::find_if(graph.layers, [&](const Layer& other) {
        const auto* matmul = std::get_if<MatMul>(&other.op);
        const bool multiplies =
            std::holds_alternative<Conv2d>(other.op) || (matmul && matmul->shared_weights);
        return multiplies && other.weights == layer.weights;
    });
    if (first == graph.layers.end())
        refuse(layer, fmt::format("no step of training writes weights as those of '{}' lie",
                                  graph.tensors[*layer.weights].name));
    if (const auto* matmul = std::get_if<MatMul>(&first->op)) {
        items_ = std::max<std::int64_t>(1, matmul->experts);
        k_ = matmul->k;
        n_ = matmul->n;
        turned_ = matmul->transposed_b;
    } else {  // of a convolution each output channel's weights lie together
        const auto& conv = std::get<Conv2d>(first->op);
        items_ = conv.groups;
        k_ = conv.taps() * conv.in_c / conv.groups;
        n_ = conv.out_c / conv.groups;
        turned_ = graph.tensors[layer.inputs.at(0)].shape != Shape{k_, n_};
    }
}

void UpdatePieces::cut(std::int64_t most) {
    const bool tiled = placement_.layout == Layout::Tiled;
    const auto square = static_cast<std::int64_t>(std::sqrt(static_cast<double>(most)));
    const std::int64_t column = tiled ? placement_.tile_cols : n_;
    const std::int64_t wide =
        tiled ? most : std::max<std::int64_t>(1, most / std::min(k_, std::max<std::int64_t>(1, square)));
    const std::int64_t width = std::min({column, n_, wide});
    for (std::int64_t begin = 0; begin < n_; begin += column) {
        const std::int64_t end = std::min(n_, begin + column);
        for (std::int64_t at = begin; at < end; at += width)
            strips_.push_back({at, std::min(width, end - at)});
    }
    rows_ = ceil_div(k_, ceil_div(k_, std::min(k_, most / width)));
}

std::int64_t UpdatePieces::count() const {
    return items_ * static_cast<std::int64_t>(strips_.size()) * pieces_of_strip();
}

TensorBox UpdatePieces::weights_box(std::int64_t item, Range n, Range k) const {
    if (placement_.layout == Layout::RowMajor) return {k.begin * weight_, 1, k.count * weight_, 0};
    if (placement_.layout == Layout::ColumnMajor)
        return dense(
            {((item * n_ + n.begin) * k_ + k.begin) * weight_, n.count, k.count * weight_, k_ * weight_});
    // A column of tiles is one matrix, row by row.
    const std::int64_t row = placement_.tile_cols * weight_;
    const std::int64_t column = round_up(k_, placement_.tile_rows) * row;
    const std::int64_t before = item * ceil_div(n_, placement_.tile_cols) + n.begin / placement_.tile_cols;
    const std::int64_t inside = n.begin % placement_.tile_cols * weight_;
    return dense({before * column + k.begin * row + inside, k.count, n.count * weight_, row});
}

TensorBox UpdatePieces::gradient_box(std::int64_t item, Range n, Range k) const {
    const std::int64_t begin = item * k_ * n_ * gradient_;
    if (turned_)
        return dense(
            {begin + (n.begin * k_ + k.begin) * gradient_, n.count, k.count * gradient_, k_ * gradient_});
    return dense(
        {begin + (k.begin * n_ + n.begin) * gradient_, k.count, n.count * gradient_, n_ * gradient_});
}

UpdatePiece UpdatePieces::piece(std::int64_t index) const {
    const std::int64_t strip = index / pieces_of_strip(), row = index % pieces_of_strip() * rows_;
    const auto strips = static_cast<std::int64_t>(strips_.size());
    const std::int64_t item = strip / strips;
    const Range n = strips_[static_cast<std::size_t>(strip % strips)];
    const Range k{row, std::min(rows_, k_ - row)};
    const std::int64_t first = item * k_ * n_ + n.begin * k_ + k.begin * n.count;
    return {gradient_box(item, n, k), weights_box(item, n, k), {first, k.count * n.count}};
}

}  // namespace systole::systolic
