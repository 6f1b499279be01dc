// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/sm_group.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "sim/base/check.h"

namespace systole::simt {

bool SmGroup::Event::before(const Event& other) const {
    return std::tie(time, place, what, step) < std::tie(other.time, other.place, other.what, other.step);
}

SmGroup::SmGroup(const CtaTimes& times, std::int64_t first_sm, std::int64_t sms, Ticks start)
    : cta_(&times),
      first_sm_(first_sm),
      sms_(sms),
      free_(to_fine(start)),
      next_place_(static_cast<std::size_t>(times.resident)),
      epilogue_free_(next_place_.size()),
      places_(static_cast<std::size_t>(times.resident * times.tiles_of_cta())),
      stored_(start) {
    std::iota(next_place_.begin(), next_place_.end(), 0);
}

std::optional<int> SmGroup::free_place() const {
    for (int i = 0; i < static_cast<int>(places_.size()); ++i) {
        const Place& place = places_[static_cast<std::size_t>(i)];
        if (!place.taken && !place.storing && may_begin(i)) return i;
    }
    return std::nullopt;
}

int SmGroup::taken() const {
    return static_cast<int>(std::count_if(places_.begin(), places_.end(), [](const Place& place) {
        return place.taken && !place.behind && !place.summed;
    }));
}

SmGroup SmGroup::split(std::int64_t sms) {
    SYSTOLE_CHECK(0 < sms && sms < sms_, "{} of {} SMs", sms, sms_);
    SmGroup rest = *this;
    rest.first_sm_ += sms;
    rest.sms_ -= sms;
    sms_ = sms;
    for (Place& place : places_) place.ctas.count = sms_;
    for (Place& place : rest.places_) {
        place.ctas.first += sms * place.ctas.stride;
        place.ctas.count = rest.sms_;
    }
    return rest;
}

void SmGroup::push(Fine time, int place, What what, std::int64_t step) {
    const Event event{time, place, what, step};
    const auto after = [](const Event& a, const Event& b) { return b.before(a); };
    events_.insert(std::upper_bound(events_.begin(), events_.end(), event, after), event);
}

void SmGroup::mark(Place& place, Fine begin, SlotClass owner, bool chain) {
    place.marks.push_back({begin, owner, chain});
}

void SmGroup::start(int number, RunId run, CtaRange range, std::int64_t steps, Ticks now, Fine handed) {
    Place& place = places_[static_cast<std::size_t>(number)];
    SYSTOLE_CHECK(!place.taken && !place.storing && range.count == sms_, "place {} of a group of {} SMs",
                  number, sms_);
    used_ = true;
    place.taken = true;
    place.stored = place.multiplied = place.summed = false;
    place.run = run;
    place.ctas = range;
    place.steps = steps;
    place.step = 0;
    place.between = false;
    place.end = Fine();
    place.reads = steps + (cta_->reads_ahead() ? 1 : 0);
    if (follow(number, now)) return;
    place.data.assign(static_cast<std::size_t>(std::min<std::int64_t>(place.reads, cta_->ahead)), {});
    const Fine begin = to_fine(now), first = std::max(begin, handed) + cta_->launch,
               request = first + cta_->prologue;
    mark(place, begin, SlotClass::Launch);
    mark(place, first, cta_->ramp);
    for (std::int64_t step = 0; step < static_cast<std::int64_t>(place.data.size()); ++step)
        push(place.asked = request + step * cta_->request, number, What::Request, step);
    if (steps == 0) push(request, number, What::StepEnd, -1);
}

Ticks SmGroup::next_event() const {
    return events_.empty() ? Ticks::max() : at_or_after(events_.back().time);
}

void SmGroup::advance(Ticks now, std::vector<Request>& requests) {
    while (!events_.empty() && events_.back().time <= to_fine(now)) {
        const Event event = events_.back();
        events_.pop_back();
        handle(event, requests);
    }
}

void SmGroup::handle(const Event& event, std::vector<Request>& requests) {
    Place& place = places_[static_cast<std::size_t>(event.place)];
    switch (event.what) {
        case What::Request:
            requests.push_back({place.run, place.ctas, event.step});
            if (event.step == 0) asked_first(event.place, event.time);
            break;
        case What::StepReady:
            serve(event.place, event.time);
            break;
        case What::StepEnd:
            end_step(event.place, event.step, event.time);
            break;
        // Steps of others may have held an epilogue up meanwhile.
        case What::Store:
            if (const Fine at = place.end - cta_->stores; at > event.time)
                push(at, event.place, What::Store, 0);
            else
                requests.push_back({place.run, place.ctas, kStore});
            break;
        case What::End:
            if (place.end > event.time)
                push(place.end, event.place, What::End, 0);
            else
                end(event.place, event.time);
            break;
    }
}

// The next step may begin when its data are there: at once, if they are.
void SmGroup::wait_for_data(int number, Fine now) {
    Place& place = places_[static_cast<std::size_t>(number)];
    place.between = true;
    const Data& data = place.data.front();
    if (!data.there) {
        // Until the others of the cluster are through with the stage, nobody asks for data.
        if (data.free > now) mark(place, now, SlotClass::Dependency);
        mark(place, std::max(now, data.free), cta_->wait);
        return;
    }
    place.between = false;
    if (*data.there > now) mark(place, now, cta_->wait);
    const Fine there = std::max(now, *data.there);
    if (place.step >= place.steps) {
        if (place.step + 1 == place.reads) return begin_epilogue(number, there);
        ++place.step;
        place.data.pop_front();
        return wait_for_data(number, there);
    }
    if (place.step == 0) mark(place, there, cta_->ramp);
    push(place.step == 0 ? there + cta_->fill : there, number, What::StepReady, place.step);
}

void SmGroup::arrived(RunId run, std::int64_t step, Ticks now) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        Place& place = places_[i];
        if (place.run != run) continue;
        if (step == kStore) {
            stored_ = std::max(stored_, now);
            place.stored = true;
            if (place.taken) continue;  // its epilogue goes on
            place.storing = false;
            if (!take_over(static_cast<int>(i), to_fine(now)) && !place.taken)
                mark(place, to_fine(now), SlotClass::Tail);
            continue;
        }
        const auto behind = static_cast<std::size_t>(step - place.step);
        SYSTOLE_CHECK(
            place.taken && step >= place.step && behind < place.data.size() && !place.data[behind].there,
            "data of step {} at step {}", step, place.step);
        place.data[behind].there = to_fine(now) + (step == 0 || step >= place.steps ? Fine() : cta_->lead);
        if (place.between && behind == 0) wait_for_data(static_cast<int>(i), to_fine(now));
    }
}

