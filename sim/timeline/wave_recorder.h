// SPDX-License-Identifier: Apache-2.0
// Records the wanted signals of a run, cycle by cycle, into a WaveWriter. A device declares its signals,
// calls begin(), and then, at the end of every cycle of the window, tells of changes that happened between
// edges and calls sample(). What a cycle shows is what was stable at its end, drawn over the whole of it.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/timeline/signal_filter.h"
#include "sim/timeline/wave_writer.h"

namespace systole {

class WaveRecorder final : public SignalSink {
public:
    /// A VCD that could become larger than this is refused.
    static constexpr std::int64_t kLargest = std::int64_t{2} << 30;
    /// More signals than this are refused, whatever their window.
    static constexpr std::size_t kMostSignals = 1'000'000;

    WaveRecorder(SignalFilter filter, const WaveWindow& window, WaveWriter& writer)
        : filter_(std::move(filter)), window_(window), writer_(writer) {}

    const WaveWindow& window() const { return window_; }
    bool wants(std::string_view path) const { return filter_.wants(path); }

    /// Clock signals need no reader: their edges are known.
    std::size_t add(WaveSignal signal, WaveReader read) override;
    /// Every signal is declared. Throws UserError for patterns that matched nothing and for what would become
    /// too large.
    void begin();

    /// A signal without reader becomes `value` at `at`: not before the begin of the cycle that is sampled
    /// next.
    void change(std::size_t signal, Ticks at, std::int64_t value);
    /// `cycle` is over. All cycles of the window, in order.
    void sample(Cycles cycle);
    void end();

    /// What a viewer should show first: told once by the device, or else the whole window.
    void focus(Ticks begin, Ticks end) { focus_ = {begin, end}; }
    std::pair<Ticks, Ticks> focus() const {
        return focus_.value_or(std::pair(window_.begin_time(), window_.end_time()));
    }
    /// The wanted signals, by number.
    const std::vector<WaveSignal>& signals() const { return signals_; }

private:
    struct Event {
        std::size_t signal;
        std::int64_t value;
    };
    struct Clock {
        std::size_t signal;
        ClockDomain domain;
        Cycles next;  // edge
    };
    void refuse_too_large() const;
    void add_clock_edges(Ticks until);
    void apply_events(Ticks at);
    void write_changes(Ticks at);

    SignalFilter filter_;
    const WaveWindow window_;
    WaveWriter& writer_;
    std::vector<WaveSignal> signals_;
    std::vector<WaveReader> readers_;             // by signal; empty: changes are told
    std::vector<std::int64_t> values_, written_;  // by signal
    std::vector<std::size_t> read_;               // the signals with readers
    std::vector<Clock> clocks_;
    std::multimap<Ticks, Event> events_;  // between the last sample and the future
    std::vector<std::size_t> touched_;    // by events of one time
    std::int64_t wanted_ = 0, bytes_per_cycle_ = 0;
    std::optional<std::pair<Ticks, Ticks>> focus_;
};

/// A pattern for one scope of `signals`, with as many of them as `most` allows: an example for messages.
std::string example_pattern(const std::vector<WaveSignal>& signals, std::int64_t most);

}  // namespace systole
