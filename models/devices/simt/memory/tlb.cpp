// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/memory/tlb.h"

#include "sim/base/check.h"

namespace systole::simt {

Tlb::Tlb(std::int64_t entries) : entries_(static_cast<std::size_t>(entries)), ring_(1) {
    SYSTOLE_CHECK(entries > 0, "{} pages", entries);
}

void Tlb::unlink(std::size_t place) {
    ring_[ring_[place].older].newer = ring_[place].newer;
    ring_[ring_[place].newer].older = ring_[place].older;
}

void Tlb::link_newest(std::size_t place) {
    ring_[place].older = ring_[0].older;
    ring_[place].newer = 0;
    ring_[ring_[0].older].newer = place;
    ring_[0].older = place;
}

Tlb::Use Tlb::use(std::int64_t page, Ticks found) {
    const Entry& newest = ring_[ring_[0].older];
    if (ring_.size() > 1 && newest.page == page) return {false, newest.known};  // most uses follow each other
    if (const auto known = places_.find(page); known != places_.end()) {
        unlink(known->second);
        link_newest(known->second);
        return {false, ring_[known->second].known};
    }
    std::size_t place = ring_.size();
    if (place <= entries_) {
        ring_.emplace_back();
    } else {
        place = ring_[0].newer;
        places_.erase(ring_[place].page);
        unlink(place);
    }
    ring_[place].page = page;
    ring_[place].known = found;
    places_.emplace(page, place);
    link_newest(place);
    return {true, found};
}

}  // namespace systole::simt
