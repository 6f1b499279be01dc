// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/memory/dirty_pages.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <utility>
#include <vector>

namespace systole::simt {

TEST_CASE("The page that was written longest ago is the oldest, until it is written again") {
    DirtyPages pages(10);
    CHECK(pages.oldest() == DirtyPages::kNone);
    pages.wrote(7, 4);
    pages.wrote(0, 6);
    CHECK(pages.oldest() == 7);
    CHECK(pages.sectors() == 10);
    CHECK(!pages.too_many());
    pages.wrote(7, 1);
    CHECK(pages.oldest() == 0);
    CHECK(pages.too_many());
    pages.wrote(0, 0);
    CHECK(pages.oldest() == 7);
    CHECK(pages.sectors() == 11);
}

TEST_CASE("A page that was forgotten counts no more, and one that was never written may be, too") {
    DirtyPages pages(5);
    pages.forget(3);
    pages.wrote(1, 2);
    pages.wrote(2, 3);
    pages.wrote(3, 4);
    pages.forget(2);
    pages.forget(2);
    CHECK(pages.sectors() == 6);
    pages.forget(1);
    CHECK(pages.oldest() == 3);
    CHECK(!pages.too_many());
    pages.forget(3);
    CHECK(pages.oldest() == DirtyPages::kNone);
    CHECK(pages.sectors() == 0);
    pages.wrote(2, 1);
    CHECK(pages.oldest() == 2);
    CHECK(pages.sectors() == 1);
}

TEST_CASE("On random writes dirty pages are those of a list") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        DirtyPages pages(40);
        std::vector<std::pair<std::uint32_t, std::int64_t>> list;  // places and sectors, by last write
        for (int i = 0; i < 500; ++i) {
            const auto place = static_cast<std::uint32_t>(random() % 12);
            const auto found =
                std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.first == place; });
            std::int64_t sectors = found == list.end() ? 0 : found->second;
            if (found != list.end()) list.erase(found);
            if (random() % 3 > 0) {
                const std::int64_t more = random() % 4 + (sectors == 0 ? 1 : 0);
                pages.wrote(place, more);
                list.emplace_back(place, sectors + more);
            } else {
                pages.forget(place);
            }
            std::int64_t all = 0;
            for (const auto& one : list) all += one.second;
            REQUIRE(pages.oldest() == (list.empty() ? DirtyPages::kNone : list.front().first));
            REQUIRE(pages.sectors() == all);
            REQUIRE(pages.too_many() == (all > 40));
        }
    }
}

}  // namespace systole::simt
