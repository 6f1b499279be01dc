// SPDX-License-Identifier: Apache-2.0
// How an optimizer's weights fall into pieces: each a box of the weights where they lie, the box of the
// gradient that belongs to it, and a range of the state, which nobody else reads and which therefore lies in
// the order of the pieces' elements.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/systolic/lowering/range.h"
#include "models/devices/systolic/lowering/tensor_flow.h"
#include "sim/workload/allocation.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

struct UpdatePiece {
    TensorBox gradient, weights;
    Range state;  ///< elements of each of its slots
};

/// Matrices [k, n] of weights, one behind the other, in tiles, column by column or row by row.
class UpdatePieces {
public:
    /// Refuses weights that no optimizer can write.
    UpdatePieces(const Graph& graph, const Layer& layer, const Placement& weights);

    /// Cuts them into pieces of at most so many elements.
    void cut(std::int64_t most);
    std::int64_t count() const;
    UpdatePiece piece(std::int64_t index) const;
    /// Bytes of a weight, and of an element of its gradient.
    std::int64_t weight_bytes() const { return weight_; }
    std::int64_t gradient_bytes() const { return gradient_; }

private:
    void take_shape(const Graph& graph, const Layer& layer);
    TensorBox weights_box(std::int64_t item, Range n, Range k) const;
    TensorBox gradient_box(std::int64_t item, Range n, Range k) const;
    std::int64_t pieces_of_strip() const { return ceil_div(k_, rows_); }

    Placement placement_;
    std::int64_t items_ = 1, k_ = 1, n_ = 1;
    bool turned_ = false;  ///< the gradient is [n, k]
    std::int64_t weight_ = 1, gradient_ = 1;
    std::vector<Range> strips_;  ///< columns of an item, each inside one column of tiles
    std::int64_t rows_ = 1;      ///< of a piece
};

}  // namespace systole::systolic
