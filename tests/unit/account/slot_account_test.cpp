// SPDX-License-Identifier: Apache-2.0
#include "sim/account/slot_account.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/account/aborts.h"

namespace systole {
namespace {

/// The obviously right twin: for every tick, the owner of every slot, added up tick by tick.
class TickByTick {
public:
    void charge(std::int64_t until, std::int64_t slots, std::int64_t useful, std::int64_t padding,
                SlotClass rest) {
        ClassSlots split{};
        for (std::int64_t slot = 0; slot < slots; ++slot) {
            const SlotClass owner = slot < useful             ? SlotClass::Useful
                                    : slot < useful + padding ? SlotClass::Padding
                                                              : rest;
            ++split[static_cast<std::size_t>(owner)];
        }
        while (static_cast<std::int64_t>(ticks_.size()) < until) ticks_.push_back(split);
    }
    /// Within (begin, end] of the account's moments: ticks begin … end - 1.
    void add(std::int64_t begin, std::int64_t end, ClassSlots& row) const {
        for (std::int64_t t = begin; t < end; ++t)
            for (std::size_t i = 0; i < kSlotClasses; ++i) row[i] += ticks_[static_cast<std::size_t>(t)][i];
    }

private:
    std::vector<ClassSlots> ticks_;
};

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// Charges the same random story to both.
void charge_randomly(Random& random, std::int64_t end, SlotAccount& account, TickByTick& twin) {
    for (std::int64_t until = 0; until < end;) {
        until = std::min(end, until + pick(random, 0, 9));
        const std::int64_t slots = pick(random, 0, 6), useful = pick(random, 0, slots);
        const std::int64_t padding = pick(random, 0, slots - useful);
        const auto rest = static_cast<SlotClass>(pick(random, 0, kSlotClasses - 1));
        if (pick(random, 0, 1)) {
            account.fill(Ticks(until), rest, slots);
            twin.charge(until, slots, 0, 0, rest);
        } else {
            account.fill_split(Ticks(until), slots, useful, padding, rest);
            twin.charge(until, slots, useful, padding, rest);
        }
    }
}

}  // namespace

TEST_CASE("random accounts cut at random boundaries equal a count tick by tick") {
    const auto seed = GENERATE(range(1, 200));
    INFO("seed " << seed);
    Random random(static_cast<std::uint64_t>(seed));
    const std::int64_t end = pick(random, 1, 200);

    std::vector<SlotAccount> accounts(static_cast<std::size_t>(pick(random, 1, 4)));
    std::vector<TickByTick> twins(accounts.size());
    for (std::size_t i = 0; i < accounts.size(); ++i) charge_randomly(random, end, accounts[i], twins[i]);

    std::vector<Ticks> boundaries{Ticks(end)};
    for (std::int64_t n = pick(random, 0, 12); n > 0; --n) boundaries.push_back(Ticks(pick(random, 0, end)));
    std::sort(boundaries.begin(), boundaries.end());

    std::vector<ClassSlots> expected(boundaries.size(), ClassSlots{});
    std::vector<const SlotAccount*> pointers;
    std::int64_t capacity = 0;
    for (std::size_t i = 0; i < accounts.size(); ++i) {
        pointers.push_back(&accounts[i]);
        capacity += accounts[i].capacity();
        for (std::size_t row = 0; row < boundaries.size(); ++row)
            twins[i].add(row ? boundaries[row - 1].value() : 0, boundaries[row].value(), expected[row]);
    }
    CHECK(cut(pointers, boundaries) == expected);
    std::int64_t counted = 0;
    for (const ClassSlots& row : expected)
        for (const std::int64_t slots : row) counted += slots;
    CHECK(counted == capacity);
}

TEST_CASE("neighbours with the same split are one interval") {
    SlotAccount account;
    account.fill(Ticks(10), SlotClass::Memory, 16);
    account.fill(Ticks(25), SlotClass::Memory, 16);
    account.fill_split(Ticks(30), 16, 0, 0, SlotClass::Memory);
    REQUIRE(account.intervals().size() == 1);
    CHECK(account.intervals()[0].end == Ticks(30));
    account.fill(Ticks(40), SlotClass::Host, 16);
    CHECK(account.intervals().size() == 2);
    CHECK(account.capacity() == 40 * 16);
    CHECK(account.charged_until() == Ticks(40));
}

TEST_CASE("splits that say the same in other words are one interval") {
    SlotAccount account;
    account.fill(Ticks(1), SlotClass::Useful, 8);
    account.fill_split(Ticks(2), 8, 8, 0, SlotClass::Ramp);
    account.fill_split(Ticks(3), 8, 3, 0, SlotClass::Useful);
    CHECK(account.intervals().size() == 1);
    account.fill_split(Ticks(4), 8, 0, 8, SlotClass::Host);
    account.fill(Ticks(5), SlotClass::Padding, 8);
    CHECK(account.intervals().size() == 2);
}

TEST_CASE("charging until the moment already charged does nothing") {
    SlotAccount account;
    account.fill(Ticks(7), SlotClass::Ramp, 4);
    account.fill(Ticks(7), SlotClass::Host, 9);
    CHECK(account.intervals().size() == 1);
    CHECK(account.capacity() == 28);
}

TEST_CASE("a unit may change its rate between intervals") {
    SlotAccount account;
    account.fill(Ticks(10), SlotClass::Useful, 4);
    account.fill(Ticks(20), SlotClass::Useful, 8);
    const std::vector<ClassSlots> rows = cut({&account}, {Ticks(15), Ticks(20)});
    CHECK(rows[0][0] == 10 * 4 + 5 * 8);
    CHECK(rows[1][0] == 5 * 8);
}

TEST_CASE("a layer that takes no time has an empty row") {
    SlotAccount account;
    account.fill(Ticks(10), SlotClass::Vector, 2);
    const std::vector<ClassSlots> rows = cut({&account}, {Ticks(0), Ticks(4), Ticks(4), Ticks(10)});
    CHECK(rows[0] == ClassSlots{});
    CHECK(rows[2] == ClassSlots{});
    CHECK(rows[3][static_cast<std::size_t>(SlotClass::Vector)] == 12);
}

TEST_CASE("slot accounts refuse to go back, to overfill a unit, and to be cut short") {
    SlotAccount account;
    account.fill(Ticks(10), SlotClass::Host, 4);
    CHECK(test::aborts([&] { account.fill(Ticks(9), SlotClass::Host, 4); }));
    CHECK(test::aborts([&] { account.fill_split(Ticks(11), 4, 3, 2, SlotClass::Ramp); }));
    CHECK(test::aborts([&] { account.fill(Ticks::max(), SlotClass::Host, 4); }));
    CHECK(test::aborts([&] { cut({&account}, {Ticks(9)}); }));
    CHECK(test::aborts([&] { cut({&account}, {Ticks(11), Ticks(10)}); }));
    CHECK_FALSE(test::aborts([&] { cut({&account}, {Ticks(10)}); }));
}

}  // namespace systole
