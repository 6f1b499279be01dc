// SPDX-License-Identifier: Apache-2.0
// Gives every tensor a memory space, an address and a layout. Descriptors and address streams come from here,
// never from byte counts alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/workload/graph.h"

namespace systole {

enum class Space { Dram, Scratchpad };
std::string_view to_string(Space space);

/// How elements lie in memory.
enum class Layout {
    RowMajor,     ///< innermost dimension contiguous (NHWC for feature maps)
    ColumnMajor,  ///< a weight matrix [k,n] column by column, each padded to whole bytes: K contiguous
    Tiled         ///< a weight matrix [k,n] cut into tiles of tile_rows x tile_cols, each tile contiguous and
                  ///< padded at ragged edges, tiles ordered n-tile by n-tile, inside one by k-tile
};

struct Placement {
    Space space = Space::Dram;
    Layout layout = Layout::RowMajor;
    std::int64_t address = 0;  ///< first byte, in its space
    Bytes bytes;  ///< including the layout's padding; in several scratchpads, of the part in each
    std::int64_t tile_rows = 0, tile_cols = 0;  ///< Layout::Tiled
    /// Layout::Tiled, Layout::ColumnMajor: the tensor's own shape is [n, k] of the matrix that is laid out.
    bool turned = false;
    BitsPerWeight each = {};  ///< Layout::Tiled, Layout::ColumnMajor: a weight
    std::vector<std::int64_t> parts =
        {};  ///< of several matrices: where each begins, in bytes from the first
};

/// A device's rules.
struct AllocationRules {
    Space activations = Space::Dram;
    Bytes dram_capacity, scratchpad_capacity;  ///< scratchpad: the part set aside for resident activations
    Bytes dram_alignment = Bytes(1);           ///< one DRAM row in every channel, or more
    Bytes scratchpad_alignment = Bytes(1);
    std::int64_t tile_rows = 1, tile_cols = 1;  ///< of weight tiles: the matrix unit's array
    Layout weights = Layout::Tiled;             ///< of those that the matrix units take: Tiled or ColumnMajor
    std::vector<Layout> layer_weights = {};     ///< by layer, where not all are as `weights` says
    /// With activations in DRAM: those that save most traffic live in the scratchpad instead (residency.h).
    bool resident_where_it_pays = false;
    /// Outputs have to be in DRAM in the end: one that lives elsewhere saves its reads, but not its write.
    bool outputs_in_dram = false;
    std::vector<bool> never_resident = {};  ///< by tensor; those beyond its end may
    /// Scratchpads that have an equal part each of every resident activation; the capacity is that of one.
    std::int64_t scratchpads = 1;
    std::string memory = "the DRAM";  ///< for messages: whose and which, "tpu_v4's HBM2"
};

/// One placement per tensor of the graph. Weights live for the whole run; an activation's place is used again
/// once its last reader is through (first fit over live ranges). Weights of conv2d (depthwise ones
/// excepted, which no array holds) and matmul (stored ones) are laid out as `weights` says over the
/// implicit-GEMM view [k = taps*in_c/groups, n = out_c/groups], group by group (or expert by expert);
/// everything else is RowMajor. Those of conv_transpose are a matrix for each phase, row by row, with the
/// taps of a window in the order of the inputs that they meet. Of several layers with the same weights the
/// first one decides; the others find them so. Throws UserError with a breakdown (weights, KV cache,
/// optimizer state, the most activations that live at once, with all padding) when a space is too small.
std::vector<Placement> allocate(const Graph& graph, const AllocationRules& rules);

}  // namespace systole
