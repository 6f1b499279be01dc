// SPDX-License-Identifier: Apache-2.0
// Which pages a translation lookaside buffer knows, without time: the ones that were used last.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace systole::simt {

class Tlb {
public:
    /// Of so many pages, one at least.
    explicit Tlb(std::int64_t entries);

    /// True if the page was there; it is from now on, in the place of the one whose last use is longest ago.
    bool use(std::int64_t page);

private:
    struct Entry {
        std::int64_t page = 0;
        std::size_t older = 0, newer = 0;  // by last use, in a ring
    };
    void unlink(std::size_t place);
    void link_newest(std::size_t place);

    const std::size_t entries_;
    std::vector<Entry> ring_;  // the first one is no page: the newest is older than it, the oldest newer
    std::unordered_map<std::int64_t, std::size_t> places_;
};

}  // namespace systole::simt
