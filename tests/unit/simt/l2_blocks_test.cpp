// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/memory/l2_blocks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <map>
#include <random>
#include <set>

namespace systole::simt {
namespace {

L2Spec spec(std::int64_t usable) {
    L2Spec made;
    made.capacity = made.usable = Bytes(usable);
    made.line = Bytes(128);
    made.sector = Bytes(32);
    return made;
}

/// The same by lists and maps of single bytes: sectors by number, pages in a list, oldest first.
struct NaiveL2 {
    std::int64_t usable;
    std::list<std::int64_t> pages;
    std::map<std::int64_t, bool> sectors;  // to whether it is dirty

    std::set<std::int64_t> fetched, evicted;
    std::int64_t hit = 0;

    std::int64_t used() const {
        std::set<std::int64_t> lines;
        for (const auto& [sector, dirty] : sectors) lines.insert(sector / 4);
        return static_cast<std::int64_t>(lines.size()) * 128;
    }
    void access(std::int64_t address, std::int64_t bytes, bool write) {
        fetched.clear();
        evicted.clear();
        hit = 0;
        for (std::int64_t from = address; from < address + bytes;) {
            const std::int64_t until = std::min(address + bytes, (from / 2048 + 1) * 2048);
            page(from, until, write);
            from = until;
        }
    }
    void page(std::int64_t from, std::int64_t until, bool write) {
        pages.remove(from / 2048);
        pages.push_back(from / 2048);
        std::map<std::int64_t, std::int64_t> bytes_of;
        for (std::int64_t byte = from; byte < until; ++byte) ++bytes_of[byte / 32];
        for (const auto& [sector, bytes] : bytes_of) {
            const bool there = sectors.count(sector) != 0;
            if (there) hit += bytes;
            if (!there && (!write || bytes < 32)) fetched.insert(sector);
            sectors[sector] = write || (there && sectors[sector]);
        }
        while (used() > usable) {
            for (std::int64_t sector = pages.front() * 64; sector < (pages.front() + 1) * 64; ++sector) {
                if (sectors.count(sector) != 0 && sectors[sector]) evicted.insert(sector);
                sectors.erase(sector);
            }
            pages.pop_front();
        }
    }
};

/// The sectors of ranges; fails where one is named twice.
std::set<std::int64_t> sectors_of(const std::vector<SectorRange>& ranges) {
    std::set<std::int64_t> all;
    for (const SectorRange& range : ranges) {
        CHECK(range.address % 32 == 0);
        CHECK(range.bytes % 32 == 0);
        for (std::int64_t at = range.address; at < range.address + range.bytes; at += 32)
            CHECK(all.insert(at / 32).second);
    }
    return all;
}

}  // namespace

TEST_CASE("The L2's blocks do on random traffic what a list of single sectors does") {
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        std::mt19937 random(seed);
        const std::int64_t usable = 2048 + 128 * static_cast<std::int64_t>(random() % 100);
        L2Blocks blocks(spec(usable));
        NaiveL2 naive{.usable = usable, .pages = {}, .sectors = {}, .fetched = {}, .evicted = {}};
        for (int i = 0; i < 150; ++i) {
            const std::int64_t address = random() % 24000, bytes = 1 + random() % (i % 3 == 0 ? 5000 : 300);
            const bool write = random() % 3 == 0;
            L2Blocks::Traffic traffic;
            naive.access(address, bytes, write);
            const std::int64_t hit = write ? blocks.write(address, bytes, Operand::Outputs, traffic)
                                           : blocks.read(address, bytes, Operand::Weights, traffic);
            INFO("seed " << seed << ", access " << i);
            REQUIRE(hit == naive.hit);
            REQUIRE(sectors_of(traffic.fetched) == naive.fetched);
            REQUIRE(sectors_of(traffic.evicted) == naive.evicted);
            REQUIRE(blocks.used().value() == naive.used());
            const auto dirty =
                std::ranges::count_if(naive.sectors, [](const auto& one) { return one.second; });
            REQUIRE(blocks.dirty().value() == dirty * 32);
        }
    }
}

TEST_CASE("A block that is read again is there, and one written whole is fetched by nobody") {
    L2Blocks blocks(spec(1 << 20));
    L2Blocks::Traffic traffic;
    CHECK(blocks.read(2048 - 64, 4096, Operand::Weights, traffic) == 0);
    CHECK(traffic.fetched == std::vector<SectorRange>{{2048 - 64, 4096, Operand::Weights}});
    CHECK(blocks.read(2048, 1024, Operand::Weights, traffic) == 1024);
    CHECK(blocks.write(16384, 8192, Operand::Outputs, traffic) == 0);
    CHECK(traffic.fetched.size() == 1);
    CHECK(traffic.evicted.empty());
    CHECK(blocks.dirty() == Bytes(8192));
}

}  // namespace systole::simt
