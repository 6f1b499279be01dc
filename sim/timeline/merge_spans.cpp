// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/merge_spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/timeline/activity.h"
#include "sim/timeline/lanes.h"

namespace systole {
namespace {

constexpr std::size_t kOutermost = std::numeric_limits<std::size_t>::max();

/// Spans that follow each other in a lane and become one: those with numbers first to last, by lane. A group
/// of one with spans inside is not a leaf.
struct Group {
    std::size_t first, last;  // positions in the lane
    Ticks begin, end;
    std::size_t outer = kOutermost;  // group that it lies in
    bool leaf = true;
};

std::vector<Group> groups_of(const Lane& lane) {
    std::vector<Group> groups;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < lane.spans.size(); ++i) {
        const Span& span = *lane.spans[i];
        while (!open.empty() && groups[open.back()].end <= span.begin) open.pop_back();
        const std::size_t outer = open.empty() ? kOutermost : open.back();
        if (outer != kOutermost) groups[outer].leaf = false;
        open.push_back(i);
        groups.push_back({i, i, span.begin, span.end, outer});
    }
    return groups;
}

/// Joins leaves with the leaf before them, within the same outer span, that together are no longer than
/// `width`.
std::vector<Group> joined(const std::vector<Group>& groups, Ticks width) {
    std::vector<Group> kept;
    std::vector<std::size_t> now_at(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        Group group = groups[i];
        if (group.outer != kOutermost) group.outer = now_at[group.outer];
        if (!kept.empty() && group.leaf) {
            Group& before = kept.back();
            if (before.leaf && before.outer == group.outer && group.end - before.begin <= width) {
                before.last = group.last;
                before.end = std::max(before.end, group.end);
                now_at[i] = kept.size() - 1;
                continue;
            }
        }
        now_at[i] = kept.size();
        kept.push_back(group);
    }
    return kept;
}

/// What has but one leaf in it takes that in.
std::vector<Group> without_innermost(const std::vector<Group>& groups) {
    std::vector<std::size_t> inner(groups.size());
    for (const Group& group : groups)
        if (group.outer != kOutermost) ++inner[group.outer];
    std::vector<Group> kept;
    std::vector<std::size_t> now_at(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        Group group = groups[i];
        const std::size_t outer = group.outer;
        if (outer != kOutermost) group.outer = now_at[outer];
        if (outer != kOutermost && group.leaf && inner[outer] == 1) {
            kept[group.outer].last = group.last;
            kept[group.outer].leaf = true;
            now_at[i] = group.outer;
            continue;
        }
        now_at[i] = kept.size();
        kept.push_back(group);
    }
    return kept;
}

/// How many joined() would leave.
std::size_t count_joined(const std::vector<Group>& groups, Ticks width) {
    std::size_t count = 0;
    const Group* last = nullptr;  // one that it would keep, or the first of those that it would join
    for (const Group& group : groups) {
        if (last != nullptr && group.leaf && last->leaf && last->outer == group.outer &&
            group.end - last->begin <= width)
            continue;
        ++count;
        last = &group;
    }
    return count;
}

using Groups = std::vector<std::vector<Group>>;  // by lane

std::size_t count(const Groups& lanes, Ticks width) {
    std::size_t all = 0;
    for (const auto& lane : lanes) all += count_joined(lane, width);
    return all;
}

/// The shortest width that leaves `most`, of which `longest` does: 1/64 of it more or less shows in no
/// picture.
Ticks least_width(const Groups& lanes, std::size_t most, Ticks longest) {
    Ticks low(-1), high = longest;
    while ((high - low).value() > 1 + high.value() / 64) {
        const Ticks middle((low.value() + high.value()) / 2);
        (count(lanes, middle) <= most ? high : low) = middle;
    }
    return high;
}

/// As few groups as asked for, if lanes are no more.
Groups grouped(const std::vector<Lane>& lanes, std::size_t most) {
    Groups groups;
    Ticks end;
    std::size_t all = 0;
    for (const Lane& lane : lanes) {
        groups.push_back(groups_of(lane));
        all += lane.spans.size();
        for (const Span* span : lane.spans) end = std::max(end, span->end);
    }
    while (all > most) {
        const bool will_do = count(groups, end) <= most;
        const Ticks width = will_do ? least_width(groups, most, end) : end;
        const std::size_t before = std::exchange(all, 0);
        for (auto& lane : groups) {
            lane = joined(lane, width);
            if (!will_do) lane = without_innermost(lane);
            all += lane.size();
        }
        if (all == before) break;
    }
    return groups;
}

/// What both begin with, up to a whole word.
std::string_view common_begin(std::string_view a, std::string_view b) {
    const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const std::string_view begin = a.substr(0, static_cast<std::size_t>(differ.first - a.begin()));
    const auto ends_word = [&](std::string_view name) {
        return begin.size() == name.size() || name[begin.size()] == ' ' || name[begin.size()] == ':';
    };
    if (ends_word(a) && ends_word(b)) return begin;
    const std::size_t word = begin.find_last_of(" :");
    return begin.substr(0, word == std::string_view::npos ? 0 : word);
}

/// The spans of a group as one, and time by owner.
std::pair<Span, OwnerTimes> as_one(const Lane& lane, const Group& group) {
    const Span& first = *lane.spans[group.first];
    std::pair<Span, OwnerTimes> one{first, OwnerTimes{}};
    auto& [span, times] = one;
    span.begin = group.begin;
    span.end = group.end;
    std::string_view name = first.name;
    for (std::size_t i = group.first; i <= group.last; ++i) {
        const Span& next = *lane.spans[i];
        if (next.owner) times[static_cast<std::size_t>(*next.owner)] += (next.end - next.begin).value();
        if (i == group.first) continue;
        add_slots(span.slots, next.slots);
        span.merged += next.merged;
        if (next.layer != span.layer) span.layer = -1;
        if (!span.owner) span.owner = next.owner;
        if (!name.empty()) name = common_begin(name, next.name);
    }
    if (group.last == group.first) return one;
    if (span.owner)
        span.owner = static_cast<SlotClass>(std::max_element(times.begin(), times.end()) - times.begin());
    if (name.empty())
        span.name = fmt::format("{} spans", span.merged);
    else if (name != first.name || first.name != lane.spans[group.last]->name)
        span.name = fmt::format("{} ({} spans)", name, span.merged);
    return one;
}

/// Of spans that are left: each pair once, the longest targets first.
std::vector<Flow> flows_between(const Timeline& timeline, const std::vector<Span>& spans,
                                const std::vector<std::size_t>& now_at, std::size_t most) {
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const Flow& flow : timeline.flows) {
        const std::size_t from = now_at[flow.from], to = now_at[flow.to];
        if (from != to && spans[from].begin <= spans[to].begin) pairs.emplace(from, to);
    }
    std::vector<Flow> flows;
    for (const auto& [from, to] : pairs) flows.push_back({from, to});
    if (flows.size() <= most) return flows;
    const auto length = [&](const Flow& flow) { return spans[flow.to].end - spans[flow.to].begin; };
    std::stable_sort(flows.begin(), flows.end(),
                     [&](const Flow& a, const Flow& b) { return length(a) > length(b); });
    flows.resize(most);
    std::sort(flows.begin(), flows.end(),
              [](const Flow& a, const Flow& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
    return flows;
}

}  // namespace

MergedSpans merge_spans(const Timeline& timeline, std::size_t most_spans, std::size_t most_flows) {
    const std::vector<Lane> lanes = make_lanes(timeline.spans);
    const std::vector<std::vector<Group>> groups = grouped(lanes, most_spans);
    MergedSpans merged;
    std::vector<std::size_t> now_at(timeline.spans.size());
    for (std::size_t i = 0; i < lanes.size(); ++i)
        for (const Group& group : groups[i]) {
            for (std::size_t at = group.first; at <= group.last; ++at)
                now_at[static_cast<std::size_t>(lanes[i].spans[at] - timeline.spans.data())] =
                    merged.spans.size();
            auto [span, times] = as_one(lanes[i], group);
            merged.spans.push_back(std::move(span));
            merged.times.push_back(times);
        }
    merged.flows = flows_between(timeline, merged.spans, now_at, most_flows);
    return merged;
}

}  // namespace systole
