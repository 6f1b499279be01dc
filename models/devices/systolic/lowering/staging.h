// SPDX-License-Identifier: Apache-2.0
// Bringing pieces of tensors from DRAM into a buffer ring: each once, for as long as the ring keeps it. And
// back.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/devices/systolic/lowering/pipeline.h"
#include "models/devices/systolic/lowering/range.h"
#include "models/devices/systolic/lowering/workspace.h"

namespace systole::systolic {

/// Rows of a tensor and where in the tile they go, or come from: one descriptor.
struct StagedCopy {
    TensorBox from;
    std::int64_t to = 0;  ///< offset in the tile
    std::int64_t to_stride = 0;
};

/// A tile of a tensor. Bytes that no copy fills are padding.
struct Staging {
    TensorId tensor = 0;
    Operand operand = Operand::Activations;
    std::int64_t bytes = 0;
    std::vector<StagedCopy> copies;
};

/// Loads one copy of a tensor into the tile at `tile`, once `room` is there and what it reads has been
/// written.
Token load(Workspace& workspace, TensorId tensor, Operand operand, const StagedCopy& copy, std::int64_t tile,
           const Tokens& room);

/// Makes the tile `key` present in `ring`, loading what `describe` says if it is not, and holds it. False
/// when held tiles leave no room.
bool stage(Workspace& workspace, BufferRing& ring, const TileKey& key, Holds& holds,
           const std::function<Staging()>& describe);

/// The way back: results from a tile that is being filled to where they belong in `tensor`.
void unstage(Workspace& workspace, BufferTile& tile, TensorId tensor, const std::vector<StagedCopy>& copies,
             Operand operand = Operand::Outputs);

}  // namespace systole::systolic
