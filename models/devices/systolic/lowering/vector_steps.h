// SPDX-License-Identifier: Apache-2.0
// A layer on the vector unit: chunk by chunk through the scratchpad.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/staging.h"
#include "models/devices/systolic/mxu/port_schedule.h"

namespace systole::systolic {

/// One command of the vector unit with what it reads and writes. Inputs that live in the scratchpad are read
/// in place: only the extents of their copies then matter.
struct VectorChunk {
    /// What it reads of an input, from the beginning of its staged tile or of the tensor in place.
    struct Read {
        std::size_t input = 0;
        std::int64_t offset = 0;
        AddressStream pattern;
        bool of_shared = false;  ///< `input` counts those of `shared`
    };
    /// A piece of a tensor that other chunks read as well, under the same number: it is not staged again
    /// while its ring keeps it. Pieces of weights are staged with parameters, others with inputs.
    struct Shared {
        Staging staging;
        std::int64_t number = 0;
    };
    std::vector<Staging> inputs;
    std::vector<Shared> shared;
    std::vector<Read> reads;
    std::int64_t elements = 0, lane_cycles = 0, scratchpad_read = 0, macs = 0;
    TensorBox output;  ///< rows lie without gaps in the scratchpad
};

/// `times` times the same `bytes` bytes.
AddressStream piece_pattern(std::int64_t bytes, std::int64_t times = 1);
/// Rows of `bytes` bytes, `pitch` bytes apart.
AddressStream rows_pattern(std::int64_t rows, std::int64_t pitch, std::int64_t bytes);

/// What a layer on the vector unit consists of.
struct VectorPlan {
    std::int64_t count = 0;
    std::function<VectorChunk(std::int64_t)> chunk;
    std::vector<Staging> parameters;  ///< read by every chunk, staged once
    /// A chunk writes its only input as it is, or zeros. Between tensors in DRAM its staged tile then leaves
    /// for the output, and the vector unit has nothing to do.
    bool moves = false;
};

/// The most bytes that a chunk may stage for each of `inputs` tensors, and write.
struct ChunkLimits {
    std::int64_t input = 0, output = 0;
    std::int64_t stored = 0;  ///< pieces of weights, as several chunks share them
};
ChunkLimits chunk_limits(const Workspace& workspace, const Layer& layer, std::int64_t inputs);

class VectorSteps : public Steps {
public:
    VectorSteps(Workspace& workspace, std::int64_t layer, VectorPlan plan);

    std::int64_t count() const override { return plan_.count; }
    bool stage_weights(std::int64_t step, Holds& holds) override;
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;

private:
    TileKey key(std::int64_t kind, std::size_t index, std::int64_t step) const;
    /// Where pieces of that tensor are staged.
    BufferRing& ring_of(TensorId tensor);
    bool is_stored(TensorId tensor) const {
        return workspace_.graph.tensors[tensor].role == TensorRole::Weights;
    }
    /// Those that are weights, or those that are not.
    bool stage_shared(const VectorChunk& chunk, bool stored, Holds& holds);
    std::int64_t base_of(const VectorChunk& chunk, const VectorChunk::Read& read, std::int64_t step);
    /// Adds what the inputs wait for; the tiles of those that are staged.
    std::vector<BufferTile*> gather_inputs(const VectorChunk& chunk, std::int64_t step, Tokens& after);
    std::vector<EdgeRead> reads(const VectorChunk& chunk, std::int64_t step);
    void read_in_place(const VectorChunk& chunk, Token reader);
    EdgeRead write(const VectorChunk& chunk, const BufferTile* tile) const;
    /// Whether a step is a load and a store and nothing between.
    bool by_dma(const VectorChunk& chunk) const;

    Workspace& workspace_;
    std::int64_t layer_;
    TensorId output_;
    VectorPlan plan_;
};

/// A layer that does `what` on the vector unit; what it touches is for the caller to add.
LayerPlan vector_layer(Workspace& workspace, std::int64_t layer, VectorPlan plan, const std::string& what);

}  // namespace systole::systolic
