// SPDX-License-Identifier: Apache-2.0
#include "sim/report/report.h"

#include <catch2/catch.hpp>

#include "sim/report/result_reader.h"
#include "sim/report/timeline_data.h"
#include "tests/unit/report/result_text.h"

using namespace systole;
using namespace systole::report;
using systole::test::layer_text;
using systole::test::result_text;
using Json = nlohmann::ordered_json;

namespace {

Report report_of(const Json& json, std::size_t most_layers = kMostLayers) {
    ReadResults results = read_results(json.dump(), "r.json", most_layers);
    return {results.program, "systole run tiny net", std::move(results.runs)};
}

SweepData sweep_of(std::size_t points) {
    SweepData sweep{
        "squares",
        {{"id", false}, {"mxu.rows", true}, {"status", false}, {"time_ns", true}, {"pareto", true}},
        {},
        {{"time_ns", false}},
        "axes: {}",
        "b0b",
        {points, points - 1, 0, 1, 0}};
    for (std::size_t i = 0; i < points; ++i)
        sweep.rows.push_back(
            {"p" + std::to_string(i), std::to_string(i), "done", i == 3 ? "" : "2.5", i == 7 ? "1" : "0"});
    return sweep;
}

}  // namespace

TEST_CASE("a report is called after what ran on what, each once") {
    Json json = result_text();
    CHECK(title_of(report_of(json)) == "net on tiny");
    json["devices"].push_back(json["devices"][0]);
    json["devices"][1]["device"] = "big";
    json["devices"].push_back(json["devices"][0]);
    CHECK(title_of(report_of(json)) == "net on tiny and big");
}

TEST_CASE("the page's data are the result's, less what it does not show") {
    Json json = result_text();
    json["devices"][0]["layers"].push_back(layer_text("a", 10, 2, 4));
    const Json data = Json::parse(report_json(report_of(json)));
    CHECK(data["command"] == "systole run tiny net");
    CHECK(data["program"] == "systole 9.8");
    const Json& run = data["runs"][0];
    CHECK(run["total"]["cycles"] == 10);
    CHECK(run["total"]["macs"] == 7);
    CHECK(run["layers"][0]["name"] == "a");
    CHECK(run["layers"][0]["classes"]["useful"] == 0.5);
    CHECK_FALSE(run["layers"][0].contains("class_slots"));
    CHECK_FALSE(run.contains("tensors"));
    CHECK_FALSE(run.contains("timeline"));
    CHECK(data["notes"].empty());
}

TEST_CASE("layers that have no row of their own are told of") {
    Json json = result_text();
    for (int i = 0; i < 5; ++i) json["devices"][0]["layers"].push_back(layer_text("a", 10, 2, 4));
    const Json data = Json::parse(report_json(report_of(json, 3)));
    REQUIRE(data["notes"].size() == 1);
    CHECK(data["notes"][0] ==
          "net on tiny has 5 layers: the 2 that take the most time have rows of their own, all others one "
          "together. "
          "layers.csv has them all.");
}

