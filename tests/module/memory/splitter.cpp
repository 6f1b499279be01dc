// SPDX-License-Identifier: Apache-2.0
// Other memories behind the splitter: what they see, when whole requests are answered, and whether every
// phase on both sides is legal.
#include "models/memory/splitter.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/module/memory/foreign_memories.h"
#include "tests/module/memory/initiators.h"
#include "tests/module/memory/moody_memory.h"
#include "tests/module/memory/phase_monitor.h"

namespace systole::test {
namespace {

constexpr Ticks ns(std::int64_t n) {
    return Ticks(n * 1000);
}

template <class Memory>
struct Bench {
    FreshKernel kernel;
    PhaseMonitor behind{"behind"};
    Splitter splitter;
    Memory memory;

    template <class... Timing>
    explicit Bench(const SplitterSpec& spec, Timing... timing)
        : splitter("splitter", spec), memory("memory", timing...) {
        splitter.out.bind(behind.in);
        behind.out.bind(memory.in);
    }
    void check_quiet() {
        CHECK(behind.faults == std::vector<std::string>{});
        CHECK(behind.quiet());
        CHECK(splitter.idle());
    }
};

}  // namespace

TEST_CASE("a request is cut at bursts and answered with its last piece") {
    Bench<BurstMemory> bench({.largest = Bytes(64), .in_flight = 2}, ns(10), ns(0));
    Source source("source", {{ns(5), 100, 200, true}});
    source.out.bind(bench.splitter.in);
    run_to_the_end();
    const std::vector<std::pair<std::uint64_t, unsigned>> cut{{100, 28}, {128, 64}, {192, 64}, {256, 44}};
    REQUIRE(bench.memory.seen.size() == cut.size());
    for (std::size_t i = 0; i < cut.size(); ++i) {
        CHECK(std::pair(bench.memory.seen[i].address, bench.memory.seen[i].bytes) == cut[i]);
        CHECK(bench.memory.seen[i].write);
    }
    // Two at a time, 10 ns each; the last is sent, and the request accepted, when two are answered.
    CHECK(source.outcomes()[0].accepted == ns(5 + 10));
    CHECK(source.outcomes()[0].answered == ns(5 + 20));
    CHECK(source.outcomes()[0].status == tlm::TLM_OK_RESPONSE);
    CHECK(bench.memory.most_under_way == 2);
    CHECK(bench.splitter.bytes_written() == Bytes(200));
    CHECK(bench.splitter.pieces() == 4);
    bench.check_quiet();
}

TEST_CASE("pieces follow each other as fast as the memory accepts them") {
    Bench<BurstMemory> bench({.largest = Bytes(32)}, ns(50), ns(3));
    Source source("source", {{ns(0), 0, 320}, {ns(0), 4096, 32}});
    source.out.bind(bench.splitter.in);
    run_to_the_end();
    CHECK(source.outcomes()[0].accepted == ns(30));  // ten pieces, 3 ns each
    CHECK(source.outcomes()[0].answered == ns(30 + 50));
    CHECK(source.outcomes()[1].accepted == ns(33));
    CHECK(source.outcomes()[1].answered == ns(33 + 50));
    bench.check_quiet();
}

TEST_CASE("a memory with b_transport only serves piece after piece") {
    Bench<BlockingMemory> bench({.largest = Bytes(64)}, ns(20));
    Source source("source", {{ns(0), 0, 256}, {ns(0), 1024, 64, true}});
    source.out.bind(bench.splitter.in);
    run_to_the_end();
    CHECK(bench.memory.seen.size() == 5);
    CHECK(source.outcomes()[0].answered == ns(80));
    CHECK(source.outcomes()[1].answered == ns(100));
    bench.check_quiet();
}

TEST_CASE("a blocking initiator waits for the last piece") {
    Bench<BurstMemory> bench({.largest = Bytes(64)}, ns(20), ns(0));
    LooselyTimed source("source", {{0, 256, false}, {512, 64, true}});
    source.out.bind(bench.splitter.in);
    run_to_the_end();
    CHECK(source.answered() == std::vector{ns(30), ns(60)});
    CHECK(source.all_ok());
    bench.check_quiet();
}

TEST_CASE("one bad piece is a bad request, and others are none the worse") {
    Bench<BurstMemory> bench({.largest = Bytes(64)}, ns(20), ns(1));
    bench.memory.broken = 128;
    Source source("source", {{ns(0), 0, 256}, {ns(0), 256, 256}});
    source.out.bind(bench.splitter.in);
    run_to_the_end();
    CHECK(source.outcomes()[0].status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(source.outcomes()[1].status == tlm::TLM_OK_RESPONSE);
    CHECK(bench.splitter.bytes_read() == Bytes(256));
    bench.check_quiet();
}

TEST_CASE("random traffic of several initiators arrives whole, and every phase is legal") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto pick = [&](std::int64_t low, std::int64_t high) {
            return std::uniform_int_distribution<std::int64_t>(low, high)(random);
        };
        Bench<BurstMemory> bench(
            {.largest = Bytes(32 << pick(0, 3)), .in_flight = static_cast<int>(pick(1, 20))}, ns(pick(0, 60)),
            ns(pick(0, 3)));
        std::int64_t bytes = 0;
        std::vector<std::unique_ptr<Source>> sources;
        std::vector<std::unique_ptr<PhaseMonitor>> before;
        for (int i = 0; i < 3; ++i) {
            std::vector<Source::Request> requests;
            Ticks at;
            for (int k = 0; k < 40; ++k) {
                at += ns(pick(0, 1) * pick(0, 100));
                requests.push_back({at, static_cast<std::uint64_t>(pick(0, 1 << 20)),
                                    static_cast<unsigned>(pick(1, 2000)), pick(0, 1) == 1});
                bytes += requests.back().bytes;
            }
            const std::string number = std::to_string(i);
            sources.push_back(std::make_unique<Source>(("source" + number).c_str(), requests, i == 2));
            before.push_back(std::make_unique<PhaseMonitor>(("before" + number).c_str()));
            sources.back()->out.bind(before.back()->in);
            before.back()->out.bind(bench.splitter.in);
        }
        run_to_the_end();
        std::int64_t seen = 0;
        for (const SeenPiece& piece : bench.memory.seen) seen += piece.bytes;
        CHECK(seen == bytes);
        CHECK((bench.splitter.bytes_read() + bench.splitter.bytes_written()).value() == bytes);
        for (const auto& monitor : before) {
            CHECK(monitor->faults == std::vector<std::string>{});
            CHECK(monitor->responses == 40);
            CHECK(monitor->quiet());
        }
        bench.check_quiet();
    }
}

