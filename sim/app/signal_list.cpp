// SPDX-License-Identifier: Apache-2.0
#include "sim/app/signal_list.h"

#include <fmt/format.h>

#include <cctype>

#include "sim/app/terminal.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

namespace systole::app {
namespace {

/// "tpu.mxu0.pe_12_3.sum" -> "tpu.mxu0.pe_*_*.sum".
std::string pattern_of(const std::string& path) {
    std::string pattern;
    for (std::size_t i = 0; i < path.size();) {
        pattern += path[i++];
        std::size_t end = i;
        while (end < path.size() && std::isdigit(static_cast<unsigned char>(path[end]))) ++end;
        const bool whole = end == path.size() || path[end] == '_' || path[end] == '.';
        if (pattern.back() != '_' || end == i || !whole) continue;
        pattern += '*';
        i = end;
    }
    return pattern;
}

std::string form_of(const WaveSignal& signal) {
    switch (signal.form) {
        case WaveSignal::Form::Clock:
            return "clock";
        case WaveSignal::Form::Bit:
            return "bit";
        case WaveSignal::Form::Unsigned:
            return fmt::format("u{}", signal.width);
        case WaveSignal::Form::Signed:
            return fmt::format("s{}", signal.width);
        case WaveSignal::Form::Text:
            return "text";
    }
    return "";
}

}  // namespace

std::size_t SignalList::add(WaveSignal signal, WaveReader) {
    if (!filter_.offer(signal.path)) return kUnwanted;
    std::string pattern = pattern_of(signal.path);
    const auto [known, added] = by_pattern_.try_emplace(pattern, families_.size());
    if (added) families_.push_back({std::move(pattern), form_of(signal), signal.meaning});
    ++families_[known->second].signals;
    return kUnwanted;
}

std::string SignalList::text() const {
    filter_.require_matches();
    TextTable table;
    table.column("signals", TextTable::Align::Left);
    table.column("number", TextTable::Align::Right);
    table.column("form", TextTable::Align::Left);
    table.column("meaning", TextTable::Align::Left);
    for (const Family& family : families_)
        table.row({family.pattern, with_thousands(family.signals), family.form, std::string(family.meaning)});
    return table.str(answer_style()) +
           "\nForms: u8 and s8 are unsigned and signed integers of 8 bits. The paths are patterns for "
           "--signals.\n";
}

}  // namespace systole::app
