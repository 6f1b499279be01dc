// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/explain/random_array.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

namespace systole::test {
namespace {

using systolic::ArrayPass;

std::int64_t between(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// Every row of a column holds another value, so that a register that takes part in a shift changes.
GridEngine::Values counted(std::int64_t rows, std::int64_t cols) {
    GridEngine::Values values{cols, {}};
    for (std::int64_t i = 0; i < rows; ++i)
        values.values.insert(values.values.end(), static_cast<std::size_t>(cols),
                             static_cast<std::int8_t>(1 + i % 100));
    return values;
}

}  // namespace

RandomArray random_array(std::mt19937_64& random, int largest) {
    RandomArray drawn;
    ArraySpec& array = drawn.array;
    array.rows = static_cast<int>(between(random, 1, largest));
    array.cols = static_cast<int>(between(random, 1, largest));
    array.dataflow = static_cast<Dataflow>(between(random, 0, 2));
    array.shadow_register = between(random, 0, 1) == 1;
    array.result_shift = between(random, 0, 3) > 0;
    array.accumulator_latency = Cycles(between(random, 1, 6));
    const bool results = array.dataflow == Dataflow::OutputStationary;
    const std::int64_t longest = 3 * largest;
    array.accumulator_rows = std::max<std::int64_t>(longest, largest);
    const std::int64_t passes = between(random, 1, 6);
    for (std::int64_t i = 0; i < passes; ++i) {
        ArrayPass pass;
        pass.tile = {static_cast<int>(between(random, 1, array.rows)),
                     static_cast<int>(between(random, 1, array.cols))};
        pass.vectors = between(random, 1, longest);
        pass.accumulate = i > 0 && between(random, 0, 1) == 1;
        pass.new_tile = i == 0 || results || between(random, 0, 3) > 0;
        if (!drawn.passes.empty()) {
            drawn.passes.back().last_use = pass.new_tile;
            if (!pass.new_tile) pass.tile = drawn.passes.back().tile;
        }
        drawn.passes.push_back(pass);
    }
    const std::int64_t each = std::max<std::int64_t>(1, between(random, -2, 4));
    for (ArrayPass& pass : drawn.passes) pass.each = each;
    return drawn;
}

std::string to_string(const RandomArray& drawn) {
    const ArraySpec& a = drawn.array;
    std::string text =
        fmt::format("{} {} x {} shadow {} result_shift {} latency {}:", to_string(a.dataflow), a.rows, a.cols,
                    a.shadow_register, a.result_shift, a.accumulator_latency.value());
    text += fmt::format(" a vector every {} cycles:", drawn.passes.front().each);
    for (const ArrayPass& pass : drawn.passes)
        text += fmt::format(" [{} vectors on {} x {}{}{}]", pass.vectors, pass.tile.rows, pass.tile.cols,
                            pass.new_tile ? "" : ", kept", pass.accumulate ? ", adds" : "");
    return text;
}

std::vector<PassTimes> sent_through_grid(const RandomArray& drawn,
                                         const std::function<void(GridEngine&)>& each_cycle) {
    const auto engine = make_grid_engine(drawn.array);
    const bool results = drawn.array.dataflow == Dataflow::OutputStationary;
    for (const ArrayPass& pass : drawn.passes) {
        if (!pass.new_tile) continue;
        engine->tile_arrives(Cycles(0), pass.tile,
                             results ? GridEngine::Values{} : counted(pass.tile.rows, pass.tile.cols));
    }
    std::vector<PassTimes> times;
    std::size_t next = 0;
    while (times.size() < drawn.passes.size()) {
        while (const auto report = engine->take_finished()) times.push_back(report->times);
        while (next < drawn.passes.size()) {
            const ArrayPass& pass = drawn.passes[next];
            const Pass asked{.vectors = pass.vectors,
                             .cycles_per_vector = {pass.each, 1},
                             .new_tile = pass.new_tile,
                             .last_use = pass.last_use,
                             .accumulate = pass.accumulate,
                             .accumulator_row = pass.accumulator_row};
            if (engine->earliest_start(asked) != engine->now()) break;
            engine->start(asked, counted(pass.vectors, pass.tile.rows),
                          results ? counted(pass.vectors, pass.tile.cols) : GridEngine::Values{});
            ++next;
        }
        engine->advance(engine->now() + Cycles(1));
        if (each_cycle) each_cycle(*engine);
        REQUIRE(engine->now() < Cycles(100'000));
    }
    return times;
}

}  // namespace systole::test
