// SPDX-License-Identifier: Apache-2.0
// SMs that do the same at the same time, each with CTAs of its own: what one of them does, and how many they
// are. Plain C++ that takes `now`; the SmArray around it owns sockets and events.
//
// A CTA: launch ─ prologue ─► requests of the first steps ─► data of step 0 ─ fill ─► steps ─ epilogue ─►
// stores leave, and are answered: its place is free. (A warp is done when all that it stored is acknowledged:
// GPGPU-Sim's hardware_done(); S_ENDPGM waits until no memory operation is outstanding: AMD's CDNA ISA.) A
// step waits for its data and for the step before it, is served by the SM's tensor cores, which all its CTAs
// share, and requests the data of the step `ahead` of it, at its end or on its way. A persistent CTA goes on
// with another tile: its data are asked for as stages become free, and its first step waits until the stores
// of the tile before are answered, or, where sums have a place of their own (CtaTimes::accumulators), until
// its steps are through and such a place is free. What an epilogue reads are data of one step more. CTAs of a
// cluster, which share data, lie in one group and go in step: the stage of a step is free in all of them when
// the last one's signal is there.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/devices/simt/machine/cta_times.h"
#include "models/devices/simt/machine/cta_work.h"
#include "models/devices/simt/machine/sm_history.h"

namespace systole::simt {

class SmGroup {
public:
    /// Names a CTA of each of the group's SMs; halves of a group keep it.
    using RunId = std::int64_t;
    /// To be done outside, now: data of a step to be read, or, at step kStore, results to be written.
    struct Request {
        RunId run;
        CtaRange ctas;
        std::int64_t step;
    };
    static constexpr std::int64_t kStore = -1;

    /// `times` must outlive it.
    SmGroup(const CtaTimes& times, std::int64_t first_sm, std::int64_t sms, Ticks start);

    std::int64_t first_sm() const { return first_sm_; }
    std::int64_t sms() const { return sms_; }
    /// The first place without a CTA.
    std::optional<int> free_place() const;

    /// A CTA of `steps` steps for each SM; those after `range.first` go to the SMs in their order. They are
    /// handed over by `handed`, not before `now`.
    void start(int place, RunId run, CtaRange range, std::int64_t steps, Ticks now, Fine handed = Fine());
    /// Keeps the first `sms` SMs, and answers the others as a group of their own.
    SmGroup split(std::int64_t sms);

    /// Ticks::max(): only data, an answer or a CTA can wake it.
    Ticks next_event() const;
    void advance(Ticks now, std::vector<Request>& requests);
    /// Data of a step, or the answer to a store; of the latter, nothing where the place is taken again.
    void arrived(RunId run, std::int64_t step, Ticks now);

    /// Charges everything until `end`, when no CTA is left. Time of one SM by class, from its start on.
    const ClassTimes& finish(Ticks end);
    /// When the last answer to a store of this group came.
    Ticks stored() const { return stored_; }
    bool used() const { return used_; }
    /// Of one SM, as far as its time is charged: until its tensor cores are free.
    const ClassTimes& times() const { return times_; }
    /// Keeps what its time went to in so many pieces at most; to be called at its start.
    void keep_history(std::size_t most) { history_ = SmHistory(most); }
    const SmHistory& history() const { return history_; }

private:
    enum class What : std::uint8_t { Request, StepEnd, StepReady, Store, End };
    struct Event {
        Fine time;
        int place;
        What what;
        std::int64_t step;
        /// Of two at once: that of the first place, and in a place the order of `What`.
        bool before(const Event& other) const;
    };
    /// Who owns an SM's idle time from `begin` on, seen from one place. Chain: a step is longer than its
    /// share.
    struct Mark {
        Fine begin;
        SlotClass owner;
        bool chain;
    };
    /// Of a step.
    struct Data {
        Fine free;                  // their stage, in all CTAs that share them: they are asked for then
        std::optional<Fine> there;  // since when
    };
    struct Place {
        bool taken = false;
        bool storing = false;      // no CTA may take it yet
        bool stored = false;       // its stores were answered
        bool behind = false;       // its first step waits for the tile before it, whose stages it fills
        bool asked_first = false;  // its first data are asked for
        bool multiplied = false;   // its steps are through
        bool summed = false;       // its sums lie in an accumulator, until they are brought out
        Fine asked;                // when its last data so far leave, or left
        RunId run = -1;            // the last one, where no CTA is there
        CtaRange ctas;
        std::int64_t steps = 0, step = 0;  // done so far
        std::int64_t reads = 0;            // data that are asked for: of steps, and for the epilogue
        bool between = false;              // no step is under way: the next waits for its data
        Fine end;                          // of its epilogue, as it goes so far
        std::deque<Data> data;             // of step `step` and those behind it
        std::deque<Mark> marks;            // from before the end of the last service on
    };

    void push(Fine time, int place, What what, std::int64_t step);
    void handle(const Event& event, std::vector<Request>& requests);
    void wait_for_data(int place, Fine now);
    void serve(int place, Fine ready);
    void request(int place, std::int64_t step, Fine time);
    void end_step(int place, std::int64_t step, Fine now);
    Fine crowded(int place, Fine begin);
    void begin_epilogue(int place, Fine now);
    void end(int place, Fine now);
    void mark(Place& place, Fine begin, SlotClass owner, bool chain = false);
    /// Charges [free_, until), in which tensor cores stand still, as `place` saw it.
    void charge_idle(const Place& place, Fine until);
    void charge(SlotClass owner, Fine time) { times_[static_cast<std::size_t>(owner)] += time.value(); }
    int taken() const;
    // Of persistent CTAs:
    int before(int number) const;
    int behind(int number) const;
    bool has_accumulator(int number) const;
    bool may_multiply(int number) const;
    bool begun(int number) const;
    void steps_are_through(int number, Fine now);
    bool may_begin(int number) const;
    bool follow(int number, Ticks now);
    void ask(int number, Fine free);
    void ask_for_next(int number, Fine free);
    void asked_first(int number, Fine now);
    bool take_over(int number, Fine now);

    const CtaTimes* cta_;
    std::int64_t first_sm_, sms_;
    Fine free_;                        // of the tensor cores; everything before it is charged
    Fine lsu_free_;                    // of epilogues
    std::vector<int> next_place_;      // of each CTA: that of its next tile
    std::vector<Fine> epilogue_free_;  // likewise: its last epilogue's end, where tiles have accumulators
    ClassTimes times_{};
    SmHistory history_;  // of times_
    std::vector<Place> places_;
    std::vector<Event> events_;  // the next one last
    Ticks stored_;
    bool used_ = false;
};

}  // namespace systole::simt