TEST_CASE("whatever way of answering a memory takes, requests arrive whole and every phase is legal") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        Bench<MoodyMemory> bench({.largest = Bytes(64), .in_flight = 1 + static_cast<int>(random() % 16)},
                                 seed);
        PhaseMonitor before("before");
        std::vector<Source::Request> requests;
        std::int64_t bytes = 0;
        for (int k = 0; k < 60; ++k) {
            requests.push_back(
                {ns(k), random() % 4096, 1 + static_cast<unsigned>(random() % 700), k % 3 == 0});
            bytes += requests.back().bytes;
        }
        Source source("source", requests, seed % 2 == 0);
        LooselyTimed blocking("blocking", {{0, 500, true}, {77, 300, false}});
        source.out.bind(before.in);
        before.out.bind(bench.splitter.in);
        blocking.out.bind(bench.splitter.in);
        run_to_the_end();
        CHECK(bench.memory.bytes == bytes + 800);
        CHECK((bench.splitter.bytes_read() + bench.splitter.bytes_written()).value() == bytes + 800);
        CHECK(before.responses == 60);
        CHECK(before.faults == std::vector<std::string>{});
        CHECK(before.quiet());
        CHECK(blocking.all_ok());
        CHECK(blocking.answered().size() == 2);
        for (const int taken : bench.memory.moods) CHECK(taken > 0);
        bench.check_quiet();
    }
}

TEST_CASE("what cannot be cut is refused: a range that wraps around, streaming; nothing is sent") {
    Bench<BurstMemory> bench({.largest = Bytes(64)}, ns(20), ns(1));
    Source source("source", {{ns(0), ~std::uint64_t{0} - 31, 64},
                             {ns(0), ~std::uint64_t{0} - 31, 32},
                             {ns(0), 0, 64, true, 32},
                             {ns(0), 0, 64, false, 1}});
    source.out.bind(bench.splitter.in);
    run_to_the_end();
    CHECK(source.outcomes()[0].status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(source.outcomes()[1].status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(source.outcomes()[2].status == tlm::TLM_BURST_ERROR_RESPONSE);
    CHECK(source.outcomes()[3].status == tlm::TLM_BURST_ERROR_RESPONSE);  // the same byte again and again
    CHECK(bench.memory.seen.empty());
    bench.check_quiet();
}

}  // namespace systole::test
