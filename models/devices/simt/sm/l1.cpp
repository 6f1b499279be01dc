// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/sm/l1.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::simt {

L1::Found L1::load(const std::vector<std::int64_t>& sectors, std::int64_t request) {
    Found found;
    for (const std::int64_t number : sectors) {
        // Of none, not even the line that was used last stays.
        if (lines_ == 0) {
            found.missing.push_back(number);
            continue;
        }
        Sector& sector = use(number / kLineSectors).sectors[static_cast<std::size_t>(number % kLineSectors)];
        if (sector.request != kNone && sector.request != request) {
            if (std::find(found.awaited.begin(), found.awaited.end(), sector.request) == found.awaited.end())
                found.awaited.push_back(sector.request);
        } else if (sector.ready != kNone) {
            found.ready = std::max(found.ready, sector.ready);
        } else {
            sector.request = request;
            found.missing.push_back(number);
        }
    }
    if (!found.missing.empty()) on_their_way_[request] = found.missing;
    return found;
}

void L1::come(std::int64_t request, std::int64_t at) {
    const auto way = on_their_way_.find(request);
    SYSTOLE_CHECK(way != on_their_way_.end(), "nobody waits for request {}", request);
    for (const std::int64_t number : way->second) {
        const auto line = index_.find(number / kLineSectors);
        if (line == index_.end()) continue;  // it made room meanwhile
        Sector& sector = line->second->sectors[static_cast<std::size_t>(number % kLineSectors)];
        if (sector.request == request) sector = {kNone, at};
    }
    on_their_way_.erase(way);
}

void L1::give(Bytes shared) {
    lines_ = std::max<std::int64_t>(0, lines_ - ceil_div(shared.value(), kSectorBytes * kLineSectors));
    make_room(lines_);
}

L1::Line& L1::use(std::int64_t number) {
    const auto known = index_.find(number);
    if (known != index_.end()) {
        order_.splice(order_.begin(), order_, known->second);
        return order_.front();
    }
    make_room(lines_ - 1);
    order_.push_front({number, {}});
    index_[number] = order_.begin();
    return order_.front();
}

void L1::make_room(std::int64_t lines) {
    while (static_cast<std::int64_t>(order_.size()) > lines) {
        index_.erase(order_.back().number);
        order_.pop_back();
    }
}

}  // namespace systole::simt
