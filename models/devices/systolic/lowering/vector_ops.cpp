// SPDX-License-Identifier: Apache-2.0
// How each operator of the vector unit falls into chunks, and what a chunk costs.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/gemm_input.h"
#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/shared_windows.h"
#include "models/devices/systolic/lowering/vector_cost.h"
#include "models/devices/systolic/lowering/vector_steps.h"

namespace systole::systolic {
namespace {

/// Independent rows, all alike: elements of an elementwise operator (rows of one), rows of a norm.
struct RowWork {
    std::int64_t rows = 1, cols = 1;
    std::int64_t cost = 1;    ///< lane-cycles per element
    std::int64_t passes = 1;  ///< over the inputs: reads of every element
    std::int64_t grain = 1;   ///< rows of a chunk are a multiple of this, but for the last; above 1 rows are
                              ///< elements, and lie without gaps
    std::vector<std::int64_t> read = {};  ///< columns of each input; none: `cols`
    std::int64_t written = 0;             ///< columns of the output; 0: `cols`

    std::int64_t bytes(DType dtype, std::int64_t count, std::int64_t columns) const {
        return grain > 1 ? row_bytes(dtype, count).value() : count * row_bytes(dtype, columns).value();
    }
    std::int64_t read_bytes(DType dtype, std::int64_t count, std::size_t input) const {
        return bytes(dtype, count, read.empty() ? cols : read[input]);
    }
    std::int64_t written_bytes(DType dtype, std::int64_t count) const {
        return bytes(dtype, count, written == 0 ? cols : written);
    }
};

/// A block's windows read the rows of the kernel in each of its slices, for every row of outputs, as wide as
/// all windows of the row.
VectorChunk::Read window_read(const WindowGeometry& window, const WindowBlock& block, StagedWindow s,
                              bool in_place) {
    std::int64_t origin = 0;
    if (in_place) {
        s = window.in_place(block);
        // Padding in front, above and to the left is not there.
        for (std::int64_t* first : {&s.front, &s.top, &s.left}) *first = std::max<std::int64_t>(0, *first);
        origin = window.origin(block, s);
    }
    AddressStream rows;
    for (std::int64_t slice = 0; slice < window.depth.kernel; ++slice)
        rows.segments.push_back(
            {Bytes(slice * window.depth.dilation * s.slice_pitch), Bytes(s.cols * window.pixel_bytes)});
    rows.levels = {{{block.images, Bytes(s.image_stride)},
                    {block.rows, Bytes(s.p_stride)},
                    {window.kernel_h, Bytes(window.dilation * s.pitch)}}};
    return {0, origin, rows};
}

class VectorPlanner {
public:
    VectorPlanner(Workspace& workspace, std::int32_t index)
        : workspace_(workspace),
          index_(index),
          layer_(workspace.graph.layers[static_cast<std::size_t>(index)]),
          cost_(workspace.spec.vector.cost) {}

