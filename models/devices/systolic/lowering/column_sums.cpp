// SPDX-License-Identifier: Apache-2.0
// Sums of columns, or of products of two columns: gradients of biases and gains. The vector unit goes down
// the columns of several rows at a time, with a sum for each in its registers; between such chunks sums lie
// on chip. Of several matrices one is done behind the other.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/running_sum.h"
#include "models/devices/systolic/lowering/staging.h"
#include "models/devices/systolic/lowering/vector_cost.h"
#include "models/devices/systolic/lowering/vector_steps.h"
#include "sim/base/check.h"

namespace systole::systolic {
namespace {

/// Columns of which any number of any format fill whole bytes.
constexpr std::int64_t kGrain = 64;

class ColumnSums : public Steps {
public:
    ColumnSums(Workspace& workspace, std::int32_t layer)
        : workspace_(workspace),
          index_(layer),
          layer_(workspace.graph.layers[static_cast<std::size_t>(layer)]),
          op_(std::get<Reduce>(layer_.op)),
          sum_(workspace, layer_) {
        for (const TensorId input : layer_.inputs)
            if (std::ranges::find(inputs_, input) == inputs_.end()) inputs_.push_back(input);
        cut();
    }

    std::int64_t count() const override { return op_.items * steps_of_item(); }
    bool stage_weights(std::int64_t, Holds&) override { return true; }
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;

private:
    std::int64_t turns() const { return ceil_div(op_.rows, rows_); }
    TileKey key(std::size_t input, std::int64_t step) const {
        return {index_, static_cast<std::int64_t>(input), step, 0};
    }
    std::int64_t steps_of_item() const { return ceil_div(own_.count, width_) * turns(); }
    std::int64_t item(std::int64_t step) const { return step / steps_of_item(); }
    Range columns(std::int64_t step) const {
        const std::int64_t at = step % steps_of_item() / turns() * width_;
        return {own_.begin + at, std::min(width_, own_.count - at)};
    }
    Range rows(std::int64_t step) const {
        const std::int64_t at = step % turns() * rows_;
        return {at, std::min(rows_, op_.rows - at)};
    }
    TensorBox box(TensorId tensor, std::int64_t step) const;
    void cut();

    Workspace& workspace_;
    std::int32_t index_;
    const Layer& layer_;
    const Reduce& op_;
    RunningSum sum_;
    std::vector<TensorId> inputs_;  ///< each once
    Range own_;                     ///< columns of the core
    std::int64_t width_ = 1, rows_ = 1;
};

void ColumnSums::cut() {
    const Range grains = workspace_.core.of(ceil_div(op_.cols, kGrain));
    own_ = {grains.begin * kGrain, std::min(op_.cols, grains.end() * kGrain) - grains.begin * kGrain};
    if (grains.count == 0) own_ = {0, 0};
    const ChunkLimits limits = chunk_limits(workspace_, layer_, static_cast<std::int64_t>(inputs_.size()));
    std::int64_t widest = 0;  // bits of an element
    for (const TensorId input : inputs_) widest = std::max(widest, bits_of(workspace_.dtype(input)).value());
    const std::int64_t results = std::min(RunningSum::room(workspace_), limits.output);
    const std::int64_t most = std::min(results / RunningSum::kSumBytes, limits.input * 8 / widest);
    // Whole bytes of any format, where that is not all columns.
    width_ = own_.count <= most ? std::max<std::int64_t>(1, own_.count) : most - most % kGrain;
    if (width_ == 0) width_ = most - most % 8;
    if (width_ == 0)
        refuse(layer_,
               fmt::format(
                   "{} columns do not fit: chunks may have {} B of placement.input_buffer for each input, "
                   "and {} B of placement.output_buffer (or weight_buffer where there is none) for sums",
                   std::min<std::int64_t>(8, op_.cols), limits.input, results));
    rows_ = std::max<std::int64_t>(1, limits.input / ceil_div(width_ * widest, 8));
    rows_ = ceil_div(op_.rows, ceil_div(op_.rows, std::min(op_.rows, rows_)));
}

TensorBox ColumnSums::box(TensorId tensor, std::int64_t step) const {
    const DType dtype = workspace_.dtype(tensor);
    const std::int64_t pitch = row_bytes(dtype, op_.cols).value();
    const Range part = rows(step), across = columns(step);
    const std::int64_t begin =
        (item(step) * op_.rows + part.begin) * pitch + row_bytes(dtype, across.begin).value();
    const std::int64_t bytes = row_bytes(dtype, across.count).value();
    if (bytes == pitch) return {begin, 1, part.count * bytes, 0};
    return {begin, part.count, bytes, pitch};
}

bool ColumnSums::stage_inputs(std::int64_t step, Holds& holds) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (workspace_.flow.resident(inputs_[i])) continue;
        const bool staged = stage(workspace_, workspace_.inputs, key(i, step), holds, [&] {
            const TensorBox from = box(inputs_[i], step);
            return Staging{
                inputs_[i], workspace_.operand(inputs_[i]), from.bytes(), {{from, 0, from.row_bytes}}};
        });
        if (!staged) return false;
    }
    return true;
}

