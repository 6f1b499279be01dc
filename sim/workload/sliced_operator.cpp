// SPDX-License-Identifier: Apache-2.0
// Operators on a part of their batch.
#include <type_traits>

#include "sim/workload/sliced_graph.h"

namespace systole {
namespace {

/// A part of the batch: which extents of an operator run over its items, and what is left of them.
struct Part {
    std::int64_t batch, count;

    /// Of an extent that holds whole items one behind the other, a part's share; false if it holds none.
    bool take(std::int64_t& extent) const {
        if (extent % batch != 0) return false;
        extent /= count;
        return true;
    }
};

/// Lookups and their tables, caches, scales by row, other chips and weights that are learnt know more than
/// one item.
template <typename Op>
constexpr bool kKnowsMore =
    std::is_same_v<Op, Embedding> || std::is_same_v<Op, EmbeddingGradient> || std::is_same_v<Op, Gather> ||
    std::is_same_v<Op, CacheAppend> || std::is_same_v<Op, Scaling> || std::is_same_v<Op, Collective> ||
    std::is_same_v<Op, Optimizer>;

template <typename Op>
bool cut(Op& op, const Part& part) {
    if constexpr (kKnowsMore<Op>)
        return false;
    else
        return part.take(op.batch);
}
bool cut(MatMul& op, const Part& part) {
    if (op.experts > 0) return false;   // a part would meet other weights
    if (op.transposed_a) return false;  // items are summed
    if (op.shared_weights && op.batch == 1) return part.take(op.m);
    return part.take(op.batch);
}
bool cut(Attention& op, const Part& part) {
    return op.part != Attention::Part::Keys && part.take(op.batch);
}
bool cut(Elementwise& op, const Part& part) {
    // What is met several times is the same for all items, unless each has its own.
    if (op.items > 1) return part.take(op.items) && part.take(op.elements);
    if (op.times > 1) return op.stored && part.take(op.times) && part.take(op.elements);
    return !op.stored && part.take(op.elements);
}
bool cut(Activation& op, const Part& part) {
    return part.take(op.elements);
}
bool cut(Softmax& op, const Part& part) {
    return part.take(op.rows);
}
bool cut(Norm& op, const Part& part) {
    return part.take(op.rows);
}
bool cut(Reduce& op, const Part& part) {
    return !op.columns && part.take(op.rows);
}
bool cut(TopK& op, const Part& part) {
    return part.take(op.rows);
}
bool cut(Transpose& op, const Part& part) {
    return op.permutation[0] == 0 && part.take(op.shape[0]);
}
bool cut(Concat& op, const Part& part) {
    return part.take(op.outer);
}
bool cut(Slice& op, const Part& part) {
    return part.take(op.outer);
}
bool cut(Rotary& op, const Part& part) {
    return part.take(op.outer);
}

}  // namespace

std::optional<Operator> slice_of(const Operator& op, std::int64_t batch, std::int64_t count) {
    if (batch % count != 0) return std::nullopt;
    Operator part = op;
    const Part wanted{batch, count};
    if (!std::visit([&](auto& own) { return cut(own, wanted); }, part)) return std::nullopt;
    return part;
}

}  // namespace systole
