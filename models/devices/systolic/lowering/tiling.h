// SPDX-License-Identifier: Apache-2.0
// The mapper: how one matrix operator is cut into blocks, in which order they run and how the matrix units
// share them. A pure function of sizes: it compares a small set of candidates by estimated time and never
// measures.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/systolic/lowering/gemm_block.h"
#include "models/devices/systolic/lowering/mapping_choice.h"
#include "models/devices/systolic/mxu/dataflow.h"

namespace systole::systolic {

/// The share of the shorter of memory and compute time that overlap does not hide: refreshes, banks of the
/// scratchpad in which streams meet, tiles that come late. It makes the mapper spare traffic, and streams
/// long, where the longer time is equal.
constexpr double kExposed = 0.3;

/// One way of cutting the rows (M) of an item into blocks.
struct RowBlocking {
    std::int64_t rows = 1;        ///< of the largest block
    std::int64_t blocks = 1;      ///< of one item
    std::int64_t tile_bytes = 0;  ///< staged for a block over the whole of K
    std::int64_t k_tile_bytes =
        0;  ///< staged for a block and one K tile; 0: blocks are staged over the whole of K
    std::int64_t load_bytes = 0;  ///< read from DRAM when every block of an item is staged once
};

/// The operator (items x M x N x K) and what bounds it.
struct TilingRequest {
    std::int64_t items = 1;                 ///< independent products: batch items, or groups of a convolution
    bool shared_input = false;              ///< groups: all items stream the same staged blocks
    std::int64_t n = 1;                     ///< columns of one item
    std::int64_t n_tiles = 1, k_tiles = 1;  ///< of one item, in units of the array
    std::int64_t k_vectors = 1;             ///< K in vectors of an array that streams it (os)
    std::int64_t vector_cycles = 1;         ///< for which a vector keeps its PEs
    std::vector<RowBlocking> row_blockings;  ///< candidates
    std::int64_t weight_tile_bytes = 0;      ///< one K tile by one N tile
    /// Of a second operand that lies row by row: bytes from row to row, and those of a row that are staged
    /// for an N tile or, `weights_by_column`, for a K tile. 0: what a step stages lies together.
    std::int64_t weight_pitch = 0, weight_piece_bytes = 0;
    bool weights_by_column = false;
    std::int64_t parameter_bytes = 0;  ///< staged beside the weights, per N tile (bias)
    std::int64_t output_bytes = 0;     ///< to DRAM; 0: they stay on chip
    std::int64_t store_rows = 0;       ///< of results that a descriptor takes; 0: of a whole block
    std::int64_t output_pitch = 0;     ///< bytes between rows of outputs in DRAM
    /// Share of the memory's bandwidth that pieces of rows have, from their pitch and bytes; nothing: all.
    std::function<double(std::int64_t, std::int64_t)> spread;
    std::int64_t joined_bytes = 0;    ///< from DRAM, read when results leave
    std::int64_t arriving_bytes = 0;  ///< of a resident input, still on their way from DRAM
    std::int64_t issue_cycles = 0;    ///< of the sequencer, for each command

    Dataflow dataflow = Dataflow::WeightStationary;
    bool direct = false;  ///< tiles are shifted straight out of the scratchpad
    OutputShape tile;     ///< of an array
    int mxus = 1;
    std::int64_t array_rows = 1, array_cols = 1;
    bool shadow_register = true;
    std::int64_t accumulator_room = 1;    ///< rows for one block
    std::int64_t activation_ports = 1;    ///< distinct streams at a time
    std::int64_t weight_port_cycles = 0;  ///< a tile's time on its way into a FIFO or an array
    std::int64_t weight_fill_cycles = 0;  ///< from the start of its transfer until a tile waits in a FIFO …
    std::int64_t weight_fifo_tiles = 0;   ///< … of so many, which keeps its place until it is shifted in
    std::int64_t drain_rows = 1;          ///< direct: rows of results that leave an array per cycle
    std::int64_t drain_elements = 1;      ///< with accumulators: results of all units that leave per cycle
    std::int64_t input_capacity = 0;      ///< bytes; 0: the input is resident
    std::int64_t weight_capacity = 0;     ///< bytes; 0: weight tiles are not staged
    std::int64_t parameter_capacity = 0;  ///< bytes; where parameters go when weight tiles are not staged
    std::int64_t alignment = 1;           ///< of staged tiles
    double dram_bytes_per_cycle = 0;      ///< 0: memory takes no time
    std::int64_t dma_setup_cycles = 0;    ///< of each descriptor of the engine that stages tiles
};

/// A round gives each of split_items * split_m * split_n matrix units one block of `n_tiles` N units by the
/// blocking's rows; it runs through K in steps of `k_tiles` K tiles.
struct Tiling {
    std::size_t blocking = 0;  ///< index into row_blockings
    std::int64_t n_tiles = 1;
    std::int64_t k_tiles = 1;
    std::int64_t split_items = 1, split_m = 1, split_n = 1;
    bool m_outer =
        true;           ///< an input block stays while all of N passes; otherwise a weight block while M does
    double cycles = 0;  ///< estimate
};

/// By estimate.
TilingTime tiling_time(const TilingRequest& request, const Tiling& tiling);

/// The candidates that a tiling was chosen from.
struct Choice {
    std::size_t candidates = 0;
    /// The chosen one; behind it, in the order of their time, the best of each other way to deal matrix units
    /// and to nest loops.
    std::vector<Tiling> best;
};
/// Nothing fits: no best.
Choice tiling_choice(const TilingRequest& request);

/// Every tiling that is weighed and fits the machine, in the order in which it is, with its estimate.
std::vector<Tiling> tilings(const TilingRequest& request);

/// The candidate of least estimated time; among those that differ by less than the estimate can tell, the one
/// with the longest steps along K, then the first. Nothing when none fits the buffers.
std::optional<Tiling> choose_tiling(const TilingRequest& request);

/// Why the machine cannot run this tiling; "" if it can.
std::string obstacle(const TilingRequest& request, const Tiling& tiling);

/// The least input and weight buffers with which choose_tiling finds a candidate: two of the smallest step.
struct LeastBuffers {
    std::int64_t input = 0, weights = 0;
};
LeastBuffers least_buffers(const TilingRequest& request);

}  // namespace systole::systolic
