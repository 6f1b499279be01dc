// SPDX-License-Identifier: Apache-2.0
#include "sim/report/result_reader.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/complaint.h"
#include "tests/unit/report/result_text.h"

using namespace systole;
using namespace systole::report;
using systole::test::comparison_text;
using systole::test::layer_text;
using systole::test::result_text;
using systole::test::standing_text;
using Json = nlohmann::ordered_json;

namespace {

std::string complaint_of(const Json& json) {
    return complaint([&] { read_results(json.dump(), "r.json", 10); });
}

std::string complaint_of_text(const std::string& text) {
    return complaint([&] { read_results(text, "r.json", 10); });
}

Json with_layers() {
    Json json = result_text();
    for (const char* name : {"a", "b", "c"})
        json["devices"][0]["layers"].push_back(layer_text(name, 10, 2, 4));
    return json;
}

}  // namespace

TEST_CASE("a result is read whole: its program and its rows") {
    const ReadResults results = read_results(with_layers().dump(2), "r.json", 10);
    CHECK(results.program == "systole 9.8");
    REQUIRE(results.runs.size() == 1);
    const RunData& run = results.runs[0];
    CHECK(run.name() == "tiny");
    CHECK(run.trace() == "net");
    REQUIRE(run.layers.size() == 3);
    CHECK(run.layers[1] == layer_text("b", 10, 2, 4));
    CHECK(run.row_of_layer.empty());
    CHECK(run.device["total"]["cycles"] == 10);
}

TEST_CASE("each device has its own layers") {
    Json json = with_layers();
    json["devices"].push_back(json["devices"][0]);
    json["devices"][1]["layers"].erase(0);
    const ReadResults results = read_results(json.dump(), "r.json", 10);
    REQUIRE(results.runs.size() == 2);
    CHECK(results.runs[0].layers.size() == 3);
    REQUIRE(results.runs[1].layers.size() == 2);
    CHECK(results.runs[1].layers[0]["name"] == "b");
}

TEST_CASE("text that is no JSON is refused with its place") {
    CHECK(complaint_of_text("{\"schema\": 1,\n \"devices\": oops}") ==
          "r.json:2:13: error: this is not JSON; expected a result.json of systole");
    CHECK(complaint_of_text("{") ==
          "r.json:1:2: error: the file ends in the middle of its JSON; it was cut off");
    CHECK(complaint_of_text(" \n") == "r.json: error: the file is empty; expected a result.json of systole");
    CHECK(complaint_of_text("\xff\xfe") ==
          "r.json:1:1: error: this is not JSON; expected a result.json of systole");
}

TEST_CASE("a file that was cut off anywhere is refused") {
    const std::string text = with_layers().dump(1);
    for (std::size_t length = 0; length + 1 < text.size(); length += 7)
        CHECK(complaint_of_text(text.substr(0, length)).find("r.json:") == 0);
}

TEST_CASE("another schema is refused by its number") {
    Json json = result_text();
    json["schema"] = 2;
    CHECK(complaint_of(json) ==
          "r.json: error: result/2 was written by or for a newer systole; this one reads result/1: take a "
          "newer one, or "
          "make it again with this one");
    json["schema"] = "1";
    CHECK(complaint_of(json).find("schema: expected a number") != std::string::npos);
    CHECK(complaint_of(Json{{"points", 3}}).find("no result.json of systole") != std::string::npos);
    CHECK(complaint_of(Json(3)).find("no result.json of systole") != std::string::npos);
}

TEST_CASE("what a result lacks is named by its place") {
    const auto without = [](const char* pointer) {
        Json json = with_layers();
        const Json::json_pointer at(pointer);
        json[at.parent_pointer()].erase(at.back());
        return complaint_of(json);
    };
    CHECK(without("/devices") == "r.json: error: devices: it is missing; a result of this program has it");
    CHECK(without("/devices/0/total/cycles") ==
          "r.json: error: devices[0].total.cycles: it is missing; a result of this program has it");
    CHECK(without("/devices/0/layers/2/classes/ramp") ==
          "r.json: error: devices[0].layers[2].classes.ramp: it is missing; a result of this program has it");
    CHECK(without("/devices/0/layers").find("devices[0].layers: it is missing") != std::string::npos);
}

TEST_CASE("values of the wrong kind are named by their place") {
    const auto wrong = [](const char* pointer, const Json& value) {
        Json json = with_layers();
        json[Json::json_pointer(pointer)] = value;
        return complaint_of(json);
    };
    CHECK(wrong("/devices/0/total/time_ns", "long") ==
          "r.json: error: devices[0].total.time_ns: expected a number of 0 or more");
    CHECK(wrong("/devices/0/total/time_ns", -1).find("expected a number of 0 or more") != std::string::npos);
    CHECK(wrong("/devices/0/clock_hz", 0).find("a number of 1 or more") != std::string::npos);
    CHECK(wrong("/devices/0/layers/1/name", 5) == "r.json: error: devices[0].layers[1].name: expected text");
    CHECK(wrong("/devices/0/layers/1", 5) == "r.json: error: devices[0].layers[1]: expected an object");
    CHECK(wrong("/devices/0/layers", Json::object()) == "r.json: error: devices[0].layers: expected a list");
    CHECK(wrong("/devices/0", "x") == "r.json: error: devices[0]: expected an object");
    CHECK(wrong("/devices", Json::object()) == "r.json: error: devices: expected a list");
    CHECK(wrong("/devices", Json::array()) ==
          "r.json: error: devices: it is empty: there is nothing to show");
    CHECK(
        wrong("/devices/0/layers/0/bytes/moved/0/bytes", nullptr).find("moved[0].bytes: expected a number") !=
        std::string::npos);
    CHECK(wrong("/devices/0/reuse", 5) == "r.json: error: devices[0].reuse: expected an object");
    CHECK(wrong("/devices/0/reuse", {{"time_known_to", "well"}, {"confidence", nullptr}}) ==
          "r.json: error: devices[0].reuse.time_known_to: expected a number of 0 or more");
    CHECK(wrong("/devices/0/memory_bus/transfer", "all").find("memory_bus.transfer: expected") !=
          std::string::npos);
}

