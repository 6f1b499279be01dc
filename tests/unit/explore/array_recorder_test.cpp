// SPDX-License-Identifier: Apache-2.0
// The recorder by itself: signals written by hand, clock by clock.
#include "models/devices/systolic/explore/array_recorder.h"

#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <map>

#include "sim/base/error.h"

namespace systole::systolic {
namespace {

/// Signals of an array of 1 x 2, told to a recorder as a WaveRecorder tells them: only what changes.
class Told {
public:
    explicit Told(std::int64_t first = 0, int cols = 2) : recorder({"m.mxu0", 1, cols}, first), cols_(cols) {
        for (int col = 0; col < cols; ++col) {
            for (const char* name : {"moving", "stationary", "shadow", "sum", "valid", "real"})
                declare(fmt::format("m.mxu0.pe_0_{}.{}", col, name));
            for (const char* edge : {"bottom.col", "bottom.valid", "shift.col", "written.col"})
                declare(fmt::format("m.mxu0.{}_{}", edge, col));
        }
        for (const char* name :
             {"pass", "layer", "batch", "first_m", "first_k", "first_n", "size_m", "size_k", "size_n",
              "dataflow", "new_tile", "queue", "acc_7.col_0", "acc_7.col_1"})
            declare(std::string("m.mxu0.") + name);
        declare("m.mxu1.pe_0_0.sum");
        recorder.begin(signals_, window_);
        for (int col = 0; col < cols; ++col) write(col, kNoWaveValue);
    }
    /// Column `col` writes that row; kNoWaveValue: none, any more.
    void write(int col, std::int64_t row) {
        recorder.change(numbers_.at(fmt::format("m.mxu0.written.col_{}", col)), row);
    }

    /// What changes in a clock: paths below m.mxu0.
    void clock(std::int64_t cycle, const std::map<std::string, std::int64_t>& changes) {
        recorder.time(window_.clock.edge(Cycles(cycle)));
        for (const auto& [path, value] : changes) recorder.change(numbers_.at("m.mxu0." + path), value);
    }
    /// Vectors that enter PE(0,0): `valid` of all PEs, all real.
    void multiply(std::int64_t cycle, std::int64_t valid, std::map<std::string, std::int64_t> changes = {}) {
        for (int col = 0; col < cols_; ++col)
            for (const char* name : {"valid", "real"}) changes[fmt::format("pe_0_{}.{}", col, name)] = valid;
        clock(cycle, changes);
    }
    const ArrayRecording& end(std::int64_t cycle) {
        recorder.end(window_.clock.edge(Cycles(cycle)));
        return recorder.recording();
    }
    void other_unit(std::int64_t value) { recorder.change(numbers_.at("m.mxu1.pe_0_0.sum"), value); }

    ArrayRecorder recorder;

private:
    void declare(const std::string& path) {
        WaveSignal signal;
        signal.path = path;
        numbers_[path] = signals_.size();
        signals_.push_back(signal);
    }

