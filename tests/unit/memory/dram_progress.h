// SPDX-License-Identifier: Apache-2.0
// Forward progress of a DRAM channel: hostile random traffic (hot rows, streams, one hammered bank, pauses,
// both directions), every command checked against the table, and a count of how many bursts pass the oldest
// waiting one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/memory/standards/dram_spec.h"

namespace systole::test {

/// A memory under one policy, and what it is in words.
struct ProgressCase {
    std::string name;
    DramSpec spec;
};

/// Every standard under every page policy and way of refresh (postponed ones too), each with and without a
/// cap on row hits, with a short patience, so that it ends often, and with the default.
std::vector<ProgressCase> progress_cases();

/// Columns that may be given before a burst once it is the oldest that waits: `patience`; and as many more as
/// fit into the time in which its bank is closed, opened and, if all goes wrong, refreshed meanwhile and
/// opened again.
std::int64_t passing_bound(const DramSpec& spec);

struct Progress {
    std::int64_t commands = 0;
    std::int64_t passed = 0;       ///< most columns given before a burst while it was the oldest
    std::int64_t longest_gap = 0;  ///< most clocks between two columns while bursts waited
    std::string fault;             ///< a deadlock or a lost request in words; "" if there was none
};

/// Drives `requests` single bursts through one channel.
Progress drive(const DramSpec& spec, std::int64_t requests, std::uint64_t seed);

}  // namespace systole::test
