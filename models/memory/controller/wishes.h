// SPDX-License-Identifier: Apache-2.0
// The command that each bank wants next, a column, PRE or ACT, and which of them comes first: by clock, of
// one clock columns before rows, then by the age of the burst that wants it. Which one that is cannot be
// predicted, so each bank is looked at in the same way, and all that counts of it is one number.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "models/memory/controller/bank_timing.h"
#include "models/memory/controller/choice.h"
#include "sim/base/units.h"

namespace systole {

class Wishes {
public:
    enum class Kind : std::uint8_t { Column, Pre, Act };
    using ByKind = std::array<Cycles, 3>;
    struct First {
        Cycles when = Cycles::max();  ///< of none
        std::int64_t sequence = 0;
        bool column = false;
        int bank = 0;
    };

    explicit Wishes(int banks) : wishes_(static_cast<std::size_t>(banks + kLanes - 1) / kLanes * kLanes) {}

    /// It may be asked at `now`.
    bool kept(Cycles now) const { return both(stale_ == 0, now - clock_ < kReach); }
    void drop() { stale_ = 1; }
    /// No bank wants anything. The sequence numbers of bursts begin at `oldest`; it is asked from `now` on.
    void begin(Cycles now, std::int64_t oldest) {
        for (Wish& wish : wishes_) wish.age = kNobody;
        wanting_ = rows_ = 0;
        stale_ = 0;
        clock_ = now;
        sequence_ = oldest;
    }

    /// `bank` wants a command for the burst `sequence`, and can be given it from `ready` on.
    void set(int bank, Kind kind, Cycles ready, std::int64_t sequence) {
        Wish& wish = wishes_[static_cast<std::size_t>(bank)];
        const std::int64_t age = sequence - sequence_;
        stale_ |= age >> kAgeBits;
        wish.ready = packed(ready < clock_ ? clock_ : ready);
        wish.age = (kind == Kind::Column ? 0 : kRow) | age << kBankBits | bank;
        wish.kind = static_cast<std::int64_t>(kind);
        const std::uint64_t bit = std::uint64_t{1} << bank;
        wanting_ |= bit;
        rows_ = (rows_ & ~bit) | (kind == Kind::Column ? 0 : bit);
    }
    /// It wants none.
    void clear(int bank) {
        wishes_[static_cast<std::size_t>(bank)].age = kNobody;
        wanting_ &= ~(std::uint64_t{1} << bank);
        rows_ &= wanting_;
    }
    /// None of `count` banks from `first` on is given such a command before `ready`.
    void delay(int first, int count, Kind kind, Cycles ready) {
        const std::int64_t clock = packed(ready < clock_ ? clock_ : ready);
        Wish* const begin = &wishes_[static_cast<std::size_t>(first)];
        for (Wish* wish = begin; wish != begin + count; ++wish) {
            const auto concerned = static_cast<std::int64_t>(wish->kind == static_cast<std::int64_t>(kind));
            wish->ready = later(wish->ready, clock & -concerned);
        }
    }

    /// The first, when no command of each kind can be given before a clock. The oldest burst of all is
    /// `oldest`, and for `bank`: mostly its column can be given at once, so that only rows may come before.
    First first(const ByKind& clocks, std::int64_t oldest, int bank) const {
        const std::array<std::int64_t, 3> soonest{packed(clocks[0]), packed(clocks[1]), packed(clocks[2])};
        const Wish& wish = wishes_[static_cast<std::size_t>(bank)];
        const std::int64_t age = (oldest - sequence_) << kBankBits | bank;
        const bool at_once = both(wish.age == age, wish.ready <= soonest[0]);
        const std::int64_t first = at_once                 ? first_of(rows_, soonest, soonest[0] + age)
                                   : wishes_.size() > kFew ? first_of(wanting_, soonest, kNobody)
                                                           : first_of_all(soonest);
        if (first >= kNobody) return {};
        return {clock_ + Cycles(first >> kClockAt),
                sequence_ + (first >> kBankBits & ((std::int64_t{1} << kAgeBits) - 1)), (first & kRow) == 0,
                static_cast<int>(first & ((1 << kBankBits) - 1))};
    }

private:
    static constexpr int kLanes = 4;         // minima that do not wait for each other
    static constexpr std::size_t kFew = 16;  // with more banks only those that want something are looked at
    // From the least significant bit: bank, age, whether it is a row command, clock; and of none one bit
    // more.
    static constexpr int kBankBits = 6, kAgeBits = 31, kClockAt = kBankBits + kAgeBits + 1;
    static constexpr std::int64_t kRow = std::int64_t{1} << (kClockAt - 1), kNobody = std::int64_t{1} << 62;
    static constexpr Cycles kReach{BankTiming::kLongestLatency};  // half of what the clocks have bits for

    struct Wish {
        std::int64_t ready = 0, age = kNobody, kind = 0;
    };

    std::int64_t first_of_all(const std::array<std::int64_t, 3>& soonest) const {
        std::array<std::int64_t, kLanes> firsts;
        firsts.fill(kNobody);
        const Wish* const end = wishes_.data() + wishes_.size();
        for (const Wish* four = wishes_.data(); four != end; four += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                firsts[lane] = sooner(clock_and_age(four[lane], soonest), firsts[lane]);
        return sooner(sooner(firsts[0], firsts[1]), sooner(firsts[2], firsts[3]));
    }
    std::int64_t first_of(std::uint64_t banks, const std::array<std::int64_t, 3>& soonest,
                          std::int64_t first) const {
        for (std::uint64_t left = banks; left != 0; left &= left - 1) {
            const Wish& wish = wishes_[static_cast<std::size_t>(std::countr_zero(left))];
            first = sooner(clock_and_age(wish, soonest), first);
        }
        return first;
    }
    static std::int64_t clock_and_age(const Wish& wish, const std::array<std::int64_t, 3>& soonest) {
        const std::int64_t from = soonest[static_cast<std::size_t>(wish.kind)];
        return (wish.ready < from ? from : wish.ready) + wish.age;
    }
    static std::int64_t sooner(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
    std::int64_t packed(Cycles clock) const { return (clock - clock_).value() << kClockAt; }

    std::vector<Wish> wishes_;
    std::uint64_t wanting_ = 0;  // banks that want something
    std::uint64_t rows_ = 0;     // of them, a row command
    Cycles clock_;               // from which the clocks count, …
    std::int64_t sequence_ = 0;  // … and from which the ages do
    std::int64_t stale_ = 1;     // zero while all of it holds
};

}  // namespace systole
