// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/transpose_cut.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "models/devices/systolic/lowering/real.h"
#include "models/devices/systolic/lowering/workspace.h"

namespace systole::systolic {
namespace {

/// The output's dimensions; those that lie behind each other in the input as well are one.
std::vector<TransposeDim> output_dims(const Transpose& op) {
    std::vector<std::int64_t> strides(op.shape.size(), 1);
    for (std::size_t i = op.shape.size(); i-- > 1;) strides[i - 1] = strides[i] * op.shape[i];
    std::vector<TransposeDim> dims;
    for (const std::int64_t from : op.permutation) {
        const TransposeDim dim{op.shape[static_cast<std::size_t>(from)],
                               strides[static_cast<std::size_t>(from)]};
        if (dim.size == 1) continue;
        if (!dims.empty() && dims.back().in_stride == dim.size * dim.in_stride) {
            dims.back() = {dims.back().size * dim.size, dim.in_stride};
        } else {
            dims.push_back(dim);
        }
    }
    if (dims.empty()) dims.push_back({1, 1});
    return dims;
}

/// Chunks run over all of `outer` (dims before `split`), one index each, and ranges of the split dimension.
class Cut {
public:
    Cut(std::vector<TransposeDim> dims, std::int64_t most_elements) : dims_(std::move(dims)) {
        while (split_ + 1 < dims_.size() && inner_elements() > most_elements) ++split_;
        range_ = std::clamp<std::int64_t>(most_elements / inner_elements(), 1, dims_[split_].size);
        for (std::size_t d = 0; d < split_; ++d) outer_ *= dims_[d].size;
    }

    std::int64_t count() const { return outer_ * ceil_div(dims_[split_].size, range_); }

    /// Of the split dimension and all inside.
    TransposePiece piece(std::int64_t index) const {
        const std::int64_t ranges = ceil_div(dims_[split_].size, range_);
        const std::int64_t begin = index % ranges * range_;
        TransposePiece p;
        p.dims.assign(dims_.begin() + static_cast<std::ptrdiff_t>(split_), dims_.end());
        p.dims.front().size = std::min(range_, dims_[split_].size - begin);
        p.in_begin = begin * dims_[split_].in_stride;
        std::int64_t rest = index / ranges;
        p.out_begin = (rest * dims_[split_].size + begin) * inner_elements();
        for (std::size_t d = split_; d-- > 0; rest /= dims_[d].size)
            p.in_begin += rest % dims_[d].size * dims_[d].in_stride;
        for (const TransposeDim& d : p.dims) p.row *= d.size;
        return p;
    }

private:
    std::int64_t inner_elements() const {
        std::int64_t inner = 1;
        for (std::size_t d = split_ + 1; d < dims_.size(); ++d) inner *= dims_[d].size;
        return inner;
    }

    std::vector<TransposeDim> dims_;
    std::size_t split_ = 0;
    std::int64_t range_ = 1, outer_ = 1;
};

/// Elements that fill whole bursts, of any format.
constexpr std::int64_t kGrain = 64;

/// Of a dimension, ranges of about equal size that fill whole bursts.
std::int64_t even_range(std::int64_t size, std::int64_t most) {
    if (size <= most) return size;
    const std::int64_t even = round_up(ceil_div(size, ceil_div(size, most)), kGrain);
    return even <= most ? even : std::max(most / kGrain * kGrain, std::min(most, kGrain));
}

/// Chunks are blocks of the dimension that is contiguous in the input by the one that is in the output, which
/// are not the same; one index each of all others.
class BlockCut {
public:
    /// Rows of the output (each a range of the input's runs) by columns, of a block at most.
    BlockCut(std::vector<TransposeDim> dims, std::int64_t rows, std::int64_t columns)
        : dims_(std::move(dims)) {
        while (dims_[from_].in_stride != 1) ++from_;
        rows_ = even_range(dims_[from_].size, rows);
        columns_ = even_range(dims_.back().size, columns);
    }

    std::int64_t count() const {
        std::int64_t blocks = ceil_div(dims_[from_].size, rows_) * ceil_div(dims_.back().size, columns_);
        for (std::size_t d = 0; d + 1 < dims_.size(); ++d)
            if (d != from_) blocks *= dims_[d].size;
        return blocks;
    }

