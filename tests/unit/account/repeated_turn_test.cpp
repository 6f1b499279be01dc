// SPDX-License-Identifier: Apache-2.0
#include "sim/account/repeated_turn.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/unit/account/aborts.h"

namespace systole {
namespace {

ResultRow row_of(const std::string& name, std::int64_t begin, std::int64_t end, std::int64_t macs) {
    ResultRow row;
    row.name = name;
    row.cycles = Cycles(end - begin);
    row.begin = Ticks(begin);
    row.end = Ticks(end);
    row.macs = Macs(macs);
    row.matrix_macs = Macs(macs - 1);
    row.lane_cycles = 2 * macs;
    row.slots[static_cast<std::size_t>(SlotClass::Useful)] = macs;
    row.slots[static_cast<std::size_t>(SlotClass::Padding)] = 2;
    row.slots[static_cast<std::size_t>(SlotClass::Ramp)] = 3;
    row.slots[static_cast<std::size_t>(SlotClass::Memory)] = 4;
    row.dram_read = Bytes(10 * macs);
    row.dram_written = Bytes(macs);
    row.movements = {{Place::Dram, Place::Scratchpad, Operand::Weights, Bytes(10 * macs)},
                     {Place::Scratchpad, Place::Dram, Operand::Outputs, Bytes(macs)}};
    return row;
}

Mark mark_at(std::size_t layers, std::int64_t time, std::int64_t useful, std::int64_t count,
             std::int64_t clocks, std::int64_t compulsory) {
    Mark mark;
    mark.layers = layers;
    mark.time = Ticks(time);
    mark.memory_bus = {{"transfer", clocks}};
    mark.critical_path = {{SlotClass::Memory, Ticks(time - useful)}, {SlotClass::Useful, Ticks(useful)}};
    mark.counts = {count};
    mark.compulsory_dram = Bytes(compulsory);
    return mark;
}

/// Four layers: what is before the block, two turns of 10 and 20 ticks, what is after it.
struct Block {
    CheckedResult run;
    TurnMarks marks;

    Block() {
        DeviceResult& result = run.result;
        result.layers = {row_of("before", 0, 100, 5), row_of("first", 100, 110, 7),
                         row_of("second", 110, 130, 11), row_of("after", 130, 160, 3)};
        result.total = row_of("", 0, 160, 26);
        result.total.utilization_slots = 46;
        result.total.compulsory_dram = Bytes(9);
        result.critical_path = {{SlotClass::Memory, Ticks(130)}, {SlotClass::Useful, Ticks(30)}};
        result.stats = {{"core", "passes", "passes", "", 10}};
        result.memory_bus = {{"transfer", 6}};
        result.energy.enter({"core", "pass", "passes", "passes", 10, Femtojoules(3)});
        result.energy.enter({"core", "background", "", "ps", 160, Femtojoules(1)});
        run.expected.capacity = 1000;
        run.expected.macs = Macs(26);
        run.expected.ends = {{Place::Dram, Bytes(260), Bytes(26)}};
        run.expected.peaks = {
            {26, 1}, 2, {}, BytesPerSecond(10'000'000'000'000), {}, Hertz(1'000'000'000'000)};
        marks = {mark_at(1, 100, 0, 2, 1, 1), mark_at(2, 110, 6, 5, 2, 3), mark_at(3, 130, 20, 9, 4, 7)};
    }

