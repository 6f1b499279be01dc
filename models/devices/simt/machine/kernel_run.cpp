// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/kernel_run.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::simt {

KernelRun::KernelRun(const CtaWork& work, const CtaTimes& times, std::int64_t sms, std::int64_t all,
                     Ticks start, std::int64_t largest_group, const Dies& dies)
    : work_(work),
      times_(times),
      cluster_(work.cluster()),
      left_over_(all - sms),
      start_(start),
      deal_(work.ctas(), dies.count, dies.neighbours),
      sms_of_die_(sms / dies.count),
      handed_(static_cast<std::size_t>(dies.count), to_fine(start)),
      to_hand_over_(times.persistent ? std::min(work.ctas(), sms * times.resident) : work.ctas()) {
    SYSTOLE_CHECK(0 < sms && sms <= all && sms % cluster_ == 0, "{} of {} SMs for clusters of {}", sms, all,
                  cluster_);
    SYSTOLE_CHECK(dies.count == 1 || (cluster_ == 1 && sms % dies.count == 0), "{} SMs on {} dies", sms,
                  dies.count);
    const std::int64_t largest = std::max(cluster_, largest_group / cluster_ * cluster_);
    for (std::int64_t die = 0; die < dies.count; ++die)
        for (std::int64_t first = 0; first < sms_of_die_; first += largest) {
            const std::int64_t left = sms_of_die_ - first;
            groups_.emplace_back(times_, die * sms_of_die_ + first, std::min(largest, left), start);
            if (largest >= left) break;
        }
    next_events_.assign(groups_.size(), Ticks::max());
    free_places_.assign(groups_.size(), kNone);
    for (std::size_t group = 0; group < groups_.size(); ++group) look_at(group);
}

/// Keeps what is asked of all groups at every event: most of them have not changed since. But in advance()
/// the next event of a group only comes nearer.
void KernelRun::look_at(std::size_t group) {
    next_events_[group] = groups_[group].next_event();
    next_ = std::min(next_, next_events_[group]);
    if (free_places_[group] != kNone) --with_free_;
    free_places_[group] = groups_[group].free_place().value_or(kNone);
    if (free_places_[group] != kNone) ++with_free_;
}

// Groups may become as many as there are SMs.
void KernelRun::keep_histories(std::size_t pieces) {
    keeps_histories_ = true;
    std::int64_t sms = 0;
    for (const SmGroup& group : groups_) sms += group.sms();
    const auto largest = static_cast<std::size_t>(std::max<std::int64_t>(1, sms / 8));
    const std::size_t groups = std::max(groups_.size(), std::min<std::size_t>(8, largest));
    for (SmGroup& group : groups_) group.keep_history(pieces / groups);
}

void KernelRun::advance(Ticks now, std::vector<Access>& accesses) {
    const auto first = static_cast<std::ptrdiff_t>(accesses.size());
    std::erase_if(held_, [&](const auto& held) {
        if (must_wait(held.first)) return false;
        accesses.push_back(access_for(held.first, held.second));
        return true;
    });
    do {
        Ticks next = Ticks::max();
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            if (next_events_[i] <= now) advance_group(i, now, accesses);
            next = std::min(next, next_events_[i]);
        }
        next_ = next;
    } while (dispatch(now) || next_event() <= now);
    // Of groups that ask at once, first CTAs of all come before second ones of any.
    std::stable_sort(accesses.begin() + first, accesses.end(), [&](const Access& a, const Access& b) {
        return sent_[static_cast<std::size_t>(a.number)].first_cta <
               sent_[static_cast<std::size_t>(b.number)].first_cta;
    });
}

void KernelRun::advance_group(std::size_t index, Ticks now, std::vector<Access>& accesses) {
    SmGroup& group = groups_[index];
    requests_.clear();
    group.advance(now, requests_);
    look_at(index);
    for (const SmGroup::Request& request : requests_)
        if (must_wait(request))
            held_.emplace_back(request, group.first_sm());
        else
            accesses.push_back(access_for(request, group.first_sm()));
}

bool KernelRun::must_wait(const SmGroup::Request& request) const {
    const std::int64_t cta = request.ctas.first;
    if (!work_.alone(cta) || request.step != work_.steps(cta)) return false;
    const std::vector<std::int64_t> others = work_.waits_for(cta);
    return !std::all_of(others.begin(), others.end(),
                        [this](std::int64_t other) { return stored_.count(other) > 0; });
}

KernelRun::Access KernelRun::access_for(const SmGroup::Request& request, std::int64_t first_sm) {
    const bool write = request.step == SmGroup::kStore;
    if (write) left_ -= request.ctas.count;
    if (free_.empty()) {
        free_.push_back(static_cast<std::int64_t>(sent_.size()));
        sent_.emplace_back();
    }
    Access access{free_.back(), write,
                  write ? work_.writes(request.ctas) : work_.reads(request.ctas, request.step)};
    free_.pop_back();
    access.tiles.sm = first_sm;
    sent_[static_cast<std::size_t>(access.number)] = {request.run, request.step, first_sm, request.ctas.count,
                                                      request.ctas.first};
    ++waiting_;
    return access;
}

