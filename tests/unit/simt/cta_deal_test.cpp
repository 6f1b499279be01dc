// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/cta_deal.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

namespace systole::simt {
namespace {

/// All of a die's CTAs, in the order in which they come; at most `most` at a time.
std::vector<std::int64_t> all_of(CtaDeal& deal, std::int64_t die, std::int64_t most) {
    std::vector<std::int64_t> ctas;
    while (deal.left(die) > 0) {
        const CtaRange next = deal.next(die);
        const std::int64_t count = std::min(most, next.count);
        for (std::int64_t i = 0; i < count; ++i) ctas.push_back(next.first + i * next.stride);
        deal.take(die, count);
    }
    return ctas;
}

}  // namespace

TEST_CASE("CTAs go to dies in turn, or by neighbours, as a kernel numbers them", "[simt]") {
    CtaDeal in_turn(11, 4, false);
    CHECK(in_turn.left() == 11);
    CHECK(all_of(in_turn, 0, 2) == std::vector<std::int64_t>{0, 4, 8});
    CHECK(all_of(in_turn, 2, 5) == std::vector<std::int64_t>{2, 6, 10});
    CHECK(all_of(in_turn, 3, 1) == std::vector<std::int64_t>{3, 7});
    CHECK(in_turn.left() == 3);
    // hipBLASLt's kernels: of 8 CTAs number n has tile n / 4 + (n mod 4) x 2; 8 to 10 keep theirs.
    CtaDeal neighbours(11, 4, true);
    CHECK(all_of(neighbours, 0, 5) == std::vector<std::int64_t>{0, 1, 8});
    CHECK(all_of(neighbours, 3, 1) == std::vector<std::int64_t>{6, 7});
    CHECK(neighbours.left(1) == 3);
    CHECK(neighbours.left(2) == 3);
}

TEST_CASE("One die gets all CTAs in their order, and few CTAs leave dies without any", "[simt]") {
    for (const bool neighbours : {false, true}) {
        CtaDeal one(5, 1, neighbours);
        CHECK(one.next(0).count == 5);
        CHECK(all_of(one, 0, 3) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
        CtaDeal few(2, 8, neighbours);
        CHECK(all_of(few, 0, 1) == std::vector<std::int64_t>{0});
        CHECK(all_of(few, 1, 1) == std::vector<std::int64_t>{1});
        CHECK(few.left(2) == 0);
        CHECK(few.left() == 0);
    }
}

TEST_CASE("CTAs that nobody gets are the next ones of each die, as many of each", "[simt]") {
    for (const bool neighbours : {false, true}) {
        CAPTURE(neighbours);
        CtaDeal deal(23, 4, neighbours), whole(23, 4, neighbours);
        deal.take(1, 1);
        deal.leave_out(12);
        CHECK(deal.left() == 23 - 1 - 12);
        for (std::int64_t die = 0; die < 4; ++die) {
            std::vector<std::int64_t> expected = all_of(whole, die, 1);
            const std::ptrdiff_t gone = die == 1 ? 1 : 0;
            expected.erase(expected.begin() + gone, expected.begin() + gone + 3);
            expected.erase(expected.begin(), expected.begin() + gone);
            CHECK(all_of(deal, die, 2) == expected);
        }
    }
}

TEST_CASE("Of CTAs of a range, those with smaller numbers are counted one by one", "[simt]") {
    for (const std::int64_t first : {0, 3, 9, 17})
        for (const std::int64_t stride : {1, 3, 8})
            for (std::int64_t limit = 0; limit < 60; ++limit) {
                CAPTURE(first, stride, limit);
                const CtaRange range{first, 5, stride};
                std::int64_t below = 0;
                for (std::int64_t i = 0; i < 5; ++i) below += first + i * stride < limit ? 1 : 0;
                CHECK(range.below(limit) == below);
            }
}

TEST_CASE("Every CTA of any grid goes to one die, and dies differ by one at most", "[simt]") {
    for (const bool neighbours : {false, true})
        for (const std::int64_t dies : {1, 2, 3, 8})
            for (std::int64_t ctas = 0; ctas < 40; ++ctas) {
                CAPTURE(neighbours, dies, ctas);
                CtaDeal deal(ctas, dies, neighbours);
                std::vector<std::int64_t> met;
                for (std::int64_t die = 0; die < dies; ++die) {
                    CHECK(deal.left(die) >= ctas / dies);
                    CHECK(deal.left(die) <= ctas / dies + 1);
                    for (const std::int64_t cta : all_of(deal, die, 4)) met.push_back(cta);
                }
                std::sort(met.begin(), met.end());
                REQUIRE(met.size() == static_cast<std::size_t>(ctas));
                for (std::int64_t i = 0; i < ctas; ++i) CHECK(met[static_cast<std::size_t>(i)] == i);
            }
}

TEST_CASE("Of a range with a stride those below a number are counted", "[simt]") {
    const CtaRange range{3, 4, 8};  // 3, 11, 19, 27
    CHECK(range.end() == 35);
    CHECK(range.below(3) == 0);
    CHECK(range.below(4) == 1);
    CHECK(range.below(20) == 3);
    CHECK(range.below(1000) == 4);
    CHECK(CtaRange{5, 10}.below(8) == 3);
}

}  // namespace systole::simt
