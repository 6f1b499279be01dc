// SPDX-License-Identifier: Apache-2.0
// A part of a tensor: rows of bytes at an even distance.
#pragma once

#include <cstdint>

namespace systole::systolic {

/// Rows of contiguous bytes inside a tensor.
struct TensorBox {
    std::int64_t offset = 0, rows = 1, row_bytes = 0, stride = 0;

    std::int64_t end() const { return offset + (rows - 1) * stride + row_bytes; }
    std::int64_t bytes() const { return rows * row_bytes; }
};

}  // namespace systole::systolic