void KernelRun::answered(std::int64_t number, Ticks now) {
    const Sent sent = sent_[static_cast<std::size_t>(number)];
    free_.push_back(number);
    --waiting_;
    if (sent.step == SmGroup::kStore && work_.alone(sent.first_cta)) stored_.insert(sent.first_cta);
    const auto first = std::ranges::lower_bound(groups_, sent.first_sm, {}, &SmGroup::first_sm);
    for (auto i = static_cast<std::size_t>(first - groups_.begin());
         i < groups_.size() && groups_[i].first_sm() < sent.first_sm + sent.sms; ++i) {
        groups_[i].arrived(sent.run, sent.step, now);
        look_at(i);
    }
}

// First places of all SMs (of a die), in the order of the SMs, then second ones. True if a CTA was given a
// place.
bool KernelRun::dispatch(Ticks now) {
    bool any = false;
    while (deal_.left() > 0 && with_free_ > 0) {
        std::optional<std::size_t> group;
        int place = kNone;
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            if (free_places_[i] >= place || deal_.left(die_of(groups_[i])) == 0) continue;
            group = i;
            place = free_places_[i];
        }
        if (!group) break;
        start(*group, place, now);
        any = true;
    }
    return any;
}

/// When a die's work distributor, which has one CTA after the other, has handed over so many. Places that are
/// free at once have become so one by one, as their CTAs got them one by one: only the last waits until now.
Fine KernelRun::hand_over(std::int64_t die, std::int64_t ctas, Ticks now) {
    Fine& last = handed_[static_cast<std::size_t>(die)];
    const std::int64_t handed = std::min(ctas, to_hand_over_);
    to_hand_over_ -= handed;
    if (handed == 0) return to_fine(now);
    return last = std::max(last, to_fine(now) - (handed - 1) * times_.handing) + handed * times_.handing;
}

void KernelRun::start(std::size_t index, int place, Ticks now) {
    const std::int64_t die = die_of(groups_[index]);
    const CtaRange next = deal_.next(die);
    const std::int64_t steps = work_.steps(next.first);
    const std::int64_t most = std::min(groups_[index].sms(), next.count);
    const auto other = [&](std::int64_t number) { return next.first + number * next.stride; };
    std::int64_t alike = cluster_;
    while (alike < most && !work_.alone(next.first) && !work_.alone(other(alike)) &&
           work_.steps(other(alike)) == steps)
        alike += cluster_;
    if (alike < groups_[index].sms()) {
        SmGroup rest = groups_[index].split(alike);
        const auto behind = static_cast<std::ptrdiff_t>(index) + 1;
        groups_.insert(groups_.begin() + behind, std::move(rest));
        next_events_.insert(next_events_.begin() + behind, Ticks::max());
        free_places_.insert(free_places_.begin() + behind, kNone);
        look_at(index + 1);
    }
    const CtaRange range{next.first, alike, next.stride};
    groups_[index].start(place, next_run_++, range, steps, now, hand_over(die, alike, now));
    look_at(index);
    deal_.take(die, alike);
    left_ += alike;
    macs_ += work_.macs(range);
    steps_ += steps * alike;
}

std::array<Int128, kSlotClasses> KernelRun::times_so_far() const {
    std::array<Int128, kSlotClasses> times{};
    for (const SmGroup& group : groups_)
        for (std::size_t c = 0; c < kSlotClasses; ++c) times[c] += Int128{group.times()[c]} * group.sms();
    return times;
}

void KernelRun::leave_out(std::int64_t ctas) {
    deal_.leave_out(ctas);
    left_out_ += ctas;
    if (!times_.persistent) to_hand_over_ -= ctas;
}

KernelAccount KernelRun::finish(Ticks end) {
    SYSTOLE_CHECK(finished(), "{} CTAs and {} accesses at {} ps", left_, waiting_, end.value());
    KernelAccount account;
    Ticks latest(-1);
    for (SmGroup& group : groups_) {
        const ClassTimes& times = group.finish(end);
        for (std::size_t c = 0; c < kSlotClasses; ++c) account.times[c] += Int128{times[c]} * group.sms();
        if (group.used()) account.sms += group.sms();
        if (group.used() && group.stored() > latest) {
            latest = group.stored();
            account.last = times;
        }
    }
    account.times[static_cast<std::size_t>(SlotClass::Tail)] +=
        Int128{(to_fine(end) - to_fine(start_)).value()} * left_over_;
    if (keeps_histories_) {
        ClassTimes idle{};
        idle[static_cast<std::size_t>(SlotClass::Tail)] = (to_fine(end) - to_fine(start_)).value();
        if (left_over_ > 0) {
            const std::int64_t used = groups_.back().first_sm() + groups_.back().sms();
            account.histories.push_back({used, left_over_, {{to_fine(end), idle}}});
        }
        for (const SmGroup& group : groups_)
            account.histories.push_back({group.first_sm(), group.sms(), group.history().pieces()});
    }
    account.cluster = cluster_;
    account.macs = macs_;
    account.ctas = work_.ctas() - left_out_;
    account.left_out = left_out_;
    account.steps = steps_;
    std::int64_t sms = 0;
    for (const SmGroup& group : groups_) sms += group.sms();
    account.waves = ceil_div(work_.ctas(), sms * times_.resident);
    account.groups = static_cast<std::int64_t>(groups_.size());
    return account;
}

}  // namespace systole::simt
