// SPDX-License-Identifier: Apache-2.0
// Concat, slice and its gradient: rows of one tensor become rows of another. Where activations live in DRAM
// the DMA does it alone, through a tile of the input buffer; where they live on chip the vector unit copies
// them. Zeros are written by the vector unit.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "models/devices/systolic/lowering/box_cut.h"
#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/movement.h"
#include "models/devices/systolic/lowering/vector_steps.h"

namespace systole::systolic {
namespace {

/// Rows that follow each other on both sides are one row.
Piece merged(Piece piece) {
    const auto dense = [](const TensorBox& box) { return box.stride == box.row_bytes; };
    if (!dense(piece.from) || !dense(piece.to)) return piece;
    for (TensorBox* box : {&piece.from, &piece.to}) {
        box->stride = box->row_bytes *= box->rows;
        box->rows = 1;
    }
    return piece;
}

std::int64_t bytes_of(const Workspace& workspace, TensorId tensor) {
    return stored_bytes(workspace.graph.tensors[tensor]).value();
}

/// Inputs side by side: each index of the dimensions before the axis is a row.
std::vector<Piece> pieces_of(const Workspace& workspace, const Layer& layer, const Concat& op) {
    std::vector<Piece> pieces;
    const std::int64_t out_row = bytes_of(workspace, layer.output) / op.outer;
    std::int64_t at = 0;
    for (const TensorId input : layer.inputs) {
        const std::int64_t row = bytes_of(workspace, input) / op.outer;
        pieces.push_back(merged({input, {0, op.outer, row, row}, {at, op.outer, row, out_row}}));
        at += row;
    }
    return pieces;
}

/// Rows of the gradient of a slice in their places, and zeros before and behind them.
std::vector<Piece> placed_pieces(const Workspace& workspace, const Layer& layer, const Slice& op) {
    const TensorId input = layer.inputs.at(0);
    const std::int64_t in_row = bytes_of(workspace, input) / op.outer;
    const std::int64_t out_row = bytes_of(workspace, layer.output) / op.outer;
    const std::int64_t begin = out_row % op.in == 0 ? out_row / op.in * op.begin
                                                    : row_bytes(workspace.dtype(input), op.begin).value();
    const std::int64_t end = begin + in_row;
    std::vector<Piece> pieces{
        merged({input, {0, op.outer, in_row, in_row}, {begin, op.outer, in_row, out_row}})};
    const auto add_zeros = [&](std::int64_t first, std::int64_t bytes) {
        const TensorBox box{first, op.outer, bytes, out_row};
        if (bytes > 0) pieces.push_back(merged({input, box, box, true}));
    };
    add_zeros(0, begin);
    add_zeros(end, out_row - end);
    return pieces;
}

std::vector<Piece> pieces_of(const Workspace& workspace, const Layer& layer, const Slice& op) {
    if (op.gradient) return placed_pieces(workspace, layer, op);
    const TensorId input = layer.inputs.at(0);
    const std::int64_t in_row = bytes_of(workspace, input) / op.outer;
    const std::int64_t out_row = bytes_of(workspace, layer.output) / op.outer;
    // Of the last axis an index may be half a byte; of any other it has whole rows.
    const std::int64_t begin =
        in_row % op.in == 0 ? in_row / op.in * op.begin : row_bytes(workspace.dtype(input), op.begin).value();
    return {merged({input, {begin, op.outer, out_row, in_row}, {0, op.outer, out_row, out_row}})};
}

std::vector<Piece> pieces_of(const Workspace& workspace, const Layer& layer) {
    if (const auto* concat = std::get_if<Concat>(&layer.op)) return pieces_of(workspace, layer, *concat);
    return pieces_of(workspace, layer, std::get<Slice>(layer.op));
}

/// All chunks, piece by piece.
struct Cuts {
    std::vector<Piece> pieces;
    std::vector<BoxCut> cuts;        ///< of each piece
    std::vector<std::int64_t> ends;  ///< of each piece: chunks up to its own last one

