// SPDX-License-Identifier: Apache-2.0
// Quantize and dequantize on the vector unit: whole rows, with the scales that they meet. A row of scales is
// staged once for all chunks that meet it.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/vector_cost.h"
#include "models/devices/systolic/lowering/vector_steps.h"

namespace systole::systolic {
namespace {

class ScalingPlanner {
public:
    ScalingPlanner(const Workspace& workspace, const Layer& layer)
        : workspace_(&workspace),
          layer_(&layer),
          op_(std::get<Scaling>(layer.op)),
          in_row_(row_bytes(workspace.dtype(layer.inputs.at(0)), op_.cols).value()),
          out_row_(row_bytes(workspace.dtype(layer.output), op_.cols).value()),
          scales_row_(layer.scales ? row_bytes(workspace.dtype(*layer.scales), op_.cols).value() : 0),
          stored_(workspace.graph.tensors[layer.inputs.at(0)].role == TensorRole::Weights),
          group_(op_.format.scales == Scales::Group ? op_.format.group : op_.rows) {
        cut();
    }

    std::int64_t count() const { return ceil_div(op_.rows, span_) * ceil_div(span_, rows_); }
    VectorChunk chunk(std::int64_t index) const;

private:
    void cut();
    /// The rows of scales that a range of rows meets.
    Range scales(Range rows) const {
        const std::int64_t first = rows.begin / group_;
        return {first, (rows.end() - 1) / group_ + 1 - first};
    }

    const Workspace* workspace_;
    const Layer* layer_;
    const Scaling op_;
    const std::int64_t in_row_, out_row_, scales_row_;
    const bool stored_;  ///< it reads weights, which are staged as scales are
    const std::int64_t group_;
    /// A chunk is at most `rows_` rows, and never crosses a multiple of `span_`: whole groups, or part of
    /// one.
    std::int64_t rows_ = 1, span_ = 1;
};

void ScalingPlanner::cut() {
    ChunkLimits limit = chunk_limits(*workspace_, *layer_, 1);
    if (stored_) limit.input = limit.stored /= 2;
    // What is stored is staged among results where there is no other place: it must find room between them.
    if ((stored_ || layer_->scales) && workspace_->weights.capacity() == 0)
        limit.output = std::min(limit.output, limit.stored);
    const std::int64_t most = std::min(limit.input / in_row_, limit.output / out_row_);
    const std::int64_t most_scales = scales_row_ > 0 ? limit.stored / scales_row_ : op_.rows;
    if (most == 0 || most_scales == 0)
        refuse(*layer_,
               fmt::format("a row of {} elements does not fit: chunks may have {} B of placement.{}_buffer "
                           "and {} B of placement.output_buffer, a row of scales {} B",
                           op_.cols, limit.input, stored_ ? "weight" : "input", limit.output, limit.stored));
    const std::int64_t groups = std::min(most / group_, most_scales);
    span_ = groups > 0 ? op_.rows : group_;
    const std::int64_t chunks = ceil_div(span_, groups > 0 ? groups * group_ : most);
    rows_ = round_up(ceil_div(span_, chunks), groups > 0 ? group_ : 1);
    span_ = groups > 0 ? round_up(span_, rows_) : span_;
}

VectorChunk ScalingPlanner::chunk(std::int64_t index) const {
    const std::int64_t parts = ceil_div(span_, rows_);
    const std::int64_t begin = index / parts * span_ + index % parts * rows_;
    const std::int64_t end = std::min({begin + rows_, (index / parts + 1) * span_, op_.rows});
    const Range rows{begin, end - begin};
    const TensorId input = layer_->inputs.at(0);
    const TensorBox from{begin * in_row_, 1, rows.count * in_row_, 0};
    VectorChunk chunk;
    const Staging piece{input, workspace_->operand(input), from.row_bytes, {{from, 0, 0}}};
    if (stored_)
        chunk.shared.push_back({piece, index});
    else
        chunk.inputs.push_back(piece);
    chunk.reads.push_back(
        {0, workspace_->flow.resident(input) ? from.offset : 0, piece_pattern(from.row_bytes), stored_});
    chunk.scratchpad_read = from.row_bytes;
    if (layer_->scales) {
        const Range met = scales(rows);
        const TensorBox box{met.begin * scales_row_, 1, met.count * scales_row_, 0};
        // Scales of columns are read with every row, those of a group once for its rows.
        const std::int64_t times = op_.format.scales == Scales::Channel ? rows.count : 1;
        chunk.shared.push_back(
            {{*layer_->scales, Operand::Weights, box.row_bytes, {{box, 0, 0}}}, met.begin});
        chunk.reads.push_back({chunk.shared.size() - 1, 0, piece_pattern(box.row_bytes, times), true});
        chunk.scratchpad_read += times * box.row_bytes;
    }
    chunk.elements = rows.count * op_.cols;
    chunk.lane_cycles = chunk.elements * scaling_cost(workspace_->spec.vector.cost);
    chunk.output = {begin * out_row_, 1, rows.count * out_row_, 0};
    return chunk;
}

}  // namespace

LayerPlan plan_scaling(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const ScalingPlanner planner(workspace, layer);
    VectorPlan plan;
    plan.count = planner.count();
    plan.chunk = [planner](std::int64_t i) { return planner.chunk(i); };
    LayerPlan result = vector_layer(workspace, index, std::move(plan), std::string(op_name(layer.op)));
    result.touched.push_back(
        {layer.inputs.at(0), stored_bytes(workspace.graph.tensors[layer.inputs.at(0)]).value()});
    if (layer.scales)
        result.touched.push_back(
            {*layer.scales, stored_bytes(workspace.graph.tensors[*layer.scales]).value()});
    return result;
}

}  // namespace systole::systolic