    const int cols_;
    const WaveWindow window_{ClockDomain(Hertz(1'500'000'000)), Cycles(0), Cycles(1'000'000)};
    std::vector<WaveSignal> signals_;
    std::map<std::string, std::size_t> numbers_;
};

using Values = std::vector<std::int32_t>;
using Frames = std::vector<std::int64_t>;

std::map<std::string, std::int64_t> block(std::int64_t pass, std::int64_t m, std::int64_t k0,
                                          std::int64_t k) {
    return {{"pass", pass}, {"layer", 1},  {"batch", 0},  {"first_m", 2},  {"first_k", k0}, {"first_n", 3},
            {"size_m", m},  {"size_k", k}, {"size_n", 2}, {"dataflow", 0}, {"new_tile", 1}};
}

}  // namespace

TEST_CASE("a frame is kept where something changed, and holds until the next", "[explore]") {
    Told told;
    told.clock(0, {});
    told.clock(2, {{"pe_0_1.shadow", -3}, {"shift.col_1", 1}});
    told.clock(3, {{"shift.col_1", 0}});
    told.clock(6, {{"queue", 4}});  // nobody's register
    const ArrayRecording& recording = told.end(9);
    CHECK(recording.frames == Frames{0, 2, 3});
    CHECK(recording.shadow == Values{0, 0, 0, -3, 0, -3});
    CHECK(recording.shifting == Values{0, 0, 0, 1, 0, 0});
    CHECK(recording.end == 9);
    CHECK(recording.clocks.size() == 9);
    CHECK(recording.has_shadow);
    CHECK_FALSE(recording.has_result);
}

TEST_CASE("clocks with products are frames of their own, even where every register stays the same",
          "[explore]") {
    Told told;
    told.multiply(0, 0);
    told.multiply(1, 1, block(0, 3, 0, 1));
    told.multiply(4, 0);
    const ArrayRecording& recording = told.end(6);
    CHECK(recording.frames == Frames{0, 1, 2, 3, 4});
    CHECK(recording.work == Values{0, 0, 2, 2, 2, 2, 2, 2, 0, 0});
    REQUIRE(recording.passes.size() == 1);
    CHECK(recording.passes[0].clock == 1);
}

TEST_CASE("PE-cycles are useful, padding, or ramp while the array moves, and else waiting", "[explore]") {
    Told told;
    told.clock(0, {{"shift.col_0", 1}});
    told.clock(1, {{"shift.col_0", 0}, {"pe_0_0.valid", 1}, {"pe_0_0.real", 1}});
    told.clock(2, {{"pe_0_0.valid", 0}, {"pe_0_1.valid", 1}});
    told.clock(3, {{"pe_0_1.valid", 0}, {"bottom.valid_1", 1}, {"bottom.col_1", 42}});
    told.clock(4, {{"bottom.valid_1", 0}, {"bottom.col_1", 0}});
    const ArrayRecording& recording = told.end(6);
    const std::vector<PeCycles> expected{{0, 0, 2}, {1, 0, 1}, {0, 1, 1}, {0, 0, 2}, {0, 0, 0}, {0, 0, 0}};
    REQUIRE(recording.clocks.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO("clock " << i);
        CHECK(recording.clocks[i].useful == expected[i].useful);
        CHECK(recording.clocks[i].padding == expected[i].padding);
        CHECK(recording.clocks[i].ramp == expected[i].ramp);
    }
    CHECK(recording.leaving == Values{0, 0, 0, 0, 0, 0, 0, 42, 0, 0});
    CHECK(recording.leaves == Values{0, 0, 0, 0, 0, 0, 0, 1, 0, 0});
}

TEST_CASE("folds of a pass are told apart by how many vectors one streams", "[explore]") {
    Told told;
    told.multiply(0, 0);
    told.multiply(5, 1, block(4, 3, 8, 2));  // two folds of three vectors, one behind the other
    told.multiply(11, 0);
    told.multiply(13, 1, block(5, 2, 0, 2));
    told.multiply(15, 0);
    const ArrayRecording& recording = told.end(16);
    REQUIRE(recording.passes.size() == 3);
    const auto& passes = recording.passes;
    CHECK(passes[0].clock == 5);
    CHECK(passes[0].vector == 0);
    CHECK(passes[0].k0 == 8);
    CHECK(passes[0].m0 == 2);
    CHECK(passes[0].n0 == 3);
    CHECK(passes[0].layer == 1);
    CHECK(passes[1].clock == 8);
    CHECK(passes[1].vector == 3);
    CHECK(passes[1].k0 == 10);
    CHECK(passes[2].clock == 13);
    CHECK(passes[2].vector == 6);
    CHECK(passes[2].k0 == 0);
}

TEST_CASE("a window keeps registers from its begin on, and counts what came before", "[explore]") {
    Told told(3);
    told.multiply(0, 1, block(0, 5, 0, 1));
    told.clock(1, {{"pe_0_1.valid", 0}, {"acc_7.col_1", 9}, {"written.col_1", 7}});
    told.clock(2, {{"written.col_1", kNoWaveValue}});
    told.multiply(5, 0, {{"acc_7.col_0", -2}, {"written.col_0", 7}});
    told.clock(6, {{"written.col_0", kNoWaveValue}});
    const ArrayRecording& recording = told.end(7);
    CHECK(recording.first == 3);
    CHECK(recording.frames == Frames{3, 4, 5});
    CHECK(recording.vectors_before == Values{3, 1});
    CHECK(recording.clocks.size() == 7);
    CHECK(recording.clocks[0].useful == 2);
    REQUIRE(recording.accumulators.size() == 2);
    CHECK(recording.accumulators[0].clock == 2);  // what it already held
    CHECK(recording.accumulators[0].value == 9);
    CHECK(recording.accumulators[0].col == 1);
    CHECK(recording.accumulators[0].row == 7);
    CHECK(recording.accumulators[1].clock == 5);
    CHECK(recording.accumulators[1].value == -2);
}

TEST_CASE("every write of an accumulator is kept, of the value that it had, too", "[explore]") {
    Told told;
    told.clock(0, {});
    told.clock(2, {{"written.col_1", 7}});  // 0 onto 0
    told.clock(3, {{"written.col_1", kNoWaveValue}, {"written.col_0", 7}, {"acc_7.col_0", 5}});
    told.clock(4, {});  // 5 + 0: the signal stays as it is
    told.clock(5, {{"written.col_0", kNoWaveValue}});
    told.clock(6, {{"written.col_0", 3}});  // a row that is not recorded
    const ArrayRecording& recording = told.end(8);
    std::vector<std::array<std::int64_t, 4>> writes;
    for (const RecordedSum& sum : recording.accumulators)
        writes.push_back({sum.clock, sum.row, sum.col, sum.value});
    CHECK(writes == std::vector<std::array<std::int64_t, 4>>{{2, 7, 1, 0}, {3, 7, 0, 5}, {4, 7, 0, 5}});
}

TEST_CASE("a pass says whether it brings a tile; later folds of a run do", "[explore]") {
    Told told;
    told.multiply(0, 0);
    auto kept = block(4, 3, 8, 2);
    kept["new_tile"] = 0;
    told.multiply(5, 1, kept);  // two folds of three vectors
    told.multiply(11, 0);
    const ArrayRecording& recording = told.end(12);
    REQUIRE(recording.passes.size() == 2);
    CHECK_FALSE(recording.passes[0].new_tile);
    CHECK(recording.passes[1].new_tile);
}

TEST_CASE("signals of other units are not this unit's", "[explore]") {
    Told told;
    told.clock(0, {});
    told.clock(1, {});
    told.other_unit(77);
    CHECK(told.end(3).frames == Frames{0});
}

TEST_CASE("a recording that outgrows a page says how much of it fits", "[explore]") {
    constexpr int kCols = 256;
    Told told(0, kCols);
    told.multiply(0, 1, block(0, 1 << 20, 0, 1));
    constexpr std::int64_t kFrames = ArrayRecorder::kMostPeFrames / kCols;
    CHECK_NOTHROW(told.clock(kFrames, {}));
    REQUIRE_THROWS_WITH(told.clock(kFrames + 1, {}), Catch::Contains(fmt::format("--cycles 0:{}", kFrames)));
}

}  // namespace systole::systolic
