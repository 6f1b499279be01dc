// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/chrome_trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>

#include "sim/timeline/lanes.h"

namespace systole {
namespace {

/// A JSON string; bytes that are not UTF-8 become U+FFFD.
std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Microseconds in decimal, written from the integer: a double would lose picoseconds after 2.5 hours, and
/// shortest-decimal printing would turn small ones into exponents.
std::string microseconds(Ticks time) {
    constexpr std::int64_t kTicksPerMicrosecond = 1'000'000;
    return fmt::format("{}.{:06}", time.value() / kTicksPerMicrosecond, time.value() % kTicksPerMicrosecond);
}

void add_name(std::string& text, const char* what, std::size_t thread, const std::string& name) {
    fmt::format_to(std::back_inserter(text),
                   R"({{"ph":"M","pid":1,"tid":{},"name":"{}","args":{{"name":{}}}}})", thread, what,
                   quoted(name));
}

/// Viewers would sort threads by name or by first event otherwise.
void add_sort_index(std::string& text, std::size_t thread) {
    fmt::format_to(std::back_inserter(text),
                   R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_sort_index","args":{{"sort_index":{0}}}}})",
                   thread);
}

void add_span(std::string& text, std::size_t thread, const Span& span) {
    fmt::format_to(std::back_inserter(text), R"({{"ph":"X","pid":1,"tid":{},"name":{},"ts":{},"dur":{})",
                   thread, quoted(span.name), microseconds(span.begin), microseconds(span.end - span.begin));
    if (span.layer >= 0) fmt::format_to(std::back_inserter(text), R"(,"args":{{"layer":{}}})", span.layer);
    text += '}';
}

}  // namespace

std::string chrome_trace(const std::vector<Span>& spans, const std::string& process_name) {
    const std::vector<Lane> lanes = make_lanes(spans);
    std::string text = "[\n";
    text.reserve(120 * (spans.size() + 2 * lanes.size()));  // about a line each
    add_name(text, "process_name", 0, process_name);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const Lane& lane = lanes[i];
        const std::string suffix = lane.number > 1 ? fmt::format(" ({})", lane.number) : "";
        add_name(text += ",\n", "thread_name", i + 1, *lane.track + suffix);
        add_sort_index(text += ",\n", i + 1);
    }
    for (std::size_t i = 0; i < lanes.size(); ++i)
        for (const Span* span : lanes[i].spans) add_span(text += ",\n", i + 1, *span);
    return text += "\n]\n";
}

}  // namespace systole
