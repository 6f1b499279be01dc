// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/attention_product.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"

namespace systole::systolic {

AttentionProduct::AttentionProduct(Workspace& workspace, const ProductShape& shape, ProductInput input,
                                   ProductSecond second, Masked masked)
    : workspace_(workspace),
      shape_(shape),
      input_(std::move(input)),
      second_(second),
      masked_(std::move(masked)) {
    const MxuSpec& mxu = workspace_.spec.mxu;
    const bool streams = mxu.dataflow == Dataflow::OutputStationary;  // all of K in a pass
    depth_ = streams ? shape_.k.count
                     : mxu.rows * mxu.rate_of(input_.dtype, second_.dtype).value_or(MacRate{1}).macs;
    Block block;
    block.m = shape_.m;
    block.n = shape_.n;
    const OutputShape output = output_shape(mxu);
    cut(block, output);
    tiles_ = std::move(block.tiles);
    BufferRing& ring = workspace_.accumulators[static_cast<std::size_t>(shape_.mxu)];
    for (OutputTile& tile : tiles_) {
        const std::int64_t rows = output.rows_are_m ? tile.m.count : tile.n.count;
        tile.accumulators = ring.allocate(rows, std::nullopt, tile.room);
        SYSTOLE_CHECK(tile.accumulators != nullptr, "accumulators of an attention block");
        ++tile.accumulators->holds;
    }
}

void AttentionProduct::release() {
    for (const OutputTile& tile : tiles_) --tile.accumulators->holds;
}

/// A tile of the second operand on its way into the FIFO.
void AttentionProduct::fetch(Range n, Range k) {
    const UnitIndex unit = unit_index(UnitKind::Weights, shape_.mxu);
    const GemmWeights& weights = *second_.weights;
    if (second_.tile != nullptr) {
        const Transfer transfer = weights.from_tile(second_.tile->address, second_.columns, shape_.k, n, k);
        second_.tile->users.add(workspace_.emitter.transfer(unit, transfer, second_.tile->ready));
        return;
    }
    const Transfer transfer = weights.from_tensor(workspace_.flow, second_.item, n, k);
    const Range extent = weights.extent(second_.item, n, k);
    Tokens after;
    workspace_.flow.before_read(second_.tensor, extent.begin, extent.end(), after);
    workspace_.flow.read_by(second_.tensor, workspace_.emitter.transfer(unit, transfer, after));
}

Tokens AttentionProduct::awaited(const OutputTile& tile) {
    Tokens after;
    if (at_k_ == 0) after.add(tile.room);
    if (!std::exchange(fresh_, false)) return after;  // the passes behind the first follow it
    const auto wait = [&](const BufferTile* staged, TensorId tensor, Range extent) {
        if (staged != nullptr) return after.add(staged->ready);
        workspace_.flow.before_read(tensor, extent.begin, extent.end(), after);
    };
    wait(input_.tile, input_.tensor, input_.extent);
    if (workspace_.spec.mxu.direct())
        wait(second_.tile, second_.tensor, second_.weights->extent(second_.item, shape_.n, shape_.k));
    return after;
}

void AttentionProduct::set_edges(const OutputTile& tile, Range k, MatrixPass& pass) {
    const MxuSpec& mxu = workspace_.spec.mxu;
    const PassRead rows = input_.read({k.begin - shape_.k.begin, k.count});
    const EdgeRead input{workspace_.emitter.stream(rows.stream), rows.address, tile.m.begin - shape_.m.begin,
                         tile.m.count, 0};
    pass.left = input;
    if (!mxu.direct()) return;
    const GemmWeights& weights = *second_.weights;
    const PassRead read = second_.tile != nullptr
                              ? weights.read_tile(second_.tile->address, second_.columns, shape_.k, tile.n, k)
                              : weights.read_tensor(workspace_.flow, second_.item, tile.n, k);
    const EdgeRead second{workspace_.emitter.stream(read.stream), read.address, 0, read.stream.vectors(), 0};
    const bool inputs_stay = mxu.dataflow == Dataflow::InputStationary;
    pass.left = inputs_stay ? second : input;
    pass.top = inputs_stay ? input : second;
}

/// The edges of the array have read the operands; a FIFO's transfer has entered itself.
void AttentionProduct::read_by(Token reader) {
    const auto enter = [&](BufferTile* tile, TensorId tensor) {
        if (tile != nullptr)
            tile->users.add(reader);
        else
            workspace_.flow.read_by(tensor, reader);
    };
    enter(input_.tile, input_.tensor);
    if (workspace_.spec.mxu.direct()) enter(second_.tile, second_.tensor);
}

void AttentionProduct::next() {
    OutputTile& tile = tiles_[at_tile_];
    const Range k{shape_.k.begin + at_k_, std::min(depth_, shape_.k.count - at_k_)};
    if (!workspace_.spec.mxu.direct()) fetch(tile.n, k);
    const Tokens after = awaited(tile);
    MatrixPass pass;
    pass.m = tile.m.count;
    pass.k = k.count;
    pass.n = tile.n.count;
    pass.accumulator_row = static_cast<std::int32_t>(tile.accumulators->address);
    pass.accumulate = at_k_ > 0;
    pass.dtype = input_.dtype;
    pass.second_dtype = other_than(input_.dtype, second_.dtype);
    pass.second = second_.operand;
    pass.masked = masked_(tile.m, tile.n, k);
    pass.origin = shape_.origin;
    pass.origin.m0 += tile.m.begin - shape_.m.begin;
    pass.origin.n0 += tile.n.begin - shape_.n.begin;
    pass.origin.k0 += at_k_;
    set_edges(tile, k, pass);
    tile.done = workspace_.emitter.pass(shape_.mxu, pass, after);
    read_by(tile.done);
    at_k_ += k.count;
    if (at_k_ < shape_.k.count) return;
    at_k_ = 0;
    ++at_tile_;
}

void interleave(std::vector<AttentionProduct>& products) {
    for (bool any = true; any;) {
        any = false;
        for (AttentionProduct& product : products) {
            if (product.done()) continue;
            product.next();
            any = true;
        }
    }
}

}  // namespace systole::systolic
