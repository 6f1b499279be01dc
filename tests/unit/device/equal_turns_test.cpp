// SPDX-License-Identifier: Apache-2.0
// Turns of a graph in rows of its result, where a row holds several layers.
#include "sim/device/equal_turns.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/unit/device/pretence.h"

using namespace systole;
using namespace systole::test;

namespace {

using Rows = std::vector<std::size_t>;

/// Rows of `first`, of each turn's two layers, and of `out`.
Rows rows(std::size_t first, const Rows& turn, int turns, const Rows& out) {
    Rows all{first};
    for (int i = 0; i < turns; ++i) all.insert(all.end(), turn.begin(), turn.end());
    all.insert(all.end(), out.begin(), out.end());
    return all;
}

}  // namespace

TEST_CASE("turns are counted in the rows that layers become") {
    const Graph graph = network(16);
    const EqualTurns layers = turns_of(graph);
    REQUIRE(layers.blocks.size() == 1);
    CHECK(layers.blocks[0].first_layer == 1);
    CHECK(layers.blocks[0].layers == 2);
    CHECK(layers.blocks[0].turns == 16);
    CHECK(layers.blocks[0].worth_it());
    CHECK(layers.names.size() == 34);
    CHECK(layers.names[4] == "block.1.b");

    const EqualTurns both = turns_of(graph, rows(1, {2}, 16, {1}));
    REQUIRE(both.blocks.size() == 1);
    CHECK(both.blocks[0].first_layer == 1);
    CHECK(both.blocks[0].layers == 1);
    CHECK(both.blocks[0].turns == 16);
    CHECK(both.blocks[0].worth_it());
    CHECK(both.names.size() == 18);
    CHECK(both.names[0] == "first");
    CHECK(both.names[2] == "block.1.a");
    CHECK(both.names[17] == "out");
    // A run with five turns is marked after its first three: rows 2, 3 and 4.
    CHECK(with_turns(both, {5}).marks == Rows{2, 3, 4});
}

TEST_CASE("turns of which a row holds a part are not alike") {
    const Graph graph = network(16);
    Rows over_the_end = rows(1, {1, 1}, 15, {1, 2});  // the last turn's second layer and the next
    Rows over_turns = rows(1, {}, 0, {1});            // one turn's second layer and the next one's first
    for (int i = 0; i < 15; ++i) over_turns.push_back(2);
    over_turns.insert(over_turns.end(), {1, 1});
    Rows from_before = rows(2, {}, 0, {1});  // the layer before and the first one's first
    for (int i = 0; i < 31; ++i) from_before.push_back(1);
    const Rows everywhere(17, 2);
    for (const Rows& joined : {over_the_end, over_turns, from_before, everywhere}) {
        const EqualTurns turns = turns_of(graph, joined);
        REQUIRE(turns.blocks.size() == 1);
        CHECK(turns.blocks[0].turns == 16);
        CHECK_FALSE(turns.blocks[0].worth_it());
        CHECK(turns.names.size() == joined.size());
    }
}

TEST_CASE("turns are not alike whose layers become other rows") {
    Rows joined = rows(1, {1, 1}, 15, {2, 1});
    CHECK_FALSE(turns_of(network(16), joined).blocks.at(0).worth_it());
}
