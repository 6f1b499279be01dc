// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/collective_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"

namespace systole::simt {
namespace {

// The library connects every channel that it has found twice (ncclTopoPostset), each with a CTA.
constexpr std::int64_t kCtasOfChannel = 2;

/// What the library counts as the message: of gathers and scatters, the tensor that has all chips' parts.
Bytes message_of(const Collective& op, Bits element) {
    const std::int64_t elements = op.outer * op.row * (op.kind == Collective::Kind::AllGather ? op.chips : 1);
    return to_bytes(Bits(elements * element.value()));
}

}  // namespace

CollectivePlan plan_collective(const Layer& layer, Bits element, const SimtSpec& spec) {
    const auto& op = std::get<Collective>(layer.op);
    if (!spec.chip_link)
        throw UserError(
            layer.where,
            fmt::format("'{}': collective needs chip_link: {} has no link to other chips; give it "
                        "one, such as chip_link: {{network: switch, bandwidth: 300 GB/s, latency: "
                        "500 ns}}, and collectives, as a100 has",
                        layer.name, spec.name));
    if (op.chips > spec.collectives.most_chips)
        throw UserError(layer.where,
                        fmt::format("'{}': {} chips, but {} are joined by {}'s links "
                                    "(collectives.most_chips); networks between nodes are not modelled",
                                    layer.name, op.chips, spec.collectives.most_chips, spec.name));
    CollectivePlan plan;
    plan.time = time_collective(spec.collectives, op.kind, op.chips, message_of(op, element));
    plan.ctas = std::min<std::int64_t>(spec.sm.count, kCtasOfChannel * spec.collectives.channels);
    return plan;
}

std::string to_string(const CollectivePlan& plan) {
    return fmt::format("{}, {}, {} CTAs, {:.1f} GB/s on the bus", to_string(plan.time.kernel.algorithm),
                       to_string(plan.time.kernel.protocol), plan.ctas,
                       static_cast<double>(plan.time.bus().value()) / 1e9);
}

}  // namespace systole::simt
