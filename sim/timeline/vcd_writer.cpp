// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/vcd_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "sim/base/check.h"
#include "sim/timeline/signal_tree.h"

namespace systole {
namespace {

constexpr std::size_t kChunk = 64 * 1024;

/// Identifier codes are strings of printable characters, '!' to '~'; counted in their 94 digits.
std::string code_of(std::size_t number) {
    constexpr std::size_t kDigits = '~' - '!' + 1;
    std::string code;
    do {
        code += static_cast<char>('!' + number % kDigits);
        number /= kDigits;
    } while (number > 0);
    return code;
}

void declare(std::string& text, const SignalTree& tree, const std::vector<WaveSignal>& signals) {
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "$scope module {} $end\n", tree.name);
    for (const std::size_t number : tree.signals) {
        const WaveSignal& signal = signals[number];
        const std::string code = code_of(number);
        if (signal.form == WaveSignal::Form::Text)
            fmt::format_to(out, "$var string 1 {} {} $end\n", code, signal.name());
        else if (signal.width == 1)
            fmt::format_to(out, "$var wire 1 {} {} $end\n", code, signal.name());
        else
            fmt::format_to(out, "$var wire {} {} {} [{}:0] $end\n", signal.width, code, signal.name(),
                           signal.width - 1);
    }
    for (const SignalTree& child : tree.children) declare(text, child, signals);
    text += "$upscope $end\n";
}

}  // namespace

std::int64_t VcdWriter::largest_change(const WaveSignal& signal) {
    constexpr std::int64_t kCode = 4;  // 94^4 signals
    if (signal.form == WaveSignal::Form::Clock)
        return 2 * (1 + kCode + 1 + 16);  // two edges with their times
    if (signal.form != WaveSignal::Form::Text) return (signal.width == 1 ? 2 : signal.width + 3) + kCode;
    std::size_t longest = 0;
    for (const std::string& name : *signal.names) longest = std::max(longest, name.size());
    return static_cast<std::int64_t>(longest) + 3 + kCode;
}

void VcdWriter::begin(const std::vector<WaveSignal>& signals, const WaveWindow& window) {
    for (std::size_t i = 0; i < signals.size(); ++i)
        variables_.push_back({code_of(i), signals[i].form, signals[i].width, signals[i].names});
    fmt::format_to(std::back_inserter(text_),
                   "$comment cycles {} to {} of a clock of {} Hz $end\n"
                   "$version Systole $end\n$timescale 1 ps $end\n",
                   window.first.value(), window.end.value(), window.clock.frequency().value());
    for (const SignalTree& top : make_signal_tree(signals).children) declare(text_, top, signals);
    text_ += "$enddefinitions $end\n";
}

void VcdWriter::time(Ticks at) {
    if (dumping_) text_ += "$end\n";
    fmt::format_to(std::back_inserter(text_), "#{}\n", at.value());
    if (first_) text_ += "$dumpvars\n";
    dumping_ = first_;
    first_ = false;
    if (text_.size() < kChunk) return;
    sink_(text_);
    text_.clear();
}

void VcdWriter::change(std::size_t signal, std::int64_t value) {
    const Variable& variable = variables_[signal];
    if (variable.form == WaveSignal::Form::Text) {
        text_ += 's';
        text_ += (*variable.names)[static_cast<std::size_t>(value)];
        text_ += ' ';
    } else if (variable.width == 1) {
        text_ += value == kNoWaveValue ? 'z' : value != 0 ? '1' : '0';
    } else {
        add_bits(value, variable.width);
    }
    text_ += variable.code;
    text_ += '\n';
}

/// Leading zeros may be left out: readers extend a value that begins with 1 by zeros.
void VcdWriter::add_bits(std::int64_t value, int width) {
    text_ += 'b';
    if (value == kNoWaveValue) {
        text_ += "z ";
        return;
    }
    const auto bits = static_cast<std::uint64_t>(value);
    for (int bit = value < 0 ? width - 1 : std::max(0, static_cast<int>(std::bit_width(bits)) - 1); bit >= 0;
         --bit)
        text_ += (bits >> bit & 1) != 0 ? '1' : '0';
    text_ += ' ';
}

void VcdWriter::end(Ticks at) {
    time(at);
    sink_(text_);
    text_.clear();
}

}  // namespace systole
