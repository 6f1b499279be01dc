// SPDX-License-Identifier: Apache-2.0
// What a waveform could show, as a table for people: signals that differ only in numbers behind an underscore
// (the PEs of an array) are one row, whose path is a pattern for --signals.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sim/timeline/signal_filter.h"
#include "sim/timeline/wave_signal.h"

namespace systole::app {

class SignalList final : public SignalSink {
public:
    /// Lists what `filter` wants.
    explicit SignalList(SignalFilter filter) : filter_(std::move(filter)) {}

    std::size_t add(WaveSignal signal, WaveReader read) override;
    /// Throws UserError for patterns that matched nothing.
    std::string text() const;

private:
    struct Family {
        std::string pattern, form;
        std::string_view meaning;
        std::int64_t signals = 0;
    };

    SignalFilter filter_;
    std::vector<Family> families_;  // in the order in which they were declared
    std::unordered_map<std::string, std::size_t> by_pattern_;
};

}  // namespace systole::app
