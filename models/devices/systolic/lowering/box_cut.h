// SPDX-License-Identifier: Apache-2.0
// Boxes of tensors in parts that fit a buffer: several whole rows, or part of one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/devices/systolic/lowering/tensor_flow.h"

namespace systole::systolic {

class BoxCut {
public:
    /// Bytes that parts of a row are a multiple of, if they can; bytes of the widest element.
    static constexpr std::int64_t kGrain = 64, kWidest = 4;

    /// How boxes of as many rows and bytes as `box` are cut into parts of at most `most_bytes` (kWidest or
    /// more).
    BoxCut(const TensorBox& box, std::int64_t most_bytes) : all_rows_(box.rows), row_(box.row_bytes) {
        if (row_ > most_bytes) {  // whole elements, and where it can be, whole lines
            bytes_ = round_up(ceil_div(row_, ceil_div(row_, most_bytes)), kGrain);
            if (bytes_ > most_bytes) bytes_ = most_bytes - most_bytes % kWidest;
        } else {
            bytes_ = row_;
        }
        const std::int64_t most = bytes_ < row_ ? 1 : most_bytes / row_;
        rows_ = ceil_div(all_rows_, ceil_div(all_rows_, std::min(all_rows_, most)));
    }

    std::int64_t count() const { return across() * ceil_div(all_rows_, rows_); }
    TensorBox part(TensorBox box, std::int64_t index) const {
        const std::int64_t row = index / across() * rows_, byte = index % across() * bytes_;
        box.offset += row * box.stride + byte;
        box.rows = std::min(rows_, box.rows - row);
        box.row_bytes = std::min(bytes_, box.row_bytes - byte);
        return box;
    }

private:
    std::int64_t across() const { return ceil_div(row_, bytes_); }

    std::int64_t all_rows_, row_;
    std::int64_t bytes_ = 1, rows_ = 1;
};

}  // namespace systole::systolic
