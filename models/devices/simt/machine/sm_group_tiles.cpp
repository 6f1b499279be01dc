// SPDX-License-Identifier: Apache-2.0
// Persistent CTAs: while one tile is worked on, the data of the next are asked for, into stages that it has
// given back. Each CTA has two places for that, which take tiles by turns.
#include <algorithm>

#include "models/devices/simt/machine/sm_group.h"

namespace systole::simt {

int SmGroup::other(int number) const {
    return number < cta_->resident ? number + cta_->resident : number - cta_->resident;
}

/// A tile may follow another when all data of that one are asked for.
bool SmGroup::may_begin(int number) const {
    if (!cta_->persistent) return true;
    const Place& before = places_[static_cast<std::size_t>(other(number))];
    if (!before.taken) return true;
    return !before.behind && before.step + static_cast<std::int64_t>(before.data.size()) >= before.reads;
}

/// The place's new tile follows another on the same CTA: its data take the stages that are free. False: a
/// CTA begins with it.
bool SmGroup::follow(int number, Ticks now) {
    if (!cta_->persistent) return false;
    Place& place = places_[static_cast<std::size_t>(number)];
    const Place& before = places_[static_cast<std::size_t>(other(number))];
    place.asked_first = false;
    place.behind = before.taken || before.storing;
    if (!place.behind) return false;
    const std::int64_t held = before.taken ? static_cast<std::int64_t>(before.data.size()) : 0;
    place.data.clear();
    place.asked = before.asked;
    for (std::int64_t stage = held; stage < cta_->ahead; ++stage) ask(number, to_fine(now));
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
    if (cta_->persistent && places_[static_cast<std::size_t>(other(number))].behind) ask(other(number), free);
}

void SmGroup::asked_first(int number, Fine now) {
    Place& place = places_[static_cast<std::size_t>(number)];
    place.asked_first = true;
    if (!place.behind) wait_for_data(number, now);
}

/// The tile at `number` is through: the one behind it may begin when its data are there, and knows what the
/// SM waited for until now. False if there is none.
bool SmGroup::take_over(int number, Fine now) {
    if (!cta_->persistent) return false;
    const int next = other(number);
    Place& place = places_[static_cast<std::size_t>(next)];
    if (!place.behind) return false;
    // A stage's worth of what the epilogue before read is free, too.
    for (int stage = static_cast<int>(place.data.size()); stage < cta_->ahead; ++stage) ask(next, now);
    place.behind = false;
    place.marks.swap(places_[static_cast<std::size_t>(number)].marks);
    if (place.asked_first)
        wait_for_data(next, now);
    else
        mark(place, now, cta_->wait);
    return true;
}

}  // namespace systole::simt
