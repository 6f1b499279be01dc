// SPDX-License-Identifier: Apache-2.0
// The fast path of DramChannel: all pseudo-channels that have work stream at once. Their columns follow each
// other at even cadences that never meet on the column bus; only row commands are given one by one. The
// streams stay open until something comes that does not continue them.
#include <algorithm>

#include "models/memory/controller/dram_channel.h"

namespace systole {

/// Opens the streams, of which the first column is given at `now`. False if what comes is not so certain.
bool DramChannel::open_streams(Cycles now) {
    if (admission_ != Cycles::max()) return false;
    Cycles due = Cycles::max();
    for (const PseudoChannel& bus : buses_) due = std::min(due, bus.refresh_due());
    for (PseudoChannel& bus : buses_)
        if (!bus.can_stream(due, command_bus_, now_) && !bus.rests()) return false;
    for (PseudoChannel& bus : buses_)
        if (!bus.rests()) streaming_.push_back(&bus);
    if (streaming_.size() == 2 && !streaming_[0]->streams_beside(*streaming_[1])) {
        streaming_.clear();
        return false;
    }
    for (PseudoChannel* bus : streaming_) bus->begin_stream(now, due, !shared_ || bus == streaming_.front());
    rank_waiting();
    for (PseudoChannel* bus : streaming_) bus->plan_stream();
    quiet_ = Cycles();
    return true;
}

/// All that waits is ranked in the order in which it came.
void DramChannel::rank_waiting() {
    for (;;) {
        PseudoChannel* first = streaming_.front();
        for (PseudoChannel* bus : streaming_)
            if (bus->next_to_rank() < first->next_to_rank()) first = bus;
        if (first->next_to_rank() == Window::kNone) return;
        first->rank_next();
    }
}

/// Gives all that the streams give before `until`; false if they end earlier, at now_.
bool DramChannel::run_streams(Cycles until) {
    const Cycles limit = until > quiet_ ? give_rows(until) : until;
    if (listener_) tell_columns(limit);
    for (PseudoChannel* bus : streaming_) bus->serve_stream(limit);
    if (limit == until) return true;
    close_streams(limit);
    return false;
}

/// Everything before `limit` is given.
void DramChannel::close_streams(Cycles limit) {
    give_all_put_off(limit);
    for (PseudoChannel* bus : streaming_) bus->end_stream();
    refill(limit);
    for (PseudoChannel* bus : streaming_) {
        bus->resume(limit);
        if (bus->stream_began()) command_bus_.take(bus->stream_command(), bus->last_of_stream());
    }
    if (shared_ && shared_->free(streaming_.front()->stream_direction()) > 0) admission_ = limit;
    streaming_.clear();
    now_ = limit;
}

/// What has entered the windows before `limit` is there; of entries that are shared who came first takes the
/// next.
void DramChannel::refill(Cycles limit) {
    if (!shared_) {
        for (PseudoChannel* bus : streaming_)
            while (bus->enter_after_stream(limit, Window::kNone)) continue;
        return;
    }
    // Nothing waits at the doors of those that rest.
    const Direction direction = streaming_.front()->stream_direction();
    for (PseudoChannel* first = first_at_doors(direction); first && first->enter_after_stream(limit, 1);)
        first = first_at_doors(direction);
}

/// As push(), while there are streams. False if they do not go on with it.
bool DramChannel::join(int pseudo_channel, std::int64_t request, std::int64_t first, std::int64_t count,
                       Direction direction, Cycles now) {
    PseudoChannel& bus = buses_[index(pseudo_channel)];
    if (!bus.join_stream(request, first, count, direction, sequence_, now)) return false;
    quiet_ = std::min({quiet_, bus.next_in_sight(), bus.stream_limit()});
    return true;
}

/// Gives the row commands beside the streams before `until`, or the earlier clock up to which the streams are
/// certain, and answers that. Nothing but columns is given before quiet_.
Cycles DramChannel::give_rows(Cycles until) {
    Cycles begin = Cycles::max();
    for (PseudoChannel* bus : streaming_)
        begin = std::min(begin, bus->book_begin(std::min(until, certain())));
    const bool alone = streaming_.size() == 1 && !one_command_bus();
    for (;;) {
        PseudoChannel* bus = streaming_.front();
        while (alone && bus->put_off_page(command_bus_, until, !listener_)) continue;
        PseudoChannel* seeing = bus;
        const Choice* next = &bus->next_beside_stream(command_bus_);
        Cycles sight = bus->next_in_sight(), limit = bus->stream_limit();
        for (std::size_t i = 1; i < streaming_.size(); ++i) {
            PseudoChannel* other = streaming_[i];
            const Choice& choice = other->next_beside_stream(command_bus_);
            if (choice.before(*next)) next = &choice, bus = other;
            if (other->next_in_sight() < sight) sight = other->next_in_sight(), seeing = other;
            limit = std::min(limit, other->stream_limit());
        }
        const Cycles event = std::min(next->when, sight);
        const bool over = event >= std::min(limit, until);
        if (bus->puts_off() && (!over || listener_)) {
            give_put_off(*bus, std::min({event, limit, until}));
            continue;
        }
        if (over) {
            quiet_ = std::min({event, limit, begin});
            return std::min(limit, until);
        }
        if (sight <= next->when) {
            seeing->sight_run(command_bus_);
            continue;
        }
        if (one_command_bus()) {  // a row command would meet columns
            quiet_ = std::min(event, begin);
            return std::max(event, bus->stream_begin() + Cycles(1));
        }
        if (listener_) tell_columns(next->when + Cycles(1));
        const std::int64_t row = bus->take_beside_stream();
        command_bus_.take(next->command, next->when);
        tell(*bus, *next, row);
    }
}

/// What was put off is given, as far as it comes before `limit`.
void DramChannel::give_put_off(PseudoChannel& bus, Cycles limit) {
    if (!listener_) bus.give_old_pages();
    while (const Choice* const next = bus.first_put_off(limit)) {
        if (listener_) tell_columns(next->when + Cycles(1));
        const std::int64_t row = bus.take_put_off();
        command_bus_.take(next->command, next->when);
        tell(bus, *next, row);
    }
    bus.end_put_off();
    quiet_ = Cycles();
}

void DramChannel::give_all_put_off(Cycles limit) {
    for (PseudoChannel* bus : streaming_)
        if (bus->puts_off()) give_put_off(*bus, limit);
}

/// The clock before which all streams go on as things stand.
Cycles DramChannel::certain() const {
    Cycles limit = Cycles::max();
    for (const PseudoChannel* bus : streaming_) limit = std::min(limit, bus->stream_limit());
    return limit;
}

/// Tells the listener of the columns of all streams before `until`, in the order of time.
void DramChannel::tell_columns(Cycles until) {
    for (;;) {
        PseudoChannel* first = nullptr;
        for (PseudoChannel* bus : streaming_)
            if (!first || bus->next_told() < first->next_told()) first = bus;
        if (!first || first->next_told() >= until) return;
        listener_(first->tell_column());
    }
}

}  // namespace systole
