// SPDX-License-Identifier: Apache-2.0
// How fused attention is cut: rows of queries by keys. As the mapper of matrix operators it compares a small
// set of candidates by estimated time and never measures.
#pragma once

#include <cstdint>
#include <optional>

#include "models/devices/systolic/lowering/heads_input.h"
#include "models/devices/systolic/lowering/workspace.h"

namespace systole::systolic {

/// Bytes of a row's running statistics: its maximum and its sum, fp32 each.
constexpr std::int64_t kStatisticsBytes = 8;
/// Bytes of an element of the outputs between two blocks of keys (fp32).
constexpr std::int64_t kPartialBytes = 4;

struct AttentionOperands {
    Attention op;
    TensorId q = 0, k = 0, v = 0, out = 0;
};

struct AttentionBlocks {
    std::int64_t rows = 1;  ///< of queries, at most: for HeadsInput::cut
    std::int64_t keys = 1;
    double cycles = 0;  ///< estimate
};

/// Rings that a fused attention uses: operands are staged in the first, what passes between its two products
/// lies in the second.
BufferRing& staging_ring(Workspace& workspace);
BufferRing& scratch_ring(Workspace& workspace);

/// Lane-cycles of an element: the maximum of the scores; their shares; a block's outputs added to those
/// before; the last division.
struct AttentionCosts {
    std::int64_t maximum, share, first, accumulate, finish;
    std::int64_t mask;         ///< per score of a block that a mask cuts
    std::int64_t rescale_row;  ///< per row and block
    std::int64_t finish_row;   ///< per row
};
AttentionCosts attention_costs(const VectorSpec::Cost& cost);

/// The candidate of least estimated time; nothing when not even the smallest fits.
std::optional<AttentionBlocks> choose_blocks(Workspace& workspace, const AttentionOperands& operands);

}  // namespace systole::systolic
