// SPDX-License-Identifier: Apache-2.0
// What a CTA's phases take, as the groups of SMs count time: in integers of 2^-16 ps, so that fractions of
// cycles neither drift nor depend on the order in which they are added up.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/account/classes.h"
#include "sim/base/units.h"

namespace systole::simt {

using Fine = Quantity<struct FineTag>;  ///< 2^-16 ps; 64 bits hold 140 s
constexpr int kFineBits = 16;
/// No run may take longer: what is counted would leave 64 bits.
constexpr Ticks kLongestRun = Ticks(std::int64_t{1} << (62 - kFineBits));

constexpr Fine to_fine(Ticks ticks) {
    return Fine(ticks.value() << kFineBits);
}
/// The first tick at or after `time`.
constexpr Ticks at_or_after(Fine time) {
    return Ticks((time.value() + (std::int64_t{1} << kFineBits) - 1) >> kFineBits);
}
/// So many cycles, rounded up: all that is made of MACs fits into the time that it is given.
Fine fine_cycles(double cycles, Hertz clock);

/// Time of one SM by class; Useful stands for all time in which tensor cores work, on padding too.
using ClassTimes = std::array<std::int64_t, kSlotClasses>;

/// How time that is lost between instructions is shared out among classes, in cycles of any number.
struct LostShares {
    double on_chip = 0, vector = 0, all = 0;
    /// Charges `time` to the classes; what no class has is dependency's.
    void charge(Fine time, ClassTimes& times) const;
};

struct CtaTimes {
    int resident = 1, ahead = 1;
    Fine launch, prologue, request, fill;
    Fine handing;  ///< between two CTAs that get places, of a chip or die
    /// From a step's begin until the data of the step `ahead` of it are asked for. None: at its end.
    std::optional<Fine> request_in_step;
    /// From the end of a step until CTAs of other SMs, which share its data, know that its stage is free.
    Fine release;
    Fine lead;                       ///< data of a step are looked for so long before it begins
    Fine alone;                      ///< a step takes at least
    Fine full_share;                 ///< of the SM's tensor cores, a step with all places taken
    Fine busy;                       ///< of it, time in which they work
    Fine epilogue, epilogue_vector;  ///< all of it, and its part on other pipelines
    Fine epilogue_lsu;               ///< of it, time of the load/store unit, which all places share
    /// A step that begins in another CTA's epilogue, and that epilogue, take so much longer: both ask more of
    /// the load/store unit than it has time.
    Fine crowding;
    /// A warp that has a step's data goes on, though the SM's pipes are not through with other warps' of the
    /// CTA.
    bool warps_go_on = false;
    /// The first step's data are indices, for which nothing is computed.
    bool indices_first = false;
    Fine stores;  ///< so long before its end leaves the transaction that stands for all stores
    /// Behind its last step a CTA waits for what its epilogue reads. AtEnd: which it asks for then; Ahead: as
    /// long before as for the data of a step behind the last one; Both: for what it joins ahead, for its bias
    /// at the end.
    enum class Source : std::uint8_t { None, AtEnd, Ahead, Both } source = Source::None;
    bool reads_ahead() const { return source == Source::Ahead || source == Source::Both; }
    bool reads_at_end() const { return source == Source::AtEnd || source == Source::Both; }
    /// CTAs go on with another tile, whose data they ask for as soon as stages are free.
    bool persistent = false;
    /// A CTA keeps its place until its stores are answered; where CTAs are persistent, a tile: bulk stores
    /// read shared memory that the next one needs.
    bool stores_hold = true;
    /// Tiles whose sums have a place of their own (CtaTiming::accumulators): the next tile's steps begin when
    /// this one's are through, and its epilogue goes on beside them. 0: the epilogue is the CTA's own.
    int accumulators = 0;
    /// Tiles that a CTA has at a time: persistent ones that at work, and the next; and one in its epilogue,
    /// where another's sums have a place.
    int tiles_of_cta() const { return !persistent ? 1 : std::max(2, accumulators + 1); }
    LostShares lost_alone, lost_full;
    SlotClass ramp = SlotClass::Ramp;    ///< owner of prologue, fill and epilogue
    SlotClass wait = SlotClass::Memory;  ///< owner of waits for data

    /// What a step keeps the tensor cores for, with `ctas` on the SM: each alone can do no better than
    /// `alone`.
    Fine share(int ctas) const;
};

/// `clock`: that of the SMs.
CtaTimes times_of(const GemmPlan& plan, const SimtSpec& spec, Hertz clock);
/// Such kernels have no step on tensor cores: while they are on an SM, its time is vector's.
CtaTimes times_of(const StreamPlan& plan, const SimtSpec& spec, Hertz clock);
/// Nor have these: their time is vector's, but for waits for data.
CtaTimes times_of(const VectorPlan& plan, const SimtSpec& spec, Hertz clock);
CtaTimes times_of(const AttentionPlan& plan, const SimtSpec& spec, Hertz clock);
/// Cycles between two CTAs that a chip (each die) gives places: its work distributor has one after the other.
/// None where CTAs of the plan are no CTAs of the hardware's.
double cycles_between_ctas(const KernelPlan& plan, const SimtSpec& spec);
/// Of any of these, with what passes between two CTAs.
CtaTimes times_of(const KernelPlan& plan, const SimtSpec& spec, Hertz clock);

}  // namespace systole::simt
