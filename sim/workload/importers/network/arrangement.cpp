// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/arrangement.h"

#include <algorithm>
#include <numeric>

namespace systole {
namespace {

Order all_of(std::size_t count) {
    Order order(count);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

}  // namespace

Arrangement::Arrangement(const Shape& shape) : Arrangement(shape, all_of(shape.size())) {}

Arrangement::Arrangement(const Shape& shape, const Order& held) : dims_(shape.size()) {
    for (std::size_t at = 0; at < held.size(); ++at) {
        sizes_.push_back(shape[held[at]]);
        dims_[held[at]] = {at};
    }
}

std::int64_t Arrangement::extent(std::size_t dim) const {
    std::int64_t extent = 1;
    for (const std::size_t factor : dims_[dim]) extent *= sizes_[factor];
    return extent;
}

Shape Arrangement::shape() const {
    Shape shape;
    for (std::size_t dim = 0; dim < rank(); ++dim) shape.push_back(extent(dim));
    return shape;
}

Shape permuted(const Shape& shape, const Order& order) {
    Shape result;
    for (const std::size_t dim : order) result.push_back(shape[dim]);
    return result;
}

Arrangement Arrangement::permuted(const Order& order) const {
    Arrangement result;
    result.sizes_ = sizes_;
    for (const std::size_t dim : order) result.dims_.push_back(dims_[dim]);
    return result;
}

std::vector<std::size_t> Arrangement::owners() const {
    std::vector<std::size_t> owners(sizes_.size());
    for (std::size_t dim = 0; dim < rank(); ++dim)
        for (const std::size_t factor : dims_[dim]) owners[factor] = dim;
    return owners;
}

/// All in one dimension, without factors of 1, those that lie side by side as one.
Arrangement Arrangement::merged() const {
    Order flat = factors(all_of(rank()));
    std::erase_if(flat, [&](std::size_t factor) { return sizes_[factor] == 1; });
    std::vector<std::int64_t> size(sizes_.size(), 0);  // of the run that begins at a factor
    Order first;                                       // factors with which runs begin, row-major
    std::size_t last = 0;
    for (const std::size_t factor : flat) {
        bool beside = !first.empty() && factor > last;
        for (std::size_t between = last + 1; beside && between < factor; ++between)
            beside = sizes_[between] == 1;
        if (beside)
            size[first.back()] *= sizes_[factor];
        else
            first.push_back(factor), size[factor] = sizes_[factor];
        last = factor;
    }
    Arrangement result;
    std::vector<std::size_t> place(sizes_.size());
    for (std::size_t factor = 0; factor < sizes_.size(); ++factor)
        if (size[factor] > 0) place[factor] = result.sizes_.size(), result.sizes_.push_back(size[factor]);
    result.dims_.emplace_back();
    for (const std::size_t factor : first) result.dims_[0].push_back(place[factor]);
    return result;
}

std::optional<Arrangement> Arrangement::reshaped(const Shape& shape) const {
    if (elements(shape) != elements(sizes_)) return std::nullopt;
    const Arrangement flat = merged();
    // Each factor is cut where dimensions end: `pieces` of it, row-major.
    std::vector<Shape> pieces(flat.sizes_.size());
    struct Piece {
        std::size_t factor, number;
    };
    std::vector<std::vector<Piece>> dims(shape.size());
    std::size_t at = 0;
    std::int64_t left = flat.dims_[0].empty() ? 1 : flat.sizes_[flat.dims_[0][0]];
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
        std::int64_t wanted = shape[dim];
        while (wanted > 1) {
            if (left == 1) left = flat.sizes_[flat.dims_[0][++at]];
            const std::int64_t piece = std::min(wanted, left);
            if (wanted % piece != 0 || left % piece != 0) return std::nullopt;
            const std::size_t factor = flat.dims_[0][at];
            dims[dim].push_back({factor, pieces[factor].size()});
            pieces[factor].push_back(piece);
            wanted /= piece, left /= piece;
        }
    }
    Arrangement result;
    std::vector<std::size_t> begin;
    for (const Shape& each : pieces) {
        begin.push_back(result.sizes_.size());
        result.sizes_.insert(result.sizes_.end(), each.begin(), each.end());
    }
    for (const auto& dim : dims) {
        result.dims_.emplace_back();
        for (const Piece& piece : dim) result.dims_.back().push_back(begin[piece.factor] + piece.number);
    }
    // Dimensions of 1 lie before the next one that has factors, as they would row-major.
    for (std::size_t dim = shape.size(); dim-- > 0;) {
        if (!result.dims_[dim].empty()) continue;
        std::size_t place = result.sizes_.size();
        if (dim + 1 < shape.size()) place = result.dims_[dim + 1].front();
        for (Order& other : result.dims_)
            for (std::size_t& factor : other) factor += factor >= place ? 1 : 0;
        result.sizes_.insert(result.sizes_.begin() + static_cast<std::ptrdiff_t>(place), 1);
        result.dims_[dim] = {place};
    }
    return result;
}

std::optional<Arrangement> Arrangement::cut_like(const Arrangement& other) const {
    Shape fine;
    std::vector<std::size_t> counts;
    const std::size_t lead = rank() - std::min(rank(), other.rank());
    for (std::size_t dim = 0; dim < rank(); ++dim) {
        Shape own;
        const bool shared = dim >= lead;
        const std::size_t there = shared ? dim - lead + (other.rank() - std::min(rank(), other.rank())) : 0;
        if (shared && other.extent(there) == extent(dim))
            for (const std::size_t factor : other.dims_[there]) own.push_back(other.sizes_[factor]);
        else
            for (const std::size_t factor : dims_[dim]) own.push_back(sizes_[factor]);
        counts.push_back(own.size());
        fine.insert(fine.end(), own.begin(), own.end());
    }
    std::optional<Arrangement> cut = reshaped(fine);
    if (!cut) return std::nullopt;
    Arrangement result;
    result.sizes_ = cut->sizes_;
    std::size_t at = 0;
    for (const std::size_t count : counts) {
        result.dims_.emplace_back();
        for (std::size_t i = 0; i < count; ++i, ++at)
            result.dims_.back().insert(result.dims_.back().end(), cut->dims_[at].begin(),
                                       cut->dims_[at].end());
    }
    // A dimension that is one factor there must be one here.
    for (std::size_t dim = 0, i = 0; dim < counts.size(); i += counts[dim++])
        for (std::size_t j = i; j < i + counts[dim]; ++j)
            if (cut->dims_[j].size() != 1) return std::nullopt;
    return result;
}

Order Arrangement::factors(const Order& dims) const {
    Order all;
    for (const std::size_t dim : dims) all.insert(all.end(), dims_[dim].begin(), dims_[dim].end());
    return all;
}

Order Arrangement::factors_as_held(const Order& dims) const {
    Order all = factors(dims);
    std::ranges::sort(all);
    return all;
}

bool Arrangement::is_held(const Order& factors) const {
    std::optional<std::size_t> last;
    for (const std::size_t factor : factors) {
        if (sizes_[factor] == 1) continue;
        if (last && factor < *last) return false;
        last = factor;
    }
    return true;
}

bool Arrangement::is_row_major() const {
    return is_held(factors(all_of(rank())));
}

bool Arrangement::are_last(const Order& dims) const {
    const std::vector<std::size_t> owner = owners();
    bool begun = false;
    for (std::size_t factor = 0; factor < sizes_.size(); ++factor) {
        if (sizes_[factor] == 1) continue;
        const bool wanted = std::ranges::find(dims, owner[factor]) != dims.end();
        if (begun && !wanted) return false;
        begun = begun || wanted;
    }
    return true;
}

Arrangement Arrangement::moved(const Order& factors) const {
    Arrangement result;
    std::vector<std::size_t> place(sizes_.size());
    for (std::size_t at = 0; at < factors.size(); ++at) {
        result.sizes_.push_back(sizes_[factors[at]]);
        place[factors[at]] = at;
    }
    result.dims_ = dims_;
    for (Order& dim : result.dims_)
        for (std::size_t& factor : dim) factor = place[factor];
    return result;
}

Shape Arrangement::met_again(const Shape& shape) const {
    Shape held = sizes_;
    const std::size_t lead = rank() - shape.size();
    for (std::size_t dim = 0; dim < rank(); ++dim)
        if (dim < lead || shape[dim - lead] == 1)
            for (const std::size_t factor : dims_[dim]) held[factor] = 1;
    return held;
}

Arrangement Arrangement::without(const Order& dims) const {
    const std::vector<std::size_t> owner = owners();
    std::vector<std::size_t> place(sizes_.size());
    Arrangement result;
    for (std::size_t factor = 0; factor < sizes_.size(); ++factor) {
        if (std::ranges::find(dims, owner[factor]) != dims.end()) continue;
        place[factor] = result.sizes_.size();
        result.sizes_.push_back(sizes_[factor]);
    }
    for (std::size_t dim = 0; dim < rank(); ++dim) {
        if (std::ranges::find(dims, dim) != dims.end()) continue;
        result.dims_.emplace_back();
        for (const std::size_t factor : dims_[dim]) result.dims_.back().push_back(place[factor]);
    }
    return result;
}

Arrangement Arrangement::with_last(std::int64_t extent) const {
    Arrangement result = *this;
    result.dims_.push_back({sizes_.size()});
    result.sizes_.push_back(extent);
    return result;
}

Arrangement Arrangement::resized(std::size_t dim, std::int64_t extent) const {
    Arrangement result = *this;
    for (const std::size_t factor : result.dims_[dim]) result.sizes_[factor] = 1;
    result.sizes_[result.dims_[dim].front()] = extent;
    return result;
}

std::optional<Move> move_between(const Arrangement& from, const Order& factors, std::size_t most) {
    Move move{from.held(), factors};
    if (factors.size() <= most) return move;
    // Without those of 1, and what follows each other before and after as one.
    Order kept;
    for (const std::size_t factor : factors)
        if (from.held()[factor] > 1) kept.push_back(factor);
    std::vector<std::size_t> rank_of(from.held().size(), 0);
    Order sorted = kept;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i) rank_of[sorted[i]] = i;
    std::vector<bool> joins(sorted.size(), false);  // to the one before it
    for (std::size_t i = 1; i < kept.size(); ++i)
        if (rank_of[kept[i]] == rank_of[kept[i - 1]] + 1) joins[rank_of[kept[i]]] = true;
    move = {};
    std::vector<std::size_t> group(sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (joins[i])
            move.shape.back() *= from.held()[sorted[i]];
        else
            move.shape.push_back(from.held()[sorted[i]]);
        group[i] = move.shape.size() - 1;
    }
    for (const std::size_t factor : kept)
        if (!joins[rank_of[factor]]) move.permutation.push_back(group[rank_of[factor]]);
    if (move.shape.size() > most) return std::nullopt;
    return move;
}

}  // namespace systole
