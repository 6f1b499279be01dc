// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/explain/array_time.h"
#include "models/devices/systolic/explain/drawing.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

constexpr std::int64_t kCharacters = 72;    // of a time axis
constexpr std::int64_t kCyclesInFull = 28;  // of a pass that is drawn PE by PE and cycle by cycle
constexpr int kLines = 9;                   // PEs of a large array that are drawn

/// Cycles a character stands for, so that `total` fits: 1, 2, 5, 10, 20, 50, …
std::int64_t cycles_per_character(Cycles total) {
    for (std::int64_t decade = 1;; decade *= 10)
        for (const std::int64_t step : {decade, 2 * decade, 5 * decade})
            if (step * kCharacters >= total.value()) return step;
}

/// A tick every ten characters.
std::string ruler(std::size_t margin, std::int64_t step, Cycles total) {
    std::string line(margin, ' ');
    for (std::int64_t at = 0; at < ceil_div(total.value(), step); at += 10) {
        line.resize(std::max(line.size(), margin + static_cast<std::size_t>(at)), ' ');
        line += with_thousands(at * step);
    }
    return line + '\n';
}

char moving_mark(const ArraySpec& array) {
    switch (array.dataflow) {
        case Dataflow::WeightStationary:
            return 'b';
        case Dataflow::OutputStationary:
            return 'r';
        case Dataflow::InputStationary:
            return 'a';
    }
    return ' ';
}

std::string draw_every_pe(const ArraySpec& array, const PassTimes& times, std::int64_t each) {
    std::string text = "   cycle   ";
    for (Cycles c; c < times.done; c += Cycles(1)) text += fmt::format("{:3}", c.value());
    text += '\n';
    for (int row = 0; row < array.rows; ++row)
        for (int col = 0; col < array.cols; ++col) {
            const PeTimes pe = pe_times(array, times, row, col);
            text += fmt::format("   PE({},{}) ", row, col);
            for (Cycles c; c < times.done; c += Cycles(1)) {
                const Interval now{c, c + Cycles(1)};
                text += pe.multiplies.meets(now)
                            ? fmt::format("{:3}", (c - pe.multiplies.begin).value() / each)
                        : pe.moves.meets(now) ? fmt::format("  {}", moving_mark(array))
                                              : "  .";
            }
            text += '\n';
        }
    return text;
}

std::string draw_diagonal(const ArraySpec& array, const PassTimes& times) {
    const std::int64_t step = cycles_per_character(times.done);
    constexpr std::size_t kMargin = 18;
    std::string text = ruler(kMargin, step, times.done);
    const int lines = std::min(kLines, std::max(array.rows, array.cols));
    for (int line = 0; line < lines; ++line) {
        const auto along = [&](int extent) {
            return lines == 1 ? 0 : static_cast<int>(std::int64_t{line} * (extent - 1) / (lines - 1));
        };
        const int row = along(array.rows), col = along(array.cols);
        const PeTimes pe = pe_times(array, times, row, col);
        text += fmt::format("   {:<15}", fmt::format("PE({},{})", row, col));
        for (std::int64_t at = 0; at < times.done.value(); at += step) {
            const Interval here{Cycles(at), Cycles(at + step)};
            text += pe.multiplies.meets(here) ? '#' : pe.moves.meets(here) ? moving_mark(array) : '.';
        }
        text += '\n';
    }
    return text;
}

std::string scale(std::int64_t step) {
    return step == 1 ? "" : fmt::format(" A character is {} cycles.", with_thousands(step));
}

}  // namespace

PeTimes pe_times(const ArraySpec& array, const PassTimes& times, int row, int col) {
    const Cycles skew(row + col);
    PeTimes pe{{times.start + skew, times.stream_end + skew}, {}};
    if (!shifts(array)) return pe;
    // Row i of a column passes on what belongs to itself and to one side of it: a tile, bottom row first, for
    // the R-1-i rows below before its own; results, its own first, for the i rows above.
    const Cycles column = times.shift_start + Cycles(col);
    pe.moves = array.dataflow == Dataflow::OutputStationary
                   ? Interval{column, column + Cycles(row + 1)}
                   : Interval{column + Cycles(row), column + Cycles(array.rows)};
    return pe;
}

std::string draw_pass(const ArraySpec& array, const PassTimes& times, std::int64_t each) {
    const bool small = std::max(array.rows, array.cols) <= kPesInFull && times.done.value() <= kCyclesInFull;
    const char* moves = array.dataflow == Dataflow::WeightStationary  ? "b: a weight moves in; "
                        : array.dataflow == Dataflow::InputStationary ? "a: an activation moves in; "
                        : shifts(array)                               ? "r: a result moves down and out; "
                                                                      : "";
    return (small ? draw_every_pe(array, times, each) : draw_diagonal(array, times)) +
           fmt::format("   {}{}; .: no vector.{}\n", moves,
                       small ? "a number: that vector is multiplied" : "#: multiplies",
                       small ? "" : scale(cycles_per_character(times.done)));
}

std::string draw_passes(const ArraySpec& array, const std::vector<PassTimes>& passes) {
    Cycles end;
    for (const PassTimes& times : passes) end = std::max({end, times.done, times.stream_end});
    const std::int64_t step = cycles_per_character(end);
    std::string text = ruler(12, step, end);
    for (std::size_t i = 0; i < passes.size(); ++i) {
        const PassTimes& t = passes[i];
        const Interval stream{t.start, t.stream_end}, shift{t.shift_start, t.shift_end},
            drain{t.stream_end, t.done};
        text += fmt::format("   pass {:<4}", i);
        for (std::int64_t at = 0; at < end.value(); at += step) {
            const Interval here{Cycles(at), Cycles(at + step)};
            text += stream.meets(here)                   ? '#'
                    : shifts(array) && shift.meets(here) ? moving_mark(array)
                    : drain.meets(here)                  ? '-'
                                                         : ' ';
        }
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    const std::string moves =
        !shifts(array) ? ""
                       : fmt::format("{}: {}; ", moving_mark(array),
                                     array.dataflow == Dataflow::OutputStationary ? "results move out"
                                                                                  : "a tile moves in");
    return text + fmt::format("   {}#: streams; -: drains.{}\n", moves, scale(step));
}

}  // namespace systole::systolic