    LayerPlan operator()(const Conv2d& op) {
        return windows(window_of(op, in_dtype()), depthwise_work(op),
                       "depthwise "
                       "convolution: every output has products with one channel only, which would fill one "
                       "column of an array");
    }
    LayerPlan operator()(const Pool& op);
    LayerPlan operator()(const Elementwise& op) {
        const std::int64_t cost =
            elementwise_cost(cost_, op.kind) + slope_cost(cost_, op.slope) + function_cost(cost_, op.post);
        return rows({op.elements, 1, cost, 1, kGrain}, "elementwise");
    }
    LayerPlan operator()(const Activation& op) {
        return rows({op.elements, 1, function_cost(cost_, op.function), 1, kGrain}, "activation");
    }
    LayerPlan operator()(const Softmax& op) {
        if (op.gradient)
            return rows({op.rows, op.cols, softmax_gradient_cost(cost_), 2, 1}, "gradient of a softmax");
        return rows({op.rows, op.cols, softmax_cost(cost_), 2, 1}, "softmax");
    }
    LayerPlan operator()(const Norm& op) {
        if (op.gradient)
            return rows({op.rows, op.cols, norm_gradient_cost(cost_, op.kind), 2, 1}, "gradient of a norm");
        return rows({op.rows, op.cols, norm_cost(cost_, op.kind), 2, 1}, "norm");
    }
    LayerPlan operator()(const Reduce& op) {
        if (op.columns)
            return rows({op.items,
                         op.rows * op.cols,
                         column_sum_cost(cost_, layer_.inputs.size() > 1),
                         1,
                         1,
                         {},
                         op.cols},
                        layer_.inputs.size() > 1 ? "sums of columns, of products" : "sums of columns");
        return rows({op.rows, op.cols, cost_.reduce, 1, 1, {}, 1}, "reduction");
    }
    LayerPlan operator()(const TopK& op) {
        if (op.gradient)
            return rows({op.rows, op.cols, cost_.simple, 1, 1, {op.k, op.k}, op.cols}, "gradient of a top k");
        return rows({op.rows, op.cols, top_k_cost(cost_, op.k), 1, 1, {}, op.k}, "top k");
    }
    LayerPlan operator()(const LstmCell& op) {
        const std::int64_t h = op.hidden;
        return rows({op.batch, h, lstm_cost(cost_), 1, 1, {4 * h, h}, 2 * h}, "LSTM cell");
    }
    LayerPlan operator()(const GruCell& op) {
        const std::int64_t h = op.hidden;
        return rows({op.batch, h, gru_cost(cost_), 1, 1, {3 * h, 3 * h, h}, h}, "GRU cell");
    }
    template <class Other>
    LayerPlan operator()(const Other&) {
        refuse(layer_, "not an operator of the vector unit");
    }

private:
    /// What a window operator does per output element.
    struct WindowWork {
        std::int64_t channels = 1;  ///< of the output
        std::int64_t cost = 1;
        std::int64_t macs = 0;
    };
    static constexpr std::int64_t kGrain = 64;  // elements: chunks of any dtype then end at whole bytes

    DType in_dtype() const { return workspace_.dtype(layer_.inputs.at(0)); }
    /// Places of the inputs without those that name a tensor again.
    std::vector<std::size_t> distinct_inputs() const;
    /// What a chunk may have, or the mistake that it may have none.
    /// The core's.
    Range own_rows(const RowWork& work) const;
    std::int64_t most_rows(const RowWork& work, const std::vector<std::size_t>& inputs) const;
    WindowWork depthwise_work(const Conv2d& op) const;
    LayerPlan rows(const RowWork& work, const std::string& what);
    LayerPlan windows(const WindowGeometry& window, const WindowWork& work, const std::string& what);
    WindowBlock window_shape(const WindowGeometry& window, const SharedWindows& shared,
                             std::int64_t out_pixel) const;
    std::vector<Staging> parameters() const;
    LayerPlan finish(VectorPlan plan, const std::string& what, const std::vector<std::int64_t>& input_bytes);

