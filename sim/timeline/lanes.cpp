// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/lanes.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "sim/base/check.h"

namespace systole {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Cuts the run of digits at the front of `text` off, without its leading zeros.
std::string_view take_number(std::string_view& text) {
    const auto first_other = std::find_if_not(text.begin(), text.end(), is_digit);
    std::string_view digits = text.substr(0, static_cast<std::size_t>(first_other - text.begin()));
    text.remove_prefix(digits.size());
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

/// <0, 0, >0 for natural order; strings that differ only in leading zeros compare equal.
int compare_naturally(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const std::string_view x = take_number(a), y = take_number(b);
            if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
            if (const int order = x.compare(y)) return order;
        } else {
            if (a.front() != b.front()) return a.front() < b.front() ? -1 : 1;
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    return static_cast<int>(b.empty()) - static_cast<int>(a.empty());
}

bool drawn_before(const Span* a, const Span* b) {
    if (a->track != b->track) return natural_less(a->track, b->track);
    return std::tie(a->begin, b->end, a->name, a->layer) < std::tie(b->begin, a->end, b->name, b->layer);
}

/// A lane and the ends of the spans that are open in it, the innermost last.
struct OpenLane {
    Lane lane;
    std::vector<Ticks> open;

    bool fits(const Span& span) {
        while (!open.empty() && open.back() <= span.begin) open.pop_back();
        return open.empty() || span.end <= open.back();
    }
};

void place(const Span& span, std::vector<OpenLane>& lanes) {
    auto lane =
        std::find_if(lanes.begin(), lanes.end(), [&](OpenLane& candidate) { return candidate.fits(span); });
    if (lane == lanes.end()) {
        const int number = static_cast<int>(lanes.size()) + 1;
        lane = lanes.insert(lanes.end(), OpenLane{Lane{&span.track, number, {}}, {}});
    }
    lane->lane.spans.push_back(&span);
    lane->open.push_back(span.end);
}

}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
    const int order = compare_naturally(a, b);
    return order != 0 ? order < 0 : a < b;
}

std::vector<Lane> make_lanes(const std::vector<Span>& spans) {
    std::vector<const Span*> order;
    order.reserve(spans.size());
    for (const Span& span : spans) {
        SYSTOLE_CHECK(Ticks() <= span.begin && span.begin <= span.end, "{}: {} from {} ps to {} ps",
                      span.track, span.name, span.begin.value(), span.end.value());
        order.push_back(&span);
    }
    std::sort(order.begin(), order.end(), drawn_before);

    std::vector<Lane> all;
    for (auto at = order.begin(); at != order.end();) {
        std::vector<OpenLane> lanes;
        const std::string& track = (*at)->track;
        for (; at != order.end() && (*at)->track == track; ++at) place(**at, lanes);
        for (OpenLane& lane : lanes) all.push_back(std::move(lane.lane));
    }
    return all;
}

}  // namespace systole
