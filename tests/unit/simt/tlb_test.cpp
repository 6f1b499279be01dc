// SPDX-License-Identifier: Apache-2.0
// A TLB against a list of pages, and its misses against what chases of pointers measured on chips.
#include "models/devices/simt/memory/tlb.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <utility>
#include <vector>

#include "tests/unit/simt/gpu_config.h"

using namespace systole;
using namespace systole::simt;

namespace {

/// The pages in the order of their last use, the newest first.
struct PagesInAList {
    std::size_t entries;
    std::vector<std::pair<std::int64_t, Ticks>> pages;  // and since when they are known

    Tlb::Use use(std::int64_t page, Ticks found) {
        const auto old =
            std::find_if(pages.begin(), pages.end(), [&](const auto& one) { return one.first == page; });
        const bool there = old != pages.end();
        const Ticks known = there ? old->second : found;
        if (there) pages.erase(old);
        pages.insert(pages.begin(), {page, known});
        if (pages.size() > entries) pages.pop_back();
        return {!there, known};
    }
};

/// Cycles that a link of a chain takes on average because of misses, of links at random in so many MiB.
double of_misses(const TlbSpec& spec, double mebibytes) {
    const auto pages =
        static_cast<std::int64_t>(mebibytes * (1 << 20) / static_cast<double>(spec.page.value()));
    Tlb tlb(spec.reach.value() / spec.page.value());
    std::mt19937 random(1);
    std::uniform_int_distribution<std::int64_t> any(0, pages - 1);
    constexpr int kLinks = 200'000;
    for (int i = 0; i < kLinks; ++i) tlb.use(any(random), Ticks(0));
    int misses = 0;
    for (int i = 0; i < kLinks; ++i) misses += tlb.use(any(random), Ticks(0)).miss ? 1 : 0;
    return static_cast<double>(spec.latency.value()) * misses / kLinks;
}

}  // namespace

TEST_CASE("A TLB of two pages forgets the one whose last use is longest ago", "[simt]") {
    Tlb tlb(2);
    const auto misses = [&](std::int64_t page) { return tlb.use(page, Ticks(0)).miss; };
    CHECK(misses(7));
    CHECK(misses(0));
    CHECK_FALSE(misses(7));
    CHECK(misses(9));  // in the place of 0
    CHECK_FALSE(misses(7));
    CHECK(misses(0));  // in that of 9
    CHECK(misses(9));
}

TEST_CASE("A TLB knows the pages that a list of them knows", "[simt]") {
    std::mt19937_64 random(3);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int i = 0; i < 100; ++i) {
        const std::int64_t entries = pick(1, 20), pages = pick(1, 40);
        Tlb tlb(entries);
        PagesInAList list{static_cast<std::size_t>(entries), {}};
        std::int64_t page = 0;
        INFO("case " << i);
        for (int use = 0; use < 500; ++use) {
            // Streams, and jumps out of them, far ones among them.
            page = pick(0, 2) == 0 ? pick(0, pages) << pick(0, 1) * 30 : page + pick(0, 1);
            const Tlb::Use seen = tlb.use(page, Ticks(use)), expected = list.use(page, Ticks(use));
            REQUIRE(seen.miss == expected.miss);
            REQUIRE(seen.known == expected.known);
        }
    }
}

TEST_CASE("Chains through more than the reach take what chips were seen to take", "[simt]") {
    // gpu-benches, gpu-latency (links of 64 B at random): H100 (PCIe) at 1755 MHz, 650.0 cycles up to 201
    // MiB.
    const TlbSpec h100 = test::shipped_gpu("h100").tlb;
    CHECK(of_misses(h100, 201) == 0);
    CHECK(of_misses(h100, 332.4) == Approx(652.4 - 650.0).margin(0.5));
    CHECK(of_misses(h100, 548.5) == Approx(655.3 - 650.0).margin(0.5));
    CHECK(of_misses(h100, 905.0) == Approx(657.2 - 650.0).margin(0.5));
    CHECK(of_misses(h100, 1493.2) == Approx(658.4 - 650.0).margin(0.5));
    // A100 at 1410 MHz: no set that the L2 does not hold lies within the reach.
    const TlbSpec a100 = test::shipped_gpu("a100").tlb;
    const double at_67 = of_misses(a100, 67.3);
    CHECK(of_misses(a100, 122.1) - at_67 == Approx(570.2 - 568.1).margin(0.5));
    CHECK(of_misses(a100, 201.5) - at_67 == Approx(571.2 - 568.1).margin(0.5));
    CHECK(of_misses(a100, 332.4) - at_67 == Approx(571.8 - 568.1).margin(0.5));
}
