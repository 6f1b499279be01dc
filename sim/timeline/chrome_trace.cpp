// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/chrome_trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>

#include "sim/base/text.h"
#include "sim/timeline/lanes.h"
#include "sim/timeline/merge_spans.h"
#include "sim/timeline/thin_counters.h"

namespace systole {
namespace {

/// A JSON string; bytes that are not UTF-8 become U+FFFD.
std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A time in steps of 2^-20 us, just shorter than a picosecond; the next one if it lies between two. Readers
/// compute with doubles: of such numbers their sums and differences are exact (up to 2^33 us, two hours), so
/// that spans that touch do not overlap by a last digit. Rounded down, it is the time again.
std::int64_t binary_steps(Ticks time) {
    constexpr std::int64_t kTicksPerMicrosecond = 1'000'000;
    const Int128 steps = Int128{time.value()} << 20;
    return static_cast<std::int64_t>((steps + kTicksPerMicrosecond - 1) / kTicksPerMicrosecond);
}

std::string microseconds(std::int64_t steps) {
    return fmt::format("{}", std::ldexp(static_cast<double>(steps), -20));
}

std::string microseconds(Ticks time) {
    return microseconds(binary_steps(time));
}

std::string duration(Ticks begin, Ticks end) {
    return microseconds(binary_steps(end) - binary_steps(begin));
}

/// "useful":12,"padding":3 of the classes that have some.
std::string by_class(const ClassSlots& values) {
    std::string text;
    for (std::size_t c = 0; c < kSlotClasses; ++c)
        if (values[c] != 0)
            fmt::format_to(std::back_inserter(text), R"({}"{}":{})", text.empty() ? "" : ",",
                           to_string(static_cast<SlotClass>(c)), values[c]);
    return text;
}

std::int64_t sum_of(const ClassSlots& slots) {
    return std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
}

/// Shares of a bin's slots; of an empty bin, none.
std::string fractions(const ClassSlots& slots) {
    const auto all = static_cast<double>(sum_of(slots));
    std::string text;
    for (std::size_t c = 0; c < kSlotClasses; ++c)
        fmt::format_to(std::back_inserter(text), R"({}"{}":{:.6g})", c == 0 ? "" : ",",
                       to_string(static_cast<SlotClass>(c)),
                       all > 0 ? static_cast<double>(slots[c]) / all : 0.0);
    return text;
}

/// What one run may have of a file.
struct Room {
    std::size_t spans, flows, samples;
};

class Writer {
public:
    Writer(const std::vector<TracedRun>& runs, std::size_t most) : runs_(runs), most_(most) {}

    ChromeTrace write() {
        for (std::size_t i = 0; i < runs_.size(); ++i) add_run(i);
        std::string other = R"({"displayTimeUnit":"ns","otherData":{"schema":"systole-timeline-1","runs":[)";
        for (std::size_t i = 0; i < abouts_.size(); ++i) other += (i == 0 ? "\n" : ",\n") + abouts_[i];
        out_.text = other + "]},\n\"traceEvents\":[" + events_ + "\n]}\n";
        return std::move(out_);
    }

private:
    /// Begins an event on a line of its own.
    auto event(std::string_view phase, std::size_t pid) {
        events_ += first_ ? "\n" : ",\n";
        first_ = false;
        if (phase != "M") ++out_.events;  // names of tracks are not counted against the most
        return fmt::format_to(std::back_inserter(events_), R"({{"ph":"{}","pid":{})", phase, pid);
    }
    void add_name(std::size_t pid, std::size_t tid, std::string_view what, const std::string& name);
    void add_sort_index(std::size_t pid, std::size_t tid, std::string_view what, std::size_t index);

    Room room_of(const Timeline& timeline) const;
    void add_run(std::size_t run);
    std::vector<std::size_t> add_spans(std::size_t pid, const MergedSpans& merged);
    void add_span(std::size_t pid, std::size_t tid, const Span& span, const OwnerTimes& times);
    void add_flows(std::size_t pid, const MergedSpans& merged, const std::vector<std::size_t>& threads);
    void add_counters(std::size_t pid, const std::vector<CounterTrack>& counters);
    void add_activity(std::size_t pid, const UnitActivity& unit, Ticks end);
    void tell(std::size_t pid, const TracedRun& run, const MergedSpans& merged,
              const std::vector<CounterTrack>& counters, bool has_activity);

