// SPDX-License-Identifier: Apache-2.0
// Does a better machine ever take longer? Random machines with random networks are run as drawn and with one
// thing made faster, wider or larger, for every knob of tests/support/knobs.h. Of each knob: in how many
// cases the better machine was slower, and the worst case; for arrays also the worst of those in which it has
// the mapping that the other one had, so that what the mapper adds is seen apart. `bench_anomalies
// [systolic|simt [CASES [SEED [KNOB]]]]`: with one case its machine and network are printed, too. From the
// project's folder.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "tests/support/knobs.h"
#include "tests/support/random_case.h"

namespace {

using namespace systole;
using namespace systole::test;

/// A run with a knob turned, beside the run without.
struct Pair {
    std::uint64_t seed = 0;
    std::int64_t before = 0, after = 0;  // ps
    std::int64_t excess() const { return after - before; }
    double ratio() const { return static_cast<double>(after) / static_cast<double>(before) - 1; }
};

struct Row {
    int cases = 0, slower = 0;
    double sum = 0;
    Pair worst, longest, worst_mapped;  // by ratio, by time, by ratio with the same mapping

    void add(const Pair& pair) {
        if (cases++ == 0) worst = longest = pair;
        slower += pair.excess() > 0 ? 1 : 0;
        sum += pair.ratio();
        if (pair.ratio() > worst.ratio()) worst = pair;
        if (pair.excess() > longest.excess()) longest = pair;
    }
    void add_mapped(const Pair& pair) {
        if (worst_mapped.before == 0 || pair.ratio() > worst_mapped.ratio()) worst_mapped = pair;
    }
};

std::int64_t time_of(const RunOutcome& outcome) {
    return outcome.result.total.time().value();
}

void print_layers(const RunOutcome& before, const RunOutcome& after) {
    for (const RunOutcome* outcome : {&before, &after})
        for (const ResultRow& row : outcome->result.layers)
            fmt::print("  {:<12}{:>14} ps  {}\n", row.name, row.time().value(), row.mapping);
}

/// Turns all knobs of a case, or the one that is called `only`.
void try_case(const Case& drawn, const std::string& only, bool detailed, std::vector<Row>& rows) {
    const std::vector<Knob>& knobs = knobs_of(drawn.kind);
    try {
        const Graph graph = graph_of(drawn);
        const RunOptions options{drawn.protocol};
        const RunOutcome before = device_of(drawn)->run(graph, options);
        const std::vector<config::Entry> keys = keys_of(drawn);
        if (detailed) fmt::print("{}", to_string(drawn));
        for (std::size_t i = 0; i < knobs.size(); ++i) {
            const auto settings = turned(knobs[i], keys);
            if (!settings || (!only.empty() && only != knobs[i].name)) continue;
            try {
                const auto device = device_of(drawn, *settings);
                const RunOutcome after = device->run(graph, options);
                rows[i].add({drawn.seed, time_of(before), time_of(after)});
                if (detailed) {
                    fmt::print("{}:", knobs[i].name);
                    for (const auto& [path, value] : *settings) fmt::print(" --set '{}={}'", path, value);
                    fmt::print("\n");
                    print_layers(before, after);
                }
                if (drawn.kind != Kind::Systolic || time_of(after) <= time_of(before)) continue;
                RunOptions same = options;
                same.mapping = config::parse_yaml(before.mapping, "mapping.yaml");
                const RunOutcome mapped = device->run(graph, same);
                rows[i].add_mapped({drawn.seed, time_of(before), time_of(mapped)});
                if (detailed) fmt::print("  with the same mapping {} ps\n", time_of(mapped));
            } catch (const UserError& refused) {
                if (detailed) fmt::print("{}: {}\n", knobs[i].name, refused.what());
            }
        }
    } catch (const UserError& refused) {
        if (detailed) fmt::print("{}refused: {}\n", to_string(drawn), refused.what());
    }
}

}  // namespace

int main(int argc, char** argv) {
    const Kind kind = argc > 1 && std::string(argv[1]) == "simt" ? Kind::Simt : Kind::Systolic;
    const std::uint64_t cases = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200;
    const std::uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    const std::string only = argc > 4 ? argv[4] : "";
    const std::vector<Knob>& knobs = knobs_of(kind);
    std::vector<Row> rows(knobs.size());
    for (std::uint64_t seed = first; seed < first + cases; ++seed)
        try_case(random_case(kind, seed), only, cases == 1, rows);
    fmt::print("{:<26}{:>7}{:>8}{:>10}{:>9}{:>8}{:>12}{:>8}{:>9}{:>8}\n", to_string(kind), "cases", "slower",
               "mean %", "worst %", "seed", "longest ns", "seed", "mapped %", "seed");
    for (std::size_t i = 0; i < knobs.size(); ++i) {
        const Row& row = rows[i];
        if (row.cases == 0) continue;
        fmt::print("{:<26}{:>7}{:>8}{:>10.2f}{:>9.2f}{:>8}{:>12.1f}{:>8}", knobs[i].name, row.cases,
                   row.slower, 100 * row.sum / row.cases, 100 * row.worst.ratio(), row.worst.seed,
                   static_cast<double>(row.longest.excess()) / 1000, row.longest.seed);
        if (row.worst_mapped.before > 0)
            fmt::print("{:>9.2f}{:>8}", 100 * row.worst_mapped.ratio(), row.worst_mapped.seed);
        fmt::print("\n");
    }
    return 0;
}
