// SPDX-License-Identifier: Apache-2.0
#include "models/memory/controller/dram_channel.h"

#include <algorithm>
#include <limits>

namespace systole {

DramChannel::DramChannel(const DramSpec& spec, const AddressMap& map) : command_bus_(spec) {
    if (spec.shared_queue) shared_ = std::make_shared<QueueEntries>(spec.queue);
    for (int number = 0; number < spec.pseudo_channels; ++number)
        buses_.emplace_back(spec, map, number,
                            shared_ ? shared_ : std::make_shared<QueueEntries>(spec.queue));
}

DramChannel DramChannel::twin() const {
    DramChannel copy(*this);
    copy.listener_ = nullptr;
    if (shared_) copy.shared_ = std::make_shared<QueueEntries>(*shared_);
    for (std::size_t i = 0; i < buses_.size(); ++i) copy.buses_[i].follow(buses_[i], copy.shared_);
    for (PseudoChannel*& bus : copy.streaming_) bus = copy.buses_.data() + (bus - buses_.data());
    return copy;
}

bool DramChannel::same_from(const DramChannel& other, Cycles now) const {
    return !streams() && !other.streams() && admission_ == Cycles::max() &&
           other.admission_ == Cycles::max() && command_bus_.same_from(other.command_bus_, now) &&
           std::ranges::equal(buses_, other.buses_, [now](const PseudoChannel& a, const PseudoChannel& b) {
               return a.same_from(b, now);
           });
}

void DramChannel::push(int pseudo_channel, std::int64_t request, std::int64_t first, std::int64_t count,
                       Direction direction, Cycles now) {
    fix_until(now);
    if (streams()) {
        if (join(pseudo_channel, request, first, count, direction, now)) {
            sequence_ += count;
            return;
        }
        close_streams(now);
    }
    if (admission_ <= now) admit(now);  // who came before goes first
    buses_[index(pseudo_channel)].push(request, first, count, direction, sequence_, now);
    if (shared_) {
        for (PseudoChannel& bus : buses_) bus.notice(now);
        if (buses_[index(pseudo_channel)].bursts_at_door(direction) > 0 && shared_->free(direction) > 0)
            admission_ = now;
    }
    sequence_ += count;
}

/// The pseudo-channel whose door has the burst that has waited longest; none if nothing waits.
PseudoChannel* DramChannel::first_at_doors(Direction direction) {
    PseudoChannel* first = nullptr;
    for (PseudoChannel& bus : buses_)
        if (bus.bursts_at_door(direction) > 0 &&
            (!first || bus.first_at_door(direction) < first->first_at_door(direction)))
            first = &bus;
    return first;
}

/// Free entries of a shared queue go to the bursts that have waited longest.
void DramChannel::admit(Cycles now) {
    admission_ = Cycles::max();
    for (const Direction direction : {Direction::Read, Direction::Write}) {
        while (shared_->free(direction) > 0) {
            PseudoChannel* const first = first_at_doors(direction);
            if (!first) break;
            first->admit_one(direction, now);
            for (PseudoChannel& bus : buses_) bus.notice(now);
        }
    }
}

/// So many bursts at a door will enter a shared queue as it is.
std::int64_t DramChannel::entering(const PseudoChannel& asked, Direction direction) const {
    if (streams()) return asked.entered_in_shared_stream(direction, fixed_);
    std::int64_t theirs = 0, mine = 0;
    for (int free = shared_->free(direction); free > 0; --free) {
        std::int64_t* first = nullptr;
        std::int64_t sequence = Window::kNone;
        for (const PseudoChannel& bus : buses_) {
            std::int64_t& count = &bus == &asked ? mine : theirs;
            const std::int64_t candidate = bus.sequence_at_door(direction, count);
            if (candidate < sequence) first = &count, sequence = candidate;
        }
        if (!first) break;
        ++*first;
    }
    return mine;
}

/// Whether a burst could be pushed at the next clock. Before a shared queue that is full one of each
/// pseudo-channel can wait, and at one clock no other can pass it.
bool DramChannel::room(int pseudo_channel, Direction direction) const {
    const PseudoChannel& bus = buses_[index(pseudo_channel)];
    std::int64_t free = bus.free_entries(direction) - bus.bursts_at_door(direction);
    if (!shared_) return free > 0;
    if (bus.bursts_at_door(direction) == 0) return true;
    for (const PseudoChannel& other : buses_)
        if (&other != &bus) free -= other.bursts_at_door(direction);
    return free > 0;
}

bool DramChannel::room_now(int pseudo_channel, Direction direction) const {
    if (shared_ && streams()) return buses_[index(pseudo_channel)].room_in_shared_stream(direction) <= fixed_;
    if (!room(pseudo_channel, direction)) return false;
    if (!shared_ || buses_[index(pseudo_channel)].last_use(direction) < fixed_) return true;
    std::int64_t free = shared_->free(direction);
    for (const PseudoChannel& bus : buses_) free -= bus.bursts_at_door(direction);
    return free > 0;
}

/// Does what comes next, of all pseudo-channels, if it comes before `until`, or opens streams with it.
[[gnu::flatten]] bool DramChannel::step(Cycles until) {
    PseudoChannel* const end = buses_.data() + buses_.size();
    PseudoChannel* first = buses_.data();
    const Choice* best = &first->next(command_bus_, now_);
    for (PseudoChannel* bus = first + 1; bus != end; ++bus) {
        const Choice& choice = bus->next(command_bus_, now_);
        const bool earlier = choice.before(*best);
        best = earlier ? &choice : best;
        first = earlier ? bus : first;
    }
    const Choice& next = *best;
    last_ = next.kind;
    if (admission_ <= next.when) {
        if (admission_ >= until) return false;
        now_ = admission_;
        admit(now_);
        return true;
    }
    if (next.when >= until) return false;
    if (next.kind == Choice::Kind::Column && first->may_stream() && open_streams(next.when)) return true;
    now_ = next.when;
    const std::int64_t row = first->take(next);
    if (next.kind == Choice::Kind::Change) return true;
    if (shared_ && next.kind == Choice::Kind::Column) {
        for (const PseudoChannel& bus : buses_)
            if (bus.bursts_at_door(next.direction) > 0) admission_ = now_ + Cycles(1);
    }
    command_bus_.take(next.command, now_);
    tell(*first, next, row);
    return true;
}

void DramChannel::run_until(Cycles until) {
    while (streams() ? !run_streams(until) : step(until))
        if (last_ == Choice::Kind::Change) skip_pause(until);
    now_ = fixed_ = until;
}

/// A pause costs nothing, however long: its refreshes are counted, not given. A listener hears all of them.
void DramChannel::skip_pause(Cycles until) {
    if (listener_) return;
    std::int64_t skipped = std::numeric_limits<std::int64_t>::max();
    for (const PseudoChannel& bus : buses_) {
        if (!bus.pauses()) return;
        skipped = std::min(skipped, bus.refreshes_to_skip(until));
    }
    if (skipped > 0)
        for (PseudoChannel& bus : buses_) bus.skip_refreshes(skipped);
}

void DramChannel::advance(Cycles now, std::vector<Completion>& done) {
    fix_until(now);
    for (;;) {
        PseudoChannel* first = nullptr;
        Cycles end = Cycles::max();
        for (PseudoChannel& bus : buses_) {
            const Cycles other = bus.first_completion();
            first = other < end ? &bus : first;
            end = other < end ? other : end;
        }
        if (!first || end > now) return;
        done.push_back(first->collect_first());
    }
}

void DramChannel::settle(Cycles now) {
    fix_until(now);
    give_all_put_off(fixed_);
}

Cycles DramChannel::first_completion() const {
    Cycles first = Cycles::max();
    for (const PseudoChannel& bus : buses_) first = std::min(first, bus.first_completion());
    return first;
}

Cycles DramChannel::next_event() const {
    const Cycles freed =
        shared_ && !streams() ? std::min(column_bound() + Cycles(1), admission_) : Cycles::max();
    Cycles next = Cycles::max();
    for (const PseudoChannel& bus : buses_)
        next = std::min(
            next, streams() ? bus.completion_in_stream() : bus.completion_bound(command_bus_, now_, freed));
    return next;
}

/// No column is given before this clock.
Cycles DramChannel::column_bound() const {
    Cycles bound = std::min(Cycles::max() - Cycles(1), admission_);
    for (const PseudoChannel& bus : buses_) bound = std::min(bound, bus.column_bound(command_bus_, now_));
    return bound;
}

std::int64_t DramChannel::at_door(int pseudo_channel, Direction direction) const {
    const PseudoChannel& bus = buses_[index(pseudo_channel)];
    return bus.at_door(direction, shared_ ? entering(bus, direction) : bus.free_entries(direction));
}

Cycles DramChannel::next_door_event(int pseudo_channel, Direction direction) const {
    const PseudoChannel& bus = buses_[index(pseudo_channel)];
    if (streams())
        return shared_ ? bus.door_in_shared_stream(direction, fixed_) : bus.door_in_stream(direction);
    if (!shared_) return bus.door_bound(direction, command_bus_, now_);
    const std::int64_t missing = bus.missing_entries(direction, entering(bus, direction));
    return missing <= 0 ? Cycles::max() : column_bound() + Cycles(missing);
}

bool DramChannel::has_room(int pseudo_channel, Direction direction, Cycles now) {
    fix_until(now);
    return room_now(pseudo_channel, direction);
}

Cycles DramChannel::wait_for_room(int pseudo_channel, Direction direction, Cycles now, Cycles limit) {
    fix_until(now);
    if (room_now(pseudo_channel, direction)) return now;
    const PseudoChannel& bus = buses_[index(pseudo_channel)];
    while (streams() || !room(pseudo_channel, direction)) {
        if (!streams()) {
            if (!step(limit)) break;
            continue;
        }
        const Cycles found = shared_ ? bus.room_in_shared_stream(direction) : bus.room_in_stream(direction);
        if (run_streams(std::min(found, limit))) return now_ = fixed_ = std::min(found, limit);
    }
    // An entry that a column frees at one clock can be filled at the next.
    const Cycles found = room(pseudo_channel, direction) ? std::min(now_ + Cycles(1), limit) : limit;
    fix_until(found);
    return found;
}

Cycles DramChannel::wait_at_door(int pseudo_channel, Direction direction, std::int64_t most) {
    while (at_door(pseudo_channel, direction) >= most) fix_until(next_door_event(pseudo_channel, direction));
    return fixed_;
}

bool DramChannel::idle() const {
    return std::all_of(buses_.begin(), buses_.end(), [](const PseudoChannel& bus) { return bus.idle(); });
}

BusAccount DramChannel::account(int pseudo_channel, Cycles now) const {
    return buses_[index(pseudo_channel)].account(now);
}

}  // namespace systole
