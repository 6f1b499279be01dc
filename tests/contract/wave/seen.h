// SPDX-License-Identifier: Apache-2.0
// A waveform in memory: every value of every signal by the time from which it holds.
#pragma once

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "sim/base/check.h"
#include "sim/timeline/wave_recorder.h"

namespace systole::test {

class Seen final : public WaveWriter {
public:
    void begin(const std::vector<WaveSignal>& signals, const WaveWindow& window) override {
        for (const WaveSignal& signal : signals) paths_.push_back(signal.path);
        clock_ = window.clock;
    }
    void time(Ticks at) override {
        monotonic = monotonic && at > now_;
        now_ = at;
    }
    void change(std::size_t signal, std::int64_t value) override { values_[paths_[signal]][now_] = value; }
    void end(Ticks at) override { ended = at; }

    bool has(const std::string& path) const { return values_.contains(path); }
    /// The value in a cycle, at its begin.
    std::int64_t at(const std::string& path, std::int64_t cycle) const {
        const auto signal = values_.find(path);
        SYSTOLE_CHECK(signal != values_.end(), "no signal {}", path);
        const auto later = signal->second.upper_bound(clock_.edge(Cycles(cycle)));
        SYSTOLE_CHECK(later != signal->second.begin(), "{} has no value in cycle {}", path, cycle);
        return std::prev(later)->second;
    }
    const std::map<Ticks, std::int64_t>& changes(const std::string& path) const { return values_.at(path); }
    const std::vector<std::string>& paths() const { return paths_; }

    bool monotonic = true;
    Ticks ended;

private:
    std::vector<std::string> paths_;
    std::map<std::string, std::map<Ticks, std::int64_t>> values_;
    ClockDomain clock_{Hertz(1)};
    Ticks now_{-1};
};

}  // namespace systole::test
