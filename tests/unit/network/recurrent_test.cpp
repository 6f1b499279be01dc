// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/recurrent.h"

#include <catch2/catch.hpp>

#include "networks.h"

using namespace systole;
using namespace systole::test;

namespace {

/// Multiply-accumulates of all steps, counted by hand.
std::int64_t products(std::int64_t gates, std::int64_t steps, std::int64_t batch, std::int64_t width,
                      std::int64_t hidden) {
    return steps * batch * gates * hidden * (width + hidden);
}

}  // namespace

TEST_CASE("a recurrence whose last state alone is read is a block that is repeated") {
    const auto [cell, gates] =
        GENERATE(table<Cell, std::int64_t>({{Cell::Lstm, 4}, {Cell::Gru, 3}, {Cell::Simple, 1}}));
    const bool reverse = GENERATE(false, true);
    Network network;
    const Value x = network.input("x", {5, 2, 6}, Network::kFloat);
    const Recurred out = recur(network, "cell", x, {cell, 8, true, reverse, false}, {}, {});
    CHECK(network.shape(*out.h) == Shape{2, 8});
    CHECK(out.c.has_value() == (cell == Cell::Lstm));
    network.output(*out.h);
    const Imported imported = network.finish("t", {}, "file");
    const Graph graph = graph_of(imported.trace);
    REQUIRE(graph.blocks.size() == 1);
    CHECK(graph.blocks[0].turns == 5);
    CHECK(total_macs(graph).value() == products(gates, 5, 2, 6, 8));
    CHECK(imported.notes.at(0).text ==
          "'cell': each of its 5 steps stores the weights of its state again, for no two "
          "layers of a trace share any");
}

TEST_CASE("a recurrence whose states are all read is written out") {
    const auto [cell, gates] =
        GENERATE(table<Cell, std::int64_t>({{Cell::Lstm, 4}, {Cell::Gru, 3}, {Cell::Simple, 1}}));
    Network network;
    const Value x = network.input("x", {5, 2, 6}, Network::kFloat),
                h = network.input("h", {1, 2, 8}, Network::kFloat);
    const Recurred out = recur(network, "cell", x, {cell, 8, true, false, true}, h, {});
    REQUIRE(out.steps);
    CHECK(network.shape(*out.steps) == Shape{5, 2, 8});
    network.output(*out.steps);
    const Graph graph = graph_of(network);
    CHECK(total_macs(graph).value() == products(gates, 5, 2, 6, 8));
    CHECK(out_shape(graph) == Shape{5, 2, 8});
    Network far;
    CHECK_THROWS_AS(recur(far, "cell", far.input("x", {1000, 2, 6}, Network::kFloat),
                          {cell, 8, true, false, true}, {}, {}),
                    Unsayable);
}
