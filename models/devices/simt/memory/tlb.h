// SPDX-License-Identifier: Apache-2.0
// Which pages a translation lookaside buffer knows: the ones that were used last. Those that it has asked for
// are among them, and known from a time on.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/base/units.h"

namespace systole::simt {

class Tlb {
public:
    /// Of so many pages, one at least.
    explicit Tlb(std::int64_t entries);

    struct Use {
        bool miss;    ///< the page was not among them; it is from now on
        Ticks known;  ///< since when, or from when on
    };
    /// A page that was not there takes the place of the one whose last use is longest ago, and is known from
    /// `found` on.
    Use use(std::int64_t page, Ticks found);

private:
    struct Entry {
        std::int64_t page = 0;
        Ticks known;
        std::size_t older = 0, newer = 0;  // by last use, in a ring
    };
    void unlink(std::size_t place);
    void link_newest(std::size_t place);

    const std::size_t entries_;
    std::vector<Entry> ring_;  // the first one is no page: the newest is older than it, the oldest newer
    std::unordered_map<std::int64_t, std::size_t> places_;
};

}  // namespace systole::simt
