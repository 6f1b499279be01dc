// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/gtkwave_save.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "sim/timeline/signal_tree.h"

namespace systole {
namespace {

constexpr std::ptrdiff_t kOpenSignals = 48;
constexpr int kMostSignals = 4000;  // GTKWave becomes slow with more traces
constexpr double kPixels = 900;     // of a window's wave area, about

// Flags of a trace (analyzer.h of GTKWave): a number in hexadecimal, before the lines it concerns.
constexpr unsigned kDecimal = 0x4, kBinary = 0x8, kRight = 0x20, kBlank = 0x200, kSigned = 0x400,
                   kAscii = 0x800;
constexpr unsigned kGroupBegin = 0x800000, kGroupEnd = 0x1000000, kClosed = 0x400000, kCollapsed = 0x1000;

unsigned flags_of(const WaveSignal& signal) {
    switch (signal.form) {
        case WaveSignal::Form::Signed:
            return kRight | kSigned;
        case WaveSignal::Form::Unsigned:
            return kRight | kDecimal;
        case WaveSignal::Form::Text:
            return kRight | kAscii;
        default:
            return kRight | kBinary;
    }
}

/// 1 red, 2 orange, 3 yellow, 4 green, 5 blue, 6 indigo, 7 violet.
int colour_of(const WaveSignal& signal) {
    if (signal.form == WaveSignal::Form::Bit) return 4;
    switch (signal.tint) {
        case WaveTint::Control:
            return 2;
        case WaveTint::Level:
            return 5;
        case WaveTint::Moving:
            return 3;
        case WaveTint::Stationary:
            return 6;
        case WaveTint::Sum:
            return 7;
        case WaveTint::Bus:
            return 1;
    }
    return 0;
}

class Save {
public:
    Save(const std::vector<WaveSignal>& signals, std::string& text) : signals_(signals), text_(text) {}

    /// `depth` 0: the root of scopes, 1: the device, 2: its units; what is below starts closed, unless there
    /// is room for it on the screen.
    void add(const SignalTree& tree, int depth) {
        for (const std::size_t signal : tree.signals) add(signals_[signal]);
        for (const SignalTree& child : tree.children) {
            if (shown_ >= kMostSignals) return;
            const bool room = open_ + std::ssize(child.signals) <= kOpenSignals;
            const unsigned closed = depth >= 2 && !room ? kClosed : 0;
            if (closed == 0) open_ += std::ssize(child.signals);
            if (depth > 0) group(kGroupBegin | kBlank | closed, child.name);
            add(child, depth + 1);
            if (depth > 0) group(kGroupEnd | kBlank | (closed != 0 ? kClosed | kCollapsed : 0), child.name);
        }
    }

private:
    void add(const WaveSignal& signal) {
        if (++shown_ > kMostSignals) return;
        fmt::format_to(std::back_inserter(text_), "@{:x}\n[color] {}\n{}", flags_of(signal),
                       colour_of(signal), signal.path);
        if (signal.width > 1) fmt::format_to(std::back_inserter(text_), "[{}:0]", signal.width - 1);
        text_ += '\n';
    }
    void group(unsigned flags, const std::string& name) {
        fmt::format_to(std::back_inserter(text_), "@{:x}\n-{}\n", flags, name);
    }

    const std::vector<WaveSignal>& signals_;
    std::string& text_;
    int shown_ = 0;
    std::ptrdiff_t open_ = 0;  // signals in groups that start open
};

}  // namespace

std::string gtkwave_save(const WaveRecorder& recorder, const std::string& dump) {
    const auto [begin, end] = recorder.focus();
    // GTKWave's zoom: minus the binary logarithm of the time units in 200 pixels (calczoom() there).
    const double zoom = -std::log2(static_cast<double>((end - begin).value()) * 200 / kPixels);
    std::string text = fmt::format(
        "[dumpfile] \"{}\"\n[timestart] {}\n[size] 1400 900\n[pos] -1 -1\n*{:.6f} {} -1\n[sst_expanded] 1\n",
        dump, begin.value(), zoom, begin.value());
    Save(recorder.signals(), text).add(make_signal_tree(recorder.signals()), 0);
    return text;
}

}  // namespace systole
