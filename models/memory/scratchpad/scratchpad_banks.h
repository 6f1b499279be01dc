// SPDX-License-Identifier: Apache-2.0
// The banks of a scratchpad with all their clients: real addresses become accesses by bank, and every client
// learns how long its accesses take beside what the banks have promised to others. No SystemC.
//
// Who asks first is served first: a promise is never taken back. A client that finds a bank promised to
// others takes longer; that is the conflict, and its cost is this client's alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/memory/scratchpad/bank_calendar.h"
#include "models/memory/scratchpad/bank_map.h"
#include "models/memory/scratchpad/scratchpad_spec.h"
#include "sim/base/units.h"

namespace systole {

/// Who reads and writes a scratchpad.
enum class BankClient : std::uint8_t {
    Streams,  ///< operands that stream into an array for the length of a pass
    Tiles,    ///< stationary tiles, through a weight FIFO or straight into the array
    Vector,   ///< the vector unit: operands, and results on their way out of the accumulators
    Dma       ///< chunks of transfers
};
constexpr std::size_t kBankClients = 4;
/// "stream", "tile", "vector", "dma".
std::string_view to_string(BankClient client);

class ScratchpadBanks {
public:
    explicit ScratchpadBanks(const ScratchpadSpec& spec);

    /// Whether clients disturb each other at all; where not, take() may not be called.
    bool shared() const { return reads_.has_value(); }
    const BankMap& map() const { return map_; }
    Bytes bank_width() const { return width_; }

    /// What a client does from cycle `begin` on, in `least` cycles when it has the banks to itself. Asked in
    /// cycle `now` <= begin, which never decreases.
    struct Work {
        BankClient client = BankClient::Dma;
        Cycles now, begin, least;
    };
    /// Cycles that the work takes, at least work.least.
    Cycles read(const Work& work, const BankLoad& load) { return take(*reads_, work, load); }
    Cycles write(const Work& work, const BankLoad& load) {
        return take(writes_ ? *writes_ : *reads_, work, load);
    }
    /// The accesses of `bytes` bytes (at least one) from `address` on, each line once; valid until the next
    /// call.
    const BankLoad& range(Bytes address, Bytes bytes);

    struct Stats {
        std::int64_t accesses = 0;
        Cycles lost;  ///< beyond `least`, because the banks were promised or had too many of its lines
    };
    const Stats& stats(BankClient client) const { return stats_[static_cast<std::size_t>(client)]; }

private:
    Cycles take(BankCalendar& calendar, const Work& work, const BankLoad& load);

    const BankMap map_;
    const Bytes width_;
    std::optional<BankCalendar> reads_, writes_;  // no writes_: one port serves both; neither: private ports
    BankLoad range_;
    std::array<Stats, kBankClients> stats_;
};

}  // namespace systole
