// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/memory/dirty_pages.h"

#include <cstddef>

#include "sim/base/check.h"

namespace systole::simt {

void DirtyPages::wrote(std::uint32_t place, std::int64_t more) {
    if (place >= pages_.size()) pages_.resize(std::size_t{place} + 1);
    Page& page = pages_[place];
    if (page.sectors > 0) unlink(page);
    page.sectors += more;
    sectors_ += more;
    SYSTOLE_CHECK(page.sectors > 0, "place {}: a write that makes nothing dirty", place);
    page.before = last_;
    page.after = kNone;
    (last_ == kNone ? first_ : pages_[last_].after) = place;
    last_ = place;
}

void DirtyPages::forget(std::uint32_t place) {
    if (place >= pages_.size() || pages_[place].sectors == 0) return;
    Page& page = pages_[place];
    unlink(page);
    sectors_ -= page.sectors;
    page.sectors = 0;
}

void DirtyPages::unlink(const Page& page) {
    (page.before == kNone ? first_ : pages_[page.before].after) = page.after;
    (page.after == kNone ? last_ : pages_[page.after].before) = page.before;
}

}  // namespace systole::simt
