// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/dataflow_plan.h"

#include <limits>

namespace systole::systolic {
namespace {

constexpr double kUnreached = std::numeric_limits<double>::infinity();
constexpr std::size_t kCount = kDataflows.size();

/// The best way to end in a dataflow.
struct Way {
    double cycles = kUnreached;
    std::vector<Dataflow> layers = {};
};
using Ways = std::array<Way, kCount>;

double between(std::size_t before, std::size_t behind, double switch_cycles) {
    return before == behind ? 0 : switch_cycles;
}

/// All turns of a run whose first layer has dataflow `first`, by that of its last layer.
Ways through(const LayerRun& run, std::size_t first, double switch_cycles) {
    const auto turns = static_cast<double>(run.turns);
    Ways ways;
    ways[first] = {run.layers.front()[first], {kDataflows[first]}};
    for (std::size_t layer = 1; layer < run.layers.size(); ++layer) {
        Ways next;
        for (std::size_t to = 0; to < kCount; ++to) {
            std::size_t best = 0;
            for (std::size_t from = 0; from < kCount; ++from) {
                const double cycles = ways[from].cycles + turns * between(from, to, switch_cycles);
                if (cycles + run.layers[layer][to] < next[to].cycles)
                    next[to].cycles = cycles + run.layers[layer][to], best = from;
            }
            if (next[to].cycles == kUnreached) continue;
            next[to].layers = ways[best].layers;
            next[to].layers.push_back(kDataflows[to]);
        }
        ways = std::move(next);
    }
    for (std::size_t last = 0; last < kCount; ++last)
        ways[last].cycles += (turns - 1) * between(last, first, switch_cycles);
    return ways;
}

}  // namespace

std::vector<Dataflow> least_cycles(const std::vector<LayerRun>& runs, double switch_cycles) {
    Ways ways;
    bool begun = false;
    for (const LayerRun& run : runs) {
        if (run.layers.empty()) continue;
        Ways next;
        for (std::size_t first = 0; first < kCount; ++first) {
            const Ways inside = through(run, first, switch_cycles);
            std::size_t before = first;  // before the first run arrays are set up for whatever it begins with
            for (std::size_t from = 0; begun && from < kCount; ++from)
                if (ways[from].cycles + between(from, first, switch_cycles) <
                    ways[before].cycles + between(before, first, switch_cycles))
                    before = from;
            const double until = begun ? ways[before].cycles + between(before, first, switch_cycles) : 0;
            for (std::size_t last = 0; last < kCount; ++last) {
                if (until + inside[last].cycles >= next[last].cycles) continue;
                next[last] = {until + inside[last].cycles,
                              begun ? ways[before].layers : std::vector<Dataflow>{}};
                next[last].layers.insert(next[last].layers.end(), inside[last].layers.begin(),
                                         inside[last].layers.end());
            }
        }
        ways = std::move(next);
        begun = true;
    }
    const Way* best = &ways.front();
    for (const Way& way : ways)
        if (way.cycles < best->cycles) best = &way;
    return best->layers;
}

}  // namespace systole::systolic