    Piece chunk(std::int64_t index) const {
        const auto at = std::ranges::upper_bound(ends, index) - ends.begin();
        const auto piece = static_cast<std::size_t>(at);
        const std::int64_t own = index - (piece == 0 ? 0 : ends[piece - 1]);
        const Piece& whole = pieces[piece];
        return {whole.input, cuts[piece].part(whole.from, own), cuts[piece].part(whole.to, own), whole.zeros};
    }
};

VectorChunk moved(const Piece& piece, Operand operand, std::int64_t bits, std::int64_t cost, bool in_place) {
    const TensorBox& from = piece.from;
    VectorChunk chunk;
    chunk.elements = from.bytes() * 8 / bits;
    chunk.lane_cycles = chunk.elements * cost;
    chunk.output = piece.to;
    if (piece.zeros) return chunk;
    chunk.inputs.push_back({piece.input, operand, from.bytes(), {{from, 0, from.row_bytes}}});
    chunk.reads.push_back(
        {0, in_place ? from.offset : 0,
         in_place ? rows_pattern(from.rows, from.stride, from.row_bytes) : piece_pattern(from.bytes())});
    chunk.scratchpad_read = from.bytes();
    return chunk;
}

}  // namespace

LayerPlan plan_copies(Workspace& workspace, std::int32_t index, std::vector<Piece> pieces) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const ChunkLimits limits = chunk_limits(workspace, layer, 1);
    // What lies on chip at one end the vector unit copies, into a tile of results if the other is in DRAM.
    const auto on_chip = [&](TensorId tensor) { return workspace.flow.resident(tensor); };
    const std::ptrdiff_t copied =
        on_chip(layer.output) ? std::ssize(layer.inputs) : std::ranges::count_if(layer.inputs, on_chip);
    const std::int64_t most = copied == 0 ? limits.input : std::min(limits.input, limits.output);
    const bool zeros = std::ranges::any_of(pieces, &Piece::zeros);
    if (std::min(most, zeros ? limits.output : most) < BoxCut::kWidest) {
        refuse(layer, fmt::format("chunks may have {} B of placement.input_buffer and {} B of "
                                  "placement.output_buffer: not one element",
                                  limits.input, limits.output));
    }
    LayerPlan result;
    Cuts cuts;
    cuts.pieces = std::move(pieces);
    for (const Piece& piece : cuts.pieces) {
        if (!piece.zeros) result.touched.push_back({piece.input, piece.from.bytes()});
        const std::int64_t share = ceil_div(piece.from.bytes(), workspace.core.count);  // one for each core
        const std::int64_t room = piece.zeros ? limits.output : most;
        cuts.cuts.emplace_back(piece.from, std::min(room, std::max(share, BoxCut::kWidest)));
        cuts.ends.push_back((cuts.ends.empty() ? 0 : cuts.ends.back()) + cuts.cuts.back().count());
    }
    VectorPlan plan;
    plan.moves = true;
    plan.count = cuts.ends.back();
    const std::string_view who = copied == 0                          ? "DMA, through the scratchpad"
                                 : copied == std::ssize(layer.inputs) ? "vector unit, on chip"
                                                                      : "DMA and vector unit";
    result.mapping = fmt::format("{}: copies {} piece{}; {} chunk{}", who, cuts.pieces.size(),
                                 cuts.pieces.size() == 1 ? "" : "s", plan.count, plan.count == 1 ? "" : "s");
    result.dtype = workspace.dtype(layer.output);
    plan.chunk = [cuts = std::move(cuts), &shared = workspace,
                  bits = bits_of(result.dtype).value()](std::int64_t i) {
        const Piece piece = cuts.chunk(i);
        return moved(piece, shared.operand(piece.input), bits, shared.spec.vector.cost.simple,
                     shared.flow.resident(piece.input));
    };
    result.steps = std::make_shared<VectorSteps>(workspace, index, std::move(plan));
    return result;
}

LayerPlan plan_movement(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    return plan_copies(workspace, index, pieces_of(workspace, layer));
}

}  // namespace systole::systolic
