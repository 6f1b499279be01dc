// SPDX-License-Identifier: Apache-2.0
// Who owned the slots of one matrix unit: turns passes, in order, into a gapless account. While a pass
// streams, slots split into useful and padding (and on_chip where its port delivers less than a vector a
// cycle). When it has streamed, the unit could take the next pass at once: any wait from there on goes, piece
// by piece, to the state of whatever the next pass waited for (CausalLog::explain). A drain or a weight shift
// that is waited for is ramp; one that runs behind another wait is not.
#pragma once

#include <vector>

#include "models/devices/systolic/mxu/matrix_engine.h"
#include "sim/account/causal_log.h"
#include "sim/account/slot_account.h"
#include "sim/base/clock.h"

namespace systole::systolic {

class MatrixAccount {
public:
    /// `keep_stretches`: for a timeline.
    MatrixAccount(ClockDomain clock, std::int64_t idle_slots, bool keep_stretches = false)
        : clock_(clock), slots_(idle_slots), keep_stretches_(keep_stretches) {}

    /// What the vectors of a pass fill of the unit's slots at its rate.
    struct Work {
        std::int64_t slots = 0;  ///< MACs a cycle, or PEs where one takes several cycles
        std::int64_t vectors = 1;
        std::int64_t useful = 0;    ///< slots of a vector that hold real data
        std::int64_t last = 0;      ///< of the last vector
        Cycles readable;            ///< when its sums can be read
        Cycles each{1};             ///< for which a vector keeps its PEs
        std::uint32_t command = 0;  ///< whose pass it is
    };
    /// A pass that has finished.
    void pass(const CausalLog& log, CausalLog::EventId started, const PassTimes& times, const Work& work);
    /// The run is over as of `last`: nobody waits any more, so what other matrix units still did is this
    /// unit's tail.
    void finish(const CausalLog& log, CausalLog::EventId last);

    const SlotAccount& slots() const { return account_; }

    /// What the unit did, or waited for, from the end of the stretch before to `end`. Neighbours differ.
    struct Stretch {
        Ticks end;
        std::uint32_t command;  ///< at work; or that was waited for
        SlotClass owner;        ///< Useful: a pass streams, and slots are of several classes
    };
    /// Gapless, like the account, if they are kept.
    const std::vector<Stretch>& stretches() const { return stretches_; }

private:
    /// Charges everything up to the event to whoever owned it.
    void charge_wait(const CausalLog& log, CausalLog::EventId until, std::int64_t slots, bool over);
    /// What was charged since the last stretch.
    void keep(SlotClass owner, std::uint32_t command);

    const ClockDomain clock_;
    SlotAccount account_;
    std::vector<CausalLog::Piece> pieces_;  // of the wait that is being charged
    Ticks drained_;                         // the sums of the pass before can be read
    std::int64_t slots_;                    // at the last pass's rate
    const bool keep_stretches_;
    std::vector<Stretch> stretches_;
};

}  // namespace systole::systolic
