// SPDX-License-Identifier: Apache-2.0
// What a pseudo-channel remembers of rows and refreshes, to say who owned the clocks of its data bus.
#pragma once

#include <cstdint>

#include "sim/base/units.h"

namespace systole {

constexpr std::int64_t kMaxLatency = std::int64_t{1} << 32;  ///< of any command, in clocks

/// An ACT or PRE, and when rows of scope Bank and wider ones allowed it; none if `at` is negative.
struct RowStep {
    Cycles at = Cycles(-kMaxLatency), bank_ready, shared_ready;
};

/// How the row of a bank was opened: the last ACT, and the PRE before it if a burst wanted it.
struct alignas(64) Opening {
    RowStep activation, precharge;
    int hits_given = 0;  ///< over the head of an older burst, if they are counted
};

/// A refresh kept `bank`, or all, from work.
struct Blocking {
    int bank = 0;
    Cycles from, until;
};

}  // namespace systole
