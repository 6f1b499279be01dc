// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/sm/coalesce.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::simt {

std::vector<std::int64_t> coalesce(const ThreadAddresses& addresses, std::int64_t warp, std::int64_t trip,
                                   std::int64_t threads) {
    SYSTOLE_CHECK(addresses.bytes > 0, "threads that load {} B each", addresses.bytes);
    std::vector<std::int64_t> sectors;
    for (std::int64_t thread = 0; thread < threads; ++thread) {
        std::int64_t offset =
            thread * addresses.thread_stride + warp * addresses.warp_stride + trip * addresses.trip_stride;
        if (addresses.set > 0) offset %= addresses.set;
        const std::int64_t first = addresses.base + offset;
        for (std::int64_t sector = first / kSectorBytes; sector * kSectorBytes < first + addresses.bytes;
             ++sector)
            sectors.push_back(sector);
    }
    std::sort(sectors.begin(), sectors.end());
    sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
    return sectors;
}

std::int64_t lines_of(const std::vector<std::int64_t>& sectors) {
    std::int64_t lines = 0, last = -1;
    for (const std::int64_t sector : sectors) {
        lines += sector / kLineSectors != last;
        last = sector / kLineSectors;
    }
    return lines;
}

}  // namespace systole::simt
