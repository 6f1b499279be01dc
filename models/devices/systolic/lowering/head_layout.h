// SPDX-License-Identifier: Apache-2.0
// How heads lie in a tensor of attention. Queries that meet the same keys and values are the rows of one
// item: of every position, the heads of a group one behind the other. A position's row in the tensor holds
// all heads.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/systolic/lowering/staging.h"
#include "sim/workload/operators.h"

namespace systole::systolic {

/// [batch, q_len, heads * head_dim] as items of q_len * group rows of dim elements.
class HeadLayout {
public:
    /// `dim`: elements of a head's row, those of queries or of values.
    HeadLayout(const Attention& op, std::int64_t dim, DType dtype)
        : dtype_(dtype), q_len_(op.q_len), kv_heads_(op.kv_heads), group_(op.group()), dim_(dim) {}

    /// [batch, kv_len, kv_heads * dim] as items of kv_len rows.
    static HeadLayout of_keys(const Attention& op, std::int64_t dim, DType dtype) {
        HeadLayout layout(op, dim, dtype);
        layout.q_len_ = op.kv_len;
        layout.group_ = 1;
        return layout;
    }

    std::int64_t group() const { return group_; }
    std::int64_t rows() const { return q_len_ * group_; }
    /// All rows of an item lie equally far apart.
    bool even() const { return group_ == 1 || kv_heads_ == 1; }
    std::int64_t dim() const { return dim_; }
    std::int64_t bytes(std::int64_t elements) const { return row_bytes(dtype_, elements).value(); }
    /// From a head to the next one's.
    std::int64_t step() const { return bytes(dim_); }
    /// From a position's row to the next one's.
    std::int64_t pitch() const { return kv_heads_ * group_ * bytes(dim_); }
    std::int64_t offset(std::int64_t item, std::int64_t row) const;
    /// Columns `cols` of the item's rows and where they go in a tile that has nothing else.
    std::vector<StagedCopy> copies(std::int64_t item, Range rows, Range cols) const;
    /// Rows cut into whole positions, and what is left before and behind them.
    std::vector<Range> pieces(Range rows) const;
    /// First and last byte of whole rows, as a range.
    Range extent(std::int64_t item, Range rows) const;

private:
    DType dtype_;
    std::int64_t q_len_, kv_heads_, group_, dim_;
};

/// Which keys the rows of an item see.
class CausalMask {
public:
    explicit CausalMask(const Attention& op) : op_(op) {}

    bool exists() const { return op_.causal; }
    /// Of these rows and keys, the pairs that do not see each other.
    std::int64_t masked(Range rows, Range keys) const;
    /// Keys from 0 on that any of these rows sees.
    std::int64_t seen_by(Range rows) const { return op_.visible((rows.end() - 1) / op_.group()); }

private:
    Attention op_;
};

}  // namespace systole::systolic
