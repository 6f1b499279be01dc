// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/vector_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/check.h"

namespace systole::systolic {
namespace {

/// Large enough for long bursts, small enough that loads, work and stores overlap.
constexpr std::int64_t kChunkBytes = 256 * 1024;

enum VectorTile : std::int64_t { kVectorInput, kParameter, kShared };

Range extent_of(const StagedCopy& copy) {
    return {copy.from.offset, copy.from.end() - copy.from.offset};
}

}  // namespace

ChunkLimits chunk_limits(const Workspace& workspace, const Layer& layer, std::int64_t inputs) {
    ChunkLimits limits{kChunkBytes, kChunkBytes};
    const bool staged =
        std::ranges::any_of(layer.inputs, [&](TensorId t) { return !workspace.flow.resident(t); });
    if (staged)
        limits.input =
            std::min(kChunkBytes, workspace.inputs.capacity() / (2 * std::max<std::int64_t>(1, inputs)));
    if (!workspace.flow.resident(layer.output)) {
        limits.output = std::min(kChunkBytes, workspace.outputs.capacity() / 2);
    }
    // Three steps may hold a piece each; beside them another must find room, and on a machine without weight
    // buffer results.
    limits.stored = std::min(kChunkBytes, workspace.parameters().capacity() / 8);
    return limits;
}

AddressStream piece_pattern(std::int64_t bytes, std::int64_t times) {
    return rows_pattern(times, 0, bytes);
}

AddressStream rows_pattern(std::int64_t rows, std::int64_t pitch, std::int64_t bytes) {
    return {.base = Bytes(0),
            .segments = {{Bytes(0), Bytes(bytes)}},
            .levels = {StreamLevel{}, StreamLevel{}, {rows, Bytes(pitch)}}};
}

VectorSteps::VectorSteps(Workspace& workspace, std::int64_t layer, VectorPlan plan)
    : workspace_(workspace),
      layer_(layer),
      output_(workspace.graph.layers[static_cast<std::size_t>(layer)].output),
      plan_(std::move(plan)) {
    const Layer& source = workspace_.graph.layers[static_cast<std::size_t>(layer)];
    std::int64_t needed = 0;
    for (const Staging& p : plan_.parameters) needed += workspace_.parameters().aligned(p.bytes);
    if (needed > workspace_.parameters().capacity() / 2) {
        refuse(source,
               fmt::format("its parameters need {} B on chip, of placement.weight_buffer (or output_buffer "
                           "where there is none) half of {} B",
                           needed, workspace_.parameters().capacity()));
    }
}

TileKey VectorSteps::key(std::int64_t kind, std::size_t index, std::int64_t step) const {
    return {layer_, kind, static_cast<std::int64_t>(index), step};
}

BufferRing& VectorSteps::ring_of(TensorId tensor) {
    return is_stored(tensor) ? workspace_.parameters() : workspace_.inputs;
}

bool VectorSteps::stage_shared(const VectorChunk& chunk, bool stored, Holds& holds) {
    for (std::size_t i = 0; i < chunk.shared.size(); ++i) {
        const VectorChunk::Shared& piece = chunk.shared[i];
        const TensorId tensor = piece.staging.tensor;
        if (is_stored(tensor) != stored || workspace_.flow.resident(tensor)) continue;
        if (!stage(workspace_, ring_of(tensor), key(kShared, i, piece.number), holds,
                   [&] { return piece.staging; })) {
            return false;
        }
    }
    return true;
}

bool VectorSteps::stage_weights(std::int64_t step, Holds& holds) {
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
        if (!stage(workspace_, workspace_.parameters(), key(kParameter, i, 0), holds,
                   [&] { return plan_.parameters[i]; })) {
            return false;
        }
    }
    return stage_shared(plan_.chunk(step), true, holds);
}

bool VectorSteps::stage_inputs(std::int64_t step, Holds& holds) {
    const VectorChunk chunk = plan_.chunk(step);
    if (!stage_shared(chunk, false, holds)) return false;
    for (std::size_t i = 0; i < chunk.inputs.size(); ++i) {
        if (workspace_.flow.resident(chunk.inputs[i].tensor)) continue;
        if (!stage(workspace_, workspace_.inputs, key(kVectorInput, i, step), holds,
                   [&] { return chunk.inputs[i]; })) {
            return false;
        }
    }
    return true;
}

std::vector<BufferTile*> VectorSteps::gather_inputs(const VectorChunk& chunk, std::int64_t step,
                                                    Tokens& after) {
    std::vector<BufferTile*> tiles;
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
        tiles.push_back(workspace_.parameters().find(key(kParameter, i, 0)));
    }
    const auto gather = [&](const Staging& input, BufferRing& ring, const TileKey& tile) {
        if (!workspace_.flow.resident(input.tensor)) return tiles.push_back(ring.find(tile));
        for (const StagedCopy& copy : input.copies) {
            workspace_.flow.before_read(input.tensor, extent_of(copy).begin, extent_of(copy).end(), after);
        }
    };
    for (std::size_t i = 0; i < chunk.inputs.size(); ++i)
        gather(chunk.inputs[i], workspace_.inputs, key(kVectorInput, i, step));
    for (std::size_t i = 0; i < chunk.shared.size(); ++i) {
        const VectorChunk::Shared& piece = chunk.shared[i];
        gather(piece.staging, ring_of(piece.staging.tensor), key(kShared, i, piece.number));
    }
    for (const BufferTile* tile : tiles) {
        SYSTOLE_CHECK(tile != nullptr, "step {} of layer {} is not staged", step, layer_);
        after.add(tile->ready);
    }
    return tiles;
}