void ColumnSums::work(std::int64_t step) {
    const VectorSpec::Cost& cost = workspace_.spec.vector.cost;
    const Range across = columns(step);
    VectorWork work;
    work.elements = across.count;
    work.lane_cycles = rows(step).count * across.count * column_sum_cost(cost, layer_.inputs.size() > 1);
    Tokens after;
    std::vector<BufferTile*> tiles;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const TensorBox from = box(inputs_[i], step);
        const bool in_place = workspace_.flow.resident(inputs_[i]);
        const AddressStream pattern =
            in_place ? rows_pattern(from.rows, from.stride, from.row_bytes) : piece_pattern(from.bytes());
        std::int64_t address = 0;
        if (in_place) {
            workspace_.flow.before_read(inputs_[i], from.offset, from.end(), after);
            address = workspace_.flow.region(inputs_[i], from).address;
        } else {
            tiles.push_back(workspace_.inputs.find(key(i, step)));
            SYSTOLE_CHECK(tiles.back() != nullptr, "step {} of layer {} is not staged", step, index_);
            after.add(tiles.back()->ready);
            address = tiles.back()->address;
        }
        work.reads.push_back({workspace_.emitter.stream(pattern), address, 0, pattern.vectors(), 0});
        work.scratchpad_read += from.bytes();
    }
    const DType out = workspace_.dtype(layer_.output);
    const std::int64_t begin =
        item(step) * row_bytes(out, op_.cols).value() + row_bytes(out, across.begin).value();
    const TensorBox result{begin, 1, row_bytes(out, across.count).value(), 0};
    const std::int64_t turn = step % turns();
    const Token token = sum_.add(work, after, {turn == 0, turn + 1 == turns()}, result);
    for (BufferTile* tile : tiles) tile->users.add(token);
    for (const TensorId input : inputs_)
        if (workspace_.flow.resident(input)) workspace_.flow.read_by(input, token);
}

/// Of several matrices, each of which goes into a chunk.
bool has_small_items(const Workspace& workspace, const Layer& layer) {
    const auto& op = std::get<Reduce>(layer.op);
    if (op.items == 1) return false;
    const ChunkLimits limits = chunk_limits(workspace, layer, static_cast<std::int64_t>(layer.inputs.size()));
    const auto fits = [&](TensorId input) {
        return row_bytes(workspace.dtype(input), op.rows * op.cols).value() <= limits.input;
    };
    return std::ranges::all_of(layer.inputs, fits) &&
           row_bytes(workspace.dtype(layer.output), op.cols).value() <= limits.output;
}

}  // namespace

LayerPlan plan_column_sums(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    if (has_small_items(workspace, layer)) return plan_vector(workspace, index);
    const auto steps = std::make_shared<ColumnSums>(workspace, index);
    LayerPlan result;
    result.mapping = fmt::format("vector unit: sums of columns{}; {} chunk{}",
                                 layer.inputs.size() > 1 ? ", of products" : "", steps->count(),
                                 steps->count() == 1 ? "" : "s");
    result.dtype = workspace.dtype(layer.inputs.at(0));
    for (const TensorId input : layer.inputs)
        result.touched.push_back({input, stored_bytes(workspace.graph.tensors[input]).value()});
    result.steps = steps;
    result.dealt = true;  // columns
    return result;
}

}  // namespace systole::systolic
