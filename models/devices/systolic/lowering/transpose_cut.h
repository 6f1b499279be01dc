// SPDX-License-Identifier: Apache-2.0
// How a transpose is cut into chunks: contiguous pieces of the output, or, where the input's part of those
// would be many short runs, blocks of both: rows of the input that become columns of the output.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/devices/systolic/lowering/staging.h"

namespace systole::systolic {

/// A dimension of the output, outermost first: how many, and how far apart in the input (elements).
struct TransposeDim {
    std::int64_t size = 1, in_stride = 1;
};

/// A chunk's dimensions, where it begins in the input, and its rows in the output (elements).
struct TransposePiece {
    std::vector<TransposeDim> dims;
    std::int64_t in_begin = 0, out_begin = 0, rows = 1, row = 1, out_stride = 0;
    std::int64_t elements() const { return rows * row; }
};

/// The piece as the input has it: contiguous runs in rows of one stride, and what is left as single
/// descriptors.
std::vector<StagedCopy> gather(TransposePiece piece, DType dtype);

/// How a transpose is cut: the number of chunks, and each.
struct TransposePieces {
    std::int64_t count = 0;
    std::function<TransposePiece(std::int64_t)> piece;
};

/// Elements of a chunk that is contiguous in the output, and of a block, at most.
struct TransposeRoom {
    std::int64_t contiguous = 1, block = 1;
};
/// Blocks where that makes the shorter runs longer. `in_place`: the input is read where it lies, on chip.
TransposePieces cut_transpose(const Workspace& workspace, const Transpose& op, DType dtype,
                              const TransposeRoom& room, bool in_place);

}  // namespace systole::systolic
