// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/wave_recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/check.h"
#include "sim/base/checked.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/timeline/vcd_writer.h"

namespace systole {

std::size_t WaveRecorder::add(WaveSignal signal, WaveReader read) {
    if (!filter_.offer(signal.path)) return kUnwanted;
    ++wanted_;
    bytes_per_cycle_ += VcdWriter::largest_change(signal);
    if (signals_.size() == kMostSignals) return kUnwanted;  // begin() will refuse
    const std::size_t number = signals_.size();
    if (signal.form == WaveSignal::Form::Clock) {
        const ClockDomain domain(signal.frequency);
        clocks_.push_back({number, domain, domain.at_or_before(window_.begin_time())});
    } else if (read) {
        read_.push_back(number);
    }
    signals_.push_back(std::move(signal));
    readers_.push_back(std::move(read));
    values_.push_back(0);
    return number;
}

void WaveRecorder::begin() {
    filter_.require_matches();
    refuse_too_large();
    written_.resize(values_.size());
    writer_.begin(signals_, window_);
}

void WaveRecorder::refuse_too_large() const {
    const bool all_kept = std::cmp_equal(wanted_, signals_.size());
    const std::int64_t fitting = kLargest / std::max<std::int64_t>(1, bytes_per_cycle_);
    if (all_kept && fitting >= window_.cycles()) return;
    std::vector<std::string> instead;
    if (all_kept && fitting > 0)
        instead.push_back(
            fmt::format("--cycles {}:{}", window_.first.value(), window_.first.value() + fitting));
    // Signals differ in size: half of what fits on average.
    const std::int64_t average = ceil_div(bytes_per_cycle_, wanted_);
    const std::string pattern = example_pattern(signals_, kLargest / window_.cycles() / average / 2);
    if (!pattern.empty()) instead.push_back(fmt::format("--signals '{}'", pattern));
    const Bytes most(checked_mul(bytes_per_cycle_, window_.cycles()).value_or(Bytes::max().value()));
    throw UserError(fmt::format(
        "{} signals over {} cycles could become a VCD of {}; at most {} signals and {} are "
        "recorded; "
        "write {}",
        with_thousands(wanted_), with_thousands(window_.cycles()), format_bytes(most),
        with_thousands(kMostSignals), format_bytes(Bytes(kLargest)), fmt::join(instead, ", or ")));
}

void WaveRecorder::change(std::size_t signal, Ticks at, std::int64_t value) {
    events_.emplace(at, Event{signal, value});
}

/// All edges before `until`. A clock of one tick a cycle has no time to fall.
void WaveRecorder::add_clock_edges(Ticks until) {
    for (Clock& clock : clocks_)
        for (; clock.domain.edge(clock.next) < until; clock.next += Cycles(1)) {
            const Ticks rise = clock.domain.edge(clock.next);
            const Ticks fall(rise.value() + (clock.domain.edge(clock.next + Cycles(1)) - rise).value() / 2);
            change(clock.signal, rise, 1);
            if (fall > rise) change(clock.signal, fall, 0);
        }
}

void WaveRecorder::sample(Cycles cycle) {
    const Ticks begin = window_.clock.edge(cycle), end = window_.clock.edge(cycle + Cycles(1));
    add_clock_edges(end);
    apply_events(begin);
    for (const std::size_t signal : read_) values_[signal] = readers_[signal]();
    write_changes(begin);
    while (!events_.empty() && events_.begin()->first < end) {
        const Ticks at = events_.begin()->first;
        touched_.clear();
        apply_events(at);
        const auto changed = [&](std::size_t signal) { return values_[signal] != written_[signal]; };
        if (std::none_of(touched_.begin(), touched_.end(), changed)) continue;
        writer_.time(at);
        for (const std::size_t signal : touched_) {
            if (!changed(signal)) continue;
            writer_.change(signal, values_[signal]);
            written_[signal] = values_[signal];
        }
    }
}

/// Everything up to `at`: of several changes of a signal the last counts.
void WaveRecorder::apply_events(Ticks at) {
    while (!events_.empty() && events_.begin()->first <= at) {
        const Event event = events_.begin()->second;
        events_.erase(events_.begin());
        values_[event.signal] = event.value;
        touched_.push_back(event.signal);
    }
}

/// Of all signals; in the first cycle of the window all are changes.
void WaveRecorder::write_changes(Ticks at) {
    const bool all = at == window_.begin_time();
    bool any = false;
    for (std::size_t signal = 0; signal < values_.size(); ++signal) {
        if (!all && values_[signal] == written_[signal]) continue;
        if (!any) writer_.time(at);
        any = true;
        writer_.change(signal, values_[signal]);
        written_[signal] = values_[signal];
    }
}

void WaveRecorder::end() {
    writer_.end(window_.end_time());
}

std::string example_pattern(const std::vector<WaveSignal>& signals, std::int64_t most) {
    using Scopes = std::map<std::string_view, std::int64_t>;
    Scopes below;  // signals of a scope and of the scopes in it
    for (const WaveSignal& signal : signals)
        for (std::string_view scope = signal.scope();; scope = scope.substr(0, scope.rfind('.'))) {
            ++below[scope];
            if (scope.find('.') == std::string_view::npos) break;
        }
    // The last scope may have more signals than were kept.
    const std::string_view last = signals.back().scope();
    const bool cut = signals.size() == WaveRecorder::kMostSignals;
    const Scopes::value_type* best = nullptr;
    for (const Scopes::value_type& scope : below) {
        const bool fits = scope.second <= most && !(cut && last.starts_with(scope.first));
        if (fits && (best == nullptr || scope.second > best->second)) best = &scope;
    }
    return best == nullptr ? "" : fmt::format("{}.*", best->first);
}

}  // namespace systole
