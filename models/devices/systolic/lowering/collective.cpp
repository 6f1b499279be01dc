// SPDX-License-Identifier: Apache-2.0
// Collectives: hops on a ring of chips, and beside them the copy of this chip's own part where it is not
// summed.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/attention_blocks.h"
#include "models/devices/systolic/lowering/exchange_steps.h"
#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/movement.h"
#include "models/devices/systolic/lowering/ring_steps.h"

namespace systole::systolic {
namespace {

/// Large enough for long bursts, small enough that two hide the time of a sum.
constexpr std::int64_t kPieceBytes = 256 * 1024;

/// Of a piece at most, so that all that is in the buffers at a time finds room there: two sums, one being
/// made, and what came in; of this chip's own, three steps' pieces.
std::int64_t most_bytes(Workspace& workspace, const Layer& layer, const Collective& op) {
    std::int64_t most = kPieceBytes;
    if (!RingSteps::sums(op.kind)) return most;
    most = std::min(most, scratch_ring(workspace).capacity() / (2 * (RingSteps::kTogether + 2)));
    if (!workspace.flow.resident(layer.inputs.at(0))) most = std::min(most, workspace.inputs.capacity() / 4);
    if (most < BoxCut::kWidest)
        refuse(layer,
               "sums need room for pieces in placement.output_buffer (or weight_buffer), and where "
               "activations live in DRAM in input_buffer");
    return most;
}

}  // namespace

LayerPlan plan_collective(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const auto& op = std::get<Collective>(layer.op);
    if (!workspace.spec.chip_link)
        refuse(layer,
               "this machine has no link to other chips; give it one, such as chip_link: {bandwidth: 45 "
               "GB/s, latency: 1 us}");
    const TensorId input = layer.inputs.at(0);
    const std::int64_t most = most_bytes(workspace, layer, op);
    const RingParts parts(workspace, layer, op);
    std::shared_ptr<Steps> steps;
    std::int64_t pieces = 0;
    if (op.kind == Collective::Kind::AllToAll) {
        const auto exchange = std::make_shared<ExchangeSteps>(workspace, index, most);
        steps = exchange, pieces = exchange->piece_count();
    } else {
        const auto ring = std::make_shared<RingSteps>(workspace, index, most);
        steps = ring, pieces = ring->piece_count();
    }
    LayerPlan result;
    if (!RingSteps::sums(op.kind)) {  // this chip's own part stays
        const bool exchange = op.kind == Collective::Kind::AllToAll;
        result = plan_copies(workspace, index,
                             {{input, exchange ? parts.among_all(0) : parts.alone(), parts.among_all(0)}});
        result.steps = std::make_shared<PartSteps>(std::vector<std::shared_ptr<Steps>>{result.steps, steps});
        result.touched.clear();
    } else {
        result.dtype = workspace.dtype(input);
        result.steps = steps;
    }
    result.touched.push_back({input, stored_bytes(workspace.graph.tensors[input]).value()});
    static constexpr const char* kWhat[] = {"sums and gathers", "gathers", "sums", "exchanges"};
    const char* const what = kWhat[static_cast<std::size_t>(op.kind)];
    result.mapping = fmt::format("ring of {} chips: {}; parts in {} piece{}", op.chips, what, pieces,
                                 pieces == 1 ? "" : "s");
    return result;
}

}  // namespace systole::systolic
