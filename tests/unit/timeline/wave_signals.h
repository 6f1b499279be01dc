// SPDX-License-Identifier: Apache-2.0
// Signals that the tests of waveforms share.
#pragma once

#include "sim/timeline/wave_recorder.h"

namespace systole::test {

using Form = WaveSignal::Form;

inline WaveSignal signal(std::string path, Form form, int width = 1) {
    return {std::move(path), form, width, WaveTint::Control, "for a test", nullptr, {}};
}

inline WaveSignal text_signal(std::string path, std::vector<std::string> names) {
    WaveSignal made = signal(std::move(path), Form::Text);
    made.names = std::make_shared<const std::vector<std::string>>(std::move(names));
    return made;
}

inline WaveSignal clock_signal(std::string path, Hertz frequency) {
    WaveSignal made = signal(std::move(path), Form::Clock);
    made.frequency = frequency;
    return made;
}

/// A window of a clock of 1 GHz: 1000 ps a cycle.
inline WaveWindow window(std::int64_t first, std::int64_t end) {
    return {ClockDomain(Hertz(1'000'000'000)), Cycles(first), Cycles(end)};
}

}  // namespace systole::test
