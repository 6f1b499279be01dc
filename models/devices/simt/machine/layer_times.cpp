// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/layer_times.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::simt {
namespace {

constexpr auto index(SlotClass owner) {
    return static_cast<std::size_t>(owner);
}

/// Whole ones of each class, cut from the running sum: they sum to the whole of all.
ClassSlots whole(const std::array<Int128, kSlotClasses>& fine) {
    ClassSlots slots{};
    Int128 sum = 0;
    for (std::size_t c = 0; c < kSlotClasses; ++c) {
        const Int128 before = sum >> kFineBits;
        sum += fine[c];
        slots[c] = static_cast<std::int64_t>((sum >> kFineBits) - before);
    }
    return slots;
}

}  // namespace

void LayerTimes::add(SlotClass owner, Ticks time) {
    const Int128 fine = Int128{time.value()} << kFineBits;
    fine_[index(owner)] += fine * sms_;
    last_[index(owner)] += fine;
    time_ += time;
}

void LayerTimes::add(const SmArray::Record& kernel) {
    add(SlotClass::Launch, kernel.begin - kernel.launched);
    for (std::size_t c = 0; c < kSlotClasses; ++c) {
        fine_[c] += kernel.account.times[c];
        last_[c] += kernel.account.last[c];
    }
    time_ += kernel.end - kernel.begin;
    macs_ += kernel.account.macs;
    const Int128 macs = Int128{kernel.account.macs} * kTicksPerSecond << kFineBits;
    macs_time_ += macs / core_clock_.value();
    taken_ += macs / kernel.clock.value();
}

void LayerTimes::append(const LayerTimes& other) {
    for (std::size_t c = 0; c < kSlotClasses; ++c) {
        fine_[c] += other.fine_[c];
        last_[c] += other.last_[c];
    }
    time_ += other.time_;
    macs_ += other.macs_;
    macs_time_ += other.macs_time_;
    taken_ += other.taken_;
}

std::array<Int128, kSlotClasses> LayerTimes::slot_times(std::int64_t slots) const {
    std::array<Int128, kSlotClasses> fine = fine_;
    for (Int128& time : fine) time *= slots;
    Int128& working = fine[index(SlotClass::Useful)];
    SYSTOLE_CHECK(macs_time_ <= taken_ && taken_ <= working, "{} MACs in less time than tensor cores need",
                  macs_);
    fine[index(SlotClass::Padding)] += working - taken_;
    fine[index(SlotClass::OnChip)] += taken_ - macs_time_;
    working = macs_time_;
    return fine;
}

ClassSlots LayerTimes::slots(std::int64_t slots) const {
    return whole(slot_times(slots));
}

std::vector<CriticalStep> LayerTimes::path() const {
    const ClassSlots times = whole(last_);
    std::vector<CriticalStep> steps;
    for (std::size_t c = 0; c < kSlotClasses; ++c)
        if (times[c] > 0) steps.push_back({static_cast<SlotClass>(c), Ticks(times[c])});
    std::stable_sort(steps.begin(), steps.end(), [](auto& a, auto& b) { return a.time > b.time; });
    return steps;
}

}  // namespace systole::simt
