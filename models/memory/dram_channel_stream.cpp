// SPDX-License-Identifier: Apache-2.0
// The fast path of DramChannel: all pseudo-channels that have work stream at once. Their columns follow each
// other at even cadences that never meet on the column bus; only row commands are given one by one.
#include <algorithm>

#include "models/memory/dram_channel.h"

namespace systole {

/// Gives columns and rows from `now` on in one step as far as that is certain, but none at `until` or later.
/// False if it is not certain at all.
bool DramChannel::stream(Cycles now, Cycles until) {
    streaming_.clear();
    Cycles limit = until;
    for (PseudoChannel& bus : buses_) {
        limit = std::min(limit, bus.refresh_due());
        if (!bus.rests()) streaming_.push_back(&bus);
    }
    for (const PseudoChannel* bus : streaming_)
        if (!bus->can_stream(limit)) return false;
    if (streaming_.size() == 2 && !streaming_[0]->streams_beside(*streaming_[1])) return false;
    for (PseudoChannel* bus : streaming_) bus->begin_stream(now, limit);
    limit = give_rows(limit);
    if (listener_) tell_columns(limit);
    for (PseudoChannel* bus : streaming_) {
        bus->end_stream(limit);
        if (bus->stream_begin() < limit) command_bus_.take(bus->stream_command(), bus->last_of_stream(limit));
    }
    now_ = limit;
    return true;
}

/// Gives the row commands beside the streams; answers the clock before which everything is certain.
Cycles DramChannel::give_rows(Cycles until) {
    for (;;) {
        PseudoChannel* bus = streaming_.front();
        PseudoChannel* seeing = bus;
        Choice next = bus->next_beside_stream(command_bus_);
        Cycles sight = bus->next_in_sight(), limit = std::min(until, bus->stream_limit());
        for (std::size_t i = 1; i < streaming_.size(); ++i) {
            PseudoChannel* other = streaming_[i];
            const Choice choice = other->next_beside_stream(command_bus_);
            if (choice.before(next)) next = choice, bus = other;
            if (other->next_in_sight() < sight) sight = other->next_in_sight(), seeing = other;
            limit = std::min(limit, other->stream_limit());
        }
        if (std::min(next.when, sight) >= limit) return limit;
        if (sight <= next.when) {
            seeing->sight_run();
            continue;
        }
        // On one bus a row command would meet columns.
        if (one_command_bus()) return std::max(next.when, bus->stream_begin() + Cycles(1));
        if (listener_) tell_columns(next.when + Cycles(1));
        const std::int64_t row = bus->take_beside_stream(next);
        command_bus_.take(next.command, next.when);
        tell(*bus, next, row);
    }
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
