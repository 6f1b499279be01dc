// SPDX-License-Identifier: Apache-2.0
// What a DRAM is: organisation, clock, timing parameters under their JEDEC names, address map and controller
// policy. Plain values, read and cross-checked once (dram_config.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/clock.h"
#include "sim/base/units.h"

namespace systole {

/// JEDEC timing parameters in command clocks: {"CL", 14}, {"RCDRD", 14}, ... Which names a standard needs is
/// in its constraint table; BL (clocks of one burst on the data bus) is added by the reader.
using TimingParameters = std::map<std::string, std::int64_t>;

/// When a pseudo-channel turns its data bus from reads to writes. Reads go first; writes wait in their own
/// queue.
struct WritePolicy {
    int high = 26;  ///< so many waiting writes (bursts) turn the bus to writes …
    int low = 6;    ///< … and it turns back at so few, once reads wait
};

/// What happens to a row after a column command.
enum class PagePolicy : std::uint8_t {
    Open,     ///< stays open until another row of its bank is wanted, or a refresh
    Closed,   ///< closed with the last burst that waits for it
    Adaptive  ///< closed with the last burst that waits for it if another row of its bank is waited for
};

enum class RefreshPolicy : std::uint8_t {
    Off,
    AllBank,  ///< all banks of a pseudo-channel every REFI
    PerBank   ///< one bank, in turn, every REFISB
};

/// What commands take, in the DRAM and at its pins; background power comes on top, for all of the time.
struct DramEnergy {
    Femtojoules act_pre;       ///< one ACT and the PRE that ends it
    Femtojoules read, write;   ///< one burst
    Femtojoules refresh;       ///< all banks of a pseudo-channel
    Femtojoules refresh_bank;  ///< one bank
    Milliwatts background;     ///< of one pseudo-channel
};

/// One memory as an engine sees it: all its channels behind one address space.
struct DramSpec {
    enum class Kind : std::uint8_t {
        Dram,   ///< banks, rows, buses, refresh
        Ideal,  ///< answers in no time: for studies of everything else
        Sram    ///< on the chip: one bandwidth and one latency, whatever the addresses; no refresh
    };
    Kind kind = Kind::Dram;
    /// "dram", "ideal", "sram": as files have it.
    static std::string_view name_of(Kind kind) {
        return kind == Kind::Dram ? "dram" : kind == Kind::Ideal ? "ideal" : "sram";
    }

    std::string standard;  ///< names the constraint table: "HBM2", "DDR3"
    Hertz clock;           ///< command clock (CK), without the share of an inline ECC
    /// Of the data buses' time, what check bits take that lie among the data (inline ECC): `clock` is slower
    /// by so much, and `peak` is what is left for data.
    double ecc_share = 0;

    int channels = 1;         ///< independent channels, each with command buses of its own
    int pseudo_channels = 1;  ///< of a channel: own banks, data bus and queues; shared command buses
    int bank_groups = 1;      ///< of a pseudo-channel, as all that follows
    int banks_per_group = 1;
    std::int64_t rows = 1;  ///< of one bank
    Bytes row_bytes;        ///< of one bank's row, all devices of the pseudo-channel together
    Bytes burst_bytes;      ///< one column command moves so much
    /// address_map.h: fields from the least significant bit, above the burst offset. Its channel field
    /// numbers all data buses, channel * pseudo_channels + pseudo-channel.
    std::string address_map;

    TimingParameters timing;
    RefreshPolicy refresh = RefreshPolicy::AllBank;
    int refresh_postpone = 0;  ///< so many refreshes may be owed while bursts wait (JEDEC: up to 8)
    Ticks refresh_phase;       ///< time since the last refresh when time starts (run.refresh_phase)

    int queue = 32;  ///< entries (bursts) a pseudo-channel's scheduler sees, for each of reads and writes
    /// The pseudo-channels of a channel share these entries instead of having so many each. A free entry goes
    /// to the burst that has waited longest; `writes.high` counts the writes of all.
    bool shared_queue = false;
    WritePolicy writes;
    PagePolicy page = PagePolicy::Open;
    int row_hit_cap = 0;  ///< hits an open row may serve while an older burst waits for its bank; 0: no cap
    int patience = 4096;  ///< bursts that may pass the oldest waiting one before its bank is kept for it

    std::optional<DramEnergy> energy;  ///< without: nothing is known, and nothing is reported

    Bytes max_payload{32 * 1024};  ///< largest transaction the sockets take
    int door = 16;                 ///< chunks that may wait before each queue until requests are held up

    Bytes flat_capacity;            ///< of what is no DRAM
    BytesPerSecond sram_bandwidth;  ///< Kind::Sram only: reads and writes together
    Ticks sram_latency;             ///< likewise: from a request's turn to its data, besides their time

    /// Whether there are banks, rows and data buses.
    bool is_dram() const { return kind == Kind::Dram; }

    int banks() const { return bank_groups * banks_per_group; }
    /// Data buses that work in parallel: all pseudo-channels of all channels.
    /// Whether its commands take a known energy.
    bool has_energy() const { return kind == Kind::Dram && energy.has_value(); }
    /// What all pseudo-channels draw that do nothing; 0 without figures.
    Milliwatts background() const { return has_energy() ? energy->background * data_buses() : Milliwatts(); }
    int data_buses() const { return channels * pseudo_channels; }
    std::int64_t bursts_per_row() const { return row_bytes / burst_bytes; }
    /// What one pseudo-channel holds.
    Bytes bus_capacity() const { return row_bytes * rows * banks(); }
    Bytes capacity() const { return is_dram() ? bus_capacity() * data_buses() : flat_capacity; }
    /// The longest run whose energy fits 64 bits of femtojoules: the background takes a quarter of them.
    Ticks longest_run() const {
        const std::int64_t power = energy ? std::max<std::int64_t>(energy->background.value(), 1) : 1;
        return Ticks(Ticks::max().value() / 4 / data_buses() / power);
    }
    /// For how long a refresh keeps a bank from work.
    Ticks longest_refresh() const {
        if (!is_dram() || refresh == RefreshPolicy::Off) return Ticks(0);
        const char* const time = refresh == RefreshPolicy::PerBank ? "RFCSB" : "RFC";
        return ClockDomain(clock).after(Ticks(0), Cycles(timing.at(time)));
    }
    /// From one refresh of all banks to the next; nothing where they come otherwise, or may be postponed.
    std::optional<Ticks> refresh_interval() const {
        if (!is_dram() || refresh != RefreshPolicy::AllBank || refresh_postpone > 0) return std::nullopt;
        return ClockDomain(clock).after(Ticks(0), Cycles(timing.at("REFI")));
    }
    /// What all data buses together move; max() for an ideal memory. Rounded down to a whole byte a second.
    BytesPerSecond peak() const {
        if (kind == Kind::Ideal) return BytesPerSecond::max();
        if (kind == Kind::Sram) return sram_bandwidth;
        return BytesPerSecond(data_buses() * burst_bytes.value() * clock.value() / timing.at("BL"));
    }
};

}  // namespace systole
