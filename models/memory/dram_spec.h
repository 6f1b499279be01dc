// SPDX-License-Identifier: Apache-2.0
// What a DRAM is: organisation, clock, timing parameters under their JEDEC names, address map and controller
// policy. Plain values, read and cross-checked once (dram_config.h). A pseudo-channel counts as a channel: it
// has its own banks, data bus and queues.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/base/units.h"

namespace systole {

/// JEDEC timing parameters in command clocks: {"CL", 14}, {"RCDRD", 14}, ... Which names a standard needs is
/// in its constraint table; BL (clocks of one burst on the data bus) is added by the reader.
using TimingParameters = std::map<std::string, std::int64_t>;

/// When a channel turns its data bus from reads to writes. Reads go first; writes wait in their own queue.
struct WritePolicy {
    int high = 29;       ///< so many waiting writes (bursts) turn the bus to writes …
    int low = 3;         ///< … and it turns back at so few, once reads wait
    int patience = 256;  ///< read bursts that may pass a waiting write before it is served anyway
};

/// One DRAM as an engine sees it: all its channels behind one address space.
struct DramSpec {
    enum class Kind {
        Dram,  ///< banks, rows, buses, refresh
        Ideal  ///< answers in no time: for studies of everything else
    };
    Kind kind = Kind::Dram;

    std::string standard;  ///< names the constraint table: "HBM2", "DDR3"
    Hertz clock;           ///< command clock (CK); data moves on both edges

    int channels = 1;  ///< independent channels (HBM: pseudo-channels)
    int bank_groups = 1;
    int banks_per_group = 1;
    std::int64_t rows = 1;  ///< of one bank
    Bytes row_bytes;        ///< of one bank's row, all devices of the channel together
    Bytes burst_bytes;      ///< one column command moves so much
    std::string
        address_map;  ///< address_map.h: fields from the least significant bit, above the burst offset

    TimingParameters timing;
    bool refresh = true;  ///< all-bank refresh every REFI
    Ticks refresh_phase;  ///< time since the last refresh when time starts (run.refresh_phase)

    int queue = 32;  ///< entries (bursts) a channel's scheduler sees, for each of reads and writes
    WritePolicy writes;

    Bytes max_payload{32 * 1024};  ///< largest transaction the sockets take
    int door = 16;                 ///< chunks that may wait before each channel until requests are held up

    Bytes ideal_capacity;  ///< Kind::Ideal only

    int banks() const { return bank_groups * banks_per_group; }
    std::int64_t bursts_per_row() const { return row_bytes / burst_bytes; }
    Bytes channel_capacity() const { return row_bytes * rows * banks(); }
    Bytes capacity() const { return kind == Kind::Ideal ? ideal_capacity : channel_capacity() * channels; }
    /// What all data buses together move; max() for an ideal memory. Rounded down to a whole byte a second.
    BytesPerSecond peak() const {
        if (kind == Kind::Ideal) return BytesPerSecond::max();
        return BytesPerSecond(channels * burst_bytes.value() * clock.value() / timing.at("BL"));
    }
};

}  // namespace systole
