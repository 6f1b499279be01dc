// SPDX-License-Identifier: Apache-2.0
// Resize on the vector unit: blocks of output pixels, each with the input rows that it reads staged once.
// Every output reads its pixel, or its four; where they lie is told as whole rows, as often as they are met
// on the average: which pixels are met once more than others does not change what the banks have to serve.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/vector_steps.h"
#include "models/devices/systolic/lowering/window.h"

namespace systole::systolic {
namespace {

/// One dimension of the map. Products stay below 2^63: sizes do below 2^31.
struct Axis {
    std::int64_t in = 1, out = 1;
    bool bilinear = false;

    /// The first coordinate of the input that output `p` reads: rounded down, from the centre if bilinear.
    std::int64_t low(std::int64_t p) const {
        if (!bilinear) return p * in / out;
        return std::max<std::int64_t>(0, (2 * p + 1) * in - out) / (2 * out);
    }
    std::int64_t high(std::int64_t p) const { return bilinear ? std::min(low(p) + 1, in - 1) : low(p); }
    /// What outputs [begin, begin + count) read between them.
    Range span(std::int64_t begin, std::int64_t count) const {
        return {low(begin), high(begin + count - 1) + 1 - low(begin)};
    }
    /// The most that any `count` outputs in a row span.
    std::int64_t widest(std::int64_t count) const {
        return std::min(in, (count - 1) * in / out + (bilinear ? 3 : 2));
    }
};

/// Of `span` neighbours, `count` evenly spread ones, `times` times.
struct Visits {
    std::int64_t span = 1, count = 1, times = 1;

    std::int64_t position(std::int64_t i) const { return count == 1 ? 0 : i * ((span - 1) / (count - 1)); }
    /// The same, neighbours together.
    std::vector<Segment> segments(std::int64_t bytes) const {
        std::vector<Segment> all;
        for (std::int64_t i = 0; i < count; ++i) {
            const Bytes at(count == 1 ? 0 : i * (span - 1) / (count - 1) * bytes);
            if (!all.empty() && all.back().offset + all.back().bytes == at)
                all.back().bytes += Bytes(bytes);
            else
                all.push_back({at, Bytes(bytes)});
        }
        return all;
    }
};

/// `outputs` visits to `span` neighbours: all of them as often as it goes, and the rest.
std::vector<Visits> visits(std::int64_t outputs, std::int64_t span) {
    std::vector<Visits> all;
    if (outputs >= span) all.push_back({span, span, outputs / span});
    if (outputs % span != 0) all.push_back({span, outputs % span, 1});
    return all;
}

/// A block's input, staged: whole rows where the block has whole rows.
struct StagedBlock {
    Range rows, cols;
    std::int64_t pitch = 0, image_pitch = 0;
};

class ResizePlanner {
public:
    ResizePlanner(Workspace& workspace, const Layer& layer)
        : workspace_(&workspace), layer_(&layer), op_(std::get<Resize>(layer.op)) {
        const bool bilinear = op_.kind == Resize::Kind::Bilinear;
        const VectorSpec::Cost& cost = workspace.spec.vector.cost;
        height_ = {op_.in_h, op_.out_h, bilinear};
        width_ = {op_.in_w, op_.out_w, bilinear};
        taps_ = bilinear ? 4 : 1;
        cost_ = bilinear ? std::int64_t{3} * cost.mac : cost.simple;
        input_ = layer.inputs.at(0);
        pixel_ = row_bytes(workspace.dtype(input_), op_.channels).value();
        out_pixel_ = row_bytes(workspace.dtype(layer.output), op_.channels).value();
        in_place_ = workspace.flow.resident(input_);
        outputs_.batch = op_.batch;
        outputs_.out_h = op_.out_h;
        outputs_.out_w = op_.out_w;
    }

    std::vector<WindowBlock> blocks() const;
    VectorChunk chunk(const WindowBlock& block) const;
    /// Bytes of the pixels that some output reads.
    std::int64_t touched() const {
        const std::int64_t taps = taps_ == 1 ? 1 : 2;
        return op_.batch * std::min(op_.in_h, taps * op_.out_h) * std::min(op_.in_w, taps * op_.out_w) *
               pixel_;
    }

private:
    std::int64_t row_pitch() const { return op_.in_w * pixel_; }
    std::int64_t image_bytes() const { return op_.in_h * row_pitch(); }
    std::int64_t most_staged(const WindowBlock& shape) const {
        const std::int64_t cols = shape.cols == op_.out_w ? op_.in_w : width_.widest(shape.cols);
        return shape.images * height_.widest(shape.rows) * cols * pixel_;
    }
    StagedBlock staged(const WindowBlock& block) const;
    std::vector<StagedCopy> copies(const WindowBlock& block, const StagedBlock& staged) const;
    std::vector<VectorChunk::Read> reads(const WindowBlock& block, const StagedBlock& staged) const;

