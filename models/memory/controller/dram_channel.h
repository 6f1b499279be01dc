// SPDX-License-Identifier: Apache-2.0
// One DRAM channel and its controller: pseudo-channels with banks, data bus and queues of their own behind
// shared command buses. Each is scheduled first-ready, first-come over bounded windows of reads and writes. A
// plain class without a clock; time is an argument, in command clocks. It is lazy: only commands before `now`
// are fixed, because an arrival at `now` may change what is decided then. It pushes back through its doors:
// at_door() counts the requests that found no room in a window.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/controller/bus_account.h"
#include "models/memory/controller/pseudo_channel.h"
#include "models/memory/standards/dram_command.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

class DramChannel {
public:
    using Completion = PseudoChannel::Completion;
    using Stats = PseudoChannel::Stats;
    /// Sees every command of the channel in the order of time, columns included, when it is fixed.
    using Listener = std::function<void(const GivenCommand&)>;

    /// `map` must outlive the channel.
    DramChannel(const DramSpec& spec, const AddressMap& map);
    DramChannel(DramChannel&&) = default;

    /// Another in the same state, without the listener.
    DramChannel twin() const;

    /// Nothing waits here or there, and whatever arrives from `now` on, before which everything is fixed,
    /// both do the same.
    bool same_from(const DramChannel& other, Cycles now) const;

    /// A request for the local bursts [first, first + count) of a pseudo-channel arrives at `now`. Clocks of
    /// calls never decrease.
    void push(int pseudo_channel, std::int64_t request, std::int64_t first, std::int64_t count,
              Direction direction, Cycles now);

    /// Fixes all commands before `now` and appends the completions up to `now`, in order of time.
    void advance(Cycles now, std::vector<Completion>& done);

    /// Fixes all commands before `now`, so that the listener knows of them, and changes nothing else.
    void settle(Cycles now);

    /// When advance() should be called next: never later than the earliest completion, and later than now; a
    /// bound, not a plan, so that nothing must be undone when a request arrives. Cycles::max() when idle.
    Cycles next_event() const;

    /// When the first completion is that follows from what is fixed and is not collected; Cycles::max() if
    /// there is none.
    Cycles first_completion() const;

    /// Requests that are not yet wholly in the window; and a bound as above on the clock at which there is
    /// one less (Cycles::max() if there is none).
    std::int64_t at_door(int pseudo_channel, Direction direction) const;
    Cycles next_door_event(int pseudo_channel, Direction direction) const;

    /// The first clock, not before what is fixed, at which fewer than `most` requests (one at least) are at
    /// the door if nothing arrives at this channel before. Fixes all commands before that clock.
    Cycles wait_at_door(int pseudo_channel, Direction direction, std::int64_t most);

    /// Whether a burst pushed at `now` would enter the window at once, or, where pseudo-channels share a
    /// queue, as the first that waits at its door. Fixes all commands before `now`.
    bool has_room(int pseudo_channel, Direction direction, Cycles now);

    /// The first clock, at or after `now` and at most `limit`, at which there is such room if nothing else
    /// arrives at this channel before. Fixes all commands before that clock.
    Cycles wait_for_room(int pseudo_channel, Direction direction, Cycles now, Cycles limit);

    bool idle() const;
    /// Of one pseudo-channel.
    const Stats& stats(int pseudo_channel) const { return buses_[index(pseudo_channel)].stats(); }
    /// Who owned the data bus of a pseudo-channel up to `now`, to which everything is fixed.
    BusAccount account(int pseudo_channel, Cycles now) const;
    /// Row and column commands share one bus: no two commands at one clock.
    bool one_command_bus() const { return command_bus_.one_for_all(); }
    void listen(Listener listener) { listener_ = std::move(listener); }

private:
    DramChannel(const DramChannel&) = default;  // its parts still refer to the other's
    static std::size_t index(int pseudo_channel) { return static_cast<std::size_t>(pseudo_channel); }

    bool step(Cycles until);
    bool streams() const { return !streaming_.empty(); }
    [[gnu::noinline]] bool open_streams(Cycles now);
    bool run_streams(Cycles until);
    void rank_waiting();
    void close_streams(Cycles limit);
    void refill(Cycles limit);
    bool join(int pseudo_channel, std::int64_t request, std::int64_t first, std::int64_t count,
              Direction direction, Cycles now);
    Cycles give_rows(Cycles until);
    void give_put_off(PseudoChannel& bus, Cycles limit);
    void give_all_put_off(Cycles limit);
    Cycles certain() const;
    void tell_columns(Cycles until);
    void tell(const PseudoChannel& bus, const Choice& choice, std::int64_t row) const {
        if (listener_)
            listener_(
                {choice.command, static_cast<int>(&bus - buses_.data()), choice.bank, row, choice.when});
    }
    void fix_until(Cycles until) {
        if (until > fixed_) run_until(until);
    }
    void run_until(Cycles until);
    void skip_pause(Cycles until);
    PseudoChannel* first_at_doors(Direction direction);
    [[gnu::noinline]] void admit(Cycles now);
    std::int64_t entering(const PseudoChannel& asked, Direction direction) const;
    bool room(int pseudo_channel, Direction direction) const;
    bool room_now(int pseudo_channel, Direction direction) const;
    Cycles column_bound() const;

    CommandBus command_bus_;
    std::shared_ptr<QueueEntries> shared_;  // none if each pseudo-channel has entries of its own
    std::vector<PseudoChannel> buses_;
    Cycles fixed_;                      // everything before is fixed
    Cycles now_;                        // everything before is fixed, and perhaps some of what happens now
    Cycles admission_ = Cycles::max();  // the clock at which a shared queue next fills free entries
    std::int64_t sequence_ = 0;         // bursts pushed
    Choice::Kind last_{};               // of what step() looked at last
    std::vector<PseudoChannel*> streaming_;  // those with an open stream; the others rest if there are any
    Cycles quiet_;                           // until then the streams give nothing but columns
    Listener listener_;
};

}  // namespace systole
