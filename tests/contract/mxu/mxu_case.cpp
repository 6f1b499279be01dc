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

ArraySpec random_array(std::mt19937_64& random) {
    static constexpr int kShapes[][2] = {{32, 8}, {8, 32}, {24, 24}, {1, 40}, {40, 1}};
    ArraySpec array;
    array.rows = static_cast<int>(draw(random, 1, 16));
    array.cols = static_cast<int>(draw(random, 1, 16));
    if (chance(random, 10)) {
        const auto& shape = kShapes[draw(random, 0, 4)];
        array.rows = shape[0];
        array.cols = shape[1];
    }
    array.shadow_register = chance(random, 60);
    array.accumulator_latency = Cycles(chance(random, 70) ? draw(random, 1, 8) : draw(random, 9, 60));
    array.accumulator_rows = 128;
    return array;
}

Rational random_rate(std::mt19937_64& random) {
    static constexpr Rational kCommon[] = {{1, 1}, {1, 1}, {2, 1}, {3, 2}, {4, 3}, {5, 4}, {9, 8}};
    if (chance(random, 60)) return kCommon[draw(random, 0, 6)];
    const std::int64_t den = draw(random, 1, 12);
    return {draw(random, den, chance(random, 90) ? 3 * den : 40 * den), den};  // not always in lowest terms
}

/// What one pass must say of the next, and what the array's size allows.
void make_consistent(MxuCase& mxu_case) {
    std::vector<Step>& steps = mxu_case.steps;
    Cycles arrived;
    for (std::size_t n = 0; n < steps.size(); ++n) {
        if (n == 0) steps[n].pass.new_tile = true;
        steps[n].pass.last_use = n + 1 == steps.size() || steps[n + 1].pass.new_tile;
        steps[n].tile.rows = std::min(steps[n].tile.rows, mxu_case.array.rows);
        steps[n].tile.cols = std::min(steps[n].tile.cols, mxu_case.array.cols);
        steps[n].arrives = arrived = std::max(arrived, steps[n].arrives);
    }
}

}  // namespace

MxuCase random_case(std::mt19937_64& random) {
    MxuCase made;
    made.array = random_array(random);
    made.type = static_cast<ValueType>(draw(random, 0, 2));
    made.arrivals_told_early = chance(random, 30);
    made.value_seed = random();
    const Rational shared_rate = random_rate(random);
    const bool busy = chance(random, 50);  // everything is there early: passes follow back to back
    for (std::int64_t left = draw(random, 1, 6); left > 0; --left) {
        Step step;
        step.pass.vectors = chance(random, 40) ? draw(random, 1, 4) : draw(random, 1, 40);
        step.pass.cycles_per_vector = chance(random, 50) ? shared_rate : random_rate(random);
        step.pass.new_tile = chance(random, 65);
        step.pass.accumulate = chance(random, 60);
        step.pass.accumulator_row = chance(random, 60) ? 0 : draw(random, 0, 60);
        step.tile = {static_cast<int>(draw(random, 1, made.array.rows)),
                     static_cast<int>(draw(random, 1, made.array.cols))};
        if (chance(random, 40)) step.tile = {made.array.rows, made.array.cols};
        step.ready = Cycles(busy ? 0 : draw(random, 0, 200));
        step.arrives = Cycles(busy ? draw(random, 0, 4) : draw(random, 0, 200));
        made.steps.push_back(step);
    }
    make_consistent(made);
    return made;
}

std::string to_string(const MxuCase& mxu_case) {
    static constexpr const char* kTypes[] = {"int8", "bf16", "fp32"};
    const ArraySpec& array = mxu_case.array;
    std::string text =
        fmt::format("array {} x {}, {}, accumulator latency {}, {}, arrivals told {}, value seed {}\n",
                    array.rows, array.cols, array.shadow_register ? "shadow" : "no shadow",
                    array.accumulator_latency.value(), kTypes[static_cast<int>(mxu_case.type)],
                    mxu_case.arrivals_told_early ? "early" : "in time", mxu_case.value_seed);
    for (const Step& step : mxu_case.steps) {
        const Pass& pass = step.pass;
        const std::string weights = pass.new_tile ? fmt::format("tile {} x {} at {}", step.tile.rows,
                                                                step.tile.cols, step.arrives.value())
                                                  : "kept tile";
        text += fmt::format("  {} vectors every {}/{} ready at {}, {}, {} row {}\n", pass.vectors,
                            pass.cycles_per_vector.num, pass.cycles_per_vector.den, step.ready.value(),
                            weights, pass.accumulate ? "adds onto" : "overwrites", pass.accumulator_row);
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
        [](MxuCase& c) { c.array.shadow_register = false; },
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
