// SPDX-License-Identifier: Apache-2.0
// Loads of addresses: what a warp's threads ask for, what the L1 finds, and when registers have it.
#include "models/devices/simt/sm/l1.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

#include "models/devices/simt/sm/sm.h"
#include "tests/unit/simt/sm_specs.h"

using namespace systole;
using namespace systole::simt;

namespace {

using Numbers = std::vector<std::int64_t>;

ThreadAddresses words(std::int64_t base, std::int64_t stride) {
    ThreadAddresses addresses;
    addresses.base = base;
    addresses.thread_stride = stride;
    return addresses;
}

/// One warp that loads the same 32 words `trips` times, each after the one before.
CtaProgram chase(std::int64_t trips, const ThreadAddresses& addresses) {
    CtaProgram program;
    program.roles = {
        {1, {{{{.op = Op::GlobalLoad, .reads = 1, .writes = 1, .addresses = addresses}}, trips}}}};
    return program;
}

SmSpec sm_with_l1(std::int64_t bytes) {
    SmSpec spec = test::warp_mma_sm();
    spec.l1_capacity = Bytes(bytes);
    return spec;
}

const Sm::Memory kNoMemory = [](Op, std::int64_t, std::int64_t at) { return at; };

}  // namespace

TEST_CASE("Threads with neighbouring words ask for each sector once, and strided ones for one each",
          "[simt]") {
    CHECK(coalesce(words(0, 4), 0, 0) == Numbers{0, 1, 2, 3});
    CHECK(coalesce(words(28, 4), 0, 0) == Numbers{0, 1, 2, 3, 4});
    CHECK(coalesce(words(64, 0), 0, 0) == Numbers{2});
    const Numbers strided = coalesce(words(0, 64), 0, 0);
    CHECK(strided.size() == 32);
    CHECK(strided.back() == 62);
    CHECK(lines_of(strided) == 16);
    CHECK(lines_of({3, 4, 5}) == 2);
    ThreadAddresses wide = words(16, 16);
    wide.bytes = 16;
    CHECK(coalesce(wide, 0, 0).size() == 17);
    ThreadAddresses moving = words(1024, 4);
    moving.warp_stride = 128;
    moving.trip_stride = 256;
    moving.set = 512;
    CHECK(coalesce(moving, 1, 0) == Numbers{36, 37, 38, 39});
    CHECK(coalesce(moving, 1, 1) == Numbers{44, 45, 46, 47});
    CHECK(coalesce(moving, 1, 2) == coalesce(moving, 1, 0));
}

TEST_CASE("A sector is asked for once while it is on its way, and is there until its line makes room",
          "[simt]") {
    L1 l1(Bytes(256));  // two lines
    CHECK(l1.load({0, 1}, 7).missing == Numbers{0, 1});
    const L1::Found second = l1.load({1, 2}, 8);
    CHECK(second.missing == Numbers{2});
    CHECK(second.awaited == Numbers{7});
    l1.come(7, 500);
    l1.come(8, 600);
    const L1::Found all = l1.load({0, 1, 2}, 9);
    CHECK(all.ready == 600);
    CHECK(all.missing.empty());
    CHECK(all.awaited.empty());
    CHECK(l1.load({4}, 10).missing == Numbers{4});
    CHECK(l1.load({0}, 11).missing.empty());
    // A third line: the second one was used longest ago.
    CHECK(l1.load({8}, 12).missing == Numbers{8});
    CHECK(l1.load({0}, 13).missing.empty());
    CHECK(l1.load({4}, 14).missing == Numbers{4});
    l1.come(10, 700);  // of a line that was gone meanwhile, and is asked for again
    CHECK(l1.load({4}, 15).awaited == Numbers{14});
}