    const Workspace* workspace_;
    const Layer* layer_;
    Resize op_;
    Axis height_, width_;
    std::int64_t taps_ = 1, cost_ = 1, pixel_ = 1, out_pixel_ = 1;
    TensorId input_ = 0;
    bool in_place_ = false;
    WindowGeometry outputs_;  ///< only what it writes
};

std::vector<WindowBlock> ResizePlanner::blocks() const {
    const ChunkLimits limits = chunk_limits(*workspace_, *layer_, 1);
    for (std::int64_t pixels = limits.output / out_pixel_; pixels >= 1; pixels /= 2) {
        const WindowBlock shape = outputs_.block_shape(pixels);
        if (in_place_ || most_staged(shape) <= limits.input) return outputs_.cut(shape);
    }
    refuse(*layer_, fmt::format("one output pixel does not fit: it reads {} B, of {} B of "
                                "placement.input_buffer, and has {} B, of {} B of placement.output_buffer",
                                taps_ * pixel_, limits.input, out_pixel_, limits.output));
}

StagedBlock ResizePlanner::staged(const WindowBlock& block) const {
    StagedBlock s;
    s.rows = height_.span(block.p, block.rows);
    s.cols = block.cols == op_.out_w ? Range{0, op_.in_w} : width_.span(block.q, block.cols);
    s.pitch = in_place_ ? row_pitch() : s.cols.count * pixel_;
    s.image_pitch = in_place_ ? image_bytes() : s.rows.count * s.pitch;
    return s;
}

/// Only blocks of whole rows have several images; their rows are one piece.
std::vector<StagedCopy> ResizePlanner::copies(const WindowBlock& block, const StagedBlock& s) const {
    const std::int64_t bytes = s.cols.count * pixel_;
    const std::int64_t offset =
        block.image * image_bytes() + s.rows.begin * row_pitch() + s.cols.begin * pixel_;
    if (s.cols.count == op_.in_w) {
        const std::int64_t rows = s.rows.count * bytes;
        return {{{offset, block.images, rows, image_bytes()}, 0, rows}};
    }
    return {{{offset, s.rows.count, bytes, row_pitch()}, 0, bytes}};
}

std::vector<VectorChunk::Read> ResizePlanner::reads(const WindowBlock& block, const StagedBlock& s) const {
    // Of whole rows that are staged, the pixels that are read.
    const Range cols = width_.span(block.q, block.cols);
    std::int64_t begin = (cols.begin - s.cols.begin) * pixel_;
    if (in_place_) begin = copies(block, s).front().from.offset + begin;
    std::vector<VectorChunk::Read> all;
    for (const Visits& down : visits(block.rows, s.rows.count)) {
        for (const Visits& along : visits(block.cols, cols.count)) {
            AddressStream pattern;
            pattern.segments = along.segments(pixel_);
            pattern.levels = {{{block.images, Bytes(s.image_pitch)},
                               {down.count, Bytes(down.position(1) * s.pitch)},
                               {down.times * along.times * taps_, Bytes(0)}}};
            all.push_back({0, begin, pattern});
        }
    }
    return all;
}

VectorChunk ResizePlanner::chunk(const WindowBlock& block) const {
    const StagedBlock s = staged(block);
    VectorChunk chunk;
    Staging staging{input_, workspace_->operand(input_), 0, copies(block, s)};
    staging.bytes = block.images * s.rows.count * s.cols.count * pixel_;
    chunk.inputs.push_back(std::move(staging));
    chunk.reads = reads(block, s);
    chunk.scratchpad_read = block.pixels() * pixel_ * taps_;
    chunk.elements = block.pixels() * op_.channels;
    chunk.lane_cycles = chunk.elements * cost_;
    chunk.output = {outputs_.first_pixel(block) * out_pixel_, 1, block.pixels() * out_pixel_, 0};
    return chunk;
}

}  // namespace

LayerPlan plan_resize(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const ResizePlanner planner(workspace, layer);
    const auto blocks = std::make_shared<const std::vector<WindowBlock>>(planner.blocks());
    VectorPlan plan;
    plan.count = static_cast<std::int64_t>(blocks->size());
    plan.chunk = [=](std::int64_t i) { return planner.chunk((*blocks)[static_cast<std::size_t>(i)]); };
    const bool nearest = std::get<Resize>(layer.op).kind == Resize::Kind::Nearest;
    LayerPlan result = vector_layer(workspace, index, std::move(plan),
                                    fmt::format("{} resize", nearest ? "nearest" : "bilinear"));
    result.touched.push_back({layer.inputs.at(0), planner.touched()});
    return result;
}

}  // namespace systole::systolic
