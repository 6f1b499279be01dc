// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/cores_at_work.h"

#include <fmt/format.h>

#include <optional>

#include "models/devices/systolic/lowering/dataflow_specs.h"
#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/lowering/placement.h"
#include "models/devices/systolic/lowering/program_time.h"
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

/// Nothing where so many cores cannot do it.
std::optional<double> time_on(int cores, const Graph& graph, const SystolicSpec& spec,
                              const Protocol& protocol, const LayerDataflows* dataflows) {
    const LoweringOptions options{.dataflows = dataflows, .cores = cores};
    try {
        const DataflowSpecs specs(graph, spec, dataflows);
        const Lowered lowered =
            lower_at(place_tensors(graph, specs, nullptr, cores), graph, spec, protocol, options);
        return estimated_cycles(lowered.program, spec, cores);
    } catch (const UserError&) {
        return std::nullopt;
    }
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
    const std::optional<double> shared = time_on(spec.cores, graph, spec, protocol, dataflows);
    const std::optional<double> alone = time_on(1, graph, spec, protocol, dataflows);
    return alone && (!shared || *alone < *shared) ? 1 : spec.cores;
}

}  // namespace systole::systolic
