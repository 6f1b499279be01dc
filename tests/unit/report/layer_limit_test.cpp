// SPDX-License-Identifier: Apache-2.0
#include "sim/report/layer_limit.h"

#include <catch2/catch.hpp>
#include <random>

#include "sim/account/classes.h"
#include "tests/unit/report/result_text.h"

using namespace systole::report;
using systole::kSlotClasses;
using systole::test::layer_text;
using Json = nlohmann::ordered_json;

TEST_CASE("few layers stay what they are") {
    LayerLimit limit(3);
    for (const char* name : {"a", "b", "c"}) limit.add(layer_text(name, 1, 1, 2));
    const LayerLimit::Rows rows = limit.finish();
    REQUIRE(rows.rows.size() == 3);
    CHECK(rows.rows[2] == layer_text("c", 1, 1, 2));
    CHECK(rows.row_of_layer.empty());
}

TEST_CASE("of many layers the longest stay in their order, and the rest is one row") {
    LayerLimit limit(3);
    limit.add(layer_text("short", 1, 1, 4));
    limit.add(layer_text("long", 9, 3, 4));
    limit.add(layer_text("shorter", 0.5, 0, 4));
    limit.add(layer_text("longest", 10, 4, 4));
    const LayerLimit::Rows rows = limit.finish();
    REQUIRE(rows.rows.size() == 3);
    CHECK(rows.rows[0]["name"] == "long");
    CHECK(rows.rows[1]["name"] == "longest");
    const Json& rest = rows.rows[2];
    CHECK(rest["name"] == "2 further layers");
    CHECK(rest["op"] == "various");
    CHECK(rest["time_ns"] == 1.5);
    CHECK(rest["cycles"] == 20);
    CHECK(rest["cycles"].is_number_integer());
    // One useful slot of eight.
    CHECK(rest["classes"]["useful"] == 0.125);
    CHECK(rest["classes"]["memory"] == 0.875);
    CHECK(rest["utilization"] == 0.125);
    CHECK(rest["bytes"]["dram_read"] == 6);
    REQUIRE(rest["bytes"]["moved"].size() == 1);
    CHECK(rest["bytes"]["moved"][0]["bytes"] == 6);
    CHECK(rest["roofline"]["memory"] == 4);
    CHECK(rest["energy_pj"]["total"] == 3.0);
    CHECK(rows.row_of_layer == std::vector<std::size_t>{2, 0, 2, 1});
}

TEST_CASE("whole numbers beyond 64 bits with a sign are added as they are, not as negative ones") {
    LayerLimit limit(2);
    limit.add(layer_text("long", 9, 1, 1));
    for (const char* name : {"a", "b"}) {
        Json row = layer_text(name, 1, 1, 1);
        row["cycles"] = 18'000'000'000'000'000'000U;
        limit.add(row);
    }
    CHECK(limit.finish().rows[1]["cycles"] == 3.6e19);
}

TEST_CASE("movements of other operands stay apart in the sum") {
    LayerLimit limit(2);
    limit.add(layer_text("long", 9, 1, 1));
    Json other = layer_text("a", 1, 1, 1);
    other["bytes"]["moved"][0]["operand"] = "outputs";
    limit.add(other);
    limit.add(layer_text("b", 1, 1, 1));
    const Json moved = limit.finish().rows[1]["bytes"]["moved"];
    REQUIRE(moved.size() == 2);
    CHECK(moved[0]["operand"] == "outputs");
    CHECK(moved[1]["operand"] == "weights");
}

TEST_CASE("energy that one layer does not know, the sum does not know") {
    LayerLimit limit(2);
    for (const char* name : {"a", "b", "c"}) {
        limit.add(layer_text(name, 1, 1, 1));
    }
    Json unknown = layer_text("d", 1, 1, 1);
    unknown["energy_pj"] = nullptr;
    limit.add(unknown);
    CHECK(limit.finish().rows[1]["energy_pj"].is_null());
}

TEST_CASE("what is no class of slots is no part of the sum") {
    LayerLimit limit(2);
    limit.add(layer_text("long", 9, 1, 1));
    for (const char* name : {"a", "b"}) {
        Json layer = layer_text(name, 1, 1, 4);
        layer["classes"]["parameters"] = {{"batch", 8}};
        layer["class_slots"]["elsewhere"] = "8";
        limit.add(layer);
    }
    const Json rest = limit.finish().rows[1];
    CHECK(rest["utilization"] == 0.25);
    CHECK(rest["classes"]["memory"] == 0.75);
    CHECK(rest["classes"].size() == kSlotClasses);
}

TEST_CASE("nothing is lost of any number of layers") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 30; ++round) {
        const std::size_t most = 2 + random() % 20, count = 1 + random() % 200;
        LayerLimit limit(most);
        std::int64_t slots = 0;
        double time = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t own = 1 + static_cast<std::int64_t>(random() % 1000);
            const double taken = static_cast<double>(random() % 64);
            limit.add(layer_text("x", taken, own / 2, own));
            slots += own;
            time += taken;
        }
        const LayerLimit::Rows rows = limit.finish();
        CHECK(rows.rows.size() == std::min(most, count));
        std::int64_t shown = 0;
        double shown_time = 0;
        for (const Json& row : rows.rows) {
            for (const auto& [key, own] : row["class_slots"].items()) shown += own.get<std::int64_t>();
            shown_time += row["time_ns"].get<double>();
        }
        CHECK(shown == slots);
        CHECK(shown_time == time);
        for (const std::size_t row : rows.row_of_layer) CHECK(row < rows.rows.size());
    }
}
