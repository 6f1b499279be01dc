// SPDX-License-Identifier: Apache-2.0
// rtl_cases DIRECTORY: makes ten cases per dataflow (SYSTOLE_SEED, SYSTOLE_CASES for others) and writes, for
// each, NAME.case for the Verilog testbench and NAME.expected, what the PE grid did. Prints a line per case:
// its name, its testbench and the testbench's parameters.
#include <fmt/format.h>
#include <fmt/os.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "tests/rtl/grid_observer.h"
#include "tests/rtl/rtl_case.h"

namespace systole::test {

namespace {

bool output_stationary(const RtlCase& rtl_case) {
    return rtl_case.array.dataflow == Dataflow::OutputStationary;
}

/// Row `row` of a matrix, filled up with zeros to `width` elements: padding.
std::string padded(const Matrix<std::int8_t>& matrix, std::int64_t row, std::int64_t rows, int width) {
    std::string line;
    for (int col = 0; col < width; ++col)
        line += fmt::format(" {}", row < rows && col < matrix.cols ? matrix.at(row, col) : 0);
    return line;
}

/// The cycles for which vector t of a pass holds the port.
std::int64_t busy(const Pass& pass, std::int64_t t) {
    const Rational rate = pass.cycles_per_vector;
    const std::int64_t next = t + 1 < pass.vectors ? rate.floor_times(t + 1) : rate.ceil_times(pass.vectors);
    return next - rate.floor_times(t);
}

std::string tile_text(const RtlStep& step, const ArraySpec& array) {
    std::string text = fmt::format("{}\n", step.arrives.value());
    for (int row = 0; row < array.rows; ++row)
        text += padded(step.stationary, row, step.tile.rows, array.cols) + "\n";
    return text;
}

std::string pass_text(const RtlStep& step, const ArraySpec& array, Cycles ready) {
    const Pass& pass = step.pass;
    const bool os = array.dataflow == Dataflow::OutputStationary;
    std::string text = fmt::format("{} {:d} {:d} {:d} {}", ready.value(), pass.new_tile, pass.last_use,
                                   pass.accumulate, pass.accumulator_row);
    if (os) {
        const std::int64_t last_feed = pass.cycles_per_vector.floor_times(pass.vectors - 1);
        text += fmt::format(" {} {}", step.tile.rows, last_feed);
    }
    text += fmt::format(" {}\n", pass.vectors);
    for (std::int64_t t = 0; t < pass.vectors; ++t) {
        text += fmt::format("{}{}", busy(pass, t), padded(step.left, t, pass.vectors, array.rows));
        if (os) text += padded(step.top, t, pass.vectors, array.cols);
        text += "\n";
    }
    return text;
}

/// When the Verilog array may start a pass. Where the accumulators bind it is told the grid's cycle, since it
/// has no scoreboard; a start too early shows in its sums.
Cycles ready(const RtlCase& rtl_case, std::size_t n, Cycles grid_start) {
    const RtlStep& step = rtl_case.steps[n];
    if (step.pass.accumulate) return grid_start;
    return output_stationary(rtl_case) && step.pass.new_tile ? std::max(step.ready, step.arrives)
                                                             : step.ready;
}

std::string case_text(const RtlCase& rtl_case, const std::vector<Cycles>& grid_starts) {
    std::string text;
    if (!output_stationary(rtl_case))
        for (const RtlStep& step : rtl_case.steps)
            if (step.pass.new_tile) text += tile_text(step, rtl_case.array);
    for (std::size_t n = 0; n < rtl_case.steps.size(); ++n)
        text += pass_text(rtl_case.steps[n], rtl_case.array, ready(rtl_case, n, grid_starts[n]));
    return text;
}

std::string parameters(const RtlCase& rtl_case, Cycles end) {
    const ArraySpec& array = rtl_case.array;
    std::int64_t tiles = 0, vectors = 0;
    for (const RtlStep& step : rtl_case.steps) {
        tiles += step.pass.new_tile;
        vectors += step.pass.vectors;
    }
    const std::string special = output_stationary(rtl_case)
                                    ? fmt::format("RESULT_SHIFT={:d}", array.result_shift)
                                    : fmt::format("INPUT_STATIONARY={:d} TILES={}",
                                                  array.dataflow == Dataflow::InputStationary, tiles);
    return fmt::format("R={} C={} SHADOW={:d} LATENCY={} ROWS={} PASSES={} VECTORS={} CYCLES={} {}",
                       array.rows, array.cols, array.shadow_register, array.accumulator_latency.value(),
                       array.accumulator_rows, rtl_case.steps.size(), vectors, end.value(), special);
}

void write(const std::filesystem::path& directory, const RtlCase& rtl_case) {
    const Observation seen = observe_grid(rtl_case);
    const std::filesystem::path base = directory / rtl_case.name;
    fmt::output_file(base.string() + ".case").print("{}", case_text(rtl_case, seen.starts));
    fmt::output_file(base.string() + ".expected").print("{}\n", fmt::join(seen.lines, "\n"));
    fmt::print("{} {} {}\n", rtl_case.name, output_stationary(rtl_case) ? "os_tb" : "stationary_tb",
               parameters(rtl_case, seen.end));
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::stoull(text);
}

void write_all(const std::filesystem::path& directory) {
    const std::uint64_t seed = from_environment("SYSTOLE_SEED", 20'250'301);
    const std::uint64_t cases = from_environment("SYSTOLE_CASES", 10);
    for (const Dataflow dataflow :
         {Dataflow::WeightStationary, Dataflow::InputStationary, Dataflow::OutputStationary})
        for (std::uint64_t index = 0; index < cases; ++index)
            write(directory, random_rtl_case(dataflow, seed, index));
}

}  // namespace

}  // namespace systole::test

int main(int argc, char** argv) {
    try {
        if (argc != 2) throw std::runtime_error("usage: rtl_cases DIRECTORY");
        systole::test::write_all(argv[1]);
    } catch (const std::exception& error) {
        fmt::print(stderr, "rtl_cases: error: {}\n", error.what());
        return 2;
    }
    return 0;
}
