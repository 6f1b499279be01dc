// SPDX-License-Identifier: Apache-2.0
// The streamed operand of a matrix operator: how its rows (M) are cut into blocks, staged, and read as
// vectors of K elements. A matrix is read row by row; a feature map through the windows of a convolution, so
// that no im2col matrix ever exists in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/devices/systolic/lowering/core_share.h"
#include "models/devices/systolic/lowering/shared_windows.h"
#include "models/devices/systolic/lowering/staging.h"
#include "models/devices/systolic/lowering/tiling.h"
#include "models/devices/systolic/lowering/window.h"

namespace systole::systolic {

/// Scratchpad reads: a pattern (from 0 on) and the address of its first byte.
struct PassRead {
    AddressStream stream;
    std::int64_t address = 0;
};

class GemmInput {
public:
    virtual ~GemmInput() = default;

    /// What cut(rows) would give.
    virtual RowBlocking blocking(std::int64_t rows, std::int64_t k_tile) const = 0;
    /// From now on this is about a core's share of the rows only. Not known to all kinds of inputs: where
    /// heads lie between each other, items are shared.
    virtual void share(const CoreShare& core) = 0;
    /// Rows of an item, of the share.
    virtual std::int64_t shared_rows() const = 0;
    /// Cuts every item's rows into blocks of at most `rows`. To be called before all that follows.
    virtual void cut(std::int64_t rows) = 0;
    virtual std::int64_t blocks() const = 0;
    /// A block's rows of M.
    virtual Range rows(std::int64_t block) const = 0;
    /// Whether a staged tile holds one step's range of K, or always all of it.
    virtual bool sliced() const = 0;
    virtual Staging staging(std::int64_t item, std::int64_t block, Range k) const = 0;
    /// Reads of all vectors of a block in the order of M, elements `k`. `base`: of the tile staged for
    /// `staged_k`, or of the tensor when it is resident.
    virtual PassRead read(std::int64_t item, std::int64_t block, Range staged_k, Range k,
                          std::int64_t base) const = 0;
    /// K tiles of k.count elements from `k` on read the same pattern, each the same number of bytes behind
    /// the one before, as long as they end by here.
    virtual std::int64_t uniform_until(Range k) const = 0;
    /// Bytes of the tensor that a block reads.
    virtual Range extent(std::int64_t item, std::int64_t block) const = 0;
    /// Bytes of the tensor that are read at least once.
    virtual std::int64_t covered_bytes() const = 0;
};

/// Row-major [items, m, k].
class MatrixInput : public GemmInput {
public:
    /// Blocks begin at multiples of `granule` rows.
    MatrixInput(TensorId tensor, DType dtype, std::int64_t items, std::int64_t m, std::int64_t k,
                bool resident, std::int64_t granule)
        : tensor_(tensor),
          dtype_(dtype),
          items_(items),
          m_(m),
          k_(k),
          resident_(resident),
          granule_(granule),
          own_{0, m} {}

    void share(const CoreShare& core) override;
    std::int64_t shared_rows() const override { return own_.count; }
    RowBlocking blocking(std::int64_t rows, std::int64_t k_tile) const override;
    void cut(std::int64_t rows) override;
    std::int64_t blocks() const override { return ceil_div(own_.count, block_rows_); }
    Range rows(std::int64_t block) const override;
    bool sliced() const override { return true; }
    Staging staging(std::int64_t item, std::int64_t block, Range k) const override;
    PassRead read(std::int64_t item, std::int64_t block, Range staged_k, Range k,
                  std::int64_t base) const override;
    std::int64_t uniform_until(Range k) const override;
    Range extent(std::int64_t item, std::int64_t block) const override;
    std::int64_t covered_bytes() const override { return items_ * m_ * pitch(); }

private:
    std::int64_t bytes(std::int64_t elements) const { return row_bytes(dtype_, elements).value(); }
    std::int64_t pitch() const { return bytes(k_); }
    std::int64_t even_rows(std::int64_t most) const;

    TensorId tensor_;
    DType dtype_;
    std::int64_t items_, m_, k_;
    bool resident_;
    std::int64_t granule_;
    Range own_;  ///< of the rows: the core's
    std::int64_t block_rows_ = 1;
};

/// NHWC or NDHWC under the windows of a convolution; an item is a group. K runs over (t, r, s, c of the
/// group). A
/// resident feature map has no room for padding: the addresses then run past the tensor's edge where the
/// array is fed zeros instead, which is why lower() keeps a margin around resident tensors.
class ConvInput : public GemmInput {
public:
    ConvInput(TensorId tensor, DType dtype, const Conv2d& conv, bool resident);
    /// One group, of all channels, under any windows.
    ConvInput(TensorId tensor, DType dtype, const WindowGeometry& window, std::int64_t channels,
              bool resident)
        : tensor_(tensor),
          dtype_(dtype),
          window_(window),
          group_channels_(channels),
          resident_(resident),
          shared_(window, {}) {}

    void share(const CoreShare& core) override { shared_ = SharedWindows(window_, core); }
    std::int64_t shared_rows() const override { return shared_.pixels(); }
    RowBlocking blocking(std::int64_t rows, std::int64_t k_tile) const override;
    void cut(std::int64_t rows) override { blocks_ = shared_.cut(shared_.block_shape(rows)); }
    std::int64_t blocks() const override { return static_cast<std::int64_t>(blocks_.size()); }
    Range rows(std::int64_t block) const override;
    bool sliced() const override { return false; }
    Staging staging(std::int64_t item, std::int64_t block, Range k) const override;
    PassRead read(std::int64_t item, std::int64_t block, Range staged_k, Range k,
                  std::int64_t base) const override;
    std::int64_t uniform_until(Range k) const override;
    Range extent(std::int64_t item, std::int64_t block) const override;
    std::int64_t covered_bytes() const override { return window_.covered_bytes(); }

private:
    const WindowBlock& at(std::int64_t block) const { return blocks_[static_cast<std::size_t>(block)]; }

    TensorId tensor_;
    DType dtype_;
    WindowGeometry window_;
    std::int64_t group_channels_;
    bool resident_;
    SharedWindows shared_;
    std::vector<WindowBlock> blocks_;
};

WindowGeometry window_of(const Conv2d& conv, DType dtype);

}  // namespace systole::systolic
