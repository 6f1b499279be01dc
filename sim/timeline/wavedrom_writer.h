// SPDX-License-Identifier: Apache-2.0
// A small window as WaveDrom's WaveJSON (wavedrom.com/tutorial.html), for slides: one cell a cycle, groups by
// scope. What changes within a cycle shows as the last value of that cycle.
#pragma once

#include <string>
#include <vector>

#include "sim/timeline/wave_writer.h"

namespace systole {

class WaveDromWriter final : public WaveWriter {
public:
    /// What still can be read on a slide.
    static constexpr std::int64_t kMostCycles = 64;
    static constexpr std::size_t kMostSignals = 40;

    void begin(const std::vector<WaveSignal>& signals, const WaveWindow& window) override;
    void time(Ticks at) override;
    void change(std::size_t signal, std::int64_t value) override;
    void end(Ticks at) override;

    /// The document, after end(): one line a signal, JSON that WaveDrom's editor takes as it is.
    const std::string& text() const { return text_; }

private:
    std::string lane(std::size_t signal) const;

    std::vector<WaveSignal> signals_;
    std::vector<WaveWindow> window_;                 // one, from begin() on
    std::vector<std::vector<std::int64_t>> values_;  // by cycle, then signal
    std::string text_;
};

}  // namespace systole
