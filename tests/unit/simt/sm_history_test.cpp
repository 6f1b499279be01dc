// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/sm_history.h"

#include <catch2/catch.hpp>
#include <vector>

namespace systole::simt {
namespace {

constexpr auto kUseful = static_cast<std::size_t>(SlotClass::Useful);
constexpr auto kMemory = static_cast<std::size_t>(SlotClass::Memory);
constexpr auto kLaunch = static_cast<std::size_t>(SlotClass::Launch);

/// A history that is told of one stretch after the other.
class Told {
public:
    explicit Told(std::size_t most) : history_(most) {}

    Told& next(std::int64_t length, std::size_t owner) {
        end_ += length;
        sum_[owner] += length;
        history_.until(Fine(end_), sum_);
        return *this;
    }
    const std::vector<SmHistory::Piece>& pieces() const { return history_.pieces(); }
    std::vector<std::int64_t> ends() const {
        std::vector<std::int64_t> all;
        for (const SmHistory::Piece& piece : pieces()) all.push_back(piece.end.value());
        return all;
    }

private:
    SmHistory history_;
    std::int64_t end_ = 0;
    ClassTimes sum_{};
};

ClassTimes of(std::size_t owner, std::int64_t time) {
    ClassTimes times{};
    times[owner] = time;
    return times;
}

}  // namespace

TEST_CASE("A wait for the same as before makes the piece longer, one for something else begins another",
          "[simt]") {
    Told told(8);
    told.next(10, kMemory).next(20, kMemory).next(5, kLaunch).next(5, kMemory);
    CHECK(told.ends() == std::vector<std::int64_t>{30, 35, 40});
    CHECK(told.pieces()[0].sum[kMemory] == 30);
    CHECK(told.pieces()[1].sum[kMemory] == 30);
    CHECK(told.pieces()[1].sum[kLaunch] == 5);
    CHECK(told.pieces()[2].sum[kMemory] == 35);
}

TEST_CASE("Work is one piece, whatever it waits for in between at the same time", "[simt]") {
    SmHistory history(8);
    ClassTimes sum = of(kUseful, 1);
    sum[kMemory] = 9;
    history.until(Fine(10), sum);
    sum[kUseful] += 1;
    sum[kLaunch] += 9;
    history.until(Fine(20), sum);
    CHECK(history.pieces().size() == 1);
    sum[kLaunch] += 10;  // no tensor core works in these
    history.until(Fine(30), sum);
    REQUIRE(history.pieces().size() == 2);
    CHECK(history.pieces()[0].end == Fine(20));
}

TEST_CASE("What is charged until the same moment once more takes the place of what was", "[simt]") {
    SmHistory history(8);
    history.until(Fine(10), of(kMemory, 10));
    history.until(Fine(10), of(kLaunch, 10));
    REQUIRE(history.pieces().size() == 1);
    CHECK(history.pieces()[0].sum == of(kLaunch, 10));
    history.until(Fine(25), of(kLaunch, 25));
    REQUIRE(history.pieces().size() == 1);
    CHECK(history.pieces()[0].end == Fine(25));
}

// By hand, of nine pieces where eight may be: whole = 14,600 behind the first, a quarter of an eighth of it
// is 456 and rounded up 457, and doubles. At 1,828: 600 + 600 and 700 + 700 are joined, seven are left. At
// 3,656: these two, six. At 7,312: 2,600 + 3,000 and 3,000 + 3,000, four, the half of eight.
TEST_CASE("Of too many pieces short neighbours become one until half are left, and no time is lost",
          "[simt]") {
    Told told(8);
    told.next(10, kMemory).next(600, kLaunch).next(600, kMemory).next(700, kLaunch).next(700, kMemory);
    told.next(3000, kLaunch).next(3000, kMemory).next(3000, kLaunch);
    CHECK(told.pieces().size() == 8);
    told.next(3000, kMemory);
    CHECK(told.ends() == std::vector<std::int64_t>{10, 5610, 11610, 14610});
    CHECK(told.pieces()[1].sum[kMemory] == 10 + 600 + 700);
    CHECK(told.pieces()[1].sum[kLaunch] == 600 + 700 + 3000);
    CHECK(told.pieces()[3].sum[kMemory] == 10 + 600 + 700 + 3000 + 3000);
    CHECK(told.pieces()[3].sum[kLaunch] == 600 + 700 + 3000 + 3000);
}

TEST_CASE("A history that may keep no pieces keeps none, and one of fewer than four keeps four", "[simt]") {
    Told none(0), few(1);
    none.next(10, kMemory).next(10, kLaunch);
    CHECK(none.pieces().empty());
    few.next(10, kMemory).next(10, kLaunch).next(10, kMemory).next(10, kLaunch);
    CHECK(few.pieces().size() == 4);
}

}  // namespace systole::simt
