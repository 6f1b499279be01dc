// SPDX-License-Identifier: Apache-2.0
// One kernel on all SMs as the SmArray drives it, step by step (KernelRun) or in warps (KernelInWarps): it
// asks for blocks, is told when they are there, and says what became of the SMs' time. Plain C++ that takes
// `now`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/devices/simt/machine/cta_times.h"
#include "models/devices/simt/machine/sm_history.h"
#include "models/devices/simt/machine/tile_access.h"
#include "sim/base/units.h"

namespace systole::simt {

/// What a kernel took.
struct KernelAccount {
    std::array<Int128, kSlotClasses> times{};  ///< fine time of all SMs; Useful: with padding
    ClassTimes last{};                         ///< of the SM that was through last
    std::int64_t macs = 0;                     ///< on real data
    std::int64_t ctas = 0;
    std::int64_t left_out = 0;  ///< CTAs besides, which others stand for
    std::int64_t steps = 0;     ///< of all CTAs; of collectives none
    std::int64_t waves = 0;     ///< of as many CTAs as all SMs hold, begun; those left out, too
    std::int64_t sms = 0;       ///< that had a CTA
    std::int64_t groups = 0;    ///< as which they ended
    std::int64_t cluster = 1;   ///< CTAs of one
    /// If they were to be kept: of all SMs, those that nobody can use too. Collectives have none.
    std::vector<GroupHistory> histories = {};
};

class KernelExecution {
public:
    /// `number` comes back with the answer.
    struct Access {
        std::int64_t number = 0;
        bool write = false;
        TileAccess tiles;
        /// With other chips, instead of tiles.
        struct Exchange {
            Bytes sent, received;
        };
        std::optional<Exchange> exchange = {};
    };

    virtual ~KernelExecution() = default;

    /// Before it begins: keeps what the time of SMs went to, in about so many pieces at most.
    virtual void keep_histories(std::size_t /*pieces*/) {}

    /// Of its CTAs, those that are through, from 0 to 1; of collectives, 0 until they are finished.
    virtual double share_done() const { return 0; }
    /// CTAs that have places; of collectives none.
    virtual std::int64_t resident_ctas() const { return 0; }
    /// CTAs that have places or had them; 0 where none may be left out.
    virtual std::int64_t begun_ctas() const { return 0; }
    /// Fine time of all SMs that can take its CTAs by class, as far as it is charged.
    virtual std::array<Int128, kSlotClasses> times_so_far() const { return {}; }
    /// Nobody gets the next so many of its CTAs (CtaDeal): others stand for them.
    virtual void leave_out(std::int64_t /*ctas*/) {}
    /// Ticks::max(): only an answer can wake it.
    virtual Ticks next_event() const = 0;
    /// Does all that is due, and appends what is to be sent now.
    virtual void advance(Ticks now, std::vector<Access>& accesses) = 0;
    /// Of a read: all its data are at the SMs. advance() goes on with it.
    virtual void answered(std::int64_t number, Ticks now) = 0;
    /// All CTAs are through, and all their stores were answered.
    virtual bool finished() const = 0;
    /// To be called once it is finished, at its end.
    virtual KernelAccount finish(Ticks end) = 0;
};

}  // namespace systole::simt