TEST_CASE("a timeline becomes columns, its layers the rows that stand for them") {
    Timeline timeline;
    timeline.spans = {{"m.b", "second", Ticks(50), Ticks(70), 1, SlotClass::Memory},
                      {"m.a10", "x", Ticks(5), Ticks(6), -1},
                      {"m.a2", "x", Ticks(0), Ticks(9), 0}};
    timeline.counters = {{"m.dram", "bandwidth", "GB/s", {{Ticks(0), 1.5}, {Ticks(90), 0.0}}}};
    timeline.activity = {{"m.b", 2, {ClassSlots{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}}};
    const Json data = timeline_data(timeline, {4, 2});
    CHECK(data["end_ps"] == 90);
    CHECK(data["tracks"] == Json{"m.a2", "m.a10", "m.b"});
    CHECK(data["names"] == Json{"x", "second"});
    CHECK(data["spans"]["track"] == Json{0, 1, 2});
    CHECK(data["spans"]["name"] == Json{0, 0, 1});
    CHECK(data["spans"]["begin"] == Json{0, 5, 50});
    CHECK(data["spans"]["duration"] == Json{9, 1, 20});
    CHECK(data["spans"]["layer"] == Json{4, -1, 2});
    CHECK(data["spans"]["owner"] == Json{-1, -1, 4});  // memory is the fifth class
    CHECK(data["counters"][0]["values"] == Json{1.5, 0.0});
    CHECK(data["activity"][0]["units"] == 2);
    CHECK(data["activity"][0]["bins"][0][9] == 10);
}

TEST_CASE("counters of a long run are thinned to what a page draws, and keep their mean") {
    Timeline timeline;
    for (const char* name : {"a", "b", "c"}) {
        timeline.counters.push_back({"m", name, "GB/s", {}});
        for (int i = 0; i < 8192; ++i)
            timeline.counters.back().samples.emplace_back(Ticks(8 * i), i % 2 == 0 ? 1.0 : 3.0);
    }
    const Json data = timeline_data(timeline, {});
    std::size_t samples = 0;
    for (const Json& counter : data["counters"]) samples += counter["values"].size();
    CHECK(samples <= kMostSamples);
    CHECK(samples > kMostSamples / 4);
    CHECK(data["counters"][1]["values"][0] == 2.0);
}

TEST_CASE("a sweep's cells are numbers where their column is one") {
    Report report{"systole 9.8", "", {}, {sweep_of(8)}};
    CHECK(title_of(report) == "squares");
    const Json data = Json::parse(report_json(report));
    CHECK(data["command"].is_null());
    CHECK(data["sweep"]["rows"][2] == Json{"p2", 2, "done", 2.5, 0});
    CHECK(data["sweep"]["rows"][3][3].is_null());
    CHECK(data["sweep"]["objectives"][0]["name"] == "time_ns");
    CHECK(data["sweep"]["objectives"][0]["more_is_better"] == false);
}

TEST_CASE("a sweep's page has what makes it again, and what came of its points") {
    const Json data = Json::parse(report_json(Report{"systole 9.8", "", {}, {sweep_of(8)}}));
    CHECK(data["sweep"]["experiment"] == "axes: {}");
    CHECK(data["sweep"]["build"] == "b0b");
    CHECK(data["sweep"]["tally"] ==
          Json{{"points", 8}, {"done", 7}, {"refused", 0}, {"failed", 1}, {"missing", 0}});
}

TEST_CASE("a comparison's page says by number which device wins, and why") {
    ReadResults results = read_results(systole::test::comparison_text().dump(), "c.json", kMostLayers);
    Report report{results.program, "", std::move(results.runs)};
    report.comparisons = std::move(results.comparisons);
    const Json data = Json::parse(report_json(report));
    const Json& comparison = data["comparisons"][0];
    CHECK(comparison["first_run"] == 0);
    CHECK(comparison["devices"] == Json{"tiny", "big"});
    CHECK(comparison["total"]["times_ns"] == Json{30.0, 10.0});
    CHECK(comparison["total"]["fastest"] == 1);
    CHECK(comparison["total"]["next"] == 0);
    CHECK(comparison["total"]["why"] == "tiny waits longer for memory.");
    CHECK(comparison["total"]["next_longer_ns"]["memory"] == 20.0);
    CHECK(comparison["left_out"] == 0);
}

TEST_CASE("a run's page says which formats were multiplied, where its energy counts them") {
    Json json = result_text();
    json["devices"][0]["energy"]["entries"] = {{{"part", "matrix"}, {"event", "bf16 mac"}},
                                               {{"part", "memory"}, {"event", "read"}},
                                               {{"part", "matrix"}, {"event", "int8 mac"}},
                                               {{"part", "matrix"}, {"event", "bf16 mac"}}};
    const Json data = Json::parse(report_json(report_of(json)));
    CHECK(data["runs"][0]["formats"] == Json{"bf16", "int8"});
}

TEST_CASE("bars whose slots are of several classes have the share of each") {
    Timeline timeline;
    timeline.spans = {{"m", "wait", Ticks(0), Ticks(9), 0, SlotClass::Memory, ClassSlots{0, 0, 0, 0, 9}},
                      {"m", "work", Ticks(9), Ticks(19), 0, SlotClass::Useful, ClassSlots{6, 1, 3}},
                      {"n", "none", Ticks(0), Ticks(9), 0}};
    const Json mixed = timeline_data(timeline, {})["mixed"];
    REQUIRE(mixed.size() == 1);
    CHECK(mixed[0][0] == 1);
    CHECK(mixed[0][1] == Json{{0, 0.6}, {1, 0.1}, {2, 0.3}});
}

TEST_CASE("of too many points those of the front stay, and the page says how many do not") {
    Report report{"systole 9.8", "", {}, {sweep_of(3 * kMostPoints)}};
    const Json data = Json::parse(report_json(report));
    const Json& rows = data["sweep"]["rows"];
    CHECK(rows.size() == kMostPoints + 1);
    CHECK(rows[3][0] == "p7");  // behind those of 0, 3 and 6
    CHECK(data["notes"][0] ==
          "5,001 of 15,000 points are shown: all of the front, and an even choice of the others. points.csv "
          "has them "
          "all.");
}

TEST_CASE("names that are no UTF-8 do not break the page's data") {
    Report report{"systole 9.8", "", {}, {sweep_of(1)}};
    report.sweeps[0].rows[0][0] = "\xff";
    CHECK(Json::parse(report_json(report))["sweep"]["rows"][0][0] == "\xEF\xBF\xBD");
}