void SmGroup::serve(int number, Fine ready) {
    Place& place = places_[static_cast<std::size_t>(number)];
    const Fine begin = std::max(ready, free_);
    charge_idle(place, begin);
    const int ctas = taken();
    const bool indices = cta_->indices_first && place.step == 0;
    const Fine share = indices ? Fine() : cta_->share(ctas), alone = indices ? Fine() : cta_->alone;
    charge(SlotClass::Useful, cta_->busy);
    (ctas == 1 ? cta_->lost_alone : cta_->lost_full).charge(share - cta_->busy, times_);
    free_ = begin + share;
    history_.until(free_, times_);
    while (place.marks.size() > 1 && place.marks[1].begin <= free_) place.marks.pop_front();
    mark(place, begin, SlotClass::Dependency, true);
    if (cta_->request_in_step) request(number, place.step, begin + *cta_->request_in_step);
    Fine through = std::max(free_, begin + alone);
    // Its warps go on one by one; the last of them ends with its stores, which are the epilogue.
    if (cta_->warps_go_on)
        through = std::max(begin + alone, place.step + 1 == place.steps ? free_ - cta_->epilogue : Fine());
    push(through + crowded(number, begin), number, What::StepEnd, place.step);
}

/// How much longer a step takes for others' epilogues, which it holds up as long.
Fine SmGroup::crowded(int number, Fine begin) {
    Fine longer;
    if (cta_->crowding == Fine()) return longer;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        Place& other = places_[i];
        if (static_cast<int>(i) == number || !other.taken || other.end <= begin) continue;
        const Fine together = std::min(cta_->crowding, other.end - begin);
        other.end += together;
        longer += together;
    }
    lsu_free_ += longer;
    return longer;
}

