// SPDX-License-Identifier: Apache-2.0
// Transpose: every chunk is a contiguous piece of the output. The DMA gathers the input's part of it as rows
// of contiguous runs, the vector unit turns them over, one descriptor stores them.
#include <fmt/format.h>

#include <algorithm>

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
    if (dims.empty()) dims.push_back({});
    return dims;
}

/// Chunks run over all of `outer` (dims before `split`), one index each, and ranges of the split dimension.
class Cut {
public:
    Cut(std::vector<Dim> dims, std::int64_t most_elements) : dims_(std::move(dims)) {
        while (split_ + 1 < dims_.size() && inner_elements() > most_elements) ++split_;
        range_ = std::clamp<std::int64_t>(most_elements / inner_elements(), 1, dims_[split_].size);
        for (std::size_t d = 0; d < split_; ++d) outer_ *= dims_[d].size;
    }

    std::int64_t count() const { return outer_ * ceil_div(dims_[split_].size, range_); }

    /// A chunk's dimensions (the split one and all inside), where it begins in the input and in the output.
    struct Piece {
        std::vector<Dim> dims;
        std::int64_t in_begin = 0, out_begin = 0, elements = 1;
    };
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
        for (const Dim& d : p.dims) p.elements *= d.size;
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

/// The piece as the input has it: contiguous runs in rows of one stride, and what is left as single
/// descriptors.
std::vector<StagedCopy> gather(Cut::Piece piece, DType dtype) {
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

}  // namespace

LayerPlan plan_transpose(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const TensorId input = layer.inputs.at(0);
    const DType dtype = workspace.dtype(input);
    const ChunkLimits limits = chunk_limits(workspace, layer, 1);
    const Tensor& output = workspace.graph.tensors[layer.output];
    const std::int64_t share =
        ceil_div(stored_bytes(output).value(), workspace.core.count);  // one for each core
    const std::int64_t most = 8 * std::min({limits.input, limits.output, share}) / bits_of(dtype).value();
    if (most < 1) {
        refuse(
            layer,
            fmt::format("chunks may have {} B of placement.input_buffer and {} B of placement.output_buffer: "
                        "not one element",
                        limits.input, limits.output));
    }
    const Cut cut(output_dims(std::get<Transpose>(layer.op)), most);
    VectorPlan plan;
    plan.count = cut.count();
    plan.chunk = [=, cost = workspace.spec.vector.cost.simple,
                  in_place = workspace.flow.resident(input)](std::int64_t i) {
        const Cut::Piece piece = cut.piece(i);
        VectorChunk chunk;
        Staging staging{input, Operand::Activations, 0, gather(piece, dtype)};
        if (in_place) {
            for (const StagedCopy& copy : staging.copies)
                chunk.reads.push_back({0, copy.from.offset,
                                       rows_pattern(copy.from.rows, copy.from.stride, copy.from.row_bytes)});
        } else {
            chunk.reads.push_back({0, 0, piece_pattern(row_bytes(dtype, piece.elements).value())});
        }
        for (const StagedCopy& copy : staging.copies) staging.bytes += copy.from.bytes();
        chunk.elements = piece.elements;
        chunk.lane_cycles = piece.elements * cost;
        chunk.scratchpad_read = row_bytes(dtype, piece.elements).value();
        chunk.output = {piece.out_begin * bits_of(dtype).value() / 8, 1, chunk.scratchpad_read, 0};
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
