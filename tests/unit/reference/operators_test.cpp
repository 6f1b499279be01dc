// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/operators.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "sim/workload/key_meanings.h"

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

TEST_CASE("a default that other keys or shapes decide on is not told as a number") {
    const std::vector<OperatorKeys> all = operator_keys();
    const std::vector<std::pair<std::string, std::string>> decided{
        {"concat", "axis"},        {"rotary", "axis"},         {"collective", "axis"},
        {"slice", "size"},         {"slice", "part"},          {"conv3d", "stride_t"},
        {"attention", "kv_heads"}, {"attention", "value_dim"}, {"matmul", "experts"}};
    for (const auto& [op, key] : decided) {
        INFO(op << ": " << key);
        const KeyQuestion* const found = find(named(all, op), key);
        REQUIRE(found);
        CHECK(found->kind == KeyKind::Integer);
        CHECK_FALSE(found->fallback);
        CHECK_FALSE(found->is_required);
    }
}

TEST_CASE("keys that a reader knows only to refuse them are left out") {
    const std::vector<OperatorKeys> all = operator_keys();
    CHECK_FALSE(find(named(all, "softmax"), "scales"));
    CHECK_FALSE(find(named(all, "reshape"), "out_dtype"));
}

TEST_CASE("every key of every operator has a sentence, and every sentence a key") {
    std::set<const KeyMeaning*> found;
    for (const OperatorKeys& op : operator_keys())
        for (const KeyQuestion& each : op.keys) {
            INFO(op.name << ": " << each.key);
            const KeyMeaning* const meaning = find_key_meaning(op.name, each.key);
            CHECK((meaning && !meaning->text.empty()));
            found.insert(meaning);
        }
    for (const KeyMeaning& each : key_meanings()) {
        INFO(each.key << " of " << (each.ops.empty() ? "others" : each.ops));
        CHECK(found.contains(&each));
    }
}

TEST_CASE("a key that operators share means what it means to each") {
    const auto meaning = [](std::string_view op, std::string_view key) {
        const KeyMeaning* const found = find_key_meaning(op, key);
        return found ? found->text : "";
    };
    CHECK(meaning("pool", "stride") != meaning("conv2d", "stride"));
    CHECK(meaning("conv3d", "stride") == meaning("conv2d", "stride"));
    CHECK(meaning("conv", "stride").empty());             // "conv2d"
    CHECK(meaning("transpose", "weight_dtype").empty());  // "conv_transpose"
    CHECK(meaning("slice", "size") != meaning("resize", "size"));
    CHECK(meaning("softmax", "out_dtype") == meaning("norm", "out_dtype"));
    CHECK(meaning("conv2d", "frobnicate").empty());
}

}  // namespace
}  // namespace systole::reference
