// SPDX-License-Identifier: Apache-2.0
// Dataflows of least cost, beside all that there are.
#include "models/devices/systolic/lowering/dataflow_plan.h"

#include <catch2/catch.hpp>
#include <limits>
#include <optional>
#include <random>

namespace systole::systolic {
namespace {

constexpr auto kWs = Dataflow::WeightStationary, kOs = Dataflow::OutputStationary,
               kIs = Dataflow::InputStationary;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// Walks through every turn of every run, layer by layer.
double sum_of(const std::vector<LayerRun>& runs, const std::vector<Dataflow>& dataflows, double change) {
    double sum = 0;
    std::optional<Dataflow> before;
    std::size_t first = 0;
    for (const LayerRun& run : runs) {
        for (std::int64_t turn = 0; turn < run.turns; ++turn)
            for (std::size_t layer = 0; layer < run.layers.size(); ++layer) {
                const Dataflow own = dataflows[first + layer];
                if (before && *before != own) sum += change;
                if (turn == 0) sum += run.layers[layer][static_cast<std::size_t>(own)];
                before = own;
            }
        first += run.layers.size();
    }
    return sum;
}

/// Every one of 3^layers.
double least_of_all(const std::vector<LayerRun>& runs, double change) {
    std::size_t layers = 0;
    for (const LayerRun& run : runs) layers += run.layers.size();
    std::size_t ways = 1;
    for (std::size_t i = 0; i < layers; ++i) ways *= kDataflows.size();
    double least = kNever;
    for (std::size_t way = 0; way < ways; ++way) {
        std::vector<Dataflow> dataflows;
        for (std::size_t i = 0, rest = way; i < layers; ++i, rest /= kDataflows.size())
            dataflows.push_back(kDataflows[rest % kDataflows.size()]);
        least = std::min(least, sum_of(runs, dataflows, change));
    }
    return least;
}

}  // namespace

TEST_CASE("The dataflows that are chosen cost as little as any", "[dataflow]") {
    std::mt19937_64 random(20'261'122);
    const auto draw = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int tried = 0; tried < 2000; ++tried) {
        INFO("case " << tried);
        std::vector<LayerRun> runs(static_cast<std::size_t>(draw(1, 4)));
        std::size_t layers = 0;
        for (LayerRun& run : runs) {
            run.turns = draw(0, 2) == 0 ? draw(2, 5) : 1;
            run.layers.resize(static_cast<std::size_t>(draw(0, 2)));
            for (DataflowCycles& cycles : run.layers)
                for (double& each : cycles)
                    each = draw(0, 9) == 0 ? kNever : static_cast<double>(draw(0, 100));
            layers += run.layers.size();
        }
        const auto change = static_cast<double>(draw(0, 40));
        const std::vector<Dataflow> chosen = least_cycles(runs, change);
        const double least = least_of_all(runs, change);
        if (least == kNever) {
            CHECK(chosen.empty());
            continue;
        }
        REQUIRE(chosen.size() == layers);
        CHECK(sum_of(runs, chosen, change) == least);
    }
}

TEST_CASE("Arrays are set up anew only where that pays", "[dataflow]") {
    // ws, os, is of three layers: the middle one is 30 faster in os.
    const std::vector<LayerRun> runs{{{{100, 200, 300}, {130, 100, 200}, {100, 200, 300}}, 1}};
    CHECK(least_cycles(runs, 14) == std::vector{kWs, kOs, kWs});
    CHECK(least_cycles(runs, 16) == std::vector{kWs, kWs, kWs});
    // The first one costs no change: arrays are set up for it before.
    const std::vector<LayerRun> begins{{{{130, 200, 100}, {100, 200, 300}}, 1}};
    CHECK(least_cycles(begins, 29) == std::vector{kIs, kWs});
    CHECK(least_cycles(begins, 31) == std::vector{kWs, kWs});
    // Of four turns each begins anew: 4 x 30 cycles are saved and seven changes needed.
    const std::vector<LayerRun> turns{{{{400, 800, 900}, {520, 400, 900}}, 4}};
    CHECK(least_cycles(turns, 17) == std::vector{kWs, kOs});
    CHECK(least_cycles(turns, 18) == std::vector{kWs, kWs});
}

}  // namespace systole::systolic
