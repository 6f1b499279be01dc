// SPDX-License-Identifier: Apache-2.0
// How one CTA of a kernel goes on an SM, found by simulating its warps (sm/): what is left to be known is
// when the data of each step come.
//
//   start ─ prologue ─► requests of the first stages … data of step 0 ─ fill ─► steps, one every `interval`
//   ─► last step's end ─ epilogue ─► stores leave, the place is free
#pragma once

#include <optional>

#include "sim/base/units.h"

namespace systole::simt {

/// Cycles of tensor capacity by what they are lost to; those in which tensor cores work are none of them.
struct LostCycles {
    double on_chip = 0;     ///< shared memory, load/store unit
    double dependency = 0;  ///< barriers, results of earlier instructions
    double vector = 0;      ///< other pipelines at work
    double total() const { return on_chip + dependency + vector; }
};

struct CtaTiming {
    int resident = 1;  ///< CTAs that an SM holds at a time
    Cycles prologue;   ///< from a CTA's first instruction to its first request
    Cycles request;    ///< between the requests of two steps, issued behind each other
    int ahead = 3;     ///< steps whose data are requested before the first is used
    /// Warps that copy and multiply by turns: cycles of a step until the last copy of the step `ahead` of it
    /// has left, and until the next step's data must be there. None: a step's data are asked for when a
    /// stage is free.
    std::optional<double> meet;
    /// Where these are not the same time: until the last load of the step `ahead` of it has left.
    std::optional<double> loaded;
    /// Loads into registers: cycles from a step's first load to its last. `interval_alone` then begins when
    /// all its data are there.
    Cycles spread;
    Cycles fill;                ///< from the data of the first step until tensor cores work
    double interval_alone = 0;  ///< cycles of a step, of a CTA that has the SM for itself
    double interval_full = 0;   ///< cycles in which each of `resident` CTAs does a step
    /// Kernels without tensor cores: of interval_full, of one CTA, what its instructions take until its first
    /// loads have left. Of the first CTAs of an SM that is done while data are awaited.
    double before_data = 0;
    double busy = 0;  ///< of them, cycles in which a CTA's step keeps all tensor cores at work
    LostCycles lost_alone, lost_full;  ///< of an SM, in interval_alone and interval_full
    Cycles epilogue;                   ///< from the last step's end until the last store has been issued
    Cycles stores;                     ///< of it, from the first store on
    Cycles unstored;                   ///< the epilogue of a CTA none of whose results lie in the matrix
    Cycles lsu;                        ///< of it, what keeps the load/store unit that CTAs of an SM share
    Cycles held;                       ///< of that, stores of threads; without any both are 0
    Cycles step_lsu;                   ///< what a step keeps the load/store unit
    /// Sums of so many tiles have a place outside the warps' registers: while one's are brought out,
    /// persistent CTAs go on with the next. 0: none, the epilogue is the CTA's own.
    int accumulators = 0;
    double epilogue_vector = 0;  ///< of it, share in which pipelines convert and move results
};

/// That of CTAs of whose results a share lies in the matrix: threads store no others.
CtaTiming storing(CtaTiming timing, double share);

}  // namespace systole::simt
