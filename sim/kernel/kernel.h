// SPDX-License-Identifier: Apache-2.0
// The seam to SystemC's kernel: time in our ticks, and a fresh kernel for every run, so that one process can
// simulate many machines one after another. SystemC's time resolution is left at its default, 1 ps = 1 tick.
#pragma once

#include <memory>
#include <string>
#include <systemc>

#include "sim/base/units.h"

namespace systole {

/// Simulated time of the current kernel.
inline Ticks now() {
    return Ticks(static_cast<std::int64_t>(sc_core::sc_time_stamp().value()));
}

/// A duration for notify() and next_trigger().
inline sc_core::sc_time to_sc_time(Ticks ticks) {
    return sc_core::sc_time::from_value(static_cast<sc_core::sc_time::value_type>(ticks.value()));
}

/// `name` as one that SystemC takes: its names may not hold what file names may.
std::string instance_name(std::string name);

/// Replaces SystemC's simulation context by a new one for its own lifetime. Modules built meanwhile belong to
/// it and must be gone before it is. Nestable; not for several threads. Throws std::bad_alloc.
class FreshKernel {
public:
    FreshKernel();
    ~FreshKernel();
    FreshKernel(const FreshKernel&) = delete;
    FreshKernel& operator=(const FreshKernel&) = delete;

private:
    sc_core::sc_simcontext* outer_current_;
    sc_core::sc_simcontext* outer_default_;
    void* reserve_;  // memory that is given back when the kernel is taken down, which takes some
    std::unique_ptr<sc_core::sc_simcontext> own_;
};

/// Elaborates if need be and runs until no event is left, or for `limit`. True if no event is left. Throws
/// std::bad_alloc where a process asked for more memory than there is.
bool run_to_the_end(Ticks limit = Ticks::max());

/// Elaborates if need be and lets everything before `time` happen, and nothing at it: an observer can look at
/// the machine while nothing moves, and disturbs nothing. Goes on where the last call stopped; now() may be
/// earlier than `time`. False if no event is left.
bool run_until(Ticks time);

}  // namespace systole
