// SPDX-License-Identifier: Apache-2.0
#include "sim/report/timeline_data.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/timeline/lanes.h"
#include "sim/timeline/merge_spans.h"
#include "sim/timeline/thin_counters.h"

namespace systole::report {
namespace {

using Json = nlohmann::ordered_json;

/// Numbers names in the order in which they come.
class Names {
public:
    std::size_t number(const std::string& name) {
        const auto [found, is_new] = numbers_.try_emplace(name, list_.size());
        if (is_new) list_.push_back(name);
        return found->second;
    }
    Json list() const { return list_; }

private:
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::string> list_;
};

Ticks end_of(const Timeline& timeline) {
    Ticks end;
    for (const Span& span : timeline.spans) end = std::max(end, span.end);
    for (const CounterTrack& counter : timeline.counters)
        if (!counter.samples.empty()) end = std::max(end, counter.samples.back().first);
    return end;
}

std::vector<const Span*> in_order(const std::vector<Span>& spans) {
    std::vector<const Span*> sorted;
    for (const Span& span : spans) sorted.push_back(&span);
    std::sort(sorted.begin(), sorted.end(), [](const Span* a, const Span* b) {
        if (a->track != b->track) return natural_less(a->track, b->track);
        if (a->begin != b->begin) return a->begin < b->begin;
        if (a->end != b->end) return a->end > b->end;
        return a->name < b->name;
    });
    return sorted;
}

std::int64_t row_of(std::int32_t layer, const std::vector<std::size_t>& row_of_layer) {
    if (layer < 0 || row_of_layer.empty()) return layer;
    const auto i = static_cast<std::size_t>(layer);
    return i < row_of_layer.size() ? static_cast<std::int64_t>(row_of_layer[i]) : -1;
}

Json counters_of(const Timeline& timeline) {
    Json list = Json::array();
    for (const CounterTrack& counter : thin_counters(timeline.counters, kMostSamples, end_of(timeline))) {
        Json times = Json::array(), values = Json::array();
        for (const auto& [time, value] : counter.samples) {
            times.push_back(time.value());
            values.push_back(value);
        }
        list.push_back({{"track", counter.track},
                        {"name", counter.name},
                        {"unit", counter.unit},
                        {"times", std::move(times)},
                        {"values", std::move(values)}});
    }
    return list;
}

Json activity_of(const Timeline& timeline) {
    Json list = Json::array();
    for (const UnitActivity& unit : timeline.activity) {
        Json bins = Json::array();
        for (const ClassSlots& bin : unit.bins) bins.push_back(bin);
        list.push_back({{"track", unit.track}, {"units", unit.units}, {"bins", std::move(bins)}});
    }
    return list;
}

/// Of a bar whose slots are of several classes, its number and shares by class: [3, [[0, 0.9], [1, 0.1]]].
void add_mixed(Json& mixed, std::size_t number, const ClassSlots& slots) {
    std::int64_t all = 0, most = 0;
    for (const std::int64_t own : slots) {
        all += own;
        most = std::max(most, own);
    }
    if (most == all) return;
    Json shares = Json::array();
    for (std::size_t c = 0; c < slots.size(); ++c)
        if (slots[c] > 0)
            shares.push_back(
                {c, std::round(1e4 * static_cast<double>(slots[c]) / static_cast<double>(all)) / 1e4});
    mixed.push_back({number, std::move(shares)});
}

}  // namespace

Json timeline_data(const Timeline& timeline, const std::vector<std::size_t>& row_of_layer) {
    const MergedSpans drawn = merge_spans(timeline, kMostSpans, 0);
    Names tracks, names;
    Json track = Json::array(), name = Json::array(), begin = Json::array(), duration = Json::array(),
         layer = Json::array(), owner = Json::array(), mixed = Json::array();
    for (const Span* span : in_order(drawn.spans)) {
        add_mixed(mixed, track.size(), span->slots);
        track.push_back(tracks.number(span->track));
        name.push_back(names.number(span->name));
        begin.push_back(span->begin.value());
        duration.push_back((span->end - span->begin).value());
        layer.push_back(row_of(span->layer, row_of_layer));
        owner.push_back(span->owner ? static_cast<int>(*span->owner) : -1);
    }
    Json spans{{"track", std::move(track)},       {"name", std::move(name)},   {"begin", std::move(begin)},
               {"duration", std::move(duration)}, {"layer", std::move(layer)}, {"owner", std::move(owner)}};
    Json merged;
    if (drawn.spans.size() < timeline.spans.size())
        merged = {{"from", timeline.spans.size()}, {"to", drawn.spans.size()}};
    return {{"end_ps", end_of(timeline).value()},
            {"tracks", tracks.list()},
            {"names", names.list()},
            {"spans", std::move(spans)},
            {"mixed", std::move(mixed)},
            {"counters", counters_of(timeline)},
            {"activity", activity_of(timeline)},
            {"merged", std::move(merged)},
            {"notes", timeline.notes}};
}

}  // namespace systole::report
