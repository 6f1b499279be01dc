// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/chrome_trace.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace systole {

TEST_CASE("a small timeline, byte for byte") {
    const std::vector<Span> spans{{"tpu.mxu0", "pass \"conv1\"", Ticks(1'500'000), Ticks(1'500'001), 0},
                                  {"tpu.dma", "load", Ticks(0), Ticks(12'345'678'901'234'567), -1}};
    CHECK(chrome_trace(spans, "tpu, tiny") == R"([
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"tpu, tiny"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"tpu.dma"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"tpu.mxu0"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_sort_index","args":{"sort_index":2}},
{"ph":"X","pid":1,"tid":1,"name":"load","ts":0.000000,"dur":12345678901.234567},
{"ph":"X","pid":1,"tid":2,"name":"pass \"conv1\"","ts":1.500000,"dur":0.000001,"args":{"layer":0}}
]
)");
}

TEST_CASE("overlapping spans of a track get threads of their own") {
    const std::vector<Span> spans{{"dma", "a", Ticks(0), Ticks(10), -1},
                                  {"dma", "b", Ticks(5), Ticks(15), -1}};
    const auto events = nlohmann::json::parse(chrome_trace(spans, "p"));
    CHECK(events[1]["args"]["name"] == "dma");
    CHECK(events[3]["args"]["name"] == "dma (2)");
    CHECK(events[5]["tid"] == 1);
    CHECK(events[6]["tid"] == 2);
}

TEST_CASE("a run without spans is a valid timeline") {
    const auto events = nlohmann::json::parse(chrome_trace({}, "empty"));
    REQUIRE(events.size() == 1);
    CHECK(events[0]["args"]["name"] == "empty");
}

TEST_CASE("names that are not UTF-8 do not break the file") {
    const auto events = nlohmann::json::parse(chrome_trace({{"t\xff", "a\nb", Ticks(), Ticks(), -1}}, "p"));
    CHECK(events[1]["args"]["name"] == "t\xef\xbf\xbd");
    CHECK(events[3]["name"] == "a\nb");
}

TEST_CASE("a hundred thousand spans are all there, in the order of their time") {
    std::vector<Span> spans;
    for (std::int64_t i = 0; i < 100'000; ++i) {
        const std::int64_t turn =
            (i * 7919) % 100'000;  // 7919 and 100,000 have no common divisor: each turn once
        spans.push_back(
            {"mxu" + std::to_string(turn % 4), "pass", Ticks(turn * 1000), Ticks(turn * 1000 + 3999), 0});
    }
    const std::string text = chrome_trace(spans, "long");
    const auto events = nlohmann::json::parse(text);
    REQUIRE(events.size() == 1 + 2 * 4 + 100'000);
    bool in_order = true;
    for (std::size_t i = 10; i < events.size(); ++i)
        in_order &= std::make_pair(events[i - 1]["tid"].get<int>(), events[i - 1]["ts"].get<double>()) <
                    std::make_pair(events[i]["tid"].get<int>(), events[i]["ts"].get<double>());
    CHECK(in_order);
}

}  // namespace systole
