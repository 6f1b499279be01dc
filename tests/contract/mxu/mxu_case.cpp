// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/mxu/mxu_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace systole::test {

namespace {

std::int64_t draw(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

bool chance(std::mt19937_64& random, int percent) {
    return draw(random, 1, 100) <= percent;
}

int extent(std::mt19937_64& random, std::int64_t high) {
    return static_cast<int>(draw(random, 1, high));
}

ArraySpec random_array(std::mt19937_64& random) {
    static constexpr int kShapes[][2] = {{1, 1}, {32, 8}, {8, 32}, {64, 64}, {1, 64}, {64, 1}};
    ArraySpec array;
    const std::int64_t largest = chance(random, 75) ? 16 : 64;
    array.rows = extent(random, largest);
    array.cols = extent(random, largest);
    if (chance(random, 10)) {
        const auto& shape = kShapes[draw(random, 0, 5)];
        array.rows = shape[0];
        array.cols = shape[1];
    }
    array.dataflow = static_cast<Dataflow>(draw(random, 0, 2));
    array.shadow_register = chance(random, 60);
    array.result_shift = chance(random, 60);
    array.accumulator_latency = Cycles(chance(random, 70) ? draw(random, 1, 8) : draw(random, 9, 60));
    array.accumulator_rows = 384;
    return array;
}

Rational random_rate(std::mt19937_64& random) {
    static constexpr Rational kCommon[] = {{1, 1}, {1, 1}, {2, 1}, {3, 2}, {4, 3}, {5, 4}, {9, 8}};
    if (chance(random, 60)) return kCommon[draw(random, 0, 6)];
    const std::int64_t den = draw(random, 1, 12);
    return {draw(random, den, chance(random, 90) ? 3 * den : 40 * den), den};  // not always in lowest terms
}

std::int64_t random_vectors(std::mt19937_64& random) {
    if (chance(random, 40)) return draw(random, 1, 4);
    return draw(random, 1, chance(random, 75) ? 40 : 300);
}

/// Passes that have nothing to do with each other.
std::vector<Step> random_steps(const ArraySpec& array, std::mt19937_64& random) {
    std::vector<Step> steps(draw(random, 1, 6));
    for (Step& step : steps) {
        step.pass.vectors = random_vectors(random);
        step.pass.new_tile = chance(random, 65);
        step.pass.accumulate = chance(random, 60);
        step.pass.accumulator_row = chance(random, 60) ? 0 : draw(random, 0, 60);
        step.tile = {extent(random, array.rows), extent(random, array.cols)};
        if (chance(random, 40)) step.tile = {array.rows, array.cols};
    }
    return steps;
}

/// One extent of an operator, cut to the array: the piece behind `done`.
int cut(std::int64_t extent, std::int64_t done, int array) {
    return static_cast<int>(std::min<std::int64_t>(array, extent - done));
}

/// Consecutive folds of a matrix product, all edges of 1 … 300: `rows` x `cols` elements lie on the array
/// (K x N, M x N or K x M), tile by tile down the rows. ws, is: the tiles of a column add onto the same
/// accumulators. os: a tile is fed in up to three passes and leaves once.
std::vector<Step> steps_of_operator(const ArraySpec& array, std::mt19937_64& random) {
    const bool outputs_stay = array.dataflow == Dataflow::OutputStationary;
    const std::int64_t rows = draw(random, 1, 300), cols = draw(random, 1, 300);
    const std::int64_t vectors = random_vectors(random);
    const auto pieces = outputs_stay ? std::min(vectors, draw(random, 1, 3)) : 1;
    const auto passes = static_cast<std::size_t>(draw(random, 1, 6));
    std::vector<Step> steps;
    std::int64_t row = draw(random, 0, (rows - 1) / array.rows) * array.rows;
    std::int64_t col = draw(random, 0, (cols - 1) / array.cols) * array.cols;
    while (steps.size() < passes && col < cols) {
        for (std::int64_t piece = 0; piece < pieces && steps.size() < passes; ++piece) {
            Step step;
            step.pass.vectors = vectors * (piece + 1) / pieces - vectors * piece / pieces;
            step.pass.new_tile = piece == 0;
            step.pass.accumulate = !outputs_stay && row > 0;
            step.tile = {cut(rows, row, array.rows), cut(cols, col, array.cols)};
            steps.push_back(step);
        }
        row += array.rows;
        if (row < rows) continue;
        row = 0;
        col += array.cols;
    }
    return steps;
}

/// What one pass must say of the next, and what the array's size allows.
void make_consistent(MxuCase& mxu_case) {
    std::vector<Step>& steps = mxu_case.steps;
    if (!steps.empty()) mxu_case.array.dataflow = steps.front().dataflow;
    Cycles arrived;
    for (std::size_t n = 0; n < steps.size(); ++n)
        if (n == 0 || steps[n].dataflow != steps[n - 1].dataflow) steps[n].pass.new_tile = true;
    for (std::size_t n = 0; n < steps.size(); ++n) {
        steps[n].pass.last_use = n + 1 == steps.size() || steps[n + 1].pass.new_tile;
        steps[n].tile.rows = std::min(steps[n].tile.rows, mxu_case.array.rows);
        steps[n].tile.cols = std::min(steps[n].tile.cols, mxu_case.array.cols);
        steps[n].arrives = arrived = std::max(arrived, steps[n].arrives);
    }
}

/// Passes in the dataflow of `array`.
std::vector<Step> steps_in_one(const ArraySpec& array, std::mt19937_64& random) {
    std::vector<Step> steps =
        chance(random, 60) ? random_steps(array, random) : steps_of_operator(array, random);
    for (Step& step : steps) step.dataflow = array.dataflow;
    return steps;
}

/// Rates, and when things are there.
void add_times(MxuCase& made, std::mt19937_64& random) {
    const Rational shared_rate = random_rate(random);
    const bool busy = chance(random, 50);  // everything is there early: passes follow back to back
    for (Step& step : made.steps) {
        step.pass.cycles_per_vector = chance(random, 50) ? shared_rate : random_rate(random);
        step.ready = Cycles(busy ? 0 : draw(random, 0, 200));
        step.arrives = Cycles(busy ? draw(random, 0, 4) : draw(random, 0, 200));
    }
    make_consistent(made);
}

}  // namespace

MxuCase random_case(std::mt19937_64& random) {
    MxuCase made;
    made.array = random_array(random);
    made.type = static_cast<ValueType>(draw(random, 0, 3));
    made.arrivals_told_early = chance(random, 30);
    made.value_seed = random();
    made.steps = steps_in_one(made.array, random);
    add_times(made, random);
    return made;
}

MxuCase random_mixed_case(std::mt19937_64& random) {
    MxuCase made;
    made.array = random_array(random);
    made.array.reconfigurable = true;
    made.array.dataflow_switch = Cycles(chance(random, 30) ? 0 : draw(random, 1, 100));
    made.type = static_cast<ValueType>(draw(random, 0, 3));
    made.arrivals_told_early = chance(random, 30);
    made.value_seed = random();
    for (std::int64_t lives = draw(random, 2, 4); lives > 0; --lives) {
        made.array.dataflow = static_cast<Dataflow>(draw(random, 0, 2));
        for (const Step& step : steps_in_one(made.array, random)) made.steps.push_back(step);
    }
    add_times(made, random);
    return made;
}

std::string to_string(const MxuCase& mxu_case) {
    static constexpr const char* kTypes[] = {"int8", "bf16", "fp16", "fp32"};
    const ArraySpec& array = mxu_case.array;
    std::string text = fmt::format(
        "array {} x {}, {}{}, {}, {}, accumulator latency {}, {}, arrivals told {}, value seed {}\n",
        array.rows, array.cols, systole::to_string(array.dataflow),
        array.reconfigurable ? fmt::format(" at first, set up anew in {}", array.dataflow_switch.value())
                             : "",
        array.shadow_register ? "shadow" : "no shadow", array.result_shift ? "result shift" : "result bus",
        array.accumulator_latency.value(), kTypes[static_cast<int>(mxu_case.type)],
        mxu_case.arrivals_told_early ? "early" : "in time", mxu_case.value_seed);
    for (const Step& step : mxu_case.steps) {
        const Pass& pass = step.pass;
        const std::string tile = pass.new_tile ? fmt::format("tile {} x {} at {}", step.tile.rows,
                                                             step.tile.cols, step.arrives.value())
                                               : "kept tile";
        text += fmt::format("  {}: {} vectors every {}/{} ready at {}, {}, {} row {}\n",
                            systole::to_string(step.dataflow), pass.vectors, pass.cycles_per_vector.num,
                            pass.cycles_per_vector.den, step.ready.value(), tile,
                            pass.accumulate ? "adds onto" : "overwrites", pass.accumulator_row);
    }
    return text;
}

namespace {

using Change = std::function<void(MxuCase&)>;

std::vector<Change> changes_of_step(std::size_t n) {
    return {
        [n](MxuCase& c) { c.steps.erase(c.steps.begin() + static_cast<std::ptrdiff_t>(n)); },
        [n](MxuCase& c) { c.steps[n].pass.vectors = (c.steps[n].pass.vectors + 1) / 2; },
        [n](MxuCase& c) { c.steps[n].pass.cycles_per_vector = {}; },
        [n](MxuCase& c) { c.steps[n].pass.accumulate = false; },
        [n](MxuCase& c) { c.steps[n].pass.accumulator_row = 0; },
        [n](MxuCase& c) { c.steps[n].ready = Cycles(c.steps[n].ready.value() / 2); },
        [n](MxuCase& c) { c.steps[n].arrives = Cycles(c.steps[n].arrives.value() / 2); },
        [n](MxuCase& c) {
            c.steps[n].tile = {1, 1};
        },
    };
}

std::vector<Change> changes_of(const MxuCase& mxu_case) {
    std::vector<Change> changes = {
        [](MxuCase& c) { c.array.rows = (c.array.rows + 1) / 2; },
        [](MxuCase& c) { c.array.cols = (c.array.cols + 1) / 2; },
        [](MxuCase& c) {
            c.array.accumulator_latency = Cycles((c.array.accumulator_latency.value() + 1) / 2);
        },
        [](MxuCase& c) { c.array.dataflow_switch = Cycles(c.array.dataflow_switch.value() / 2); },
        [](MxuCase& c) { c.array.shadow_register = false; },
        [](MxuCase& c) { c.array.result_shift = false; },
        [](MxuCase& c) { c.arrivals_told_early = false; },
        [](MxuCase& c) { c.type = ValueType::Int8; },
    };
    for (std::size_t n = 0; n < mxu_case.steps.size(); ++n)
        for (Change& change : changes_of_step(n)) changes.push_back(std::move(change));
    return changes;
}

/// The first single change that makes a different case which still fails.
std::optional<MxuCase> simpler(const MxuCase& failing, const std::function<bool(const MxuCase&)>& fails) {
    for (const Change& change : changes_of(failing)) {
        MxuCase changed = failing;
        change(changed);
        make_consistent(changed);
        if (!changed.steps.empty() && to_string(changed) != to_string(failing) && fails(changed))
            return changed;
    }
    return std::nullopt;
}

}  // namespace

MxuCase shrink(MxuCase failing, const std::function<bool(const MxuCase&)>& fails) {
    while (std::optional<MxuCase> next = simpler(failing, fails)) failing = *next;
    return failing;
}

}  // namespace systole::test
