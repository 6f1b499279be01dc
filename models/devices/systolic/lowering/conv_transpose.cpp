// SPDX-License-Identifier: Apache-2.0
// Transposed convolution on the matrix units: a convolution of stride 1 for each phase of its output's
// pixels, one after the other, so that no product is with a zero between inputs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/devices/systolic/lowering/gemm.h"
#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/workspace.h"

namespace systole::systolic {
namespace {

WindowGeometry window_of(const ConvTranspose& op, const ConvPhase& rows, const ConvPhase& columns,
                         DType dtype) {
    WindowGeometry w;
    w.batch = op.batch;
    w.in_h = op.in_h, w.in_w = op.in_w;
    w.pixel_bytes = row_bytes(dtype, op.in_c).value();
    w.kernel_h = rows.taps, w.kernel_w = columns.taps;
    w.pad = rows.pad, w.pad_left = columns.pad;
    w.out_h = rows.out, w.out_w = columns.out;
    return w;
}

}  // namespace

LayerPlan plan_conv_transpose(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const auto& op = std::get<ConvTranspose>(layer.op);
    const TensorId input = layer.inputs.at(0);
    const DType dtype = workspace.dtype(input);
    if (workspace.spec.mxu.dataflow == Dataflow::InputStationary && workspace.flow.resident(layer.output))
        refuse(layer,
               "an input-stationary array drains whole columns of pixels, which do not lie side by side in a "
               "tensor on chip; write placement.activations: dram");
    const std::vector<ConvPhase> rows = op.phases_h(), columns = op.phases_w();
    LayerPlan result;
    std::vector<std::shared_ptr<Steps>> parts;
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < rows.size() * columns.size(); ++i) {
        const ConvPhase &row = rows[i / columns.size()], &column = columns[i % columns.size()];
        const WindowGeometry window = window_of(op, row, column, dtype);
        GemmProblem p = phase_problem(workspace, layer, i, window);
        p.pixels = PixelLayout(op, row, column, workspace.dtype(layer.output));
        covered = std::max(covered, p.source->covered_bytes());
        result.second_dtype = other_than(dtype, p.second_dtype);
        const GemmMapping mapping = map_gemm(workspace, layer, p);
        result.cycles += mapping.tiling.cycles;
        if (result.mapping.empty() && workspace.core.index == 0)
            result.mapping =
                fmt::format("{} phase{}, the first: {}", rows.size() * columns.size(),
                            rows.size() * columns.size() == 1 ? "" : "s", describe_mapping(p, mapping));
        parts.push_back(std::make_shared<GemmSteps>(workspace, index, std::move(p), mapping.tiling));
    }
    result.dealt = true;
    result.dtype = dtype;
    result.touched.push_back({input, covered});
    for (const auto& stored : {layer.weights, layer.bias})
        if (stored)
            result.touched.push_back({*stored, stored_bytes(workspace.graph.tensors[*stored]).value()});
    result.steps = std::make_shared<PartSteps>(std::move(parts));
    return result;
}

}  // namespace systole::systolic
