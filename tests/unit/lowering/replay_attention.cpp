// SPDX-License-Identifier: Apache-2.0
// What passes of attention read and compute, by the definition of the operator: queries [batch, q_len, heads,
// dim]; keys and values by position, or of a cache by head.
#include <fmt/format.h>

#include <algorithm>

#include "tests/unit/lowering/replay.h"

namespace systole::systolic::test {

/// Fused, the batch item of a pass counts blocks of keys, in these heads, in these scores and outputs.
Replay::AttentionPlace Replay::place_of(const PassOrigin& origin) const {
    const Attention& op = *attention();
    if (op.part != Attention::Part::Whole) return {origin.batch, op.part == Attention::Part::Scores, 0};
    const std::int64_t block = origin.batch / 2 / op.items();
    const bool scores = origin.batch % 2 == 0;
    return {origin.batch / 2 % op.items(), scores, scores ? 0 : first_keys_.at({command_.layer, block})};
}

/// Scores say with which keys their blocks begin.
void Replay::find_first_keys() {
    for (const Command& command : lowered_.program.commands) {
        if (unit_kind(command.unit) != UnitKind::Matrix) continue;
        const auto* op = std::get_if<Attention>(&graph_.layers[static_cast<std::size_t>(command.layer)].op);
        const PassOrigin& origin = lowered_.program.pass(command).origin;
        if (op == nullptr || op->part != Attention::Part::Whole || origin.batch % 2 != 0) continue;
        const auto known =
            first_keys_.emplace(std::pair{command.layer, origin.batch / 2 / op->items()}, origin.n0);
        known.first->second = std::min(known.first->second, origin.n0);
    }
}

/// Of queries and outputs, in elements from the tensor's first; `width`: of a head's row.
std::int64_t Replay::query_element(std::int64_t item, std::int64_t row, std::int64_t dim,
                                   std::int64_t width) const {
    const Attention& op = *attention();
    const std::int64_t position = item / op.kv_heads * op.q_len + row / op.group();
    const std::int64_t head = item % op.kv_heads * op.group() + row % op.group();
    return (position * op.heads + head) * width + dim;
}

std::int64_t Replay::key_element(std::int64_t item, std::int64_t key, std::int64_t dim,
                                 std::int64_t width) const {
    const Attention& op = *attention();
    if (op.by_head) return (item * op.kv_len + key) * width + dim;
    return ((item / op.kv_heads * op.kv_len + key) * op.kv_heads + item % op.kv_heads) * width + dim;
}

std::int64_t Replay::attention_input(const MatrixPass& pass, std::int64_t m, std::int64_t k) const {
    const Attention& op = *attention();
    const AttentionPlace place = place_of(pass.origin);
    const TensorId id = layer().inputs[0];
    if (!place.scores && op.part == Attention::Part::Whole) return kMade;
    const std::int64_t rows = op.q_len * op.group();
    const std::int64_t width = op.of_values && op.value_width > 0 ? op.value_width : op.head_dim;
    std::int64_t element = (place.item * rows + m) * op.kv_len + k;
    if (op.part == Attention::Part::Keys) element = (place.item * op.kv_len + m) * rows + k;
    if (place.scores) element = query_element(place.item, m, k, width);
    return address_of(id, element * element_bytes(id));
}

std::int64_t Replay::attention_second(const MatrixPass& pass, std::int64_t k, std::int64_t n) const {
    const AttentionPlace place = place_of(pass.origin);
    const TensorId id = second_of(pass);
    const Attention& op = *attention();
    // Values that are the beginning of keys lie in their rows.
    const std::int64_t values = op.value_width == 0 || op.shared ? op.head_dim : op.value_width;
    std::int64_t element = key_element(place.item, place.first_key + k, n, values);
    if (place.scores) element = key_element(place.item, n, k, op.of_values ? values : op.head_dim);
    if (op.part == Attention::Part::Keys)
        element = query_element(place.item, k, n,
                                op.of_values && op.value_width > 0 ? op.value_width : op.head_dim);
    return address_of(id, element * element_bytes(id));
}

TensorId Replay::second_of(const MatrixPass& pass) const {
    if (layer().weights) return *layer().weights;
    const Attention* op = attention();
    const bool values = op && op->part == Attention::Part::Whole && !place_of(pass.origin).scores;
    return layer().inputs.at(values ? 2 : 1);
}

bool Replay::second_by_column(const MatrixPass& pass) const {
    if (attention()) return place_of(pass.origin).scores;
    const Layout layout = layer().weights ? lowered_.placements[*layer().weights].layout : Layout::RowMajor;
    if (layout != Layout::RowMajor) return (layout == Layout::ColumnMajor) != weights_turned();
    const auto* matmul = std::get_if<MatMul>(&layer().op);
    return matmul->transposed_b;
}

/// The first layer that has them, and so lays them out.
const Layer& Replay::owner_of_weights() const {
    return *std::ranges::find(graph_.layers, layer().weights, &Layer::weights);
}

/// Whether that layer has them the other way round. A convolution's are [n, k].
bool Replay::weights_turned() const {
    const auto* own = std::get_if<MatMul>(&layer().op);
    const auto* owner = std::get_if<MatMul>(&owner_of_weights().op);
    return (own ? own->transposed_b : true) != (owner ? owner->transposed_b : true);
}

/// Every product of a query with a key that it sees once; the others are what the pass says is masked.
void Replay::count_attention(const MatrixPass& pass) {
    const Attention& op = *attention();
    const AttentionPlace place = place_of(pass.origin);
    std::int64_t hidden = 0;
    for (std::int64_t m = pass.origin.m0; m < pass.origin.m0 + pass.m; ++m) {
        for (std::int64_t n = pass.origin.n0; n < pass.origin.n0 + pass.n; ++n) {
            for (std::int64_t k = pass.origin.k0; k < pass.origin.k0 + pass.k * pass.folds; ++k) {
                const bool by_keys = op.part == Attention::Part::Keys;
                const std::int64_t key = by_keys ? m : place.scores ? n : place.first_key + k;
                const std::int64_t row = by_keys ? k : m, position = row / op.group();
                if (op.causal && key > op.kv_len - op.q_len + position)
                    ++hidden;
                else
                    ++products_[{command_.layer, 2 * place.item + (place.scores ? 0 : 1), row,
                                 place.scores ? k : n, key}];
            }
        }
    }
    if (hidden != pass.masked * pass.folds)
        fault(fmt::format("{} products are hidden, not {}", hidden, pass.masked));
}

/// The last rows of each head are written once, the others not.
bool Replay::writes_of_cache_are_right(std::size_t index) const {
    const auto& op = std::get<CacheAppend>(graph_.layers[index].op);
    const std::vector<int>& written = written_[index];
    const auto row = static_cast<std::int64_t>(written.size()) / (op.batch * op.heads * op.length);
    for (std::size_t at = 0; at < written.size(); ++at) {
        const bool added = static_cast<std::int64_t>(at) / row % op.length >= op.length - op.rows;
        if (written[at] != (added ? 1 : 0)) return false;
    }
    return true;
}

}  // namespace systole::systolic::test
