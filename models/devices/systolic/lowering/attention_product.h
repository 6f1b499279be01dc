// SPDX-License-Identifier: Apache-2.0
// One of the two products of a block of fused attention on one matrix unit: a block of queries by a block of
// keys, or its shares by the block's values. Sums lie in the accumulators until they are drained.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/devices/systolic/lowering/gemm_block.h"
#include "models/devices/systolic/lowering/gemm_weights.h"

namespace systole::systolic {

/// What streams or stays as rows of M: a tile on chip, or a tensor read in place.
struct ProductInput {
    TensorId tensor = 0;         ///< where there is no tile
    BufferTile* tile = nullptr;  ///< staged, or written by the vector unit
    Range extent;                ///< bytes of the tensor, in place
    /// Of all rows of the block, elements `k` counted from the block's first.
    std::function<PassRead(Range k)> read;
    DType dtype = DType::Bf16;
};

struct ProductSecond {
    TensorId tensor = 0;
    std::int64_t item = 0;
    const GemmWeights* weights = nullptr;
    BufferTile* tile = nullptr;  ///< staged; nothing: in place
    Operand operand = Operand::Activations;
    DType dtype = DType::Bf16;
    Range columns = {};  ///< of N, that the tile was staged for
};

/// m x k x n of an item, in its own coordinates; `origin` is that of its first product (PassOrigin).
struct ProductShape {
    int mxu = 0;
    Range m, n, k;
    PassOrigin origin;
};

class AttentionProduct {
public:
    /// Products that a mask hides, of a part of the block.
    using Masked = std::function<std::int64_t(Range m, Range n, Range k)>;

    AttentionProduct(Workspace& workspace, const ProductShape& shape, ProductInput input,
                     ProductSecond second, Masked masked);

    bool done() const { return at_tile_ == tiles_.size(); }
    /// Issues the next pass, and before it the transfer of its tile where that comes through a FIFO.
    void next();
    /// Once done: with its sums. To be released when their drains are issued.
    std::vector<OutputTile>& tiles() { return tiles_; }
    const ProductShape& shape() const { return shape_; }
    void release();

private:
    void fetch(Range n, Range k);
    Tokens awaited(const OutputTile& tile);
    void set_edges(const OutputTile& tile, Range k, MatrixPass& pass);
    void read_by(Token reader);

    Workspace& workspace_;
    ProductShape shape_;
    ProductInput input_;
    ProductSecond second_;
    Masked masked_;
    std::int64_t depth_;  ///< elements of K in a pass
    std::vector<OutputTile> tiles_;
    std::size_t at_tile_ = 0;
    std::int64_t at_k_ = 0;  ///< elements of K done, of the tile
    bool fresh_ = true;      ///< no pass has waited for the operands yet
};

/// All passes of all of them, one of each in turn: the matrix units work side by side.
void interleave(std::vector<AttentionProduct>& products);

}  // namespace systole::systolic
