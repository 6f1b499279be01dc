// SPDX-License-Identifier: Apache-2.0
// The L1 of an SM as a cache of loads: lines of four sectors, of which the least recently used makes room. A
// sector that is on its way is not asked for again.
//
//   sectors of a warp's load ─► there │ on their way │ missing ─► a request ─► come(request, when)
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "models/devices/simt/sm/coalesce.h"
#include "sim/base/units.h"

namespace systole::simt {

class L1 {
public:
    explicit L1(Bytes capacity) : lines_(capacity.value() / (kSectorBytes * kLineSectors)) {}

    /// What a load finds: when the last of the sectors that were asked for before is there, the requests
    /// that bring others, and those that nobody has asked for, which are now on their way with `request`.
    struct Found {
        std::int64_t ready = 0;
        std::vector<std::int64_t> awaited;
        std::vector<std::int64_t> missing;
    };
    Found load(const std::vector<std::int64_t>& sectors, std::int64_t request);
    /// The request's sectors are there from `at` on.
    void come(std::int64_t request, std::int64_t at);
    /// Shared memory takes so much of what both have together.
    void give(Bytes shared);

private:
    /// A sector that is there from `ready` on; or on its way with `request`; or neither.
    struct Sector {
        std::int64_t request = kNone, ready = kNone;
    };
    struct Line {
        std::int64_t number = 0;
        std::array<Sector, kLineSectors> sectors;
    };
    static constexpr std::int64_t kNone = -1;

    Line& use(std::int64_t number);
    void make_room(std::int64_t lines);

    std::int64_t lines_;     // that it holds
    std::list<Line> order_;  // the last used first
    std::unordered_map<std::int64_t, std::list<Line>::iterator> index_;
    std::unordered_map<std::int64_t, std::vector<std::int64_t>> on_their_way_;  // by request
};

}  // namespace systole::simt
