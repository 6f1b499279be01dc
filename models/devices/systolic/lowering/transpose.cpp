// SPDX-License-Identifier: Apache-2.0
// Transpose: the DMA gathers the input's part of a chunk as rows of contiguous runs, the vector unit turns it
// over, one descriptor stores it.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/transpose_cut.h"
#include "models/devices/systolic/lowering/vector_steps.h"

namespace systole::systolic {
namespace {

/// Larger than other chunks: both sides of a block grow with its root. But loads, work and stores overlap.
constexpr std::int64_t kBlockBytes = 1024 * 1024, kFewestBlocks = 8;

}  // namespace

LayerPlan plan_transpose(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const TensorId input = layer.inputs.at(0);
    const DType dtype = workspace.dtype(input);
    const ChunkLimits limits = chunk_limits(workspace, layer, 1);
    const Tensor& output = workspace.graph.tensors[layer.output];
    const std::int64_t least = row_bytes(dtype, 1).value();
    const std::int64_t share =
        std::max(least, ceil_div(stored_bytes(output).value(), workspace.core.count));  // one for each core
    const std::int64_t most = 8 * std::min({limits.input, limits.output, share}) / bits_of(dtype).value();
    if (most < 1) {
        refuse(
            layer,
            fmt::format("chunks may have {} B of placement.input_buffer and {} B of placement.output_buffer: "
                        "not one element",
                        limits.input, limits.output));
    }
    const bool in_place = workspace.flow.resident(input);
    const std::int64_t block = std::min({workspace.inputs.capacity() / 2, workspace.outputs.capacity() / 2,
                                         share / kFewestBlocks, kBlockBytes});
    const TransposePieces pieces = cut_transpose(workspace, std::get<Transpose>(layer.op), dtype,
                                                 {most, 8 * block / bits_of(dtype).value()}, in_place);
    VectorPlan plan;
    plan.count = pieces.count;
    plan.chunk = [=, cost = workspace.spec.vector.cost.simple](std::int64_t i) {
        const TransposePiece piece = pieces.piece(i);
        const std::int64_t bytes = row_bytes(dtype, piece.elements()).value();
        VectorChunk chunk;
        Staging staging{input, Operand::Activations, 0, gather(piece, dtype)};
        if (in_place) {
            for (const StagedCopy& copy : staging.copies)
                chunk.reads.push_back({0, copy.from.offset,
                                       rows_pattern(copy.from.rows, copy.from.stride, copy.from.row_bytes)});
        } else {
            chunk.reads.push_back({0, 0, piece_pattern(bytes)});
        }
        for (const StagedCopy& copy : staging.copies) staging.bytes += copy.from.bytes();
        chunk.elements = piece.elements();
        chunk.lane_cycles = piece.elements() * cost;
        chunk.scratchpad_read = bytes;
        const std::int64_t bits = bits_of(dtype).value();
        chunk.output = {piece.out_begin * bits / 8, piece.rows, row_bytes(dtype, piece.row).value(),
                        piece.out_stride * bits / 8};
        chunk.inputs.push_back(std::move(staging));
        return chunk;
    };
    LayerPlan result;
    result.mapping = fmt::format("DMA gathers, vector unit turns; {} chunks", plan.count);
    result.dtype = dtype;
    const std::int64_t elements_in = elements(std::get<Transpose>(layer.op).shape);
    result.touched.push_back({input, row_bytes(dtype, elements_in).value()});
    result.steps = std::make_shared<VectorSteps>(workspace, index, std::move(plan));
    return result;
}

}  // namespace systole::systolic
