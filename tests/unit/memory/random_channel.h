// SPDX-License-Identifier: Apache-2.0
// Random memories and traffic for the tests that set DramChannel against its slow twin, and how they drive
// it.
#pragma once

#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "models/memory/controller/dram_channel.h"
#include "tests/unit/memory/slow_channel.h"

namespace systole::test {

using Random = std::mt19937_64;

/// Uniform in [low, high].
std::int64_t pick(Random& random, std::int64_t low, std::int64_t high);

/// One of several memories, of one or two pseudo-channels, with every policy, made small and hasty so that a
/// short run meets every corner.
DramSpec some_memory(Random& random);

/// About `bursts` bursts of streams, strides and random requests, in bursts of arrivals and pauses.
std::deque<Arrival> some_traffic(Random& random, const DramSpec& spec, std::int64_t bursts);

/// The same memory, but one whose channel can stream, with any watermarks and patience.
DramSpec some_streaming(Random& random, DramSpec spec);

/// About `bursts` bursts of a few DMA engines, each of which reads or writes long consecutive ranges.
std::deque<Arrival> some_engines(Random& random, const DramSpec& spec, std::int64_t bursts);

/// A memory whose channel can stream, with pages of any length and rows that take from little to long to
/// open.
DramSpec some_pages(Random& random);

/// About `bursts` bursts of one engine that reads or writes long ranges, mostly one behind the other, as fast
/// as they go or later; another disturbs it now and then.
std::deque<Arrival> some_long_streams(Random& random, const DramSpec& spec, std::int64_t bursts);

/// The memory in words, for messages.
std::string text_of(const DramSpec& spec);

struct FastRun {
    std::map<std::int64_t, std::int64_t> done;
    std::vector<GivenCommand> commands;
    std::vector<BusAccount> accounts;  ///< of each pseudo-channel, at `end`
    std::int64_t end = 0;
    std::string fault;  ///< a bound that was late, a completion out of order, …; "" if nothing is wrong
};

/// Drives the channel as a module would, by arrivals and next_event(); if `nervous`, with needless calls in
/// between.
FastRun run_fast(const DramSpec& spec, std::deque<Arrival> arrivals, Random& random, bool nervous);

/// The arrivals with every request cut into random pieces.
std::deque<Arrival> cut_up(const std::deque<Arrival>& whole, Random& random);

/// Where the channel and its twin first differ on these arrivals, in words; "" if they do not.
std::string difference(const DramSpec& spec, const std::deque<Arrival>& arrivals, std::uint64_t seed);

}  // namespace systole::test
