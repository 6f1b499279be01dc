// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/device/device.h"

namespace systole {
namespace {

using Described = std::vector<std::pair<std::string, std::string>>;

bool says(const Described& described, const std::string& key, const std::string& value) {
    return std::find(described.begin(), described.end(), std::pair(key, value)) != described.end();
}

}  // namespace

TEST_CASE("a measurement of a single run says nothing of replays", "[device]") {
    const Described once = describe(Protocol::of_op());
    CHECK(once == Described{{"inputs_at", "dram"},
                            {"outputs_to", "dram"},
                            {"launch", "none"},
                            {"refresh_phase", "0 ps"},
                            {"reuse", "on"}});
    CHECK(Protocol::of_run().runs_once());
}

TEST_CASE("a replay says how often and with how many copies of the weights", "[device]") {
    Protocol protocol = Protocol::of_op();
    protocol.repeat = 6;
    CHECK(says(describe(protocol), "repeat", "6"));
    CHECK(describe(protocol).size() == 6);
    CHECK_FALSE(protocol.runs_once());
    protocol.warm_turns = 3;
    protocol.timed_turns = 100;
    CHECK(says(describe(protocol), "warm_turns", "3"));
    CHECK(says(describe(protocol), "timed_turns", "100"));
    protocol = Protocol::of_op();
    protocol.weight_copies = 5;
    CHECK(says(describe(protocol), "weight_copies", "5"));
    CHECK(describe(protocol).size() == 6);
    CHECK_FALSE(protocol.runs_once());
    protocol.weight_copies = Protocol::kEnoughCopies;
    CHECK(says(describe(protocol), "weight_copies", "auto"));
    CHECK_FALSE(protocol.runs_once());
}

}  // namespace systole
