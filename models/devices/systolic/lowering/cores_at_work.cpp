// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/cores_at_work.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "models/devices/systolic/lowering/network_time.h"
#include "sim/base/error.h"

namespace systole::systolic {
namespace {

/// Cycles of a core's arrays for a layer, on average, from which on nobody looks: all cores save half of them
/// or more, and a way through memory and back takes hundreds.
constexpr double kLargeLayer = 20'000;

bool has_large_layers(const Graph& graph, const SystolicSpec& spec) {
    double cycles = 0;
    const double pes = static_cast<double>(spec.pes()) / spec.cores;
    for (const Layer& layer : graph.layers) cycles += static_cast<double>(macs(layer.op).value()) / pes;
    return cycles > kLargeLayer * static_cast<double>(graph.layers.size());
}

/// Whether one core alone takes less than all; nothing if few turns do not tell them apart for sure.
std::optional<bool> alone_by_turns(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                                   const LayerDataflows* dataflows) {
    const auto shared = network_time_by_turns(spec.cores, graph, spec, protocol, dataflows);
    if (!shared) return std::nullopt;
    const auto alone = network_time_by_turns(1, graph, spec, protocol, dataflows);
    if (!alone || std::abs(alone->cycles - shared->cycles) <= alone->blur + shared->blur) return std::nullopt;
    return alone->cycles < shared->cycles;
}

}  // namespace

int cores_at_work(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                  const Mapping* mapping, const LayerDataflows* dataflows) {
    if (mapping && mapping->cores) {
        if (*mapping->cores != 1 && *mapping->cores != spec.cores)
            throw UserError(mapping->cores_where,
                            fmt::format("{} cores are neither one nor all {} of this machine",
                                        *mapping->cores, spec.cores));
        return static_cast<int>(*mapping->cores);
    }
    if (spec.cores == 1 || mapping || has_large_layers(graph, spec)) return spec.cores;
    if (const auto alone = alone_by_turns(graph, spec, protocol, dataflows)) return *alone ? 1 : spec.cores;
    const auto shared = network_time(spec.cores, graph, spec, protocol, dataflows);
    const auto alone = network_time(1, graph, spec, protocol, dataflows);
    return alone && (!shared || *alone < *shared) ? 1 : spec.cores;
}

}  // namespace systole::systolic
