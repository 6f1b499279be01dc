// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/explain/array_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "models/devices/systolic/mxu/grid_engine.h"
#include "sim/base/check.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

/// Shift, fill and drain of a pass: what it takes besides the `each` cycles of its T vectors. The last of
/// these moves on a cycle after it has entered.
Formula edges(const ArraySpec& array, std::int64_t each) {
    const std::int64_t less = each + 1;
    if (shifts(array))
        return {fmt::format("2R + C - {}", less),
                fmt::format("2 x {} + {} - {}", array.rows, array.cols, less),
                2 * std::int64_t{array.rows} + array.cols - less};
    return {fmt::format("R + C - {}", less), fmt::format("{} + {} - {}", array.rows, array.cols, less),
            std::int64_t{array.rows} + array.cols - less};
}

/// Passes of an array so small that it has drained before its last vector has had its time: only behind the
/// last pass it counts that the array is through earlier.
Formula last_alone(const Formula& edge, const std::string& stream, const std::string& streams,
                   std::int64_t streamed) {
    return {fmt::format("sum of {} + {}", stream, edge.symbols),
            fmt::format("{} + {}", streams, edge.numbers), streamed + edge.cycles};
}

/// "T", "2T".
std::string stream_symbol(std::int64_t each) {
    return each == 1 ? "T" : fmt::format("{}T", each);
}

std::int64_t spacing(const std::vector<ArrayPass>& passes) {
    return passes.empty() ? 1 : passes.front().each;
}

/// Cycles streamed on each tile in turn: a tile that is kept counts once.
std::vector<std::int64_t> streams(const std::vector<ArrayPass>& passes) {
    std::vector<std::int64_t> streams;
    for (const ArrayPass& pass : passes) {
        if (pass.new_tile || streams.empty()) streams.push_back(0);
        streams.back() += pass.vectors * pass.each;
    }
    return streams;
}

/// How often by length, the longest first.
using Counts = std::map<std::int64_t, std::int64_t, std::greater<>>;

/// "3 x 6 + 1 x 2", or of streams that hide a shift of `rows` cycles "3 x max(6, 4) + 1 x max(2, 4)"; of many
/// lengths, their sum.
std::string counted(const Counts& counts, std::optional<int> rows) {
    constexpr std::size_t kNamed = 3;
    std::string text;
    std::int64_t sum = 0;
    for (const auto& [length, count] : counts) {
        const std::string stream = with_thousands(length);
        text += fmt::format("{}{} x {}", text.empty() ? "" : " + ", with_thousands(count),
                            rows ? fmt::format("max({}, {})", stream, *rows) : stream);
        sum += count * std::max<std::int64_t>(length, rows.value_or(0));
    }
    return counts.size() <= kNamed ? text : with_thousands(sum);
}

/// Announces tiles in order, each as soon as the one before it is in use.
class Tiles {
public:
    Tiles(MatrixEngine& engine, const std::vector<ArrayPass>& passes) : engine_(engine), passes_(passes) {}

    void announce() {
        while (next_ < passes_.size() && !passes_[next_].new_tile) ++next_;
        if (next_ < passes_.size()) engine_.tile_arrives(engine_.now(), passes_[next_++].tile);
    }

private:
    MatrixEngine& engine_;
    const std::vector<ArrayPass>& passes_;
    std::size_t next_ = 0;
};

void start_when_possible(MatrixEngine& engine, const ArrayPass& pass) {
    const Pass asked{.vectors = pass.vectors,
                     .cycles_per_vector = {pass.each, 1},
                     .new_tile = pass.new_tile,
                     .last_use = pass.last_use,
                     .accumulate = pass.accumulate,
                     .accumulator_row = pass.accumulator_row};
    for (Cycles at = engine.earliest_start(asked); at > engine.now(); at = engine.earliest_start(asked)) {
        SYSTOLE_CHECK(at != kNever, "a pass of {} vectors can never start", pass.vectors);
        engine.advance(at);
    }
    engine.start(asked);
}

}  // namespace

bool shifts(const ArraySpec& array) {
    return array.dataflow != Dataflow::OutputStationary || array.result_shift;
}

Formula alone(const ArraySpec& array, std::int64_t vectors, std::int64_t each) {
    const Formula edge = edges(array, each);
    const std::int64_t stream = vectors * each;
    const std::string front = shifts(array) ? "2R + C" : "R + C";
    Formula formula{
        fmt::format("{} + {} - {}", front, stream_symbol(each), each + 1),
        fmt::format("{} + {} + {} - {}",
                    shifts(array) ? fmt::format("2 x {}", array.rows) : fmt::format("{}", array.rows),
                    array.cols, with_thousands(stream), each + 1),
        edge.cycles + stream};
    const auto done = send_through(array, {{.vectors = vectors, .each = each}}).done;
    SYSTOLE_CHECK(done.value() == formula.cycles, "{} = {}, but the engine takes {}", formula.symbols,
                  formula.cycles, done.value());
    return formula;
}

