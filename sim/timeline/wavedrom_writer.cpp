// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/wavedrom_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/timeline/signal_tree.h"
#include "sim/timeline/wave_recorder.h"

namespace systole {
namespace {

/// The lanes of a scope and the groups in it, one a line, separated by commas; groups are arrays that begin
/// with their name. Signals without a lane are left out, and groups without signals.
std::string group_text(const SignalTree& tree, const std::vector<std::string>& lanes,
                       const std::string& indent) {
    std::vector<std::string> items;
    for (const std::size_t signal : tree.signals)
        if (!lanes[signal].empty()) items.push_back(indent + lanes[signal]);
    for (const SignalTree& child : tree.children) {
        const std::string inner = group_text(child, lanes, indent + "  ");
        if (!inner.empty()) items.push_back(fmt::format("{}[\"{}\",\n{}]", indent, child.name, inner));
    }
    return fmt::format("{}", fmt::join(items, ",\n"));
}

}  // namespace

void WaveDromWriter::begin(const std::vector<WaveSignal>& signals, const WaveWindow& window) {
    if (signals.size() > kMostSignals || window.cycles() > kMostCycles) {
        std::vector<std::string> instead;
        if (signals.size() > kMostSignals)
            instead.push_back(fmt::format("--signals '{}'", example_pattern(signals, kMostSignals)));
        if (window.cycles() > kMostCycles)
            instead.push_back(
                fmt::format("--cycles {}:{}", window.first.value(), window.first.value() + kMostCycles));
        throw UserError(
            fmt::format("{} signals over {} cycles are too much for a WaveDrom drawing, which holds {} over "
                        "{}; write {}, "
                        "or a .vcd",
                        signals.size(), window.cycles(), kMostSignals, kMostCycles, fmt::join(instead, " ")));
    }
    signals_ = signals;
    window_.push_back(window);
}

void WaveDromWriter::time(Ticks at) {
    const WaveWindow& window = window_.front();
    const auto cycles = static_cast<std::size_t>((window.clock.at_or_before(at) - window.first).value()) + 1;
    if (values_.empty()) values_.emplace_back(signals_.size());
    const std::vector<std::int64_t> before = values_.back();
    values_.resize(cycles, before);
}

void WaveDromWriter::change(std::size_t signal, std::int64_t value) {
    values_.back()[signal] = value;
}

std::string WaveDromWriter::lane(std::size_t number) const {
    const WaveSignal& signal = signals_[number];
    const ClockDomain& clock = window_.front().clock;
    std::string wave, data;
    if (signal.form == WaveSignal::Form::Clock) {
        if (signal.frequency != clock.frequency()) return "";  // its edges do not fall on cells
        wave = 'p' + std::string(values_.size() - 1, '.');
    }
    for (std::size_t cycle = 0; wave.size() < values_.size(); ++cycle) {
        const std::int64_t value = values_[cycle][number];
        if (cycle > 0 && value == values_[cycle - 1][number]) {
            wave += '.';
        } else if (value == kNoWaveValue) {
            wave += 'z';
        } else if (signal.form == WaveSignal::Form::Bit) {
            wave += value != 0 ? '1' : '0';
        } else {
            wave +=
                static_cast<char>('2' + static_cast<int>(signal.tint));  // WaveDrom's colours begin with 2
            const std::string shown = signal.form == WaveSignal::Form::Text
                                          ? (*signal.names)[static_cast<std::size_t>(value)]
                                          : fmt::format("{}", value);
            data += fmt::format("{}\"{}\"", data.empty() ? "" : ", ", shown);
        }
    }
    return data.empty()
               ? fmt::format(R"({{"name": "{}", "wave": "{}"}})", signal.name(), wave)
               : fmt::format(R"({{"name": "{}", "wave": "{}", "data": [{}]}})", signal.name(), wave, data);
}

void WaveDromWriter::end(Ticks at) {
    time(Ticks(at.value() - 1));  // up to the last cycle of the window
    std::vector<std::string> lanes;
    for (std::size_t signal = 0; signal < signals_.size(); ++signal) lanes.push_back(lane(signal));
    text_ = fmt::format("{{\"signal\": [\n{}\n], \"head\": {{\"tick\": {}}}}}\n",
                        group_text(make_signal_tree(signals_), lanes, "  "), window_.front().first.value());
}

}  // namespace systole
