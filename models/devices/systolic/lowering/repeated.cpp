// SPDX-License-Identifier: Apache-2.0
// Operators of two operands of which the second, shorter one is met again and again: rotary embeddings, and
// elementwise operators that broadcast. A piece of it is staged once for all chunks that meet it.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/vector_cost.h"
#include "models/devices/systolic/lowering/vector_steps.h"

namespace systole::systolic {
namespace {

/// Of each item, the first operand is `times` turns of `units` units; the second is one turn.
struct Repetition {
    TensorId first = 0, second = 0;
    std::int64_t items = 1, times = 1, units = 1;
    std::int64_t first_elements = 1, second_elements = 1;  ///< of a unit
    std::int64_t grain = 1;  ///< units of a part of a turn are a multiple of this, but for the last
    std::int64_t cost = 1;   ///< lane-cycles per element of the first
};

/// Elements of several units lie without gaps.
std::int64_t bytes(DType dtype, std::int64_t units, std::int64_t elements) {
    return row_bytes(dtype, units * elements).value();
}

class RepetitionPlanner {
public:
    RepetitionPlanner(Workspace& workspace, const Layer& layer, const Repetition& work)
        : workspace_(&workspace),
          layer_(&layer),
          work_(work),
          in_(workspace.dtype(work.first)),
          second_(workspace.dtype(work.second)),
          out_(workspace.dtype(layer.output)) {
        cut();
    }

    std::int64_t count() const { return work_.items * chunks_of_item(); }
    VectorChunk chunk(std::int64_t index) const;

private:
    void cut();
    ChunkLimits limits() const;
    std::int64_t chunks_of_item() const { return parts_ * ceil_div(work_.times, turns_); }

    const Workspace* workspace_;
    const Layer* layer_;
    Repetition work_;
    DType in_, second_, out_;
    /// A chunk is several turns, or the same part of one turn after the other: then the piece stays.
    std::int64_t turns_ = 1, part_units_ = 1, parts_ = 1;
};

ChunkLimits RepetitionPlanner::limits() const {
    const bool stored = workspace_->graph.tensors[work_.second].role == TensorRole::Weights;
    ChunkLimits limits = chunk_limits(*workspace_, *layer_, stored ? 1 : 2);
    if (!stored) limits.stored = limits.input;
    // Pieces are staged among results: these must find room between them.
    if (stored && workspace_->weights.capacity() == 0) limits.output = std::min(limits.output, limits.stored);
    return limits;
}

void RepetitionPlanner::cut() {
    const ChunkLimits limit = limits();
    const auto fitting = [&](std::int64_t units) {
        return std::min({limit.input / bytes(in_, units, work_.first_elements),
                         limit.output / bytes(out_, units, work_.first_elements),
                         limit.stored / bytes(second_, units, work_.second_elements)});
    };
    if (fitting(work_.units) > 0) {
        const std::int64_t most = std::min(limit.input / bytes(in_, work_.units, work_.first_elements),
                                           limit.output / bytes(out_, work_.units, work_.first_elements));
        turns_ = ceil_div(work_.times, ceil_div(work_.times, std::min(work_.times, most)));
        part_units_ = work_.units;
        return;
    }
    part_units_ = fitting(work_.grain) * work_.grain;
    if (part_units_ == 0) {
        refuse(*layer_,
               fmt::format("{} elements and the {} that they meet do not fit: chunks may have {} B of "
                           "placement.input_buffer and {} B of placement.output_buffer, the others {} B",
                           work_.grain * work_.first_elements, work_.grain * work_.second_elements,
                           limit.input, limit.output, limit.stored));
    }
    parts_ = ceil_div(work_.units, part_units_);
    part_units_ = round_up(ceil_div(work_.units, parts_), work_.grain);
    parts_ = ceil_div(work_.units, part_units_);
}

VectorChunk RepetitionPlanner::chunk(std::int64_t index) const {
    const std::int64_t rounds = ceil_div(work_.times, turns_);
    const std::int64_t item = index / chunks_of_item(), inside = index % chunks_of_item();
    const std::int64_t part = inside / rounds, turn = inside % rounds * turns_;
    const std::int64_t turns = std::min(turns_, work_.times - turn);
    const Range units{part * part_units_, std::min(part_units_, work_.units - part * part_units_)};
    const std::int64_t begin = (item * work_.times + turn) * work_.units + units.begin;
    const auto box = [&](DType dtype) {
        return TensorBox{bytes(dtype, begin, work_.first_elements), 1,
                         bytes(dtype, turns * units.count, work_.first_elements), 0};
    };
    const TensorBox first = box(in_);
    const TensorBox second{bytes(second_, item * work_.units + units.begin, work_.second_elements), 1,
                           bytes(second_, units.count, work_.second_elements), 0};
    const auto offset = [&](TensorId tensor, const TensorBox& from) {
        return workspace_->flow.resident(tensor) ? from.offset : 0;
    };
    const bool stored = workspace_->graph.tensors[work_.second].role == TensorRole::Weights;
    VectorChunk chunk;
    chunk.inputs.push_back({work_.first, workspace_->operand(work_.first), first.row_bytes, {{first, 0, 0}}});
    chunk.shared.push_back({{work_.second,
                             stored ? Operand::Weights : workspace_->operand(work_.second),
                             second.row_bytes,
                             {{second, 0, 0}}},
                            item * parts_ + part});
    chunk.reads.push_back({0, offset(work_.first, first), piece_pattern(first.row_bytes)});
    // A single element is met by all lanes at once and stays in a register; anything longer is read again.
    const std::int64_t reads = units.count * work_.second_elements == 1 ? 1 : turns;
    chunk.reads.push_back({0, offset(work_.second, second), piece_pattern(second.row_bytes, reads), true});
    chunk.scratchpad_read = first.row_bytes + reads * second.row_bytes;
    chunk.elements = turns * units.count * work_.first_elements;
    chunk.lane_cycles = chunk.elements * work_.cost;
    chunk.output = box(out_);
    return chunk;
}

/// Items whose second operand is one number: a chunk is several of them, each a row of the first operand, and
/// the vector unit gives each number to all of its row.
class RowsPlanner {
public:
    RowsPlanner(Workspace& workspace, const Layer& layer, const Repetition& work)
        : workspace_(&workspace),
          work_(work),
          in_(workspace.dtype(work.first)),
          second_(workspace.dtype(work.second)),
          out_(workspace.dtype(layer.output)) {
        const ChunkLimits limit = chunk_limits(workspace, layer, 2);
        const std::int64_t most =
            std::min({limit.input / bytes(in_, work.times, 1), limit.output / bytes(out_, work.times, 1),
                      limit.input / bytes(second_, 1, 1)});
        if (most > 0) rows_ = ceil_div(work.items, ceil_div(work.items, std::min(work.items, most)));
    }

