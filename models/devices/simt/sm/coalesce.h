// SPDX-License-Identifier: Apache-2.0
// What a warp's load asks of the L1: the 32-byte sectors in which its threads have bytes, each once.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// NVIDIA, Nsight Compute documentation: caches transfer sectors, and a line of four has one tag.
constexpr std::int64_t kSectorBytes = 32;
constexpr std::int64_t kLineSectors = 4;

/// Numbers of sectors (addresses / 32), ascending, of warp `warp` of its role in its `trip`-th round;
/// of so many threads.
std::vector<std::int64_t> coalesce(const ThreadAddresses& addresses, std::int64_t warp, std::int64_t trip,
                                   std::int64_t threads = 32);

/// How many lines hold these sectors.
std::int64_t lines_of(const std::vector<std::int64_t>& sectors);

}  // namespace systole::simt
