// SPDX-License-Identifier: Apache-2.0
// The packed table of wishes against one that looks at every bank and compares in words.
#include "models/memory/controller/wishes.h"

#include <catch2/catch.hpp>
#include <limits>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace systole {
namespace {

using Kind = Wishes::Kind;

class PlainWishes {
public:
    explicit PlainWishes(int banks) : wishes_(static_cast<std::size_t>(banks)) {}

    void begin() { wishes_.assign(wishes_.size(), {}); }
    void set(int bank, Kind kind, Cycles ready, std::int64_t sequence) {
        wishes_[static_cast<std::size_t>(bank)] = Wish{kind, ready, sequence};
    }
    void clear(int bank) { wishes_[static_cast<std::size_t>(bank)].reset(); }
    void delay(int first, int count, Kind kind, Cycles ready) {
        for (int bank = first; bank < first + count; ++bank) {
            std::optional<Wish>& wish = wishes_[static_cast<std::size_t>(bank)];
            if (wish && wish->kind == kind) wish->ready = std::max(wish->ready, ready);
        }
    }
    /// The oldest burst for which something is wanted, and its bank.
    std::pair<std::int64_t, int> oldest() const {
        std::pair<std::int64_t, int> oldest{std::numeric_limits<std::int64_t>::max(), 0};
        for (std::size_t bank = 0; bank < wishes_.size(); ++bank)
            if (wishes_[bank]) oldest = std::min(oldest, {wishes_[bank]->sequence, static_cast<int>(bank)});
        return oldest;
    }
    Wishes::First first(const Wishes::ByKind& clocks) const {
        Wishes::First best;
        for (std::size_t bank = 0; bank < wishes_.size(); ++bank) {
            if (!wishes_[bank]) continue;
            const Wish& wish = *wishes_[bank];
            const Cycles when = std::max(wish.ready, clocks[static_cast<std::size_t>(wish.kind)]);
            const bool column = wish.kind == Kind::Column;
            if (std::tuple(when, !column, wish.sequence) < std::tuple(best.when, !best.column, best.sequence))
                best = {when, wish.sequence, column, static_cast<int>(bank)};
        }
        return best;
    }

private:
    struct Wish {
        Kind kind = Kind::Column;
        Cycles ready;
        std::int64_t sequence = 0;
    };
    std::vector<std::optional<Wish>> wishes_;
};

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    std::int64_t upto(std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(0, most)(engine_);
    }

private:
    std::mt19937_64 engine_;
};

/// One random change or question to both; whether they answer alike.
bool agree(Dice& dice, int banks, Cycles now, std::int64_t& sequence, Wishes& packed, PlainWishes& plain) {
    const auto bank = static_cast<int>(dice.upto(banks - 1));
    const auto kind = static_cast<Kind>(dice.upto(2));
    // Close together, so that many are equal; a few before now, which means now.
    const Cycles ready = now + Cycles(dice.upto(12) - 2);
    switch (dice.upto(4)) {
        case 0:
            packed.clear(bank);
            plain.clear(bank);
            break;
        case 1: {
            const auto count = static_cast<int>(dice.upto(banks - bank));
            packed.delay(bank, count, kind, ready);
            plain.delay(bank, count, kind, ready);
            break;
        }
        default:
            sequence += 1 + dice.upto(3);
            packed.set(bank, kind, ready, sequence);
            plain.set(bank, kind, ready, sequence);
    }
    Wishes::ByKind clocks;
    for (Cycles& clock : clocks) clock = now + Cycles(dice.upto(8));
    // Sometimes none of the banks wants anything for the oldest of all.
    const auto [oldest, of_bank] = plain.oldest();
    const bool other = oldest > sequence || dice.upto(3) == 0;
    const Wishes::First a = other ? packed.first(clocks, sequence + 1, bank)
                                  : packed.first(clocks, oldest, of_bank),
                        b = plain.first(clocks);
    if (b.when == Cycles::max()) return a.when == Cycles::max();
    return std::tuple(a.when, a.sequence, a.column, a.bank) ==
           std::tuple(b.when, b.sequence, b.column, b.bank);
}

TEST_CASE("The first of the packed wishes is the one that a search in words finds") {
    std::random_device device;
    const std::uint64_t seed = device();
    CAPTURE(seed);
    Dice dice(seed);
    for (int life = 0; life < 200; ++life) {
        const auto banks = static_cast<int>(1 + dice.upto(63));
        CAPTURE(life, banks);
        Wishes packed(banks);
        PlainWishes plain(banks);
        const Cycles now(dice.upto(std::int64_t{1} << 50));
        std::int64_t sequence = dice.upto(std::int64_t{1} << 60);
        packed.begin(now, sequence);
        plain.begin();
        for (int step = 0; step < 300; ++step)
            if (!agree(dice, banks, now, sequence, packed, plain)) FAIL("step " << step);
    }
}

TEST_CASE("Wishes say when their numbers are too far from where they began") {
    Wishes wishes(4);
    CHECK_FALSE(wishes.kept(Cycles(0)));
    wishes.begin(Cycles(1000), 50);
    CHECK(wishes.kept(Cycles(1000)));
    CHECK(wishes.kept(Cycles(1000) + Cycles(BankTiming::kLongestLatency) - Cycles(1)));
    CHECK_FALSE(wishes.kept(Cycles(1000) + Cycles(BankTiming::kLongestLatency)));

    const std::int64_t youngest = 50 + (std::int64_t{1} << 31) - 1;
    wishes.set(1, Kind::Act, Cycles(1001), youngest);
    REQUIRE(wishes.kept(Cycles(1000)));
    CHECK(wishes.first({Cycles(1000), Cycles(1000), Cycles(1000)}, 50, 0).sequence == youngest);
    wishes.set(1, Kind::Act, Cycles(1001), youngest + 1);
    CHECK_FALSE(wishes.kept(Cycles(1000)));
    wishes.begin(Cycles(1000), 50);
    CHECK(wishes.kept(Cycles(1000)));
    wishes.drop();
    CHECK_FALSE(wishes.kept(Cycles(1000)));
}

}  // namespace
}  // namespace systole
