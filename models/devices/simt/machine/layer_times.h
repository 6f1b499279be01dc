// SPDX-License-Identifier: Apache-2.0
// From what kernels took to a layer's account: whole slot-ticks that sum to its capacity, with useful ones
// from MACs and not from time. Capacity is that of the core clock: what MACs take longer at a lower one
// (power cap) is the pipe's, on_chip.
#pragma once

#include <array>
#include <vector>

#include "models/devices/simt/machine/cta_times.h"
#include "models/devices/simt/machine/sm_array.h"
#include "sim/account/classes.h"
#include "sim/account/run_result.h"

namespace systole::simt {

/// Time of a layer, gathered kernel by kernel.
class LayerTimes {
public:
    LayerTimes(std::int64_t sms, Hertz core_clock) : sms_(sms), core_clock_(core_clock) {}

    /// All SMs did nothing else.
    void add(SlotClass owner, Ticks time);
    void add(const SmArray::Record& kernel);

    Ticks time() const { return time_; }
    std::int64_t macs() const { return macs_; }
    /// Slot-time by class in 2^-16 ps: of what slots() has whole ones. `slots`: as there.
    std::array<Int128, kSlotClasses> slot_times(std::int64_t slots) const;
    /// `slots`: MACs a cycle of one SM at the layer's format.
    ClassSlots slots(std::int64_t slots) const;
    /// Of the SM that was through last in every kernel.
    std::vector<CriticalStep> path() const;
    void append(const LayerTimes& other);

private:
    std::int64_t sms_;
    Hertz core_clock_;
    Ticks time_;
    std::int64_t macs_ = 0;
    /// Of the time in which tensor cores work, what MACs on real data need at one a cycle and SM: at the core
    /// clock, and at the one that they had.
    Int128 macs_time_ = 0, taken_ = 0;
    std::array<Int128, kSlotClasses> fine_{};  // of all SMs
    std::array<Int128, kSlotClasses> last_{};
};

}  // namespace systole::simt
