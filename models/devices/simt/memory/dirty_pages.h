// SPDX-License-Identifier: Apache-2.0
// Which pages of the L2 are dirty, in the order of their last write, and how many sectors of each: what is
// cleaned first when too much is dirty. Pages are known by the places that they have in the L2.
#pragma once

#include <cstdint>
#include <vector>

namespace systole::simt {

class DirtyPages {
public:
    static constexpr std::uint32_t kNone = ~0U;

    /// Sectors of all pages that may be dirty.
    explicit DirtyPages(std::int64_t most) : most_(most) {}

    /// The page was written just now, by which so many more of its sectors are dirty.
    void wrote(std::uint32_t place, std::int64_t more);
    /// It is clean, or gone.
    void forget(std::uint32_t place);

    std::uint32_t oldest() const { return first_; }  ///< written longest ago; kNone: none is dirty
    bool too_many() const { return sectors_ > most_; }
    std::int64_t sectors() const { return sectors_; }  ///< of all pages

private:
    struct Page {
        std::int64_t sectors = 0;
        std::uint32_t before = kNone, after = kNone;  // by last write
    };
    void unlink(const Page& page);

    const std::int64_t most_;
    std::int64_t sectors_ = 0;
    std::vector<Page> pages_;  // by place
    std::uint32_t first_ = kNone, last_ = kNone;
};

}  // namespace systole::simt
