// SPDX-License-Identifier: Apache-2.0
// rtl_cases DIRECTORY: makes ten cases per dataflow (SYSTOLE_SEED, SYSTOLE_CASES for others) and writes, for
// each, NAME.case for the Verilog testbench and NAME.expected, what the PE grid did. Prints a line per case:
//   same NAME TESTBENCH PARAMETER…    Verilog must see what the grid did
//   early NAME TESTBENCH PARAMETER…   the case before, but its pass N, which adds onto accumulators, is ready
//   a
//                                     cycle before the grid started it: Verilog must start it as the grid
//                                     did, or find an accumulator too young; expected are the N + 1 starts
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

/// When a pass is ready but for what lies in the array: os has no tile to shift in, only its announcement.
Cycles ready_outside(const RtlCase& rtl_case, const RtlStep& step) {
    const bool waits_for_tile = output_stationary(rtl_case) && step.pass.new_tile;
    return waits_for_tile ? std::max(step.ready, step.arrives) : step.ready;
}

/// When the Verilog array may start each pass. Where the accumulators bind it is told the grid's cycle, since
/// it has no scoreboard.
std::vector<Cycles> ready_times(const RtlCase& rtl_case, const std::vector<Cycles>& grid_starts) {
    std::vector<Cycles> times;
    for (std::size_t n = 0; n < rtl_case.steps.size(); ++n) {
        const RtlStep& step = rtl_case.steps[n];
        times.push_back(step.pass.accumulate ? grid_starts[n] : ready_outside(rtl_case, step));
    }
    return times;
}

std::string case_text(const RtlCase& rtl_case, const std::vector<Cycles>& ready) {
    std::string text;
    if (!output_stationary(rtl_case))
        for (const RtlStep& step : rtl_case.steps)
            if (step.pass.new_tile) text += tile_text(step, rtl_case.array);
    for (std::size_t n = 0; n < rtl_case.steps.size(); ++n)
        text += pass_text(rtl_case.steps[n], rtl_case.array, ready[n]);
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

/// Writes the files of one case and announces it.
class Writer {
public:
    Writer(const std::filesystem::path& directory, const RtlCase& rtl_case)
        : directory_(directory), case_(rtl_case), seen_(observe_grid(rtl_case)) {}

    void write_same() const { write("same", case_.name, ready_times(case_, seen_.starts), seen_.lines); }
    /// One case for each pass that the accumulators may have held up.
    void write_early() const {
        std::vector<std::string> starts;
        for (std::size_t n = 0; n < case_.steps.size(); ++n) {
            const RtlStep& step = case_.steps[n];
            starts.push_back(fmt::format("start {}", seen_.starts[n].value()));
            if (!step.pass.accumulate || seen_.starts[n] <= ready_outside(case_, step)) continue;
            std::vector<Cycles> ready = ready_times(case_, seen_.starts);
            ready[n] -= Cycles(1);
            write("early", fmt::format("{}_early_{}", case_.name, n), ready, starts);
        }
    }

private:
    void write(const char* kind, const std::string& name, const std::vector<Cycles>& ready,
               const std::vector<std::string>& expected) const {
        const std::filesystem::path base = directory_ / name;
        fmt::output_file(base.string() + ".case").print("{}", case_text(case_, ready));
        fmt::output_file(base.string() + ".expected").print("{}\n", fmt::join(expected, "\n"));
        fmt::print("{} {} {} {}\n", kind, name, output_stationary(case_) ? "os_tb" : "stationary_tb",
                   parameters(case_, seen_.end));
    }

    const std::filesystem::path directory_;
    const RtlCase& case_;
    const Observation seen_;
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::stoull(text);
}

void write_all(const std::filesystem::path& directory) {
    const std::uint64_t seed = from_environment("SYSTOLE_SEED", 20'250'301);
    const std::uint64_t cases = from_environment("SYSTOLE_CASES", 10);
    for (const Dataflow dataflow :
         {Dataflow::WeightStationary, Dataflow::InputStationary, Dataflow::OutputStationary})
        for (std::uint64_t index = 0; index < cases; ++index) {
            const RtlCase made = random_rtl_case(dataflow, seed, index);
            const Writer writer(directory, made);
            writer.write_same();
            writer.write_early();
        }
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