    /// Whether the second operand is such, rows are whole bytes, and one of them fits.
    bool fits() const {
        const bool whole =
            bits_of(in_).value() * work_.times % 8 == 0 && bits_of(out_).value() * work_.times % 8 == 0;
        return work_.units * work_.second_elements == 1 && work_.items > 1 && whole && rows_ > 0;
    }
    std::int64_t count() const { return ceil_div(work_.items, rows_); }
    VectorChunk chunk(std::int64_t index) const;

private:
    const Workspace* workspace_;
    Repetition work_;
    DType in_, second_, out_;
    std::int64_t rows_ = 0;  ///< of a chunk
};

VectorChunk RowsPlanner::chunk(std::int64_t index) const {
    const Range rows{index * rows_, std::min(rows_, work_.items - index * rows_)};
    const auto box = [&](DType dtype, std::int64_t width) {
        return TensorBox{bytes(dtype, rows.begin, width), 1, bytes(dtype, rows.count, width), 0};
    };
    VectorChunk chunk;
    const auto add = [&](TensorId tensor, const TensorBox& from) {
        chunk.inputs.push_back({tensor, workspace_->operand(tensor), from.row_bytes, {{from, 0, 0}}});
        chunk.reads.push_back({chunk.inputs.size() - 1, workspace_->flow.resident(tensor) ? from.offset : 0,
                               piece_pattern(from.row_bytes)});
        chunk.scratchpad_read += from.row_bytes;
    };
    add(work_.first, box(in_, work_.times));
    add(work_.second, box(second_, 1));
    chunk.elements = rows.count * work_.times;
    chunk.lane_cycles = chunk.elements * work_.cost;
    chunk.output = box(out_, work_.times);
    return chunk;
}

template <class Planner>
LayerPlan planned(Workspace& workspace, std::int32_t index, const Planner& planner, const Repetition& work,
                  const std::string& what) {
    VectorPlan plan;
    plan.count = planner.count();
    plan.chunk = [planner](std::int64_t i) { return planner.chunk(i); };
    LayerPlan result = vector_layer(workspace, index, std::move(plan), what);
    for (const TensorId tensor : {work.first, work.second})
        result.touched.push_back({tensor, stored_bytes(workspace.graph.tensors[tensor]).value()});
    return result;
}

LayerPlan plan(Workspace& workspace, std::int32_t index, const Repetition& work, const std::string& what) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const bool stored = workspace.graph.tensors[work.second].role == TensorRole::Weights;
    const RowsPlanner rows(workspace, layer, work);
    if (!stored && rows.fits()) return planned(workspace, index, rows, work, what);
    return planned(workspace, index, RepetitionPlanner(workspace, layer, work), work, what);
}

}  // namespace

LayerPlan plan_broadcast(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const auto& op = std::get<Elementwise>(layer.op);
    const VectorSpec::Cost& cost = workspace.spec.vector.cost;
    Repetition work;
    work.first = layer.inputs.at(0);
    work.second = op.stored ? *layer.weights : layer.inputs.at(1);
    work.items = op.items;
    work.times = op.times;
    work.units = op.elements / op.times / op.items;
    work.grain = 16;  // parts of any dtype then end at whole bytes
    work.cost = elementwise_cost(cost, op.kind) + slope_cost(cost, op.slope) + function_cost(cost, op.post);
    return plan(workspace, index, work,
                fmt::format("elementwise, the second operand {} time{}", op.times, op.times == 1 ? "" : "s"));
}

LayerPlan plan_rotary(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const auto& op = std::get<Rotary>(layer.op);
    Repetition work;
    work.first = layer.inputs.at(0);
    work.second = *layer.weights;
    work.times = op.outer;
    work.units = op.seq;
    work.first_elements = op.heads * op.dim;
    work.second_elements = op.dim;
    work.cost = rotary_cost(workspace.spec.vector.cost);
    return plan(workspace, index, work, "rotary embedding");
}

}  // namespace systole::systolic
