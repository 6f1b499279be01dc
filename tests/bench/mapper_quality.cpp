// SPDX-License-Identifier: Apache-2.0
// How good the mapper is: of 50 small matrix layers every mapping is simulated (all blocks of rows, columns
// and steps along K, all ways to share the matrix units, both orders), and the mapper's own is compared with
// the best. `mapper_quality [device [layers [seed [FILE [TRIALS]]]]]`: FILE holds what an earlier run printed
// (`-`: none), and its bests are taken where nothing but the mapper has changed since; with TRIALS the mapper
// has so many (placement.trials). Prints cycles, and how many are within 5 %; ends with 1 if not all are.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/machine/machine.h"
#include "models/devices/systolic/network_run.h"
#include "sim/base/error.h"
#include "sim/config/config.h"
#include "sim/device/cost_config.h"
#include "sim/kernel/kernel.h"
#include "sim/workload/trace.h"

namespace {

using namespace systole;
using namespace systole::systolic;

SystolicSpec load(const std::string& device) {
    const auto presets = [](const std::string& name, const SourceMark&) {
        for (const char* const shelf : {"configs/memory/", "configs/energy/", "configs/cost/"})
            if (const std::filesystem::path file = shelf + name + ".yaml"; std::filesystem::exists(file))
                return config::load_yaml(file);
        return config::load_yaml("configs/devices/" + name + ".yaml");
    };
    config::Config config =
        config::Config::from_document(config::load_yaml("configs/devices/" + device + ".yaml"), presets);
    config.root().text("kind", "device kind");
    SystolicSpec spec = read_systolic_spec(config, device);
    read_cost(config.root());
    config.finish();
    return spec;
}

std::int64_t cycles_of(const Graph& graph, const SystolicSpec& spec, const Mapping* mapping) {
    const Lowered lowered = lower(graph, spec, Protocol::of_op(), {true, mapping});
    const FreshKernel kernel;
    Machine machine("bench", spec, lowered.program, {Protocol::of_op()});
    machine.run();
    return machine.clock.at_or_after(machine.record.log()[machine.record.last()].time).value();
}

/// As the device runs it.
NetworkRun run_by_mapper(const Graph& graph, const SystolicSpec& spec) {
    const Protocol protocol = Protocol::of_op();
    return try_network(place_network(graph, spec, protocol, nullptr, nullptr), {protocol}).fastest;
}

struct Question {
    std::string text;
    Graph graph;
    std::set<std::int64_t> rows;  // that blocks may have
    std::int64_t items = 1, n = 1, k = 1;
};

std::int64_t pick(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

Question matmul(std::mt19937_64& random) {
    const std::int64_t m = pick(random, 1, 768), n = pick(random, 1, 640), k = pick(random, 1, 768);
    Question q{fmt::format("matmul {} x {} x {}", m, n, k), {}, {}, 1, n, k};
    q.graph = single_operator(
        "matmul",
        {{"m", std::to_string(m)}, {"n", std::to_string(n)}, {"k", std::to_string(k)}, {"dtype", "bf16"}},
        {"bench"});
    for (std::int64_t blocks = 1; blocks <= std::min<std::int64_t>(m, 12); ++blocks)
        q.rows.insert(ceil_div(m, blocks));
    return q;
}

Question conv(std::mt19937_64& random) {
    const std::int64_t side = pick(random, 4, 20), c = 16 * pick(random, 1, 12),
                       filters = 32 * pick(random, 1, 12);
    const std::int64_t kernel = 2 * pick(random, 0, 1) + 1;
    Question q{fmt::format("conv {0} x {0} x {1}, {2} of {3} x {3}", side, c, filters, kernel),
               {},
               {},
               1,
               filters,
               kernel * kernel * c};
    const auto text = [](std::int64_t value) { return std::to_string(value); };
    q.graph = single_operator("conv2d",
                              {{"n", "1"},
                               {"h", text(side)},
                               {"w", text(side)},
                               {"c", text(c)},
                               {"k", text(filters)},
                               {"r", text(kernel)},
                               {"s", text(kernel)},
                               {"pad", text(kernel / 2)},
                               {"dtype", "bf16"}},
                              {"bench"});
    for (std::int64_t blocks = 1; blocks <= side; ++blocks) q.rows.insert(ceil_div(side, blocks) * side);
    for (std::int64_t blocks = 1; blocks <= 12; ++blocks) q.rows.insert(ceil_div(side * side, blocks));
    return q;
}

/// Calls `see(mapping)` for every mapping of the layer; some do not fit.
void for_each_mapping(const Question& q, const SystolicSpec& spec,
                      const std::function<void(const Mapping&)>& see) {
    const std::int64_t unit = spec.mxu.cols, deep = spec.mxu.rows;
    LayerMapping layer;
    for (const std::int64_t rows : q.rows)
        for (std::int64_t columns = unit; columns < q.n + unit; columns += unit)
            for (std::int64_t depth = deep; depth < q.k + deep; depth += deep)
                for (std::int64_t over_m = 1; over_m <= spec.mxu.count; ++over_m)
                    for (std::int64_t over_n = 1; over_m * over_n <= spec.mxu.count; ++over_n)
                        for (const bool m_outer : {true, false}) {
                            layer.rows = rows;
                            layer.columns = std::min(columns, q.n);
                            layer.depth = std::min(depth, q.k);
                            layer.over_m = over_m, layer.over_n = over_n, layer.m_outer = m_outer;
                            Mapping mapping;
                            mapping.layers.emplace(q.graph.layers.front().name, layer);
                            see(mapping);
                        }
}

/// "35 rows x 128 columns, 2 x 2 units, steps of 256, m outer".
std::string in_words(const LayerMapping& m) {
    return fmt::format("{} rows x {} columns, {} x {} units, steps of {}, {} outer", m.rows, m.columns,
                       m.over_m, m.over_n, m.depth, m.m_outer ? "m" : "n");
}

struct Best {
    std::int64_t cycles = std::numeric_limits<std::int64_t>::max();
    int tried = 0;
    std::string mapping = {};
};

Best exhaust(const Question& q, const SystolicSpec& spec) {
    Best best;
    for_each_mapping(q, spec, [&](const Mapping& mapping) {
        try {
            const std::int64_t cycles = cycles_of(q.graph, spec, &mapping);
            ++best.tried;
            if (cycles >= best.cycles) return;
            best.cycles = cycles;
            best.mapping = in_words(mapping.layers.begin()->second);
        } catch (const UserError&) {  // does not fit
        }
    });
    return best;
}

/// Bests by layer, from the lines of an earlier run.
std::map<std::string, Best> earlier(const char* file) {
    std::map<std::string, Best> bests;
    std::ifstream in(file);
    std::string line, layer;
    while (std::getline(in, line)) {
        if (line.starts_with("    best   ") && !layer.empty()) bests[layer].mapping = line.substr(11);
        if (line.size() < 82 || line.starts_with(" ")) continue;
        layer = line.substr(0, 44);
        layer.erase(layer.find_last_not_of(' ') + 1);
        bests[layer].cycles = std::atoll(line.substr(54, 10).c_str());
        bests[layer].tried = std::atoi(line.substr(73).c_str());
    }
    return bests;
}

}  // namespace

// SystemC's library wants one.
int sc_main(int, char**) {
    return 0;
}

int main(int argc, char** argv) {
    const std::string device = argc > 1 ? argv[1] : "tpu_v4";
    const int layers = argc > 2 ? std::atoi(argv[2]) : 50;
    const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    SystolicSpec spec = load(device);
    if (argc > 5) spec.placement.trials = std::clamp(std::atoi(argv[5]), 1, kMostTrials);
    const std::map<std::string, Best> known = argc > 4 ? earlier(argv[4]) : std::map<std::string, Best>{};
    std::mt19937_64 random(seed);
    fmt::print("{} layers on {}, seed {}, trials {}\n{:<44}{:>10}{:>10}{:>9}{:>9}\n", layers, device, seed,
               spec.placement.trials, "layer", "mapper", "best", "ratio", "tried");
    int within = 0;
    double sum = 0, worst = 0;
    for (int i = 0; i < layers; ++i) {
        const Question q = i % 2 == 0 ? matmul(random) : conv(random);
        const NetworkRun run = run_by_mapper(q.graph, spec);
        const std::int64_t own = run.outcome.result.total.cycles.value();
        const auto found = known.find(q.text);
        const Best best = found == known.end() ? exhaust(q, spec) : found->second;
        const double ratio = static_cast<double>(own) / static_cast<double>(best.cycles);
        within += ratio <= 1.05 ? 1 : 0;
        sum += ratio, worst = std::max(worst, ratio);
        fmt::print("{:<44}{:>10}{:>10}{:>9.3f}{:>9}\n", q.text, own, best.cycles, ratio, best.tried);
        fmt::print("    mapper {}\n    best   {}\n", in_words(run.used.layers.begin()->second), best.mapping);
        std::fflush(stdout);
    }
    fmt::print("{} of {} within 5 %; on average {:.3f}, at worst {:.3f} of the best\n", within, layers,
               sum / layers, worst);
    return within == layers ? 0 : 1;
}