/// Asks at `time` for the data that step `step` is to ask for.
void SmGroup::request(int number, std::int64_t step, Fine time) {
    Place& place = places_[static_cast<std::size_t>(number)];
    const std::int64_t requested = step + cta_->ahead;
    if (requested >= place.reads) return ask_for_next(number, time + cta_->release);
    const Fine free = time + cta_->release;
    place.data.push_back({free, {}});
    push(place.asked = free, number, What::Request, requested);
}

void SmGroup::end_step(int number, std::int64_t step, Fine now) {
    Place& place = places_[static_cast<std::size_t>(number)];
    if (step >= 0) {
        ++place.step;
        place.data.pop_front();
        if (!cta_->request_in_step) request(number, step, now);
    }
    if (place.step == place.steps) steps_are_through(number, now);
    if (cta_->reads_at_end() && place.step == place.steps) {
        place.data.emplace_back();
        push(now, number, What::Request, place.reads++);
    }
    if (place.step < place.reads) return wait_for_data(number, now);
    begin_epilogue(number, now);
}

void SmGroup::begin_epilogue(int number, Fine now) {
    Place& place = places_[static_cast<std::size_t>(number)];
    place.data.clear();
    if (cta_->epilogue_vector > Fine()) mark(place, now, SlotClass::Vector);
    mark(place, now + cta_->epilogue_vector, cta_->ramp);
    lsu_free_ = std::max(lsu_free_, now) + cta_->epilogue_lsu;
    place.end = std::max(now + cta_->epilogue, lsu_free_);
    if (cta_->accumulators > 0) {
        Fine& free = epilogue_free_[static_cast<std::size_t>(number % cta_->resident)];
        place.end = std::max(place.end, free + cta_->epilogue);
        free = place.end;
    }
    push(place.end - cta_->stores, number, What::Store, 0);
    push(place.end, number, What::End, 0);
}

// Until its place is taken again, or its stores are answered, what the SM waits for is memory.
void SmGroup::end(int number, Fine now) {
    Place& place = places_[static_cast<std::size_t>(number)];
    place.taken = place.summed = false;
    place.storing = cta_->stores_hold && !place.stored;
    // Others may wait for its accumulator.
    if (cta_->accumulators > 0 || !place.storing)
        if (take_over(number, now)) return;
    mark(place, now, place.stored ? SlotClass::Tail : cta_->wait);
}

void SmGroup::charge_idle(const Place& place, Fine until) {
    if (until <= free_) return;
    if (place.marks.empty() || place.marks.front().begin > free_) {
        const Fine first = place.marks.empty() ? until : std::min(until, place.marks.front().begin);
        charge(SlotClass::Tail, first - free_);
        free_ = first;
        history_.until(free_, times_);
    }
    for (std::size_t i = 0; i < place.marks.size() && free_ < until; ++i) {
        const Fine end = i + 1 < place.marks.size() ? std::min(until, place.marks[i + 1].begin) : until;
        if (end <= free_) continue;
        if (place.marks[i].chain)
            cta_->lost_alone.charge(end - free_, times_);
        else
            charge(place.marks[i].owner, end - free_);
        free_ = end;
        history_.until(free_, times_);
    }
}

// Of its places, the one whose last CTA was through last tells what the SM waited for.
const ClassTimes& SmGroup::finish(Ticks end) {
    const auto through = [](const Place& a, const Place& b) {
        const Fine of_a = a.marks.empty() ? Fine(-1) : a.marks.back().begin;
        const Fine of_b = b.marks.empty() ? Fine(-1) : b.marks.back().begin;
        return of_a < of_b;
    };
    SYSTOLE_CHECK(taken() == 0 && events_.empty(), "{} CTAs at {} ps", taken(), end.value());
    charge_idle(*std::max_element(places_.begin(), places_.end(), through), to_fine(end));
    SYSTOLE_CHECK(free_ == to_fine(end), "tensor cores in use until {} of {}", free_.value(),
                  to_fine(end).value());
    return times_;
}

}  // namespace systole::simt
