// SPDX-License-Identifier: Apache-2.0
// What a run leaves behind, shared by all units of one machine: which commands are complete (tokens), why
// everything happened when it did (causal log), what moved (byte ledger), when layers ended, and, for a
// timeline, when each command was at work.
#pragma once

#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "models/devices/systolic/program/program.h"
#include "sim/account/byte_ledger.h"
#include "sim/account/causal_log.h"
#include "sim/account/run_result.h"
#include "sim/base/units.h"
#include "sim/device/work_done.h"

namespace systole::systolic {

class RunRecord {
public:
    using EventId = CausalLog::EventId;

    /// `work_done`: told of complete commands, if there is one.
    RunRecord(const Program& program, std::size_t units, bool timeline, WorkDone* work_done = nullptr);

    /// That runs now.
    const Program& program() const { return *program_; }
    const Command& command(std::uint32_t number) const { return program_->commands[number]; }
    CausalLog& log() { return log_; }
    const CausalLog& log() const { return log_; }
    ByteLedger& ledger() { return ledger_; }
    const ByteLedger& ledger() const { return ledger_; }

    /// True when every token of the command is there; otherwise `wake` will be notified once when the first
    /// missing one arrives (ask again then).
    bool tokens_ready(const Command& command, sc_core::sc_event& wake);
    /// Calls `each(command, completion)` for the last command that each token of `command` waited for. All
    /// must be there.
    void each_token(const Command& command, const std::function<void(const Command&, EventId)>& each) const;
    /// The completion that the command's tokens waited for last, kNone without tokens. All must be there.
    EventId last_token(const Command& command) const;
    /// The command is complete as of the event `done`: tokens flow, its layer lasts at least until then.
    void complete(const Command& command, EventId done);
    /// Tells `listener` when everything of the first so many layers is complete, for each of these ascending
    /// numbers.
    void watch_layers(const std::vector<std::size_t>& layers, std::function<void(Ticks)> listener);
    /// Goes on with another program, which outlives it: the one that runs, but for commands from `issued` on,
    /// of which none is issued yet. Those watched now are the first so many of its layers. Answers of how
    /// many that are no longer watched the listener was told last.
    std::size_t go_on_with(const Program& program, std::size_t issued,
                           const std::vector<std::size_t>& layers);
    /// A transfer that crossed the DRAM's bus at some time in [begin, end).
    void crossed_dram(Ticks begin, Ticks end, Bytes bytes) { crossings_.push_back({begin, end, bytes}); }
    /// Bytes that certainly crossed it within [begin, end): those of transfers that lie inside.
    Bytes dram_bytes_within(Ticks begin, Ticks end) const;

    /// A command at work, as events of the log.
    struct Bar {
        std::uint32_t command;  ///< in the program
        EventId issued, begun, done;
    };
    /// Keeps it for the timeline, if one is wanted.
    void bar(const Bar& bar) {
        if (timeline_) bars_.push_back(bar);
    }
    /// In the order in which they were complete; none without a timeline.
    const std::vector<Bar>& bars() const { return bars_; }
    bool wants_timeline() const { return timeline_; }

    std::uint32_t completed(UnitIndex unit) const { return static_cast<std::uint32_t>(done_[unit].size()); }
    bool finished() const { return completed_ == program_->commands.size(); }
    /// The completion of everything: the latest of all, kNone before any.
    EventId last() const { return last_; }
    Ticks time_of(EventId id) const;  ///< 0 for kNone
    /// The last completion of each layer or of any layer before it: their times ascend.
    std::vector<EventId> layer_ends() const;
    /// The time from one layer's end to the next one's: layers in the program's order, but slices of layers
    /// (LayerInfo::slices), which are done in turn, as they end: what the last one still stores while the
    /// next slice has begun would otherwise be given the time of all that runs beside it.
    struct Window {
        std::size_t layer;
        EventId last;  ///< of the layer, or of one before it: their times ascend
    };
    std::vector<Window> layer_windows() const;
    /// "load #12 (conv1) waits for vector #7 (complete: 5)": the first missing token, for the standstill
    /// report.
    std::string describe_wait(const Command& command) const;

private:
    struct Waiter {
        std::uint32_t count;
        sc_core::sc_event* event;
    };

    /// The first `layers` layers; so many commands are not complete of those that the watch before lacks.
    struct Watch {
        std::size_t layers, left = 0;
    };

    struct Crossing {
        Ticks begin, end;
        Bytes bytes;
    };

    /// `own`, or `before` if that is later.
    EventId not_before(EventId before, EventId own) const;
    void watch(const std::vector<std::size_t>& layers);
    Watch* watch_of(const Command& command);

    const Program* program_;
    std::vector<Crossing> crossings_;  // in the order in which they ended
    CausalLog log_;
    ByteLedger ledger_;
    std::vector<std::vector<EventId>> done_;    // by unit: completions in order
    std::vector<std::vector<Waiter>> waiting_;  // by the unit waited for
    std::vector<EventId> layer_end_;
    std::vector<Watch> watches_;
    std::size_t watches_met_ = 0;
    std::function<void(Ticks)> on_layers_;
    std::size_t completed_ = 0;
    EventId last_ = CausalLog::kNone;
    bool timeline_;
    std::vector<Bar> bars_;
    WorkDone* const work_done_;
};

}  // namespace systole::systolic
