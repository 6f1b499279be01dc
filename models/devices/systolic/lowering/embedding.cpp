// SPDX-License-Identifier: Apache-2.0
// Embedding: the DMA fetches one row of the table for every index and stores them. Which rows is not known
// here (indices are data); they are spread evenly over the table, so that every lookup opens another DRAM row
// as random indices would.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/vector_steps.h"
#include "sim/base/check.h"

namespace systole::systolic {
namespace {

class EmbeddingSteps : public Steps {
public:
    EmbeddingSteps(Workspace& workspace, std::int32_t layer, const Embedding& op, std::int64_t chunk)
        : workspace_(workspace),
          index_(layer),
          layer_(workspace.graph.layers[static_cast<std::size_t>(layer)]),
          op_(op),
          step_(std::max<std::int64_t>(1, op.vocabulary / op.lookups)),
          reach_((op.vocabulary - 1) / step_ + 1),
          chunk_(std::min(chunk, reach_)) {}

    std::int64_t count() const override { return ceil_div(op_.lookups, chunk_); }
    bool stage_weights(std::int64_t, Holds&) override { return true; }
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;

private:
    TensorId indices() const { return layer_.inputs.at(0); }
    TileKey key(std::int64_t step) const { return {index_, 0, step, 0}; }
    Range lookups(std::int64_t step) const {
        return {step * chunk_, std::min(chunk_, op_.lookups - step * chunk_)};
    }
    TensorBox index_box(Range part) const {
        const DType dtype = workspace_.dtype(indices());
        return {row_bytes(dtype, part.begin).value(), 1, row_bytes(dtype, part.count).value(), 0};
    }
    Transfer gather(Range part, std::int64_t row_bytes) const;

    Workspace& workspace_;
    std::int32_t index_;
    const Layer& layer_;
    Embedding op_;
    std::int64_t step_;   ///< rows of the table between successive lookups
    std::int64_t reach_;  ///< lookups until the table ends
    std::int64_t chunk_;  ///< lookups per step
};

bool EmbeddingSteps::stage_inputs(std::int64_t step, Holds& holds) {
    if (workspace_.flow.resident(indices())) return true;
    return stage(workspace_, workspace_.inputs, key(step), holds, [&] {
        const TensorBox box = index_box(lookups(step));
        return Staging{indices(), Operand::Activations, box.row_bytes, {{box, 0, 0}}};
    });
}

Transfer EmbeddingSteps::gather(Range part, std::int64_t row) const {
    const std::int64_t first = std::min(part.begin % reach_, reach_ - part.count);
    Transfer transfer;
    transfer.from =
        workspace_.flow.region(*layer_.weights, {first * step_ * row, part.count, row, step_ * row});
    transfer.rows = part.count;
    transfer.row_bytes = row;
    transfer.operand = Operand::Weights;
    return transfer;
}

void EmbeddingSteps::work(std::int64_t step) {
    const Range part = lookups(step);
    const std::int64_t row = row_bytes(workspace_.dtype(*layer_.weights), op_.width).value();
    const TensorBox box{part.begin * row, 1, part.count * row, 0};
    Tokens after;
    BufferTile* list = nullptr;
    if (workspace_.flow.resident(indices())) {
        workspace_.flow.before_read(indices(), index_box(part).offset, index_box(part).end(), after);
    } else {
        list = workspace_.inputs.find(key(step));
        SYSTOLE_CHECK(list != nullptr, "indices of step {} of layer {} are not staged", step, index_);
        after.add(list->ready);
    }
    Transfer load = gather(part, row);
    const UnitIndex loader = unit_index(UnitKind::Load);
    if (workspace_.flow.resident(layer_.output)) {
        workspace_.flow.before_write(layer_.output, after);
        load.to = workspace_.flow.region(layer_.output, box);
        load.to.stride = row;
        const Token token = workspace_.emitter.transfer(loader, load, after);
        if (list != nullptr) list->users.add(token);
        workspace_.flow.read_by(indices(), token);
        workspace_.flow.wrote(layer_.output, box, token);
        return;
    }
    BufferTile* tile = workspace_.outputs.allocate(part.count * row, std::nullopt, after);
    SYSTOLE_CHECK(tile != nullptr, "rows of layer {}", index_);
    load.to = {Place::Scratchpad, tile->address, row};
    const Token loaded = workspace_.emitter.transfer(loader, load, after);
    if (list != nullptr) list->users.add(loaded);
    workspace_.flow.read_by(indices(), loaded);
    tile->ready.add(loaded);
    after = loaded;
    workspace_.flow.before_write(layer_.output, after);
    Transfer store;
    store.from = {Place::Scratchpad, tile->address, 0};
    store.to = workspace_.flow.region(layer_.output, box);
    store.row_bytes = box.row_bytes;
    store.operand = Operand::Outputs;
    const Token stored = workspace_.emitter.transfer(unit_index(UnitKind::Store), store, after);
    tile->users.add(stored);
    workspace_.flow.wrote(layer_.output, box, stored);
}

}  // namespace

LayerPlan plan_embedding(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const auto& op = std::get<Embedding>(layer.op);
    const ChunkLimits limits = chunk_limits(workspace, layer, 1);
    const std::int64_t row = row_bytes(workspace.dtype(*layer.weights), op.width).value();
    const std::int64_t index_bytes = row_bytes(workspace.dtype(layer.inputs.at(0)), 1).value();
    const std::int64_t chunk = std::min(limits.output / row, limits.input / index_bytes);
    if (chunk == 0) {
        refuse(layer,
               fmt::format("a row of the table has {} B; chunks may have {} B of placement.output_buffer",
                           row, limits.output));
    }
    LayerPlan result;
    result.mapping = "DMA: one table row per lookup, spread evenly over the table";
    result.dtype = workspace.dtype(layer.output);
    result.touched.push_back({layer.inputs.at(0), op.lookups * index_bytes});
    result.touched.push_back({*layer.weights, std::min(op.lookups, op.vocabulary) * row});
    result.steps = std::make_shared<EmbeddingSteps>(workspace, index, op, chunk);
    return result;
}

}  // namespace systole::systolic
