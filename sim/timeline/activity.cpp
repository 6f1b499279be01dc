// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/activity.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {
namespace {

void check_sum(const char* what, const ClassSlots& sum, const ClassSlots& run) {
    for (std::size_t c = 0; c < kSlotClasses; ++c)
        SYSTOLE_CHECK(sum[c] == run[c], "{} of the timeline have {} slot-ticks of {}, the run has {}", what,
                      sum[c], to_string(static_cast<SlotClass>(c)), run[c]);
}

}  // namespace

std::vector<Ticks> even_bins(Ticks end, std::int64_t bins) {
    std::vector<Ticks> ends;
    ends.reserve(static_cast<std::size_t>(bins));
    for (std::int64_t i = 1; i <= bins; ++i)
        ends.emplace_back(static_cast<std::int64_t>(Int128{end.value()} * i / bins));
    return ends;
}

std::vector<std::int64_t> shares_of(std::int64_t whole, const std::vector<Int128>& weights) {
    Int128 all = 0;
    for (const Int128 weight : weights) all += weight;
    // Products must fit 128 bits: of weights, their first 63 bits say enough.
    int shift = 0;
    while (all >> shift > std::numeric_limits<std::int64_t>::max()) ++shift;
    SYSTOLE_CHECK(whole == 0 || all >> shift > 0, "{} to share among nobody", whole);
    std::vector<std::int64_t> shares;
    shares.reserve(weights.size());
    Int128 sum = 0, given = 0;
    for (const Int128 weight : weights) {
        sum += weight;
        const Int128 until = whole == 0 ? 0 : Int128{whole} * (sum >> shift) / (all >> shift);
        shares.push_back(static_cast<std::int64_t>(until - given));
        given = until;
    }
    return shares;
}

void add_slots(ClassSlots& sum, const ClassSlots& row) {
    for (std::size_t c = 0; c < kSlotClasses; ++c) sum[c] += row[c];
}

SlotClass most_of(const ClassSlots& slots) {
    return static_cast<SlotClass>(std::max_element(slots.begin(), slots.end()) - slots.begin());
}

ClassSlots slots_of(const std::vector<Span>& spans) {
    ClassSlots sum{};
    for (const Span& span : spans) add_slots(sum, span.slots);
    return sum;
}

ClassSlots slots_of(const std::vector<UnitActivity>& activity) {
    ClassSlots sum{};
    for (const UnitActivity& unit : activity)
        for (const ClassSlots& bin : unit.bins) add_slots(sum, bin);
    return sum;
}

void check_accounts(const Timeline& timeline, const ClassSlots& run) {
    const auto accounts = [](const Span& span) { return span.owner.has_value(); };
    if (std::ranges::any_of(timeline.spans, accounts)) check_sum("spans", slots_of(timeline.spans), run);
    if (!timeline.activity.empty()) check_sum("activities", slots_of(timeline.activity), run);
}

}  // namespace systole
