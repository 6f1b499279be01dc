// SPDX-License-Identifier: Apache-2.0
// Transpose: every chunk is a contiguous piece of the output, or, where the input's part of that would be
// many short runs, a block of both: rows of the input that become columns of the output. The DMA gathers the
// input's part of it as rows of contiguous runs, the vector unit turns them over, one descriptor stores them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/vector_steps.h"

namespace systole::systolic {
namespace {

/// A dimension of the output, outermost first: how many, and how far apart in the input (elements).
struct Dim {
    std::int64_t size = 1, in_stride = 1;
};

/// The output's dimensions; those that lie behind each other in the input as well are one.
std::vector<Dim> output_dims(const Transpose& op) {
    std::vector<std::int64_t> strides(op.shape.size(), 1);
    for (std::size_t i = op.shape.size(); i-- > 1;) strides[i - 1] = strides[i] * op.shape[i];
    std::vector<Dim> dims;
    for (const std::int64_t from : op.permutation) {
        const Dim dim{op.shape[static_cast<std::size_t>(from)], strides[static_cast<std::size_t>(from)]};
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

/// A chunk's dimensions, where it begins in the input, and its rows in the output (elements).
struct Piece {
    std::vector<Dim> dims;
    std::int64_t in_begin = 0, out_begin = 0, rows = 1, row = 1, out_stride = 0;
    std::int64_t elements() const { return rows * row; }
};

/// Chunks run over all of `outer` (dims before `split`), one index each, and ranges of the split dimension.
class Cut {
public:
    Cut(std::vector<Dim> dims, std::int64_t most_elements) : dims_(std::move(dims)) {
        while (split_ + 1 < dims_.size() && inner_elements() > most_elements) ++split_;
        range_ = std::clamp<std::int64_t>(most_elements / inner_elements(), 1, dims_[split_].size);
        for (std::size_t d = 0; d < split_; ++d) outer_ *= dims_[d].size;
    }

    std::int64_t count() const { return outer_ * ceil_div(dims_[split_].size, range_); }

    /// Of the split dimension and all inside.
    Piece piece(std::int64_t index) const {
        const std::int64_t ranges = ceil_div(dims_[split_].size, range_);
        const std::int64_t begin = index % ranges * range_;
        Piece p;
        p.dims.assign(dims_.begin() + static_cast<std::ptrdiff_t>(split_), dims_.end());
        p.dims.front().size = std::min(range_, dims_[split_].size - begin);
        p.in_begin = begin * dims_[split_].in_stride;
        std::int64_t rest = index / ranges;
        p.out_begin = (rest * dims_[split_].size + begin) * inner_elements();
        for (std::size_t d = split_; d-- > 0; rest /= dims_[d].size)
            p.in_begin += rest % dims_[d].size * dims_[d].in_stride;
        for (const Dim& d : p.dims) p.row *= d.size;
        return p;
    }

private:
    std::int64_t inner_elements() const {
        std::int64_t inner = 1;
        for (std::size_t d = split_ + 1; d < dims_.size(); ++d) inner *= dims_[d].size;
        return inner;
    }

    std::vector<Dim> dims_;
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
    BlockCut(std::vector<Dim> dims, std::int64_t rows, std::int64_t columns) : dims_(std::move(dims)) {
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

    Piece piece(std::int64_t index) const {
        Piece p;
        Dim rows, columns;
        std::int64_t out_stride = 1;
        for (std::size_t d = dims_.size(); d-- > 0; out_stride *= dims_[d].size) {
            const bool row = d == from_, column = d + 1 == dims_.size();
            const std::int64_t range = row ? rows_ : column ? columns_ : 1;
            const std::int64_t ranges = ceil_div(dims_[d].size, range);
            const std::int64_t begin = index % ranges * range;
            index /= ranges;
            p.in_begin += begin * dims_[d].in_stride;
            p.out_begin += begin * out_stride;
            const Dim part{std::min(range, dims_[d].size - begin), dims_[d].in_stride};
            if (row) rows = part, p.out_stride = out_stride;
            if (column) columns = part;
        }
        p.dims = {rows, columns};
        p.rows = rows.size;
        p.row = columns.size;
        return p;
    }

private:
    std::vector<Dim> dims_;
    std::size_t from_ = 0;  ///< the dimension that is contiguous in the input
    std::int64_t rows_ = 1, columns_ = 1;
};

/// The piece as the input has it: contiguous runs in rows of one stride, and what is left as single
/// descriptors.
std::vector<StagedCopy> gather(Piece piece, DType dtype) {
    std::ranges::sort(piece.dims, {}, &Dim::in_stride);
    std::int64_t run = 1;
    std::size_t d = 0;
    for (; d < piece.dims.size() && piece.dims[d].in_stride == run; ++d) run *= piece.dims[d].size;
    Dim rows{1, 0};
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

/// How a transpose is cut: the number of chunks, and each.
struct Pieces {
    std::int64_t count = 0;
    std::function<Piece(std::int64_t)> piece;
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
    static double real(std::int64_t count) { return static_cast<double>(count); }

    /// Bytes that memory would give in the time for which rows that are opened anew for each run hold it up.
    /// Seen with transposes of 49152 x 768 on tpu_v4, whose stores of 512 B to 8 KiB, each in rows of its
    /// own, took 8 to 1.5 times as long as one run.
    static constexpr double kOpening = 3584;

    BusSpread& spread_;
    std::int64_t page_;  ///< bytes one behind the other that lie in one DRAM row of each bus
};

/// The blocks of at most so many elements for which memory takes least time.
std::optional<BlockCut> best_blocks(const std::vector<Dim>& dims, std::int64_t most, DType dtype,
                                    const RowTime& row_time) {
    std::optional<BlockCut> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t rows = kGrain; rows * kGrain <= most; rows *= 2) {
        const BlockCut cut(dims, rows, most / rows);
        const Piece piece = cut.piece(0);
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

/// Larger than other chunks: both sides of a block grow with its root. But loads, work and stores overlap.
constexpr std::int64_t kBlockBytes = 1024 * 1024, kFewestBlocks = 8;

Pieces pieces_of(const std::vector<Dim>& dims, std::int64_t most, std::int64_t most_of_block, DType dtype,
                 bool in_place, const RowTime& row_time) {
    const Cut cut(dims, most);
    const Pieces whole{cut.count(), [cut](std::int64_t i) { return cut.piece(i); }};
    const std::int64_t run = gather(cut.piece(0), dtype).front().from.row_bytes;
    if (in_place || run >= kLongRun || dims.back().in_stride == 1 || bits_of(dtype).value() % 8 != 0)
        return whole;
    const std::optional<BlockCut> blocks = best_blocks(dims, most_of_block, dtype, row_time);
    if (!blocks) return whole;
    const Piece first = blocks->piece(0);
    const std::int64_t in = gather(first, dtype).front().from.row_bytes;
    const std::int64_t out = row_bytes(dtype, first.row).value();
    if (std::min(in, out) <= run) return whole;
    return {blocks->count(), [cut = *blocks](std::int64_t i) { return cut.piece(i); }};
}

}  // namespace

LayerPlan plan_transpose(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const TensorId input = layer.inputs.at(0);
    const DType dtype = workspace.dtype(input);
    const ChunkLimits limits = chunk_limits(workspace, layer, 1);
    const Tensor& output = workspace.graph.tensors[layer.output];
    const std::int64_t least = row_bytes(dtype, 1).value();
    const std::int64_t share =
        std::max(least, ceil_div(stored_bytes(output).value(), workspace.core.count));  // one for each core
    const std::int64_t most = 8 * std::min({limits.input, limits.output, share}) / bits_of(dtype).value();
    if (most < 1) {
        refuse(
            layer,
            fmt::format("chunks may have {} B of placement.input_buffer and {} B of placement.output_buffer: "
                        "not one element",
                        limits.input, limits.output));
    }
    const bool in_place = workspace.flow.resident(input);
    const std::int64_t block = std::min({workspace.inputs.capacity() / 2, workspace.outputs.capacity() / 2,
                                         share / kFewestBlocks, kBlockBytes});
    const Pieces pieces =
        pieces_of(output_dims(std::get<Transpose>(layer.op)), most,
                  std::max(most, 8 * block / bits_of(dtype).value()), dtype, in_place, RowTime(workspace));
    VectorPlan plan;
    plan.count = pieces.count;
    plan.chunk = [=, cost = workspace.spec.vector.cost.simple](std::int64_t i) {
        const Piece piece = pieces.piece(i);
        const std::int64_t bytes = row_bytes(dtype, piece.elements()).value();
        VectorChunk chunk;
        Staging staging{input, Operand::Activations, 0, gather(piece, dtype)};
        if (in_place) {
            for (const StagedCopy& copy : staging.copies)
                chunk.reads.push_back({0, copy.from.offset,
                                       rows_pattern(copy.from.rows, copy.from.stride, copy.from.row_bytes)});
        } else {
            chunk.reads.push_back({0, 0, piece_pattern(bytes)});
        }
        for (const StagedCopy& copy : staging.copies) staging.bytes += copy.from.bytes();
        chunk.elements = piece.elements();
        chunk.lane_cycles = piece.elements() * cost;
        chunk.scratchpad_read = bytes;
        const std::int64_t bits = bits_of(dtype).value();
        chunk.output = {piece.out_begin * bits / 8, piece.rows, row_bytes(dtype, piece.row).value(),
                        piece.out_stride * bits / 8};
        chunk.inputs.push_back(std::move(staging));
        return chunk;
    };
    LayerPlan result;
    result.mapping = fmt::format("DMA gathers, vector unit turns; {} chunks", plan.count);
    result.dtype = dtype;
    const std::int64_t elements_in = elements(std::get<Transpose>(layer.op).shape);
    result.touched.push_back({input, row_bytes(dtype, elements_in).value()});
    result.steps = std::make_shared<VectorSteps>(workspace, index, std::move(plan));
    return result;
}

}  // namespace systole::systolic