    Workspace& workspace_;
    std::int32_t index_;
    const Layer& layer_;
    const VectorSpec::Cost& cost_;
};

std::vector<std::size_t> VectorPlanner::distinct_inputs() const {
    std::vector<std::size_t> distinct;
    for (std::size_t i = 0; i < layer_.inputs.size(); ++i) {
        const auto first = std::ranges::find(layer_.inputs, layer_.inputs[i]) - layer_.inputs.begin();
        if (static_cast<std::size_t>(first) == i) distinct.push_back(i);
    }
    return distinct;
}

std::vector<Staging> VectorPlanner::parameters() const {
    std::vector<Staging> all;
    for (const auto& tensor : {layer_.weights, layer_.bias}) {
        if (!tensor) continue;
        const std::int64_t bytes = stored_bytes(workspace_.graph.tensors[*tensor]).value();
        all.push_back({*tensor, Operand::Weights, bytes, {{{0, 1, bytes, 0}, 0, 0}}});
    }
    return all;
}

LayerPlan VectorPlanner::finish(VectorPlan plan, const std::string& what,
                                const std::vector<std::int64_t>& input_bytes) {
    plan.parameters = parameters();
    const std::vector<Staging> staged = plan.parameters;
    LayerPlan result = vector_layer(workspace_, index_, std::move(plan), what);
    result.dealt = true;
    for (std::size_t i = 0; i < layer_.inputs.size(); ++i)
        result.touched.push_back({layer_.inputs[i], input_bytes[i]});
    for (const Staging& p : staged) result.touched.push_back({p.tensor, p.bytes});
    return result;
}

Range VectorPlanner::own_rows(const RowWork& work) const {
    const Range grains = workspace_.core.of(ceil_div(work.rows, work.grain));
    const std::int64_t begin = std::min(work.rows, grains.begin * work.grain);
    return {begin, std::min(work.rows, grains.end() * work.grain) - begin};
}

std::int64_t VectorPlanner::most_rows(const RowWork& work, const std::vector<std::size_t>& inputs) const {
    const ChunkLimits limits = chunk_limits(workspace_, layer_, static_cast<std::int64_t>(inputs.size()));
    const DType out_dtype = workspace_.dtype(layer_.output);
    const std::int64_t rows = own_rows(work).count;
    std::int64_t most =
        std::min(rows, limits.output / work.written_bytes(out_dtype, work.grain) * work.grain);
    for (const std::size_t input : inputs) {
        const DType dtype = workspace_.dtype(layer_.inputs[input]);
        most = std::min(most, limits.input / work.read_bytes(dtype, work.grain, input) * work.grain);
    }
    if (rows == 0) return 1;  // a core without work
    if (most == 0) {
        refuse(
            layer_,
            fmt::format("a row of {} elements does not fit: chunks may have {} B of placement.input_buffer "
                        "for each input and {} B of placement.output_buffer",
                        work.cols, limits.input, limits.output));
    }
    return std::min(rows, round_up(ceil_div(rows, ceil_div(rows, most)), work.grain));
}

LayerPlan VectorPlanner::rows(const RowWork& work, const std::string& what) {
    const std::vector<std::size_t> inputs = distinct_inputs();
    const Range own = own_rows(work);
    const std::int64_t most = most_rows(work, inputs);
    VectorPlan plan;
    plan.count = ceil_div(own.count, most);
    plan.chunk = [=, &shared = workspace_, &layer = layer_](std::int64_t index) {
        const Range part{own.begin + index * most, std::min(most, own.count - index * most)};
        VectorChunk chunk;
        for (const std::size_t at : inputs) {
            const TensorId input = layer.inputs[at];
            const DType dtype = shared.dtype(input);
            const TensorBox box{work.read_bytes(dtype, part.begin, at), 1,
                                work.read_bytes(dtype, part.count, at), 0};
            chunk.reads.push_back({chunk.inputs.size(), shared.flow.resident(input) ? box.offset : 0,
                                   piece_pattern(box.row_bytes, work.passes)});
            chunk.inputs.push_back({input, shared.operand(input), box.row_bytes, {{box, 0, 0}}});
            chunk.scratchpad_read += work.passes * box.row_bytes;
        }
        const DType out = shared.dtype(layer.output);
        chunk.elements = part.count * (work.written == 0 ? work.cols : work.written);
        chunk.lane_cycles = part.count * work.cols * work.cost;
        chunk.output = {work.written_bytes(out, part.begin), 1, work.written_bytes(out, part.count), 0};
        return chunk;
    };
    std::vector<std::int64_t> touched;
    for (std::size_t i = 0; i < layer_.inputs.size(); ++i)
        touched.push_back(work.read_bytes(workspace_.dtype(layer_.inputs[i]), work.rows, i));
    return finish(std::move(plan), what, touched);
}

VectorPlanner::WindowWork VectorPlanner::depthwise_work(const Conv2d& op) const {
    const std::int64_t taps = op.taps();
    return {op.out_c, taps * cost_.mac + drain_cost(workspace_.spec.vector, op.bias ? 1 : 0, op.post), taps};
}

LayerPlan VectorPlanner::operator()(const Pool& op) {
    if (op.gradient)
        return rows({op.batch, op.in_h * op.in_w * op.channels, cost_.simple, 1, 1, {op.channels}, 0},
                    "gradient of an average");
    WindowGeometry w;
    w.batch = op.batch;
    w.in_h = op.in_h;
    w.in_w = op.in_w;
    w.pixel_bytes = row_bytes(in_dtype(), op.channels).value();
    w.kernel_h = op.window_h;
    w.kernel_w = op.window_w;
    w.stride = op.stride;
    w.pad = op.pad;
    w.pad_left = op.uneven.pad_left;
    w.stride_across = op.uneven.stride_w;
    w.out_h = op.out_h();
    w.out_w = op.out_w();
    const std::int64_t taps = op.window_h * op.window_w;
    const bool max = op.kind == Pool::Kind::Max;
    return windows(w, {op.channels, max ? taps * cost_.reduce : taps * cost_.mac + cost_.simple, 0},
                   max ? "max pooling" : "average pooling");
}

WindowBlock VectorPlanner::window_shape(const WindowGeometry& window, const SharedWindows& shared,
                                        std::int64_t out_pixel) const {
    const ChunkLimits limits = chunk_limits(workspace_, layer_, 1);
    const bool staged = !workspace_.flow.resident(layer_.inputs.at(0));
    for (std::int64_t pixels = limits.output / out_pixel; pixels >= 1; pixels /= 2) {
        const WindowBlock shape = shared.block_shape(pixels);
        const std::int64_t bytes = window.staged(shape).bytes;
        if (!staged || bytes <= limits.input) return shape;
        if (shape.pixels() == 1 && bytes <= workspace_.inputs.capacity() / 2) return shape;
    }
    refuse(layer_,
           fmt::format("the window of one output pixel does not fit: it needs {} B of half of "
                       "placement.input_buffer ({} B), and {} B of half of placement.output_buffer ({} B)",
                       window.staged({}).bytes, workspace_.inputs.capacity(), out_pixel,
                       workspace_.outputs.capacity()));
}

LayerPlan VectorPlanner::windows(const WindowGeometry& window, const WindowWork& work,
                                 const std::string& what) {
    const std::int64_t out_pixel = row_bytes(workspace_.dtype(layer_.output), work.channels).value();
    const SharedWindows own(window, workspace_.core);
    const WindowBlock shape = window_shape(window, own, out_pixel);
    const auto blocks = std::make_shared<const std::vector<WindowBlock>>(own.cut(shape));
    const TensorId input = layer_.inputs.at(0);
    VectorPlan plan;
    plan.count = static_cast<std::int64_t>(blocks->size());
    plan.chunk = [=, &shared = workspace_](std::int64_t index) {
        const WindowBlock& block = (*blocks)[static_cast<std::size_t>(index)];
        const StagedWindow staged = window.staged(block);
        VectorChunk chunk;
        chunk.inputs.push_back({input, shared.operand(input), staged.bytes, window.copies(block, staged)});
        chunk.elements = block.pixels() * work.channels;
        chunk.lane_cycles = chunk.elements * work.cost;
        chunk.macs = chunk.elements * work.macs;
        const bool in_place = shared.flow.resident(input);
        if (!in_place || !chunk.inputs[0].copies.empty()) {  // in place, padding is not there
            // The window slides along a row in registers; every row of the kernel is read anew.
            chunk.scratchpad_read = block.images * block.rows * window.depth.kernel * window.kernel_h *
                                    staged.cols * window.pixel_bytes;
            chunk.reads.push_back(window_read(window, block, staged, in_place));
        }
        chunk.output = {window.first_pixel(block) * out_pixel, 1, block.pixels() * out_pixel, 0};
        return chunk;
    };
    return finish(std::move(plan), what, {window.covered_bytes()});
}

}  // namespace

LayerPlan plan_vector(Workspace& workspace, std::int32_t layer) {
    return std::visit(VectorPlanner(workspace, layer),
                      workspace.graph.layers[static_cast<std::size_t>(layer)].op);
}

}  // namespace systole::systolic
