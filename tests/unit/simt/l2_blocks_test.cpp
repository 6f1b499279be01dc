// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/memory/l2_blocks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace systole::simt {
namespace {

L2Spec spec(std::int64_t usable, std::int64_t dirty = 0) {
    L2Spec made;
    made.capacity = made.usable = Bytes(usable);
    made.dirty = Bytes(dirty);
    made.line = Bytes(128);
    made.sector = Bytes(32);
    return made;
}

/// The same by lists and maps of single sectors: pages in a list, oldest first.
struct NaiveL2 {
    std::int64_t usable, page_bytes, most_dirty;
    std::list<std::int64_t> pages = {};
    std::list<std::int64_t> written = {};             // pages with dirty sectors, by last write
    std::map<std::int64_t, bool> sectors = {};        // to whether it is dirty
    std::map<std::int64_t, MatrixRange> partly = {};  // pages, to the matrix that was last written there

    std::set<std::int64_t> fetched = {}, evicted = {};
    std::int64_t hit = 0;

    std::int64_t used() const {
        std::int64_t lines = 0, last = -1;
        for (const auto& [sector, dirty] : sectors)
            if (std::exchange(last, sector / 4) != sector / 4) ++lines;
        return lines * 128;
    }
    void access(std::int64_t address, std::int64_t bytes, bool write, const MatrixRange& matrix) {
        fetched.clear();
        evicted.clear();
        hit = 0;
        for (std::int64_t from = address; from < address + bytes;) {
            const std::int64_t until = std::min(address + bytes, (from / page_bytes + 1) * page_bytes);
            page(from, until, write, matrix);
            from = until;
        }
    }
    static std::set<std::int64_t> sectors_of(std::int64_t from, std::int64_t until) {
        std::set<std::int64_t> all;
        for (std::int64_t sector = from / 32; from < until && 32 * sector < until; ++sector)
            all.insert(sector);
        return all;
    }
    /// Of those bytes, how many lie in sectors that it does not have.
    std::int64_t missing_of(std::int64_t from, std::int64_t until) const {
        std::int64_t bytes = 0;
        for (const std::int64_t sector : sectors_of(from, until))
            if (sectors.count(sector) == 0)
                bytes += std::min(until, 32 * (sector + 1)) - std::max(from, 32 * sector);
        return bytes;
    }
    void page(std::int64_t from, std::int64_t until, bool write, const MatrixRange& matrix) {
        const std::int64_t number = from / page_bytes, begin = number * page_bytes, end = begin + page_bytes;
        pages.remove(number);
        pages.push_back(number);
        const std::int64_t missing = missing_of(from, until);
        hit += until - from - missing;
        if (write) {
            if (until == matrix.end) until = std::max(until, std::min(matrix.padded_end, end));
            for (const std::int64_t sector : sectors_of(from, until)) sectors[sector] = true;
            partly[number] = matrix;
        } else if (missing > 0) {
            if (matrix.end > matrix.begin) {
                from = std::min(from, std::max(begin, matrix.begin));
                until = std::max(until, std::min(end, matrix.padded_end));
            }
            for (const std::int64_t sector : sectors_of(from, until))
                if (sectors.emplace(sector, false).second) fetched.insert(sector);
        }
        while (used() > usable) make_room();
        if (write) {
            written.remove(number);
            written.push_back(number);
            while (dirty() > most_dirty && written.front() != number) clean();
        }
    }
    std::int64_t dirty() const {
        return 32 * std::ranges::count_if(sectors, [](const auto& one) { return one.second; });
    }
    std::int64_t waiting() const {
        return std::ranges::count_if(pages, [this](std::int64_t number) { return waits_for_rest(number); });
    }
    void clean() {
        const std::int64_t oldest = written.front();
        written.pop_front();
        if (waits_for_rest(oldest) && 64 * waiting() <= static_cast<std::int64_t>(pages.size()))
            return written.push_back(oldest);
        for (const std::int64_t sector : sectors_of(oldest * page_bytes, (oldest + 1) * page_bytes))
            if (sectors.count(sector) != 0 && std::exchange(sectors[sector], false)) evicted.insert(sector);
        partly.erase(oldest);
    }
    bool waits_for_rest(std::int64_t number) const {
        const auto found = partly.find(number);
        if (found == partly.end()) return false;
        const std::int64_t begin = number * page_bytes, end = begin + page_bytes;
        const auto [first, last] =
            std::pair(std::max(begin, found->second.begin), std::min(end, found->second.padded_end));
        for (std::int64_t sector = first / 32; first < last && 32 * sector < last; ++sector) {
            const auto has = sectors.find(sector);
            if (has == sectors.end() || !has->second) return true;
        }
        return false;
    }
    void make_room() {
        const std::int64_t oldest = pages.front();
        const bool few_wait = 64 * waiting() <= static_cast<std::int64_t>(pages.size());
        pages.pop_front();
        if (!pages.empty() && waits_for_rest(oldest) && few_wait) {
            pages.push_back(oldest);
            return;
        }
        for (const std::int64_t sector : sectors_of(oldest * page_bytes, (oldest + 1) * page_bytes)) {
            if (sectors.count(sector) != 0 && sectors[sector]) evicted.insert(sector);
            sectors.erase(sector);
        }
        partly.erase(oldest);
        written.remove(oldest);
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
    for (std::uint32_t seed = 1; seed <= 30; ++seed) {
        std::mt19937 random(seed);
        // Stripes of 4 KiB need 64 of them: with less they are not kept together.
        const std::int64_t usable =
            (seed % 3 == 0 ? 1 << 18 : 2048) + 128 * static_cast<std::int64_t>(random() % 100);
        const std::int64_t page = seed % 3 == 0 ? 4096 : 2048, reach = seed % 3 == 0 ? 600'000 : 24'000;
        // Half of them may not be all dirty.
        const std::int64_t dirty = seed % 4 < 2 ? 0 : usable / 3 / 32 * 32;
        L2Blocks blocks(spec(usable, dirty), Bytes(seed % 2 == 0 ? 0 : 4096));
        if (seed % 6 == 0) continue;  // large without stripes: nothing would make room
        REQUIRE(blocks.page_bytes() == page);
        NaiveL2 naive{.usable = usable, .page_bytes = page, .most_dirty = dirty > 0 ? dirty : usable + page};
        for (int i = 0; i < 150; ++i) {
            const std::int64_t address = random() % reach;
            const std::int64_t bytes = 1 + random() % (i % 3 == 0 ? reach / 5 : 300);
            const bool write = random() % 3 == 0;
            MatrixRange matrix;
            if (random() % 4 != 0) {
                matrix.begin = address - std::min<std::int64_t>(address, random() % 5000);
                matrix.end =
                    address + bytes + static_cast<std::int64_t>(random() % 2 == 0 ? 0 : random() % 5000);
                matrix.padded_end =
                    matrix.end + static_cast<std::int64_t>(random() % 3 == 0 ? random() % 4000 : 0);
            }
            L2Blocks::Traffic traffic;
            naive.access(address, bytes, write, matrix);
            const std::int64_t hit = write ? blocks.write(address, bytes, Operand::Outputs, traffic, matrix)
                                           : blocks.read(address, bytes, Operand::Weights, traffic, matrix);
            INFO("seed " << seed << ", access " << i);
            REQUIRE(hit == naive.hit);
            REQUIRE(sectors_of(traffic.fetched) == naive.fetched);
            REQUIRE(sectors_of(traffic.evicted) == naive.evicted);
            REQUIRE(blocks.used().value() == naive.used());
            REQUIRE(blocks.dirty().value() == naive.dirty());
        }
    }
}

TEST_CASE("A miss fetches what its stripe has of the matrix, and the stripe's rest where the matrix ends") {
    L2Blocks blocks(spec(1 << 20), Bytes(16384));
    REQUIRE(blocks.page_bytes() == 16384);
    const MatrixRange matrix{16384 + 4096, 40'000, 49'152};
    L2Blocks::Traffic traffic;
    CHECK(blocks.read(24'576, 1024, Operand::Activations, traffic, matrix) == 0);
    CHECK(traffic.fetched == std::vector<SectorRange>{{20'480, 12'288, Operand::Activations}});
    CHECK(blocks.read(20'480, 12'288, Operand::Activations, traffic, matrix) == 12'288);
    CHECK(blocks.read(36'000, 64, Operand::Activations, traffic, matrix) == 0);
    CHECK(traffic.fetched == std::vector<SectorRange>{{20'480, 28'672, Operand::Activations}});  // they touch
}

TEST_CASE("An L2 whose sectors are a byte keeps, fetches and writes back single bytes") {
    L2Spec bytes = spec(1024);
    bytes.line = Bytes(4);
    bytes.sector = Bytes(1);
    L2Blocks blocks(bytes);
    CHECK(blocks.page_bytes() == 64);
    L2Blocks::Traffic traffic;
    CHECK(blocks.read(3, 2, Operand::Weights, traffic) == 0);
    CHECK(blocks.read(2, 4, Operand::Weights, traffic) == 2);
    CHECK(traffic.fetched == std::vector<SectorRange>{{3, 2, Operand::Weights},
                                                      {2, 1, Operand::Weights},
                                                      {5, 1, Operand::Weights}});
    CHECK(blocks.used() == Bytes(8));  // lines 0 and 1
    blocks.write(9, 1, Operand::Outputs, traffic);
    CHECK(blocks.dirty() == Bytes(1));
}

TEST_CASE("What was written is fresh until it is read, whoever reads it") {
    L2Blocks blocks(spec(1 << 20), Bytes(16384));
    const auto fresh = [&](std::int64_t address, std::int64_t bytes) {
        L2Blocks::Traffic traffic;
        blocks.read(address, bytes, Operand::Activations, traffic);
        return traffic.fresh;
    };
    L2Blocks::Traffic traffic;
    CHECK_FALSE(fresh(0, 1024));  // out of the memory
    blocks.write(512, 1024, Operand::Activations, traffic);
    CHECK_FALSE(fresh(0, 512));
    CHECK(fresh(480, 64));
    CHECK_FALSE(fresh(512, 32));
    CHECK(fresh(512, 1024));
    CHECK_FALSE(fresh(0, 16'384));
    blocks.write(512, 32, Operand::Activations, traffic);
    CHECK(fresh(0, 16'384));
}

TEST_CASE("Lines that SMs of one half read take three quarters of those that both halves have copies of") {
    constexpr std::int64_t kUsable = 1 << 20, kPage = 2048;
    const auto held = [](std::int64_t capacity, std::int64_t pages, bool by_one_half) {
        L2Spec halves = spec(kUsable);
        halves.capacity = Bytes(capacity);
        L2Blocks blocks(halves);
        MatrixRange matrix{0, pages * kPage, pages * kPage};
        matrix.by_one_half = by_one_half;
        L2Blocks::Traffic traffic;
        for (int turn = 0; turn < 2; ++turn)
            for (std::int64_t page = 0; page < pages; ++page)
                blocks.read(page * kPage, kPage, Operand::Weights, traffic, matrix);
        return blocks.used().value() / kPage;
    };
    CHECK(held(2 * kUsable, 1000, false) == 512);
    CHECK(held(2 * kUsable, 1000, true) == 682);  // 512 pages of four quarters, by three
    CHECK(held(2 * kUsable, 600, true) == 600);
    CHECK(held(2 * kUsable - 128, 1000, true) == 512);  // a cache that is not of two halves
}

TEST_CASE("A page that the other half reads, too, takes its whole place from then on") {
    L2Spec halves = spec(8192);
    halves.capacity = Bytes(16'384);
    L2Blocks blocks(halves);
    MatrixRange one{0, 1 << 20, 1 << 20};
    one.by_one_half = true;
    L2Blocks::Traffic traffic;
    // Four pages of 64 quarters of a line have room: five of 48.
    for (std::int64_t page = 0; page < 5; ++page)
        blocks.read(page * 2048, 2048, Operand::Weights, traffic, one);
    CHECK(blocks.used() == Bytes(5 * 2048));
    CHECK(blocks.read(4 * 2048, 2048, Operand::Weights, traffic) == 2048);
    CHECK(blocks.used() == Bytes(5 * 2048));  // 4 x 48 + 64 of 256
    CHECK(blocks.read(3 * 2048, 2048, Operand::Weights, traffic) == 2048);
    // Now 16 more than there is room for: the next line pushes out the page that was read longest ago.
    CHECK(blocks.read(5 * 2048, 128, Operand::Weights, traffic) == 0);
    CHECK(blocks.used() == Bytes(4 * 2048 + 128));
    CHECK(blocks.read(0, 2048, Operand::Weights, traffic) == 0);
}

TEST_CASE("A stripe written in part waits for its rest before it makes room") {
    L2Blocks blocks(spec(1 << 20), Bytes(16384));
    const MatrixRange result{0, 16'384, 16'384}, whole{16'384, 32'768, 32'768};
    L2Blocks::Traffic traffic;
    blocks.write(0, 1024, Operand::Outputs, traffic, result);
    blocks.write(16'384, 16'384, Operand::Outputs, traffic, whole);
    blocks.read(1 << 20, 2 << 20, Operand::Weights, traffic);
    CHECK(traffic.evicted == std::vector<SectorRange>{{16'384, 16'384, Operand::Outputs}});
    traffic.evicted.clear();
    blocks.write(1024, 15'360, Operand::Outputs, traffic, result);
    blocks.read(4 << 20, 1 << 20, Operand::Weights, traffic);
    CHECK(traffic.evicted == std::vector<SectorRange>{{0, 16'384, Operand::Outputs}});
}

TEST_CASE("Where all stripes of a set wait for their rest, the first of them makes room all the same") {
    // Sets are numbers mixed: pages of one are found by an L2 of as many sets that hold a page each.
    constexpr std::int64_t kSets = 512, kPage = 2048, kWays = 2;
    const auto sets_of = [](std::int64_t ways) {
        L2Spec made = spec(kSets * ways * kPage);
        made.ways = static_cast<int>(ways);
        return made;
    };
    L2Blocks::Traffic traffic;
    std::vector<std::int64_t> alike{0}, others;
    for (std::int64_t page = 1; page < 8 * kSets; ++page) {
        L2Blocks of_one(sets_of(1), Bytes(0));
        of_one.read(0, kPage, Operand::Weights, traffic);
        of_one.read(page * kPage, kPage, Operand::Weights, traffic);
        (of_one.read(0, kPage, Operand::Weights, traffic) == 0 ? alike : others).push_back(page);
    }
    REQUIRE(alike.size() >= 2 * kWays + 2);
    L2Blocks blocks(sets_of(kWays), Bytes(0));
    REQUIRE(blocks.page_bytes() == kPage);
    // As many as let a few wait.
    for (std::size_t page = 0; page < 2 * kSets; ++page)
        blocks.read(others[page] * kPage, kPage, Operand::Weights, traffic);
    traffic.evicted.clear();
    const auto write_half = [&](std::int64_t page) {
        const std::int64_t begin = page * kPage;
        blocks.write(begin, kPage / 2, Operand::Outputs, traffic, {begin, begin + kPage, begin + kPage});
    };
    // Four halves fill the set, the fifth needs room; a page that is read afterwards does, too.
    for (std::size_t half = 0; half < 2 * kWays; ++half) write_half(alike[half]);
    CHECK(traffic.evicted.empty());
    write_half(alike[2 * kWays]);
    CHECK(traffic.evicted == std::vector<SectorRange>{{alike[0] * kPage, kPage / 2, Operand::Outputs}});
    traffic.evicted.clear();
    const std::int64_t read = alike[2 * kWays + 1] * kPage;
    blocks.read(read, kPage, Operand::Weights, traffic);
    CHECK(traffic.evicted == std::vector<SectorRange>{{alike[1] * kPage, kPage / 2, Operand::Outputs},
                                                      {alike[2] * kPage, kPage / 2, Operand::Outputs}});
    CHECK(blocks.read(read, kPage, Operand::Weights, traffic) == kPage);
}

TEST_CASE("Beyond what may be dirty, what was written longest ago is cleaned, and stays") {
    L2Blocks blocks(spec(1 << 20, 4096));
    L2Blocks::Traffic traffic;
    for (const std::int64_t page : {0, 1}) blocks.write(page * 2048, 2048, Operand::Outputs, traffic);
    blocks.read(2048, 2048, Operand::Outputs, traffic);  // reads tell nothing
    blocks.write(0, 64, Operand::Outputs, traffic);
    CHECK(traffic.evicted.empty());
    blocks.write(4096, 32, Operand::Outputs, traffic);
    CHECK(traffic.evicted == std::vector<SectorRange>{{2048, 2048, Operand::Outputs}});
    CHECK(blocks.dirty() == Bytes(2048 + 32));
    CHECK(blocks.read(2048, 2048, Operand::Outputs, traffic) == 2048);
    blocks.read(1 << 20, 1 << 20, Operand::Weights, traffic);  // cleaned ones make room for nothing
    CHECK(traffic.evicted == std::vector<SectorRange>{{2048, 2048, Operand::Outputs},
                                                      {0, 2048, Operand::Outputs},
                                                      {4096, 32, Operand::Outputs}});
    CHECK(blocks.dirty() == Bytes(0));
}

TEST_CASE("A stripe that waits for its rest is not cleaned before it") {
    L2Blocks blocks(spec(1 << 20, 16'384), Bytes(16384));
    const MatrixRange result{0, 16'384, 16'384};
    L2Blocks::Traffic traffic;
    blocks.read(1 << 19, 1 << 19, Operand::Weights, traffic);
    blocks.read(1 << 20, 1 << 19, Operand::Weights, traffic);  // 64 stripes: one may wait
    blocks.write(0, 1024, Operand::Outputs, traffic, result);
    blocks.write(32'768, 16'384, Operand::Outputs, traffic, {32'768, 49'152, 49'152});
    CHECK(traffic.evicted.empty());
    blocks.write(49'152, 16'384, Operand::Outputs, traffic, {49'152, 65'536, 65'536});
    CHECK(traffic.evicted == std::vector<SectorRange>{{32'768, 16'384, Operand::Outputs}});
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

TEST_CASE("what is dropped is no longer there, but for what is dirty; what is cleaned stays", "[simt]") {
    L2Blocks l2(spec(64 * 1024));
    L2Blocks::Traffic traffic;
    l2.read(0, 8192, Operand::Weights, traffic);
    l2.write(256, 128, Operand::Outputs, traffic);
    traffic = {};
    l2.drop(0, 4096);
    CHECK(l2.used() == Bytes(4096 + 128));
    CHECK(l2.read(0, 4096, Operand::Weights, traffic) == 128);
    CHECK(traffic.fetched ==
          std::vector<SectorRange>{{0, 256, Operand::Weights}, {384, 3712, Operand::Weights}});
    CHECK(l2.read(4096, 4096, Operand::Weights, traffic) == 4096);
    traffic = {};
    l2.clean(traffic);
    CHECK(traffic.evicted == std::vector<SectorRange>{{256, 128, Operand::Outputs}});
    CHECK(l2.dirty() == Bytes(0));
    CHECK(l2.read(256, 128, Operand::Outputs, traffic) == 128);
    l2.drop(0, 1 << 20);
    CHECK(l2.used() == Bytes(0));
    // Pages without a line make room as others do.
    for (std::int64_t at = 0; at < 256 * 1024; at += 2048) l2.read(at, 2048, Operand::Weights, traffic);
    CHECK(l2.used() == Bytes(64 * 1024));
}

}  // namespace systole::simt
