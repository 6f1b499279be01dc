// SPDX-License-Identifier: Apache-2.0
// One pseudo-channel of DRAM and its scheduler: first-ready, first-come over bounded windows, open pages,
// all-bank refresh, write draining. A plain class without a clock; time is an argument, in command clocks. It
// is lazy: only commands before `now` are fixed, because an arrival at `now` may change what is decided then.
// It pushes back through its door: at_door() counts the requests that found no room in the window.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/memory/address_map.h"
#include "models/memory/bank_timing.h"
#include "models/memory/dram_command.h"
#include "models/memory/dram_spec.h"
#include "models/memory/run_queue.h"
#include "sim/base/units.h"

namespace systole {

class PseudoChannel {
public:
    /// The last byte of `request` is on the data bus at `clock`.
    struct Completion {
        std::int64_t request;
        Cycles clock;
    };
    struct Stats {
        std::int64_t read_bursts = 0, write_bursts = 0;
        std::int64_t activates = 0, precharges = 0, refreshes = 0, bank_refreshes = 0;
        Cycles bus_busy;  ///< clocks with data on the bus
        /// Bursts beyond the first of each activation.
        std::int64_t row_hits() const { return read_bursts + write_bursts - activates; }
        Stats& operator+=(const Stats& other);
    };
    /// Sees every command in the order of time (Pre and Act with their bank; columns too). `row`: that Act
    /// opens, that a column is of, that Pre closes; of PreAll and Refresh it and `bank` say nothing.
    using Listener = std::function<void(Command, int bank, std::int64_t row, Cycles clock)>;

    /// `map` must outlive the channel.
    PseudoChannel(const DramSpec& spec, const AddressMap& map, Cycles first_refresh);

    /// A request for the local bursts [first, first + count) arrives at `now`. Clocks of calls never
    /// decrease.
    void push(std::int64_t request, std::int64_t first, std::int64_t count, Direction direction, Cycles now);

    /// Fixes all commands before `now` and appends the completions up to `now`, in order of time.
    void advance(Cycles now, std::vector<Completion>& done);

    /// Fixes all commands before `now`, so that the listener knows of them, and changes nothing else.
    void settle(Cycles now) { fix_until(now); }

    /// When advance() should be called next: never later than the earliest completion, and later than now; a
    /// bound, not a plan, so that nothing must be undone when a request arrives. Cycles::max() when idle.
    Cycles next_event() const;

    /// Requests that are not yet wholly in the window; and a bound as above on the clock at which there is
    /// one less (Cycles::max() if there is none).
    std::int64_t at_door(Direction direction) const { return queue(direction).at_door(); }
    Cycles next_door_event(Direction direction) const;
    /// Entries of the window that are free as of the last fixed command.
    std::int64_t room(Direction direction) const { return queue(direction).free_entries(); }

    bool idle() const { return queues_[0].empty() && queues_[1].empty() && finished_.empty(); }
    const Stats& stats() const { return stats_; }
    /// Row and column commands share one bus: no two commands at one clock.
    bool one_command_bus() const { return columns_delay_rows_; }
    void listen(Listener listener) { listener_ = std::move(listener); }

private:
    struct Choice {
        Cycles when = Cycles::max();
        std::int64_t age = 0;
        int bank = 0;
        Command command = Command::Read;
    };

    const RunQueue& queue(Direction direction) const { return queues_[static_cast<std::size_t>(direction)]; }
    RunQueue& active() { return queues_[static_cast<std::size_t>(active_)]; }
    const RunQueue& active() const { return queue(active_); }
    static Cycles of(const std::array<Cycles, 2>& both, Direction direction) {
        return both[static_cast<std::size_t>(direction)];
    }

    void fix_until(Cycles until);
    void begin_clock();
    void choose_direction();
    Choice best_column() const;
    Choice best_row() const;
    bool row_is_known() const;
    void remember_row();
    void give(Command command, int bank, std::int64_t row, Cycles clock);
    void give_column(const Choice& choice);
    void give_row(Choice choice);
    void refresh();
    bool stream(const Choice& first, Cycles until);
    Cycles stream_cadence() const;
    bool stream_is_ready(const Choice& first, Cycles cadence, std::int64_t count) const;
    void give_stream(const Choice& first, Cycles cadence, std::int64_t count);
    void finish(std::int64_t request, Cycles clock);
    Cycles column_bound() const;

    const WritePolicy policy_;
    const int patience_;
    const std::int64_t groups_;
    const int banks_per_group_;
    const Cycles refresh_interval_, burst_;
    const std::array<Cycles, 2> ccd_short_, ccd_long_;  // between columns of one direction: any; same group
    const std::array<Cycles, 2> latency_;               // from a column command to its last data
    const std::array<Cycles, 2> activation_;            // from ACT to a column command
    const bool columns_delay_rows_;                     // one command bus for both

    BankTiming timing_;
    std::array<RunQueue, 2> queues_;
    std::vector<std::int64_t> rows_;  // open row of each bank
    Direction active_ = Direction::Read;
    int write_floor_ = 0;            // writes that may be left when the bus turns back to reads
    std::int64_t passed_by_ = 0;     // read bursts served while writes waited
    Cycles now_;                     // what is decided next is given at this clock or later
    Cycles change_ = Cycles::max();  // the clock at which arrivals or freed entries next change the window
    Cycles refresh_due_;
    Choice row_;                    // best_row() as last computed …
    std::uint64_t row_misses_ = 0;  // … when these banks wanted one
    bool row_valid_ = false;
    std::vector<Completion> finished_;  // by time
    Stats stats_;
    Listener listener_;
};

}  // namespace systole
