// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/chrome_trace.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

namespace systole {
namespace {

DeviceResult result_until(Ticks end) {
    DeviceResult result;
    result.device = "tpu, tiny";
    result.trace = "net";
    result.total.end = end;
    result.layers.emplace_back().name = "conv \"1\"";
    return result;
}

nlohmann::json events_of(const Timeline& timeline) {
    const DeviceResult result = result_until(Ticks(1'000'000));
    return nlohmann::json::parse(chrome_trace({{result, timeline}}).text)["traceEvents"];
}

Timeline of_spans(std::vector<Span> spans) {
    Timeline timeline;
    timeline.spans = std::move(spans);
    return timeline;
}

}  // namespace

TEST_CASE("a small timeline, byte for byte") {
    const DeviceResult result = result_until(Ticks(2'000'000));
    ClassSlots half{};
    half[0] = half[4] = 5;
    Timeline timeline;
    timeline.spans = {
        {"tpu.mxu0", "pass \"conv1\"", Ticks(1'500'000), Ticks(1'500'001), 0, SlotClass::Useful, half},
        {"tpu.dma", "load", Ticks(0), Ticks(2'345'678'901'234'567)}};
    timeline.counters = {{"tpu.dram", "read", "GB/s", {{Ticks(0), 0.5}, {Ticks(1), 0}}}};
    timeline.flows = {{1, 0}};
    timeline.activity = {{"tpu.mxu0", 1, {half}}};
    timeline.notes = {"a note"};
    const ChromeTrace trace = chrome_trace({{result, timeline}});
    CHECK(trace.text == R"({"displayTimeUnit":"ns","otherData":{"schema":"systole-timeline-1","runs":[
{"pid":1,"device":"tpu, tiny","trace":"net","end_ps":2000000,"spans":2,"spans_written":2,"flows":1,"flows_written":1,"counter_samples":2,"counter_samples_written":2,"activity":[{"name":"tpu.mxu0 activity","units":1,"bins":1,"slots":[10]}],"layers":["conv \"1\""],"notes":["a note"]}]},
"traceEvents":[
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"tpu, tiny"}},
{"ph":"M","pid":1,"tid":0,"name":"process_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"tpu.dma"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"tpu.mxu0"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_sort_index","args":{"sort_index":2}},
{"ph":"X","pid":1,"tid":1,"name":"load","ts":0,"dur":2345678901.2345676},
{"ph":"X","pid":1,"tid":2,"name":"pass \"conv1\"","ts":1.5,"dur":1.9073486328125e-06,"args":{"layer":0,"class":"useful","slots":{"useful":5,"memory":5}}},
{"ph":"s","pid":1,"tid":1,"cat":"dependency","name":"dependency","id":1,"ts":1.5},
{"ph":"f","pid":1,"tid":2,"cat":"dependency","name":"dependency","id":1,"ts":1.5,"bp":"e"},
{"ph":"C","pid":1,"name":"tpu.mxu0 activity","ts":0,"args":{"useful":0.5,"padding":0,"ramp":0,"host":0,"memory":0.5,"on_chip":0,"dependency":0,"vector":0,"launch":0,"tail":0}},
{"ph":"C","pid":1,"name":"tpu.mxu0 activity","ts":2,"args":{"useful":0,"padding":0,"ramp":0,"host":0,"memory":0,"on_chip":0,"dependency":0,"vector":0,"launch":0,"tail":0}},
{"ph":"C","pid":1,"name":"tpu.dram read","ts":0,"args":{"GB/s":0.5}},
{"ph":"C","pid":1,"name":"tpu.dram read","ts":1.9073486328125e-06,"args":{"GB/s":0}}
]}
)");
    CHECK(trace.summary() == "8 events");  // names of tracks are none
}