    /// Three more: the first, the second and the first again.
    void repeat() { repeat_turns(run, marks, 3, {"third", "fourth", "fifth"}); }
};

std::int64_t slots(const ResultRow& row, SlotClass owner) {
    return row.slots[static_cast<std::size_t>(owner)];
}

}  // namespace

TEST_CASE("turns that are repeated lie behind those that were simulated, and what follows behind them") {
    Block block;
    block.repeat();
    struct Expected {
        std::string name;
        std::int64_t begin, end, macs;
        bool reused;
    };
    const std::vector<Expected> expected{{"before", 0, 100, 5, false},    {"first", 100, 110, 7, false},
                                         {"second", 110, 130, 11, false}, {"third", 130, 140, 7, true},
                                         {"fourth", 140, 160, 11, true},  {"fifth", 160, 170, 7, true},
                                         {"after", 170, 200, 3, false}};
    const std::vector<ResultRow>& rows = block.run.result.layers;
    REQUIRE(rows.size() == expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        INFO("row " << i);
        CHECK(rows[i].name == expected[i].name);
        CHECK(rows[i].begin == Ticks(expected[i].begin));
        CHECK(rows[i].end == Ticks(expected[i].end));
        CHECK(rows[i].macs == Macs(expected[i].macs));
        CHECK(rows[i].reused == expected[i].reused);
    }
}

TEST_CASE("turns of several layers are repeated layer by layer") {
    Block block;
    // The same rows as one turn of two layers.
    block.marks.erase(block.marks.begin() + 1);
    repeat_turns(block.run, block.marks, 2, {"a", "b", "c", "d"});
    const std::vector<ResultRow>& rows = block.run.result.layers;
    REQUIRE(rows.size() == 8);
    CHECK(rows[3].name == "a");
    CHECK(rows[3].macs == Macs(7));
    CHECK(rows[4].name == "b");
    CHECK(rows[4].macs == Macs(11));
    CHECK(rows[6].name == "d");
    CHECK(rows[6].begin == Ticks(170));
    CHECK(rows[6].end == Ticks(190));
    CHECK(rows[7].end == Ticks(220));
}

TEST_CASE("the total has what repeated turns add to it") {
    Block block;
    block.repeat();
    const ResultRow& total = block.run.result.total;  // 7 + 11 + 7 = 25 MACs more
    CHECK(total.end == Ticks(200));
    CHECK(total.cycles == Cycles(200));
    CHECK(total.macs == Macs(51));
    CHECK(total.matrix_macs == Macs(25 + 22));
    CHECK(total.lane_cycles == 52 + 50);
    CHECK(total.dram_read == Bytes(510));
    CHECK(total.dram_written == Bytes(51));
    CHECK(slots(total, SlotClass::Useful) == 51);
    CHECK(slots(total, SlotClass::Padding) == 8);
    CHECK(slots(total, SlotClass::Ramp) == 12);
    CHECK(slots(total, SlotClass::Memory) == 16);
    CHECK(total.utilization_slots == 46 + 25 + 6 + 9);
    CHECK(total.compulsory_dram == Bytes(9 + 6 + 2));
    REQUIRE(total.movements.size() == 2);
    for (const Movement& moved : total.movements)
        CHECK(moved.bytes == Bytes(moved.from == Place::Dram ? 510 : 51));
}

TEST_CASE("the roofline of the total is that of all the work, and the run is bound by its longer path") {
    Block block;
    block.repeat();
    const DeviceResult& result = block.run.result;
    CHECK(result.total.roofline.at(Level::Compute) == Cycles(2));  // 47 MACs at 26 a cycle
    CHECK(result.total.roofline.at(Level::Vector) == Cycles(51));
    CHECK(result.total.roofline.at(Level::Memory) == Cycles(57));  // 561 bytes at ten a cycle
    CHECK(result.total.bound_by == "memory");
}

TEST_CASE("the critical path grows by what each class had in the turns that are repeated") {
    Block block;
    block.repeat();
    const std::vector<CriticalStep>& path = block.run.result.critical_path;
    REQUIRE(path.size() == 2);
    CHECK(path[0].owner == SlotClass::Memory);
    CHECK(path[0].time == Ticks(130 + 10 + 4));  // both turns once, and the first again
    CHECK(path[1].owner == SlotClass::Useful);
    CHECK(path[1].time == Ticks(30 + 20 + 6));
}

TEST_CASE("counters and buses count whole rounds of the marked turns and what is left of one") {
    Block block;
    block.repeat();
    CHECK(block.run.result.stats[0].value == 10 + 7 + 3);
    CHECK(block.run.result.memory_bus[0].clocks == 6 + 3 + 1);
    Block twice;
    repeat_turns(twice.run, twice.marks, 5, {"a", "b", "c", "d", "e"});
    CHECK(twice.run.result.stats[0].value == 10 + 2 * 7 + 3);
}

TEST_CASE("energy that a counter tells follows it, other energy follows time") {
    Block block;
    block.repeat();
    const std::vector<EnergyEntry>& entries = block.run.result.energy.entries();
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].count == 20);
    CHECK(entries[1].count == 200);
    CHECK(block.run.result.energy.total() == Femtojoules(3 * 20 + 200));
}

TEST_CASE("what is expected of a run grows by the turns that are repeated") {
    Block block;
    block.repeat();
    const Expectations& expected = block.run.expected;
    CHECK(expected.capacity == 1000 + 25 + 3 * 9);
    CHECK(expected.macs == Macs(51));
    CHECK(expected.ends[0].out == Bytes(510));
    CHECK(expected.ends[0].in == Bytes(51));
}

TEST_CASE("turns that take less than the device's peaks allow are repeated as long as these ask for") {
    Block block;
    DeviceResult& result = block.run.result;
    result.total.slots[static_cast<std::size_t>(SlotClass::Tail)] = 320 - 35;  // two slots a tick
    result.memory_bus.push_back({"idle", 20});
    const std::vector<std::int64_t> idle{0, 10, 20};
    for (std::size_t i = 0; i < block.marks.size(); ++i)
        block.marks[i].memory_bus.push_back({"idle", idle[i]});
    // 16 matrix MACs of two turns take 36 ticks then, where 30 are marked: three more each.
    block.run.expected.peaks.macs = {4, 9};
    block.repeat();

    const std::vector<ResultRow>& rows = result.layers;
    REQUIRE(rows.size() == 7);
    const std::vector<std::int64_t> times{100, 10, 20, 13, 23, 13, 30};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        INFO("row " << i);
        CHECK(rows[i].time() == Ticks(times[i]));
        CHECK(rows[i].cycles == Cycles(times[i]));
        if (i > 0) CHECK(rows[i].begin == rows[i - 1].end);
    }
    CHECK(result.total.end == Ticks(160 + 49));
    CHECK(result.total.cycles == Cycles(160 + 49));
    // Most of the turns' critical path is useful work.
    CHECK(slots(rows[3], SlotClass::Useful) == 7 + 2 * 3);
    CHECK(slots(result.total, SlotClass::Useful) == 26 + 25 + 2 * 9);
    CHECK(slots(result.total, SlotClass::Memory) == 16);
    CHECK(block.run.expected.capacity == 1000 + 25 + 3 * 9 + 2 * 9);
    std::vector<std::int64_t> path(kSlotClasses);
    for (const CriticalStep& step : result.critical_path)
        path[static_cast<std::size_t>(step.owner)] = step.time.value();
    CHECK(path[static_cast<std::size_t>(SlotClass::Useful)] == 30 + 20 + 6 + 9);
    CHECK(path[static_cast<std::size_t>(SlotClass::Memory)] == 130 + 10 + 4);
    // 3 and 20 clocks in 30 ticks: 9 more ticks are 6.9 clocks, which idle ones have.
    CHECK(result.memory_bus[0].clocks == 6 + 3 + 1);
    CHECK(result.memory_bus[1].clocks == 20 + 20 + 10 + 6);
}

TEST_CASE("each row that is added has a name") {
    Block block;
    CHECK(test::aborts([&] { repeat_turns(block.run, block.marks, 3, {"third", "fourth"}); }));
}

}  // namespace systole
