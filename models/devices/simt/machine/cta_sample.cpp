// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/cta_sample.h"

#include <algorithm>
#include <numeric>

#include "sim/account/turn_agreement.h"

namespace systole::simt {
namespace {

/// Turns at the end of a kernel that no other stands for: one that finds its place, one that bears the others
/// out, and the last.
constexpr std::int64_t kLastTurns = 3;
/// It does so if it differs by no more than one part in so many.
constexpr std::int64_t kBearsOut = 50;
/// That tell the mean, or are too short (sample_suffices() looks at 4, 6 and 8).
constexpr std::int64_t kMostTurns = 8;
/// At most a half of a kernel is a sample.
constexpr std::int64_t kMostShare = 2;

/// Whether `ctas` take as much of something as others do.
bool alike(std::int64_t value, std::int64_t ctas, std::int64_t expected, std::int64_t of_ctas) {
    const Int128 own = Int128{value} * of_ctas, other = Int128{expected} * ctas;
    return (own > other ? own - other : other - own) * kBearsOut <= other;
}

std::int64_t carried(const CtaSnapshot& begin, const CtaSnapshot& end) {
    return carrying(end.mark) - carrying(begin.mark);
}

}  // namespace

std::int64_t CtaSample::look(CtaSnapshot now) {
    if (left_out_) {
        look_behind(std::move(now));
        return 0;
    }
    snapshots_.push_back(std::move(now));
    const bool told = tells_the_mean();
    next_ = snapshots_.back().begun + turn_;
    if (!told) return 0;
    const std::int64_t times = times_that_fit();
    through_ = times == 0;
    if (through_) return 0;
    left_out_ = LeftOut{snapshots_.front(), snapshots_.back(), times, off(times)};
    return times * left_out_->ctas();
}

void CtaSample::look_behind(CtaSnapshot now) {
    next_ += turn_;
    if (!behind_) {
        behind_ = std::move(now);
        return;
    }
    through_ = true;
    const CtaSnapshot &first = left_out_->first, &last = left_out_->last;
    const std::int64_t ctas = now.begun - behind_->begun;
    borne_out_ = alike((now.mark.time - behind_->mark.time).value(), ctas,
                       (last.mark.time - first.mark.time).value(), left_out_->ctas()) &&
                 alike(carried(*behind_, now), ctas, carried(first, last), left_out_->ctas());
}

/// Where turns are too short to, what is under way at their ends makes them differ: then they are taken in
/// pairs.
bool CtaSample::tells_the_mean() {
    if (sample_suffices(marks())) return true;
    if (std::ssize(snapshots_) <= kMostTurns) return false;
    for (std::size_t i = 1; 2 * i < snapshots_.size(); ++i) snapshots_[i] = std::move(snapshots_[2 * i]);
    snapshots_.resize(snapshots_.size() / 2 + 1);
    turn_ *= 2;
    through_ = kMostTurns * turn_ > turns_.ctas / kMostShare;
    return !through_ && tells_the_mean();
}

/// As of turns of as many CTAs each: SMs that do the same begin several at once, so that these have some more
/// or less.
TurnMarks CtaSample::marks() const {
    TurnMarks marks{snapshots_.front().mark};
    for (std::size_t i = 1; i < snapshots_.size(); ++i) {
        const CtaSnapshot &begin = snapshots_[i - 1], &end = snapshots_[i];
        const auto of_a_turn = [&](std::int64_t value) {
            return static_cast<std::int64_t>(Int128{value} * turn_ / (end.begun - begin.begun));
        };
        Mark mark = marks.back();
        mark.time += Ticks(of_a_turn((end.mark.time - begin.mark.time).value()));
        for (std::size_t bus = 0; bus < mark.memory_bus.size(); ++bus)
            mark.memory_bus[bus].clocks +=
                of_a_turn(end.mark.memory_bus[bus].clocks - begin.mark.memory_bus[bus].clocks);
        marks.push_back(std::move(mark));
    }
    return marks;
}

/// As far as turns differ, all of them `times` over may.
Ticks CtaSample::off(std::int64_t times) const {
    const TurnMarks sample = marks();
    return uncertainty(sample, {turns_of(sample)}, static_cast<std::size_t>(times) * turns_of(sample),
                       kByChance);
}

std::int64_t CtaSample::times_that_fit() const {
    const std::int64_t sample = snapshots_.back().begun - snapshots_.front().begun;
    const std::int64_t room = turns_.ctas - snapshots_.back().begun - kLastTurns * turn_;
    const std::int64_t even = turns_.dies / std::gcd(turns_.dies, sample);
    return std::max<std::int64_t>(0, room / sample) / even * even;
}

}  // namespace systole::simt