TEST_CASE("spans that touch touch in doubles, too, and nested ones end together") {
    std::mt19937_64 random(35);
    std::vector<Span> spans;
    std::int64_t now = 0;
    for (int i = 0; i < 3'000; ++i) {
        const std::int64_t end = now + 1 + static_cast<std::int64_t>(random() % 3'000'000);
        spans.push_back({"mxu", "outer", Ticks(now), Ticks(end)});
        const std::int64_t middle =
            now + static_cast<std::int64_t>(random() % static_cast<unsigned>(end - now));
        spans.push_back({"mxu", "inner", Ticks(middle), Ticks(end)});
        now = end;
    }
    double last = 0;
    int told = 0;
    for (const auto& event : events_of(of_spans(spans))) {
        if (event["ph"] != "X") continue;
        const double begin = event["ts"], end = begin + event["dur"].get<double>();
        if (event["name"] == "outer") {
            CHECK(begin == last);
            last = end;
        } else {
            CHECK(end == last);
        }
        ++told;
    }
    CHECK(told == 6'000);
    CHECK(last == Approx(static_cast<double>(now) / 1e6));
}

TEST_CASE("overlapping spans of a track get threads of their own") {
    const auto events =
        events_of(of_spans({{"dma", "a", Ticks(0), Ticks(10)}, {"dma", "b", Ticks(5), Ticks(15)}}));
    CHECK(events[2]["args"]["name"] == "dma");
    CHECK(events[4]["args"]["name"] == "dma (2)");
    CHECK(events[6]["tid"] == 1);
    CHECK(events[7]["tid"] == 2);
}

TEST_CASE("a run without spans is a valid timeline") {
    const auto events = events_of({});
    REQUIRE(events.size() == 2);
    CHECK(events[0]["args"]["name"] == "tpu, tiny");
}

TEST_CASE("names that are not UTF-8 do not break the file") {
    const auto events = events_of(of_spans({{"t\xff", "a\nb", Ticks(), Ticks()}}));
    CHECK(events[2]["args"]["name"] == "t\xef\xbf\xbd");
    CHECK(events[4]["name"] == "a\nb");
}

TEST_CASE("several runs are processes of one file and share its events") {
    const DeviceResult a = result_until(Ticks(100'000)), b = result_until(Ticks(100'000));
    std::vector<Span> spans;
    for (std::int64_t i = 0; i < 5'000; ++i)
        spans.push_back({"mxu", "pass", Ticks(20 * i), Ticks(20 * i + 10)});
    const Timeline timeline = of_spans(spans);
    const ChromeTrace trace = chrome_trace({{a, timeline}, {b, timeline}}, 2'000);
    const auto events = nlohmann::json::parse(trace.text)["traceEvents"];
    std::map<int, int> drawn, merged;
    for (const auto& event : events)
        if (event["ph"] == "X") {
            ++drawn[event["pid"]];
            merged[event["pid"]] += event["args"].value("spans", 1);
        }
    CHECK(drawn[1] <= 1'000);
    CHECK(drawn[1] > 500);
    CHECK(drawn[1] == drawn[2]);
    CHECK(merged == std::map<int, int>{{1, 5'000}, {2, 5'000}});
    CHECK(trace.summary().find("10,000 spans merged into ") != std::string::npos);
}

TEST_CASE("a hundred thousand spans are all there, in the order of their time") {
    std::vector<Span> spans;
    for (std::int64_t i = 0; i < 100'000; ++i) {
        const std::int64_t turn =
            (i * 7919) % 100'000;  // 7919 and 100,000 have no common divisor: each turn once
        spans.push_back(
            {"mxu" + std::to_string(turn % 4), "pass", Ticks(turn * 1000), Ticks(turn * 1000 + 3999), 0});
    }
    const auto events = events_of(of_spans(spans));
    REQUIRE(events.size() == 2 + 2 * 4 + 100'000);
    bool in_order = true;
    for (std::size_t i = 11; i < events.size(); ++i)
        in_order &= std::make_pair(events[i - 1]["tid"].get<int>(), events[i - 1]["ts"].get<double>()) <
                    std::make_pair(events[i]["tid"].get<int>(), events[i]["ts"].get<double>());
    CHECK(in_order);
}

}  // namespace systole