    const std::vector<TracedRun>& runs_;
    const std::size_t most_;
    ChromeTrace out_;
    std::string events_;
    std::vector<std::string> abouts_;  // a JSON object for each run
    bool first_ = true;
    std::size_t flows_ = 0;  // so far: ids
};

void Writer::add_name(std::size_t pid, std::size_t tid, std::string_view what, const std::string& name) {
    fmt::format_to(event("M", pid), R"(,"tid":{},"name":"{}","args":{{"name":{}}}}})", tid, what,
                   quoted(name));
}

/// Viewers would sort by name or by first event otherwise.
void Writer::add_sort_index(std::size_t pid, std::size_t tid, std::string_view what, std::size_t index) {
    fmt::format_to(event("M", pid), R"(,"tid":{},"name":"{}","args":{{"sort_index":{}}}}})", tid, what,
                   index);
}

/// Runs share a file evenly. Counters have a quarter of it at most, flows (of two events) a fifth.
Room Writer::room_of(const Timeline& timeline) const {
    const std::size_t all = most_ / runs_.size();
    std::size_t samples = 0;
    for (const UnitActivity& unit : timeline.activity) samples += unit.bins.size() + 1;
    for (const CounterTrack& counter : timeline.counters) samples += counter.samples.size();
    Room room{};
    room.samples = std::min(samples, all / 4);
    room.flows = std::min(timeline.flows.size(), all / 10);
    room.spans = all - room.samples - 2 * room.flows;
    return room;
}

void Writer::add_run(std::size_t number) {
    const TracedRun& run = runs_[number];
    const Timeline& timeline = run.timeline;
    const std::size_t pid = number + 1;
    const Room room = room_of(timeline);
    add_name(pid, 0, "process_name", run.result.device);
    add_sort_index(pid, 0, "process_sort_index", pid);
    const MergedSpans merged = merge_spans(timeline, room.spans, room.flows);
    add_flows(pid, merged, add_spans(pid, merged));
    std::size_t bins = 0;
    for (const UnitActivity& unit : timeline.activity) bins += unit.bins.size() + 1;
    const bool has_activity = bins > 0 && bins <= room.samples;
    const Ticks end = run.result.total.end;
    const auto counters = thin_counters(timeline.counters, room.samples - (has_activity ? bins : 0), end);
    if (has_activity)
        for (const UnitActivity& unit : timeline.activity) add_activity(pid, unit, end);
    add_counters(pid, counters);
    tell(pid, run, merged, counters, has_activity);
    out_.spans += timeline.spans.size();
    out_.drawn += merged.spans.size();
}

/// Answers the thread of every span.
std::vector<std::size_t> Writer::add_spans(std::size_t pid, const MergedSpans& merged) {
    const std::vector<Lane> lanes = make_lanes(merged.spans);
    std::vector<std::size_t> threads(merged.spans.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const Lane& lane = lanes[i];
        const std::string suffix = lane.number > 1 ? fmt::format(" ({})", lane.number) : "";
        add_name(pid, i + 1, "thread_name", *lane.track + suffix);
        add_sort_index(pid, i + 1, "thread_sort_index", i + 1);
    }
    for (std::size_t i = 0; i < lanes.size(); ++i)
        for (const Span* span : lanes[i].spans) {
            const auto at = static_cast<std::size_t>(span - merged.spans.data());
            threads[at] = i + 1;
            add_span(pid, i + 1, *span, merged.times[at]);
        }
    return threads;
}

void Writer::add_span(std::size_t pid, std::size_t tid, const Span& span, const OwnerTimes& times) {
    fmt::format_to(event("X", pid), R"(,"tid":{},"name":{},"ts":{},"dur":{})", tid, quoted(span.name),
                   microseconds(span.begin), duration(span.begin, span.end));
    std::string args;
    const auto add = [&](const std::string& arg) { args += (args.empty() ? "" : ",") + arg; };
    if (span.layer >= 0) add(fmt::format(R"("layer":{})", span.layer));
    if (span.owner) add(fmt::format(R"("class":"{}")", to_string(*span.owner)));
    if (const std::string slots = by_class(span.slots); !slots.empty())
        add(fmt::format(R"("slots":{{{}}})", slots));
    if (span.merged > 1) {
        add(fmt::format(R"("spans":{})", span.merged));
        if (span.owner) add(fmt::format(R"("time_ps":{{{}}})", by_class(times)));
    }
    if (!args.empty()) fmt::format_to(std::back_inserter(events_), R"(,"args":{{{}}})", args);
    events_ += '}';
}

/// From within the span waited for, as late as may be, to the begin of the one that waited.
void Writer::add_flows(std::size_t pid, const MergedSpans& merged, const std::vector<std::size_t>& threads) {
    for (const Flow& flow : merged.flows) {
        const Span& from = merged.spans[flow.from];
        const Span& to = merged.spans[flow.to];
        const auto add = [&](std::string_view phase, std::size_t tid, Ticks time, const char* binding) {
            fmt::format_to(event(phase, pid),
                           R"(,"tid":{},"cat":"dependency","name":"dependency","id":{},"ts":{}{}}})", tid,
                           flows_, microseconds(time), binding);
        };
        ++flows_;
        add("s", threads[flow.from], std::min(from.end, to.begin), "");
        add("f", threads[flow.to], to.begin, R"(,"bp":"e")");
    }
}

void Writer::add_counters(std::size_t pid, const std::vector<CounterTrack>& counters) {
    for (const CounterTrack& counter : counters)
        for (const auto& [time, value] : counter.samples)
            fmt::format_to(event("C", pid), R"(,"name":{},"ts":{},"args":{{{}:{:.6g}}}}})",
                           quoted(counter.track + " " + counter.name), microseconds(time),
                           quoted(counter.unit), value);
}

void Writer::add_activity(std::size_t pid, const UnitActivity& unit, Ticks end) {
    const std::string name = quoted(unit.track + " activity");
    const auto bins = static_cast<std::int64_t>(unit.bins.size());
    const auto add = [&](std::int64_t bin, const ClassSlots& slots) {
        const Ticks time(static_cast<std::int64_t>(Int128{end.value()} * bin / bins));
        fmt::format_to(event("C", pid), R"(,"name":{},"ts":{},"args":{{{}}}}})", name, microseconds(time),
                       fractions(slots));
    };
    for (std::int64_t bin = 0; bin < bins; ++bin) add(bin, unit.bins[static_cast<std::size_t>(bin)]);
    add(bins, {});
}

void Writer::tell(std::size_t pid, const TracedRun& run, const MergedSpans& merged,
                  const std::vector<CounterTrack>& counters, bool has_activity) {
    const Timeline& timeline = run.timeline;
    const auto samples = [](const std::vector<CounterTrack>& tracks) {
        return std::accumulate(
            tracks.begin(), tracks.end(), std::size_t{0},
            [](std::size_t sum, const CounterTrack& track) { return sum + track.samples.size(); });
    };
    nlohmann::ordered_json about{{"pid", pid},
                                 {"device", run.result.device},
                                 {"trace", run.result.trace},
                                 {"end_ps", run.result.total.end.value()},
                                 {"spans", timeline.spans.size()},
                                 {"spans_written", merged.spans.size()},
                                 {"flows", timeline.flows.size()},
                                 {"flows_written", merged.flows.size()},
                                 {"counter_samples", samples(timeline.counters)},
                                 {"counter_samples_written", samples(counters)}};
    about["activity"] = nlohmann::ordered_json::array();
    if (has_activity)
        for (const UnitActivity& unit : timeline.activity) {
            std::vector<std::int64_t> slots;
            for (const ClassSlots& bin : unit.bins) slots.push_back(sum_of(bin));
            about["activity"].push_back({{"name", unit.track + " activity"},
                                         {"units", unit.units},
                                         {"bins", unit.bins.size()},
                                         {"slots", slots}});
        }
    about["layers"] = nlohmann::ordered_json::array();
    for (const ResultRow& row : run.result.layers) about["layers"].push_back(row.name);
    about["notes"] = timeline.notes;
    if (!has_activity && !timeline.activity.empty())
        about["notes"].push_back("activity took more events than counters may have");
    abouts_.push_back(about.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

std::string ChromeTrace::summary() const {
    const auto number = [](std::size_t value) { return with_thousands(static_cast<std::int64_t>(value)); };
    std::string text = fmt::format("{} events", number(events));
    if (drawn < spans) text += fmt::format("; {} spans merged into {}", number(spans), number(drawn));
    return text;
}

ChromeTrace chrome_trace(const std::vector<TracedRun>& runs, std::size_t most) {
    return Writer(runs, std::max(most, ChromeTrace::kFewest)).write();
}

}  // namespace systole