TEST_CASE("Shared memory leaves an L1 less, perhaps nothing", "[simt]") {
    L1 l1(Bytes(512));
    l1.load({0, 4, 8, 12}, 1);
    l1.come(1, 1);
    l1.give(Bytes(256));
    CHECK(l1.load({8, 12}, 2).missing.empty());
    CHECK(l1.load({0}, 3).missing == Numbers{0});
    l1.give(Bytes(300));
    CHECK(l1.load({0}, 4).missing == Numbers{0});
    CHECK(l1.load({0}, 5).missing == Numbers{0});
}

TEST_CASE("A load that hits takes the L1's latency, one that misses what the memory takes", "[simt]") {
    std::vector<std::pair<std::int64_t, std::size_t>> asked;
    const auto cycles = [&](const SmSpec& spec, std::int64_t trips, const ThreadAddresses& addresses) {
        asked.clear();
        Sm sm(spec, 256, kNoMemory, [&](const Numbers& sectors, std::int64_t at, std::int64_t) {
            asked.emplace_back(at, sectors.size());
            return at + 200;
        });
        const CtaProgram program = chase(trips, addresses);
        sm.launch(program, 0);
        sm.run();
        return sm.trace(0).end;
    };
    // It leaves a cycle after it issues; the last one ends the program when it issues.
    CHECK(cycles(sm_with_l1(1024), 5, words(0, 4)) == 201 + 3 * 36 + 1);
    CHECK(asked == std::vector<std::pair<std::int64_t, std::size_t>>{{1, 4}});
    CHECK(cycles(sm_with_l1(0), 3, words(0, 4)) == 2 * 201 + 1);
    // 16 lines: a cycle for each tag before it leaves, and 15 more until the last word is there.
    CHECK(cycles(sm_with_l1(4096), 3, words(0, 64)) == 216 + 36 + 15 + 1);
}

TEST_CASE("A load of which a part is there waits for the later of both parts", "[simt]") {
    const auto end = [](std::int64_t latency) {
        Sm sm(sm_with_l1(1024), 256, kNoMemory,
              [&](const Numbers&, std::int64_t at, std::int64_t) { return at + latency; });
        ThreadAddresses addresses = words(0, 4);
        addresses.trip_stride = 64;
        const CtaProgram program = chase(3, addresses);
        sm.launch(program, 0);
        sm.run();
        return sm.trace(0).end;
    };
    // The second load takes half of the first one's line, and half of the next: two cycles for their tags.
    // What misses is never there before what hits.
    CHECK(end(2) == 36 + 1 + 36 + 1);
    CHECK(end(100) == 1 + 100 + 2 + 100 + 1);
}

TEST_CASE("Who owns the SM may say later when sectors are there", "[simt]") {
    std::vector<std::int64_t> requests;
    Sm sm(sm_with_l1(1024), 256, kNoMemory, [&](const Numbers&, std::int64_t, std::int64_t request) {
        requests.push_back(request);
        return Sm::kLater;
    });
    const CtaProgram program = chase(3, words(0, 4));
    sm.launch(program, 0);
    sm.advance(1000);
    CHECK(sm.next_issue() == Sm::kNever);
    REQUIRE(requests.size() == 1);
    sm.arrived(requests[0], 1500);
    CHECK(sm.next_issue() == 1500);
    sm.advance(1500);
    CHECK(sm.instructions() == 1);
    sm.advance(1501);
    CHECK(sm.instructions() == 2);
    sm.run();
    CHECK(sm.finished());
    CHECK(sm.trace(0).end == 1500 + 36 + 1);
}

TEST_CASE("Two warps that load one line ask for it once, and both wait for it", "[simt]") {
    std::size_t asked = 0;
    Sm sm(sm_with_l1(1024), 256, kNoMemory, [&](const Numbers&, std::int64_t at, std::int64_t) {
        ++asked;
        return at + 300;
    });
    CtaProgram program = chase(2, words(0, 4));
    program.roles[0].warps = 2;
    sm.launch(program, 0);
    sm.run();
    CHECK(asked == 1);
    CHECK(sm.trace(0).end == 1 + 300 + 1);
}
