// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/operators.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace systole::reference {
namespace {

const OperatorKeys& named(const std::vector<OperatorKeys>& all, const std::string& name) {
    return *std::ranges::find(all, name, &OperatorKeys::name);
}

const KeyQuestion* find(const OperatorKeys& op, const std::string& key) {
    const auto found = std::ranges::find(op.keys, key, &KeyQuestion::key);
    return found == op.keys.end() ? nullptr : &*found;
}

TEST_CASE("operators have the keys that their readers ask for, with least values, names and defaults") {
    const std::vector<OperatorKeys> all = operator_keys();
    const OperatorKeys& conv = named(all, "conv2d");
    REQUIRE(find(conv, "filters"));
    CHECK(find(conv, "filters")->is_required);
    CHECK(find(conv, "filters")->low == 1);
    CHECK(find(conv, "kernel")->kind == KeyKind::Pair);
    CHECK(find(conv, "bias")->fallback == "false");
    CHECK(named(all, "pool").keys.size() >= 5);
    CHECK(find(named(all, "pool"), "kind")->names == std::vector<std::string>{"max", "average"});
    CHECK(named(all, "batched_matmul").operands == 2);
    CHECK(named(all, "concat").or_more);
}

TEST_CASE("keys that only a choice or another key calls for are there, and not required") {
    const std::vector<OperatorKeys> all = operator_keys();
    const KeyQuestion* group = find(named(all, "matmul"), "group");
    REQUIRE(group);
    CHECK_FALSE(group->is_required);
    REQUIRE(find(named(all, "pool"), "window"));
    CHECK_FALSE(find(named(all, "pool"), "window")->is_required);  // global: true has none
    REQUIRE(find(named(all, "matmul"), "experts"));
    CHECK(find(named(all, "matmul"), "experts")->kind == KeyKind::Integer);
    REQUIRE(find(named(all, "slice"), "parts"));
}

TEST_CASE("keys that a reader knows only to refuse them are left out") {
    const std::vector<OperatorKeys> all = operator_keys();
    CHECK_FALSE(find(named(all, "softmax"), "scales"));
    CHECK_FALSE(find(named(all, "reshape"), "out_dtype"));
}

}  // namespace
}  // namespace systole::reference
