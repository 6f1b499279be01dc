// SPDX-License-Identifier: Apache-2.0
// The MMU between groups of SMs and an L2 in front of an ideal memory. Times are computed by hand.
#include "models/devices/simt/machine/mmu.h"

#include <catch2/catch.hpp>
#include <string>

#include "models/devices/simt/machine/l2.h"
#include "models/memory/dram.h"
#include "sim/kernel/kernel.h"
#include "tests/module/simt/groups_of_sms.h"

namespace systole::test {
namespace {

using simt::TileAccess;

constexpr std::int64_t kPage = 4096;

/// 1 GHz: 100 cycles to data, 50 more for a page that a TLB of two does not know. SMs 0 to 2 and 3 to 4 lie
/// in a GPC each.
struct Bench {
    explicit Bench(std::vector<GroupsOfSms::Request> requests, std::int64_t reach = 2 * kPage)
        : dram("dram", memory()),
          l2("l2", l2_spec(), Hertz(1'000'000'000), memory(), ledger),
          mmu("mmu", {Bytes(kPage), Bytes(reach), Cycles(50)}, sms_of_two_gpcs(), Hertz(1'000'000'000)),
          sms("sms", std::move(requests)) {
        sms.out.bind(mmu.in);
        mmu.out.bind(l2.in);
        l2.memory.bind(dram.in);
        run_to_the_end();
    }
    static DramSpec memory() {
        DramSpec spec;
        spec.kind = DramSpec::Kind::Ideal;
        spec.flat_capacity = Bytes(1 << 26);
        spec.max_payload = Bytes(4096);
        return spec;
    }
    static simt::L2Spec l2_spec() {
        simt::L2Spec spec;
        spec.capacity = spec.usable = Bytes(64 * 1024);
        spec.line = Bytes(128);
        spec.sector = Bytes(32);
        spec.bytes_per_cycle = spec.write_bytes_per_cycle = Bytes(1 << 20);
        spec.sm_read_per_cycle = spec.sm_write_per_cycle = Bytes(1 << 20);
        spec.latency = Cycles(100);
        spec.memory_latency = Cycles(0);
        return spec;
    }
    static simt::SmSpec sms_of_two_gpcs() {
        simt::SmSpec spec;
        spec.count = 5;
        spec.gpcs = {3, 2};
        return spec;
    }
    /// Nanoseconds from requests to their answers.
    std::vector<std::int64_t> latencies(const std::vector<Ticks>& sent) const {
        std::vector<std::int64_t> all;
        for (std::size_t i = 0; i < sent.size(); ++i)
            all.push_back((sms.answered()[i] - sent[i]).value() / 1000);
        return all;
    }
    std::int64_t count(const std::string& name) const {
        for (const Stat& stat : mmu.stats())
            if (stat.name == name) return stat.value;
        FAIL("no counter " << name);
        return 0;
    }
    FreshKernel kernel;
    ByteLedger ledger{1};
    Dram dram;
    simt::L2 l2;
    simt::Mmu mmu;
    GroupsOfSms sms;
};

/// SMs from `sm` on read 64 bytes.
TileAccess read(std::int64_t address, std::int64_t sm = 0, std::int64_t sms = 1) {
    TileAccess access;
    access.blocks = {{address, 64, sms, Operand::Weights, {}}};
    access.sm = sm;
    access.sms = sms;
    access.bytes_of_sm = 64;
    return access;
}

struct Sequence {
    std::vector<GroupsOfSms::Request> requests;
    std::vector<Ticks> sent;
    void add(TileAccess tiles, bool write = false, std::int64_t after_ns = 1000) {
        sent.push_back((sent.empty() ? Ticks(0) : sent.back()) + Ticks(after_ns * 1000));
        requests.push_back({sent.back(), std::move(tiles), write});
    }
};

// Of 64 bytes at ports of 2^20 a cycle: the cycle after 100, to whose edge answers are rounded up.
constexpr std::int64_t kHit = 101, kMiss = kHit + 50;

}  // namespace

TEST_CASE("A page that the TLB does not know takes the latency of a miss, one that it knows nothing") {
    Sequence s;
    s.add(read(0));
    s.add(read(kPage - 64));
    s.add(read(kPage));
    s.add(read(64));
    s.add(read(2 * kPage));    // in the place of the second page
    s.add(read(128), true);    // results, too, are written to pages
    s.add(read(kPage), true);  // in the place of the third
    const Bench bench(s.requests);
    CHECK(bench.latencies(s.sent) == std::vector<std::int64_t>{kMiss, kHit, kMiss, kHit, kMiss, kHit, kMiss});
    CHECK(bench.count("uses") == 7);
    CHECK(bench.count("misses") == 4);
    CHECK(bench.count("delayed") == 4);
}

TEST_CASE("SMs of a GPC share a TLB, others have their own") {
    Sequence s;
    s.add(read(0, 0));
    s.add(read(0, 2));
    s.add(read(0, 3));
    s.add(read(0, 4));
    s.add(read(kPage, 1, 3));  // of both
    s.add(read(kPage, 4));
    const Bench bench(s.requests);
    CHECK(bench.latencies(s.sent) == std::vector<std::int64_t>{kMiss, kHit, kMiss, kHit, kMiss, kHit});
    CHECK(bench.count("misses") == 4);
    CHECK(bench.count("uses") == 7);
}

TEST_CASE("A request waits for all of its pages together, and others pass it") {
    Sequence s;
    TileAccess wide = read(kPage - 64);
    wide.blocks.front().bytes = 128;
    s.add(read(0, 3));  // the other GPC knows page 0
    s.add(wide);
    s.add(read(0, 3), false, 10);
    s.add(read(2 * kPage, 3), false, 10);
    const Bench bench(s.requests);
    CHECK(bench.latencies(s.sent) == std::vector<std::int64_t>{kMiss, kMiss, kHit, kMiss});
    CHECK(bench.count("misses") == 4);
    CHECK(bench.count("delayed") == 3);
}

TEST_CASE("Who asks for a page that is on its way waits for it, and not longer") {
    Sequence s;
    s.add(read(0));
    s.add(read(64), false, 20);     // in 30 cycles the page is known
    s.add(read(kPage), false, 10);  // a page of its own
    s.add(read(128), false, 20);    // just known
    s.add(read(kPage + 64), false, 29);
    const Bench bench(s.requests);
    CHECK(bench.latencies(s.sent) == std::vector<std::int64_t>{kMiss, kHit + 30, kMiss, kHit, kHit + 1});
    CHECK(bench.count("misses") == 2);
    CHECK(bench.count("delayed") == 4);
}

TEST_CASE("Without a reach all addresses are known") {
    Sequence s;
    for (std::int64_t page = 0; page < 4; ++page) s.add(read(page * kPage));
    const Bench bench(s.requests, 0);
    CHECK(bench.latencies(s.sent) == std::vector<std::int64_t>(4, kHit));
    CHECK(bench.count("misses") == 0);
}

}  // namespace systole::test