    TransposePiece piece(std::int64_t index) const {
        TransposePiece p;
        TransposeDim rows, columns;
        std::int64_t out_stride = 1;
        for (std::size_t d = dims_.size(); d-- > 0; out_stride *= dims_[d].size) {
            const bool row = d == from_, column = d + 1 == dims_.size();
            const std::int64_t range = row ? rows_ : column ? columns_ : 1;
            const std::int64_t ranges = ceil_div(dims_[d].size, range);
            const std::int64_t begin = index % ranges * range;
            index /= ranges;
            p.in_begin += begin * dims_[d].in_stride;
            p.out_begin += begin * out_stride;
            const TransposeDim part{std::min(range, dims_[d].size - begin), dims_[d].in_stride};
            if (row) rows = part, p.out_stride = out_stride;
            if (column) columns = part;
        }
        p.dims = {rows, columns};
        p.rows = rows.size;
        p.row = columns.size;
        return p;
    }

private:
    std::vector<TransposeDim> dims_;
    std::size_t from_ = 0;  ///< the dimension that is contiguous in the input
    std::int64_t rows_ = 1, columns_ = 1;
};

/// Bytes in a row that memory gives, or takes, without opening another row for most of them.
constexpr std::int64_t kLongRun = 512;

/// How much longer than one run memory takes for rows of so many bytes: all may lie on few of its buses, and
/// those far apart open DRAM rows for parts of them.
class RowTime {
public:
    explicit RowTime(const Workspace& workspace)
        : spread_(workspace.chip.spread),
          page_(std::max<std::int64_t>(
              1, workspace.spec.memory.row_bytes.value() * workspace.spec.memory.data_buses())) {}

    double operator()(std::int64_t pitch, std::int64_t bytes) const {
        const double opened = std::min(1.0, real(pitch) / real(page_));
        return (1 + kOpening / real(bytes) * opened) / spread_.of(pitch, bytes);
    }

private:
    /// Bytes that memory would give in the time for which rows that are opened anew for each run hold it up.
    /// Seen with transposes of 49152 x 768 on tpu_v4, whose stores of 512 B to 8 KiB, each in rows of its
    /// own, took 8 to 1.5 times as long as one run.
    static constexpr double kOpening = 3584;

    BusSpread& spread_;
    std::int64_t page_;  ///< bytes one behind the other that lie in one DRAM row of each bus
};

/// The blocks of at most so many elements for which memory takes least time.
std::optional<BlockCut> best_blocks(const std::vector<TransposeDim>& dims, std::int64_t most, DType dtype,
                                    const RowTime& row_time) {
    std::optional<BlockCut> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t rows = kGrain; rows * kGrain <= most; rows *= 2) {
        const BlockCut cut(dims, rows, most / rows);
        const TransposePiece piece = cut.piece(0);
        const TensorBox in = gather(piece, dtype).front().from;
        const double time =
            row_time(in.stride, in.row_bytes) +
            row_time(row_bytes(dtype, piece.out_stride).value(), row_bytes(dtype, piece.row).value());
        if (time >= least) continue;
        best = cut;
        least = time;
    }
    return best;
}

}  // namespace

std::vector<StagedCopy> gather(TransposePiece piece, DType dtype) {
    std::ranges::sort(piece.dims, {}, &TransposeDim::in_stride);
    std::int64_t run = 1;
    std::size_t d = 0;
    for (; d < piece.dims.size() && piece.dims[d].in_stride == run; ++d) run *= piece.dims[d].size;
    TransposeDim rows{1, 0};
    if (d < piece.dims.size()) rows = piece.dims[d++];
    for (; d < piece.dims.size() && piece.dims[d].in_stride == rows.size * rows.in_stride; ++d) {
        rows.size *= piece.dims[d].size;
    }
    std::int64_t descriptors = 1;
    for (std::size_t rest = d; rest < piece.dims.size(); ++rest) descriptors *= piece.dims[rest].size;

    const std::int64_t bits = bits_of(dtype).value();
    const std::int64_t run_bytes = row_bytes(dtype, run).value();
    std::vector<StagedCopy> copies;
    for (std::int64_t i = 0; i < descriptors; ++i) {
        std::int64_t begin = piece.in_begin;
        std::int64_t index = i;
        for (std::size_t rest = d; rest < piece.dims.size(); index /= piece.dims[rest++].size) {
            begin += index % piece.dims[rest].size * piece.dims[rest].in_stride;
        }
        const TensorBox from{begin * bits / 8, rows.size, run_bytes, rows.in_stride * bits / 8};
        copies.push_back({from, i * rows.size * run_bytes, run_bytes});
    }
    return copies;
}

TransposePieces cut_transpose(const Workspace& workspace, const Transpose& op, DType dtype,
                              const TransposeRoom& room, bool in_place) {
    const std::vector<TransposeDim> dims = output_dims(op);
    const Cut cut(dims, room.contiguous);
    TransposePieces whole{cut.count(), [cut](std::int64_t i) { return cut.piece(i); }};
    const std::int64_t run = gather(cut.piece(0), dtype).front().from.row_bytes;
    if (in_place || run >= kLongRun || dims.back().in_stride == 1 || bits_of(dtype).value() % 8 != 0)
        return whole;
    const std::optional<BlockCut> blocks =
        best_blocks(dims, std::max(room.contiguous, room.block), dtype, RowTime(workspace));
    if (!blocks) return whole;
    const TransposePiece first = blocks->piece(0);
    const std::int64_t in = gather(first, dtype).front().from.row_bytes;
    const std::int64_t out = row_bytes(dtype, first.row).value();
    if (std::min(in, out) <= run) return whole;
    return {blocks->count(), [cut = *blocks](std::int64_t i) { return cut.piece(i); }};
}

}  // namespace systole::systolic
