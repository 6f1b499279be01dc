// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/sm_activity.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "sim/timeline/activity.h"

namespace systole::simt {
namespace {

/// A bin takes 10 ps.
constexpr Ticks kEnd = Ticks(10 * kActivityBins);

SimtSpec chip(int sms, std::vector<int> gpcs, int dies = 1) {
    SimtSpec spec;
    spec.sm.count = sms;
    spec.sm.gpcs = std::move(gpcs);
    spec.chiplets.count = dies;
    return spec;
}

SmActivity::Stretch stretch(std::int64_t begin, std::int64_t end, std::int64_t first_sm, std::int64_t sms) {
    return {Ticks(begin), Ticks(end), first_sm, sms, Int128{sms} * (end - begin)};
}

using Slots = std::map<std::size_t, std::int64_t>;  ///< bin → slots of a class, where there are any

Slots slots(const UnitActivity& row, SlotClass owner) {
    Slots found;
    for (std::size_t bin = 0; bin < row.bins.size(); ++bin)
        if (const std::int64_t here = row.bins[bin][static_cast<std::size_t>(owner)]; here != 0)
            found[bin] = here;
    return found;
}

std::vector<std::pair<std::string, std::int64_t>> names(const SimtSpec& spec) {
    std::vector<std::pair<std::string, std::int64_t>> all;
    for (const UnitActivity& row : SmActivity(spec, "gpu.sms", kEnd).take())
        all.emplace_back(row.track, row.units);
    return all;
}

using Names = std::vector<std::pair<std::string, std::int64_t>>;

}  // namespace

TEST_CASE("SMs are counted together by GPC, else by die, else all of them", "[simt]") {
    CHECK(names(chip(3, {2, 1})) == Names{{"gpu.sms.gpc0", 2}, {"gpu.sms.gpc1", 1}});
    CHECK(names(chip(8, {}, 2)) == Names{{"gpu.sms.die0", 4}, {"gpu.sms.die1", 4}});
    CHECK(names(chip(8, {8}, 2)) == Names{{"gpu.sms.die0", 4}, {"gpu.sms.die1", 4}});
    CHECK(names(chip(8, {4, 4}, 2)) == Names{{"gpu.sms.gpc0", 4}, {"gpu.sms.gpc1", 4}});
    CHECK(names(chip(8, {})) == Names{{"gpu.sms", 8}});
    CHECK(names(chip(8, {8})) == Names{{"gpu.sms", 8}});
}

TEST_CASE("Slots lie in the bins of a stretch and with the GPCs of its SMs", "[simt]") {
    SmActivity activity(chip(3, {2, 1}), "gpu.sms", kEnd);
    // All three SMs from 15 to 40 ps: half of bin 1, bins 2 and 3.
    activity.add(SlotClass::Memory, 75, {stretch(15, 40, 0, 3)});
    // One SM of either GPC, in bin 5.
    activity.add(SlotClass::Launch, 20, {stretch(50, 60, 1, 2)});
    // Slots that weigh more than they last: of 8, three quarters in bin 8 and on SM 2.
    activity.add(SlotClass::Host, 8, {stretch(70, 80, 0, 1), {Ticks(80), Ticks(90), 2, 1, 30}});
    const std::vector<UnitActivity> rows = activity.take();
    REQUIRE(rows.size() == 2);
    CHECK(slots(rows[0], SlotClass::Memory) == Slots{{1, 10}, {2, 20}, {3, 20}});
    CHECK(slots(rows[1], SlotClass::Memory) == Slots{{1, 5}, {2, 10}, {3, 10}});
    CHECK(slots(rows[0], SlotClass::Launch) == Slots{{5, 10}});
    CHECK(slots(rows[1], SlotClass::Launch) == Slots{{5, 10}});
    CHECK(slots(rows[0], SlotClass::Host) == Slots{{7, 2}});
    CHECK(slots(rows[1], SlotClass::Host) == Slots{{8, 6}});
}

// Kernels with clusters of two: SMs 0 and 1 are GPC 0's and 2 and 3 are GPC 1's; 4 and 5 are what either has
// left.
TEST_CASE("Where clusters give SMs their numbers, what GPCs have left comes last", "[simt]") {
    SmActivity activity(chip(6, {3, 3}), "gpu.sms", kEnd);
    activity.add(SlotClass::Memory, 20, {stretch(0, 10, 1, 2)}, 2);
    activity.add(SlotClass::Launch, 10, {stretch(0, 10, 4, 1)}, 2);
    activity.add(SlotClass::Tail, 10, {stretch(0, 10, 5, 1)}, 2);
    const std::vector<UnitActivity> rows = activity.take();
    REQUIRE(rows.size() == 2);
    CHECK(slots(rows[0], SlotClass::Memory) == Slots{{0, 10}});
    CHECK(slots(rows[1], SlotClass::Memory) == Slots{{0, 10}});
    CHECK(slots(rows[0], SlotClass::Launch) == Slots{{0, 10}});
    CHECK(slots(rows[1], SlotClass::Launch) == Slots{});
    CHECK(slots(rows[0], SlotClass::Tail) == Slots{});
    CHECK(slots(rows[1], SlotClass::Tail) == Slots{{0, 10}});
}

}  // namespace systole::simt
