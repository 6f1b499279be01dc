// SPDX-License-Identifier: Apache-2.0
// Persistent CTAs: while one tile is worked on, the data of the next are asked for, into stages that it has
// given back. Each CTA has two places for that, which take tiles by turns; three, where the sums of a tile
// may lie in tensor memory while the next is multiplied.
#include <algorithm>

#include "models/devices/simt/machine/sm_group.h"

namespace systole::simt {

/// Places of a CTA go round: that of the tile before.
int SmGroup::before(int number) const {
    const int all = static_cast<int>(places_.size());
    return (number + all - cta_->resident) % all;
}

int SmGroup::behind(int number) const {
    return (number + cta_->resident) % static_cast<int>(places_.size());
}

/// Of the CTA's accumulators one is free.
bool SmGroup::has_accumulator(int number) const {
    int used = 0;
    for (int i = number % cta_->resident; i < static_cast<int>(places_.size()); i += cta_->resident)
        used += places_[static_cast<std::size_t>(i)].summed ? 1 : 0;
    return used < cta_->accumulators;
}

/// Nobody multiplies before it, and its sums have a place.
bool SmGroup::may_multiply(int number) const {
    const Place& ahead = places_[static_cast<std::size_t>(before(number))];
    if (cta_->accumulators == 0) return !ahead.taken && !ahead.storing;
    return (!ahead.taken || ahead.multiplied) && has_accumulator(number);
}

/// A tile may follow another when all data of that one are asked for.
bool SmGroup::may_begin(int number) const {
    if (!cta_->persistent) return true;
    if (cta_->accumulators > 0 && next_place_[static_cast<std::size_t>(number % cta_->resident)] != number)
        return false;
    const Place& ahead = places_[static_cast<std::size_t>(before(number))];
    if (!ahead.taken) return true;
    return !ahead.behind && ahead.step + static_cast<std::int64_t>(ahead.data.size()) >= ahead.reads;
}

/// The place's CTA has a tile, or had one whose stores are not answered.
bool SmGroup::begun(int number) const {
    for (int i = number % cta_->resident; i < static_cast<int>(places_.size()); i += cta_->resident) {
        const Place& place = places_[static_cast<std::size_t>(i)];
        if (i != number && (place.taken || place.storing)) return true;
    }
    return false;
}

/// The place's new tile follows another on the same CTA: its data take the stages that are free. False: a
/// CTA begins with it.
bool SmGroup::follow(int number, Ticks now) {
    if (!cta_->persistent) return false;
    next_place_[static_cast<std::size_t>(number % cta_->resident)] = behind(number);
    Place& place = places_[static_cast<std::size_t>(number)];
    Place& ahead = places_[static_cast<std::size_t>(before(number))];
    place.asked_first = false;
    place.behind = false;
    if (!begun(number)) return false;
    place.behind = !may_multiply(number);
    const bool multiplies = ahead.taken && !ahead.multiplied;
    const std::int64_t held = multiplies ? static_cast<std::int64_t>(ahead.data.size()) : 0;
    place.data.clear();
    place.asked = ahead.asked;
    for (std::int64_t stage = held; stage < cta_->ahead; ++stage) ask(number, to_fine(now));
    if (!place.behind) {
        place.marks.swap(ahead.marks);
        mark(place, to_fine(now), cta_->wait);
    }
    return true;
}

/// The place's next data have a stage from `free` on.
void SmGroup::ask(int number, Fine free) {
    Place& place = places_[static_cast<std::size_t>(number)];
    const auto step = static_cast<std::int64_t>(place.data.size());
    if (step >= std::min<std::int64_t>(place.reads, cta_->ahead)) return;
    place.asked = std::max(free, place.asked + cta_->request);
    place.data.push_back({place.asked, {}});
    push(place.asked, number, What::Request, step);
}

/// A stage that the place needs no more is the next tile's, if one waits behind it.
void SmGroup::ask_for_next(int number, Fine free) {
    if (cta_->persistent && places_[static_cast<std::size_t>(behind(number))].behind)
        ask(behind(number), free);
}

void SmGroup::asked_first(int number, Fine now) {
    Place& place = places_[static_cast<std::size_t>(number)];
    place.asked_first = true;
    if (!place.behind) wait_for_data(number, now);
}

/// The tensor cores are free for the tile behind it; its own sums wait for its epilogue.
void SmGroup::steps_are_through(int number, Fine now) {
    if (cta_->accumulators == 0) return;
    Place& place = places_[static_cast<std::size_t>(number)];
    if (place.multiplied) return;
    place.multiplied = place.summed = true;
    take_over(number, now);
}

/// The tile at `number` is through, or has given something back: the one that waits behind it (or behind a
/// later one) may begin when its data are there, and knows what the SM waited for until now. False if there
/// is none.
bool SmGroup::take_over(int number, Fine now) {
    if (!cta_->persistent) return false;
    int next = behind(number);
    if (cta_->accumulators > 0)
        while (next != number && !places_[static_cast<std::size_t>(next)].behind) next = behind(next);
    Place& place = places_[static_cast<std::size_t>(next)];
    if (!place.behind || !may_multiply(next)) return false;
    // A stage's worth of what the epilogue before read is free, too.
    for (int stage = static_cast<int>(place.data.size()); stage < cta_->ahead; ++stage) ask(next, now);
    place.behind = false;
    place.marks.swap(places_[static_cast<std::size_t>(before(next))].marks);
    if (place.asked_first)
        wait_for_data(next, now);
    else
        mark(place, now, cta_->wait);
    return true;
}

}  // namespace systole::simt
