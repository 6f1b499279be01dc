// SPDX-License-Identifier: Apache-2.0
// The rules of the controller one by one, on the slow twin: cases small enough for pencil and paper on HBM2
// with the timings of memory_specs.h.
#include <catch2/catch.hpp>

#include "tests/unit/memory/memory_specs.h"
#include "tests/unit/memory/slow_channel.h"

namespace systole::test {
namespace {

constexpr Direction kRead = Direction::Read, kWrite = Direction::Write;

DramSpec calm() {
    DramSpec spec = hbm2();
    spec.refresh = RefreshPolicy::Off;
    return spec;
}

/// A local burst of map "bg2 co5 ba2 ro15".
constexpr std::int64_t burst(std::int64_t group, std::int64_t bank, std::int64_t row,
                             std::int64_t column = 0) {
    return group + 4 * column + 128 * bank + 512 * row;
}

struct Run {
    DramSpec spec;
    AddressMap map{spec};
    SlowChannel twin{spec, map};

    Run(const DramSpec& memory, const std::deque<Arrival>& arrivals) : spec(memory) { twin.run(arrivals); }
    std::int64_t done(std::int64_t id) const { return twin.done().at(id); }
    /// The clocks of a command, of one bank or of all.
    std::vector<std::int64_t> clocks(Command command, int bank = -1) const {
        std::vector<std::int64_t> found;
        for (const GivenCommand& given : twin.commands())
            if (given.command == command && (bank < 0 || given.bank == bank))
                found.push_back(given.clock.value());
        return found;
    }
};

using Clocks = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("two pseudo-channels share the row bus: an ACT of one waits for the two clocks of the other's") {
    DramSpec spec = calm();
    spec.pseudo_channels = 2;
    spec.address_map = "ch1 bg2 co5 ba2 ro15";
    const Run run(spec, {{0, 0, 1, 0, 1, kRead}, {0, 1, 2, 0, 1, kRead}});
    CHECK(run.clocks(Command::Act) == Clocks{0, 2});
    CHECK(run.clocks(Command::Read) == Clocks{15, 17});
    CHECK(run.twin.account(1, 33)[BusTime::CommandBus] == 2);
}

TEST_CASE("an activation's burst is served although the bus has turned meanwhile") {
    DramSpec spec = calm();
    spec.writes = {1, 0};
    // The read's ACT is on its way when the write turns the bus.
    const Run run(spec, {{0, 0, 1, burst(0, 0, 1), 1, kRead}, {5, 0, 2, burst(0, 0, 2), 1, kWrite}});
    CHECK(run.clocks(Command::Read) == Clocks{15});
    CHECK(run.clocks(Command::Pre, 0) == Clocks{35});
    CHECK(run.done(2) == 35 + 13 + 13 + 5 + 2);
}

TEST_CASE("who has been passed too often gets its bank kept, and the others go on") {
    DramSpec spec = calm();
    spec.patience = 3;
    std::deque<Arrival> arrivals{{0, 0, 0, burst(0, 0, 0), 1, kRead}, {0, 0, 1, burst(0, 0, 1), 1, kRead}};
    for (std::int64_t i = 1; i < 15; ++i) arrivals.push_back({0, 0, 1 + i, burst(0, 0, 0, i), 1, kRead});
    for (std::int64_t i = 0; i < 15; ++i) arrivals.push_back({0, 0, 20 + i, burst(1, 0, 0, i), 1, kRead});
    const Run run(spec, arrivals);
    // Columns: bank 0 at 15; then it and bank 4 (opened at 4) in turn, until three have passed request 1.
    CHECK(run.clocks(Command::Pre, 0).front() == 35);
    CHECK(run.clocks(Command::Act, 0)[1] == 35 + 13);
    CHECK(run.clocks(Command::Read, 0)[3] == 48 + 15);
    CHECK(run.clocks(Command::Read, 0)[2] < 35);
    const Clocks others = run.clocks(Command::Read, 4);
    CHECK(std::count_if(others.begin(), others.end(), [](std::int64_t c) { return c > 27 && c < 63; }) >= 8);
}

TEST_CASE("writes that hit open rows are written before the bus turns back") {
    DramSpec spec = calm();
    spec.writes = {4, 2};
    std::deque<Arrival> arrivals;
    for (std::int64_t i = 0; i < 4; ++i) arrivals.push_back({0, 0, i, burst(0, 0, 7, i), 1, kWrite});
    arrivals.push_back({0, 0, 9, burst(0, 0, 8), 1, kRead});
    // One row: all four are hits once it is open, though two could be left.
    CHECK(Run(spec, arrivals).clocks(Command::Write) == Clocks{13, 17, 21, 25});
    arrivals[3].first = burst(1, 1, 7);  // of a row that is not open when two are left …
    spec.writes = {4, 3};
    spec.timing["RRD_S"] = 40;
    const Clocks writes = Run(spec, arrivals).clocks(Command::Write);
    CHECK(writes[2] == 21);
    CHECK(writes[3] > 60);  // … waits for the read
}

TEST_CASE("a cap ends a run of hits while an older burst waits for the bank") {
    DramSpec spec = calm();
    spec.row_hit_cap = 2;
    std::deque<Arrival> arrivals{{0, 0, 0, burst(0, 0, 0), 1, kRead}, {0, 0, 1, burst(0, 0, 1), 1, kRead}};
    for (std::int64_t i = 1; i < 10; ++i) arrivals.push_back({0, 0, 1 + i, burst(0, 0, 0, i), 1, kRead});
    const Run run(spec, arrivals);
    CHECK(run.done(1) == 48 + 15 + 16);  // PRE 35, ACT 48: after request 0 and two hits
    CHECK(run.clocks(Command::Read, 0)[2] == 23);
    CHECK(run.clocks(Command::Read, 0)[3] == 63);
}

TEST_CASE("a closed page closes with its last burst, an adaptive one only if another row is wanted") {
    DramSpec spec = calm();
    const std::deque<Arrival> one_row{{0, 0, 0, burst(0, 0, 0), 1, kRead},
                                      {0, 0, 1, burst(0, 0, 0, 1), 1, kRead}};
    std::deque<Arrival> two_rows = one_row;
    two_rows.push_back({0, 0, 2, burst(0, 0, 5), 1, kRead});
    spec.page = PagePolicy::Closed;
    CHECK(Run(spec, one_row).clocks(Command::ReadAp) == Clocks{19});
    spec.page = PagePolicy::Adaptive;
    CHECK(Run(spec, one_row).clocks(Command::ReadAp).empty());
    const Run run(spec, two_rows);
    CHECK(run.clocks(Command::ReadAp) == Clocks{19});
    CHECK(run.clocks(Command::Pre).empty());
    CHECK(run.clocks(Command::Act) == Clocks{0, 48});  // RC
}

TEST_CASE("pseudo-channels that share a queue get its entries in the order in which they came") {
    DramSpec spec = calm();
    spec.pseudo_channels = 2;
    spec.address_map = "ch1 bg2 co5 ba2 ro15";
    spec.queue = 2;
    std::deque<Arrival> arrivals;
    for (std::int64_t id = 0; id < 3; ++id) arrivals.push_back({0, 0, id, id * 4, 1, kRead});
    arrivals.push_back({0, 1, 3, 0, 1, kRead});
    spec.shared_queue = true;
    Run run(spec, arrivals);
    // Request 2 enters with the first column (15), request 3 with the second (19), and only then gets its
    // ACT.
    CHECK(run.clocks(Command::Act) == Clocks{0, 20});
    spec.shared_queue = false;
    CHECK(Run(spec, arrivals).clocks(Command::Act) == Clocks{0, 2});
}

TEST_CASE("a refresh waits while bursts do, up to the limit, and no longer than they do") {
    DramSpec spec = hbm2();
    spec.refresh_postpone = 1;
    std::deque<Arrival> busy;
    for (std::int64_t clock = 3000; clock < 8000; clock += 10)
        busy.push_back({clock, 0, clock, burst(0, 0, 0, clock % 32), 1, kRead});
    const Clocks refreshes = Run(spec, busy).clocks(Command::Refresh);
    CHECK(refreshes.front() > 3900);
    CHECK(refreshes.front() < 3920);  // nothing waits between two of these bursts
    spec.patience = 4096;
    spec.queue = 64;
    busy.clear();
    for (std::int64_t id = 0; id < 2200; ++id)
        busy.push_back({3000, 0, id, burst(0, 0, 0, id % 32), 1, kRead});
    // A queue that is never empty: the second falls due at 7800, and one is given then: the last column is
    // at 7799, PREA RTP after it, REF at RP after that.
    CHECK(Run(spec, busy).clocks(Command::Refresh).front() == 7799 + 5 + 14);
}

TEST_CASE("a refresh of one bank bars that bank only, and no activation of another keeps it waiting") {
    DramSpec spec = hbm2();
    spec.refresh = RefreshPolicy::PerBank;
    std::deque<Arrival> arrivals{{230, 0, 0, burst(0, 0, 0), 1, kRead},
                                 {230, 0, 1, burst(1, 0, 0), 1, kRead}};
    arrivals.push_back({244, 0, 2, burst(0, 0, 0), 1, kRead});
    for (std::int64_t id = 3; id < 16; ++id)  // one ACT every RRD_S of 4, where REFSB needs 5
        arrivals.push_back({270, 0, id, burst(id % 4, 1 + id % 3, id), 1, kRead});
    const Run run(spec, arrivals);
    CHECK(run.clocks(Command::Read, 0).front() >= 244);  // due at 244, it is barred before its RCD is over
    CHECK(run.clocks(Command::Pre, 0).front() == 230 + 35);
    CHECK(run.clocks(Command::RefreshBank).front() == 265 + 14);
    CHECK(run.clocks(Command::Act, 0)[1] == 279 + 159);
    CHECK(run.clocks(Command::Read, 4).front() == 249);
}

TEST_CASE("a lone read waits for nothing: opening a row is latency, as moving data is") {
    const Run run(calm(), {{10, 0, 1, 0, 1, kRead}});
    const BusAccount account = run.twin.account(0, 41);  // ACT 10, RD 25, data 39 and 40
    CHECK(account[BusTime::EmptyQueue] == 39);
    CHECK(account[BusTime::Transfer] == 2);
    CHECK(account.total() == 41);
}

TEST_CASE("a read of another row waits until its bank may be closed; closing and opening it are latency") {
    const Run run(calm(), {{10, 0, 1, 0, 1, kRead}, {20, 0, 2, burst(0, 0, 1), 1, kRead}});
    // ACT 10, data 39 and 40; PRE 10 + 1 + RAS - …, ACT 13 later (RP less one: an ACT counts from its second
    // clock), RD 15 later, data 14 later
    const std::int64_t pre = run.clocks(Command::Pre, 0).front();
    CHECK(run.clocks(Command::Act, 0) == Clocks{10, pre + 13});
    const BusAccount account = run.twin.account(0, pre + 13 + 15 + 14 + 2);
    CHECK(account[BusTime::Transfer] == 4);
    CHECK(account[BusTime::RowConflict] == pre - 20);
    CHECK(account[BusTime::EmptyQueue] == 39 + (20 + 13 + 15 + 14) - 41);
}

TEST_CASE("a write after a read waits for the bus to turn, a column of the same group for CCD_L") {
    DramSpec spec = calm();
    spec.writes = {1, 0};
    const Run turn(spec, {{0, 0, 1, 0, 1, kRead}, {20, 0, 2, burst(0, 0, 0, 1), 1, kWrite}});
    // RD 15 (data 29, 30), WR 28 (data 33, 34): clocks 31 and 32
    CHECK(turn.clocks(Command::Write) == Clocks{28});
    CHECK(turn.twin.account(0, 35)[BusTime::Turnaround] == 2);
    const Run group(calm(), {{0, 0, 1, 0, 1, kRead}, {0, 0, 2, burst(0, 0, 0, 1), 1, kRead}});
    CHECK(group.twin.account(0, 35)[BusTime::CcdLong] == 2);
}

}  // namespace systole::test