Formula back_to_back(const ArraySpec& array, std::int64_t vectors, std::int64_t each) {
    Formula formula = alone(array, vectors, each);
    const std::int64_t stream = vectors * each;
    // Behind a stream of R vectors a tile of R rows moves in, or R rows of results move out.
    if (array.shadow_register)
        formula = {fmt::format("max({}, R)", stream_symbol(each)),
                   fmt::format("max({}, {})", with_thousands(stream), array.rows),
                   std::max<std::int64_t>(stream, array.rows)};
    else if (edges(array, each).cycles < 0)
        formula = {stream_symbol(each), with_thousands(stream), stream};
    const ArrayPass pass{.vectors = vectors, .each = each};
    std::vector<std::int64_t> starts;
    send_through(array, {pass, pass}, [&](const PassTimes& times) { starts.push_back(times.start.value()); });
    SYSTOLE_CHECK(starts[1] - starts[0] == formula.cycles, "{} = {}, but the engine takes {}",
                  formula.symbols, formula.cycles, starts[1] - starts[0]);
    return formula;
}

Formula all_passes(const ArraySpec& array, const std::vector<ArrayPass>& passes) {
    const std::vector<std::int64_t> on_tiles = streams(passes);
    const auto tiles = static_cast<std::int64_t>(on_tiles.size());
    const std::int64_t each = spacing(passes);
    const Formula edge = edges(array, each);
    const std::string stream = stream_symbol(each);
    // The stream that hides nobody's shift: the last behind the last tile's, or (os) the first before
    // results.
    const bool first = array.dataflow == Dataflow::OutputStationary;
    const std::size_t open = array.shadow_register ? (first ? 0 : on_tiles.size() - 1) : on_tiles.size();

    Counts counts;
    std::int64_t streamed = 0;
    for (std::size_t i = 0; i < on_tiles.size(); ++i) {
        if (i == open) continue;
        ++counts[on_tiles[i]];
        streamed += array.shadow_register ? std::max<std::int64_t>(on_tiles[i], array.rows) : on_tiles[i];
    }
    if (!array.shadow_register && edge.cycles < 0)
        return last_alone(edge, stream, counted(counts, std::nullopt), streamed);
    if (!array.shadow_register)
        return {
            fmt::format("tiles x ({}) + sum of {}", edge.symbols, stream),
            fmt::format("{} x ({}) + {}", with_thousands(tiles), edge.numbers, counted(counts, std::nullopt)),
            tiles * edge.cycles + streamed};
    Formula formula{fmt::format("{} + {} {}", edge.symbols, stream, first ? "of the first" : "of the last"),
                    fmt::format("{} + {}", edge.numbers, with_thousands(on_tiles[open])),
                    edge.cycles + on_tiles[open] + streamed};
    if (tiles > 1) {
        formula.symbols += fmt::format(" + max({}, R) of the others", stream);
        formula.numbers += " + " + counted(counts, array.rows);
    }
    return formula;
}

PassTimes send_through(const ArraySpec& array, const std::vector<ArrayPass>& passes,
                       const std::function<void(const PassTimes&)>& each) {
    SYSTOLE_CHECK(!passes.empty(), "there is no pass to send");
    const std::unique_ptr<MatrixEngine> engine = make_tile_engine(array);
    PassTimes last;
    std::size_t finished = 0;
    const auto take = [&] {
        while (const auto report = engine->take_finished()) {
            last = report->times;
            ++finished;
            if (each) each(last);
        }
    };
    Tiles tiles(*engine, passes);
    tiles.announce();
    for (const ArrayPass& pass : passes) {
        start_when_possible(*engine, pass);
        if (pass.new_tile) tiles.announce();
        take();
    }
    while (finished < passes.size()) {
        engine->advance(engine->next_event());
        take();
    }
    return last;
}

UnitTime unit_time(const ArraySpec& array, const std::vector<ArrayPass>& passes) {
    if (passes.empty()) return {};
    UnitTime time{all_passes(array, passes)};
    ArraySpec prompt = array;
    prompt.accumulator_latency = Cycles(1);
    const std::int64_t without = send_through(prompt, passes).done.value();
    SYSTOLE_CHECK(without == time.formula.cycles, "{} = {}, but the engine takes {}", time.formula.symbols,
                  time.formula.cycles, without);
    time.accumulator_waits = send_through(array, passes).done.value() - without;
    return time;
}

}  // namespace systole::systolic