/// Of the staged tile, or of the tensor in place.
std::int64_t VectorSteps::base_of(const VectorChunk& chunk, const VectorChunk::Read& read,
                                  std::int64_t step) {
    if (!read.of_shared) {
        const TensorId tensor = chunk.inputs[read.input].tensor;
        return workspace_.flow.resident(tensor)
                   ? workspace_.flow.region(tensor, {}).address
                   : workspace_.inputs.find(key(kVectorInput, read.input, step))->address;
    }
    const VectorChunk::Shared& piece = chunk.shared[read.input];
    const TensorId tensor = piece.staging.tensor;
    return workspace_.flow.resident(tensor)
               ? workspace_.flow.region(tensor, {}).address
               : ring_of(tensor).find(key(kShared, read.input, piece.number))->address;
}

std::vector<EdgeRead> VectorSteps::reads(const VectorChunk& chunk, std::int64_t step) {
    std::vector<EdgeRead> all;
    for (const VectorChunk::Read& read : chunk.reads) {
        all.push_back({workspace_.emitter.stream(read.pattern), base_of(chunk, read, step) + read.offset, 0,
                       read.pattern.vectors(), 0});
    }
    return all;
}

void VectorSteps::read_in_place(const VectorChunk& chunk, Token reader) {
    const auto note = [&](const Staging& input) {
        if (workspace_.flow.resident(input.tensor)) workspace_.flow.read_by(input.tensor, reader);
    };
    for (const Staging& input : chunk.inputs) note(input);
    for (const VectorChunk::Shared& piece : chunk.shared) note(piece.staging);
}

/// Into a tile of the output buffer, or in place.
EdgeRead VectorSteps::write(const VectorChunk& chunk, const BufferTile* tile) const {
    const TensorBox& box = chunk.output;
    const AddressStream pattern =
        tile != nullptr ? piece_pattern(box.bytes()) : rows_pattern(box.rows, box.stride, box.row_bytes);
    const std::int64_t address =
        tile != nullptr ? tile->address : workspace_.flow.region(output_, box).address;
    return {workspace_.emitter.stream(pattern), address, 0, pattern.vectors(), 0};
}

bool VectorSteps::by_dma(const VectorChunk& chunk) const {
    return plan_.moves && !chunk.inputs.empty() && !workspace_.flow.resident(output_) &&
           !workspace_.flow.resident(chunk.inputs.front().tensor);
}

void VectorSteps::work(std::int64_t step) {
    const VectorChunk chunk = plan_.chunk(step);
    Tokens after;
    const std::vector<StagedCopy> results{{chunk.output, 0, chunk.output.row_bytes}};
    if (by_dma(chunk))
        return unstage(workspace_, *gather_inputs(chunk, step, after).front(), output_, results);
    const std::vector<BufferTile*> tiles = gather_inputs(chunk, step, after);
    BufferTile* out = nullptr;
    if (workspace_.flow.resident(output_)) {
        workspace_.flow.before_write(output_, after);
    } else {
        out = workspace_.outputs.allocate(chunk.output.bytes(), std::nullopt, after);
        if (out == nullptr) {
            refuse(workspace_.graph.layers[static_cast<std::size_t>(layer_)],
                   fmt::format(
                       "its results and parameters do not fit into placement.output_buffer ({} B) together",
                       workspace_.outputs.capacity()));
        }
    }
    VectorWork work;
    work.elements = chunk.elements;
    work.lane_cycles = chunk.lane_cycles;
    work.scratchpad_read = chunk.scratchpad_read;
    work.scratchpad_written = chunk.output.bytes();
    work.reads = reads(chunk, step);
    work.write = write(chunk, out);
    work.macs = chunk.macs;
    const Token token = workspace_.emitter.vector(work, after);
    for (BufferTile* tile : tiles) tile->users.add(token);
    read_in_place(chunk, token);
    if (out == nullptr) {
        workspace_.flow.wrote(output_, chunk.output, token);
    } else {
        out->ready.add(token);
        unstage(workspace_, *out, output_, results);
    }
}

LayerPlan vector_layer(Workspace& workspace, std::int64_t layer, VectorPlan plan, const std::string& what) {
    LayerPlan result;
    result.mapping = fmt::format("vector unit: {}; {} chunk{}", what, plan.count, plan.count == 1 ? "" : "s");
    result.dtype = workspace.dtype(workspace.graph.layers[static_cast<std::size_t>(layer)].inputs.at(0));
    result.steps = std::make_shared<VectorSteps>(workspace, layer, std::move(plan));
    return result;
}

}  // namespace systole::systolic
