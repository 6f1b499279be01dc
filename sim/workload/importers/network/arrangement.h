// SPDX-License-Identifier: Apache-2.0
// How the tensor of a trace holds a value. A value's dimensions fall into factors, and the tensor holds these
// in an order of its own, the slowest first: a feature map [n, c, h, w] lies as (n, h, w, c), its flattening
// [n, c * h * w] is the same bytes, and so is its transpose. Only a layer that needs another order moves
// data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/workload/graph.h"

namespace systole {

/// Positions of dimensions or factors, the slowest first.
using Order = std::vector<std::size_t>;

/// Dimension d of it is dimension order[d] of `shape`.
Shape permuted(const Shape& shape, const Order& order);

class Arrangement {
public:
    /// Row-major: each dimension is a factor, held in the order of the dimensions.
    explicit Arrangement(const Shape& shape);
    /// The dimensions of `shape`, held in that order of them.
    Arrangement(const Shape& shape, const Order& held);

    std::size_t rank() const { return dims_.size(); }
    std::int64_t extent(std::size_t dim) const;
    Shape shape() const;
    /// Sizes of the factors as they are held: with them as its shape the tensor is row-major.
    const Shape& held() const { return sizes_; }

    /// Dimension d is dimension order[d] of this. Nothing moves.
    Arrangement permuted(const Order& order) const;
    /// The same elements in the same (logical) row-major order under another shape, or nothing where a
    /// dimension would hold parts of factors that do not lie side by side, or there are not as many elements.
    std::optional<Arrangement> reshaped(const Shape& shape) const;
    /// With factors cut as those of `other` are, wherever both have a dimension (counted from the last one)
    /// of equal extent; nothing where they cannot be.
    std::optional<Arrangement> cut_like(const Arrangement& other) const;

    /// The factors of these dimensions, one dimension behind the other.
    Order factors(const Order& dims) const;
    /// The same, but within all of them as they are held.
    Order factors_as_held(const Order& dims) const;
    /// Whether the factors lie in this order; those of extent 1 lie anywhere. Expects all others.
    bool is_held(const Order& factors) const;
    bool is_row_major() const;
    /// Whether factors of all other dimensions come before those of `dims`, in whatever order.
    bool are_last(const Order& dims) const;
    /// Held in that order of its factors.
    Arrangement moved(const Order& factors) const;
    /// Of a value that is met again: its shape, aligned with the last dimensions, each 1 or the extent here;
    /// answers for each factor as held its size or 1.
    Shape met_again(const Shape& shape) const;
    /// Without these dimensions and their factors.
    Arrangement without(const Order& dims) const;
    /// With one dimension more, the last one and held last.
    Arrangement with_last(std::int64_t extent) const;
    /// Dimension `dim`, a single factor or an extent of 1, has another extent.
    Arrangement resized(std::size_t dim, std::int64_t extent) const;

private:
    Arrangement() = default;
    std::vector<std::size_t> owners() const;
    Arrangement merged() const;

    Shape sizes_;              // of factors, as held
    std::vector<Order> dims_;  // of each dimension, its factors, row-major
};

/// What a transposition has to do: a shape of the tensor before it, and a permutation of that. Factors that
/// stay side by side are one dimension if there are more than `most` otherwise; nothing if there still are.
struct Move {
    Shape shape;
    Order permutation;
};
std::optional<Move> move_between(const Arrangement& from, const Order& factors, std::size_t most);

}  // namespace systole
