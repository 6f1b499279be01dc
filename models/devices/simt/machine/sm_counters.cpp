// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/sm_counters.h"

namespace systole::simt {

void SmCounters::answered(const TileAccess& tiles, bool write, Ticks sent, Ticks now) {
    Int128 bytes = 0;
    for (const TileAccess::Block& block : tiles.blocks) bytes += Int128{block.taken()} * block.sms;
    (write ? written_ : read_).add(sent, now, bytes);
}

std::vector<CounterTrack> SmCounters::tracks(const std::string& track, std::int64_t sms, Ticks end) const {
    BinnedLevel ctas = ctas_;
    return {ctas.mean(track, "CTAs per SM", "CTAs", 1.0 / static_cast<double>(sms), end),
            read_.rate(track, "L2 read", "GB/s", kGigabytesPerSecond, end),
            written_.rate(track, "L2 write", "GB/s", kGigabytesPerSecond, end)};
}

}  // namespace systole::simt
