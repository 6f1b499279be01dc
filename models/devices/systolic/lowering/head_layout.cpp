// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/head_layout.h"

#include <algorithm>

namespace systole::systolic {

std::int64_t HeadLayout::offset(std::int64_t item, std::int64_t row) const {
    const std::int64_t position = item / kv_heads_ * q_len_ + row / group_;
    const std::int64_t head = item % kv_heads_ * group_ + row % group_;
    return position * pitch() + head * bytes(dim_);
}

std::vector<Range> HeadLayout::pieces(Range rows) const {
    std::vector<Range> all;
    for (std::int64_t row = rows.begin; row < rows.end(); row = all.back().end()) {
        const std::int64_t whole = row % group_ == 0 ? (rows.end() - row) / group_ : 0;
        const std::int64_t rest = std::min(group_ - row % group_, rows.end() - row);
        all.push_back({row, whole > 0 ? whole * group_ : rest});
    }
    return all;
}

/// Whole positions are boxes, and so are some heads of one.
std::vector<StagedCopy> HeadLayout::copies(std::int64_t item, Range rows, Range cols) const {
    const std::int64_t width = bytes(cols.count);
    std::vector<StagedCopy> all;
    for (const Range& piece : pieces(rows)) {
        const std::int64_t from = offset(item, piece.begin) + bytes(cols.begin);
        const std::int64_t to = (piece.begin - rows.begin) * width;
        const std::int64_t positions = piece.count / group_;
        if (piece.count % group_ != 0) {
            all.push_back({{from, piece.count, width, bytes(dim_)}, to, width});
        } else if (cols.count == dim_) {
            all.push_back({{from, positions, group_ * width, pitch()}, to, group_ * width});
        } else {
            for (std::int64_t head = 0; head < group_; ++head)
                all.push_back({{from + head * bytes(dim_), positions, width, pitch()},
                               to + head * width,
                               group_ * width});
        }
    }
    return all;
}

Range HeadLayout::extent(std::int64_t item, Range rows) const {
    // Heads of the first position may lie behind those of the last.
    const std::int64_t first = rows.begin / group_, last = (rows.end() - 1) / group_;
    const bool one = first == last;
    const std::int64_t begin = offset(item, one ? rows.begin : first * group_);
    const std::int64_t end = offset(item, one ? rows.end() - 1 : (last + 1) * group_ - 1) + bytes(dim_);
    return {begin, end - begin};
}

std::int64_t CausalMask::masked(Range rows, Range keys) const {
    if (!op_.causal) return 0;
    std::int64_t pairs = 0;
    for (std::int64_t row = rows.begin; row < rows.end();) {
        const std::int64_t position = row / op_.group();
        const std::int64_t count = std::min((position + 1) * op_.group(), rows.end()) - row;
        const std::int64_t first_hidden = std::max(keys.begin, op_.visible(position));
        pairs += count * std::max<std::int64_t>(0, keys.end() - first_hidden);
        row += count;
    }
    return pairs;
}

}  // namespace systole::systolic