TEST_CASE("numbers that no double holds are refused") {
    std::string text = result_text().dump();
    text.replace(text.find("\"clock_hz\":1000"), 15, "\"clock_hz\":1e999");
    CHECK(complaint_of_text(text).find("r.json") == 0);
}

TEST_CASE("a comparison is read with its runs: who wins where, by their numbers") {
    Json json = comparison_text();
    json["comparisons"][0]["layers"] = {standing_text("a", 4, 6), standing_text("b", 6, 14)};
    const ReadResults results = read_results(json.dump(2), "c.json", 10);
    REQUIRE(results.comparisons.size() == 1);
    const ComparisonData& comparison = results.comparisons[0];
    CHECK(comparison.trace == "net");
    CHECK(comparison.devices == std::vector<std::string>{"tiny", "big"});
    CHECK(comparison.total["times_ns"] == Json{30.0, 10.0});
    CHECK(comparison.total["fastest"] == 1);
    REQUIRE(comparison.layers.size() == 2);
    CHECK(comparison.layers[1]["times_ns"] == Json{20.0, 6.0});
    CHECK(comparison.layers[1]["why"] == "tiny waits longer for memory.");
    CHECK(comparison.left_out == 0);
}

TEST_CASE("of a comparison with many layers those stay on which its devices differ most, in their order") {
    Json json = comparison_text();
    for (int i = 0; i < 47; ++i)
        json["comparisons"][0]["layers"].push_back(
            standing_text(("l" + std::to_string(i)).c_str(), 1, i % 2 == 0 ? 100 - i : 1));
    const ReadResults results = read_results(json.dump(), "c.json", 10);
    const ComparisonData& comparison = results.comparisons[0];
    REQUIRE(comparison.layers.size() == 10);
    CHECK(comparison.left_out == 37);
    for (std::size_t i = 0; i < 10; ++i) CHECK(comparison.layers[i]["name"] == "l" + std::to_string(2 * i));
}

TEST_CASE("each trace's comparison has the runs that follow those of the one before") {
    Json json = comparison_text();
    for (int i = 0; i < 2; ++i) {
        json["devices"].push_back(json["devices"][i]);
        json["devices"].back()["trace"] = "other";
    }
    json["comparisons"].push_back(json["comparisons"][0]);
    json["comparisons"][1]["trace"] = "other";
    CHECK(read_results(json.dump(), "c.json", 10).comparisons[1].first_run == 2);
}

TEST_CASE("a comparison that does not fit its runs is refused with its place") {
    const auto wrong = [](const char* pointer, const Json& value) {
        Json json = comparison_text();
        json["comparisons"][0]["layers"].push_back(standing_text("a", 4, 6));
        json[Json::json_pointer(pointer)] = value;
        return complaint_of(json);
    };
    CHECK(wrong("/devices/1/device", "small") ==
          "r.json: error: comparisons[0]: its devices are not those of 'devices', in their order");
    CHECK(wrong("/comparisons/0/trace", "n").find("its devices are not those") != std::string::npos);
    CHECK(wrong("/comparisons/0/total/fastest", "x") ==
          "r.json: error: comparisons[0].total.fastest: it is none of the comparison's devices");
    CHECK(wrong("/comparisons/0/layers/0/next", "x").find("comparisons[0].layers.next") != std::string::npos);
    CHECK(wrong("/comparisons/0/layers/0/why", 3) ==
          "r.json: error: comparisons[0].layers[0].why: expected text");
    CHECK(wrong("/comparisons/0/layers/0/time_ns", {{"big", 3}}).find("time_ns.tiny: it is missing") !=
          std::string::npos);
    CHECK(wrong("/comparisons/0/layers/0", 3) ==
          "r.json: error: comparisons[0].layers[0]: expected an object");
    CHECK(wrong("/comparisons/0/total/time_ns", Json::object()).find("it is empty") != std::string::npos);
    CHECK(wrong("/comparisons/0", 3) == "r.json: error: comparisons[0]: expected an object");
    CHECK(wrong("/comparisons", 3) == "r.json: error: comparisons: expected a list");
}

TEST_CASE("a comparison that was cut off anywhere is refused") {
    Json json = comparison_text();
    json["comparisons"][0]["layers"].push_back(standing_text("a", 4, 6));
    const std::string text = json.dump(1);
    for (std::size_t length = 1; length + 1 < text.size(); length += 11)
        CHECK(complaint_of_text(text.substr(0, length)).find("r.json:") == 0);
}
