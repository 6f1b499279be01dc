// SPDX-License-Identifier: Apache-2.0
// L2s of several dies in front of a memory-side cache. Times are computed by hand.
#include "models/devices/simt/machine/caches.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "models/memory/dram.h"
#include "sim/kernel/kernel.h"
#include "tests/module/simt/groups_of_sms.h"
#include "tests/unit/memory/memory_specs.h"

namespace systole::test {
namespace {

using simt::TileAccess;

/// Two dies of two SMs at 1 GHz. An L2: 64 B a cycle into and out of an SM, 100 cycles; the cache behind
/// them: 32 B a cycle into a die, 16 out of it, 40 cycles, and 300 more to a memory that takes no time.
simt::SimtSpec machine(bool memory_side = true) {
    simt::SimtSpec spec;
    spec.core_clock = Hertz(1'000'000'000);
    spec.sm.count = 4;
    spec.sm.gpcs = {2, 2};
    spec.chiplets.count = 2;
    spec.l2.capacity = spec.l2.usable = Bytes(64 * 1024);
    spec.l2.line = spec.l2.sector = Bytes(128);
    spec.l2.bytes_per_cycle = spec.l2.write_bytes_per_cycle = Bytes(1024);
    spec.l2.sm_read_per_cycle = spec.l2.sm_write_per_cycle = Bytes(64);
    spec.l2.latency = Cycles(100);
    spec.l2.memory_latency = Cycles(memory_side ? 0 : 300);
    spec.memory.kind = DramSpec::Kind::Ideal;
    spec.memory.flat_capacity = Bytes(1 << 26);
    spec.memory.max_payload = Bytes(4096);
    if (!memory_side) return spec;
    simt::L2Spec shared = spec.l2;
    shared.capacity = shared.usable = Bytes(1 << 20);
    shared.sector = Bytes(64);
    shared.sm_read_per_cycle = Bytes(32);
    shared.sm_write_per_cycle = Bytes(16);
    shared.latency = Cycles(40);
    shared.memory_latency = Cycles(300);
    spec.memory_side_cache = shared;
    return spec;
}

constexpr Ticks ns(std::int64_t n) {
    return Ticks(n * 1000);
}

TileAccess of_sm(std::int64_t sm, std::int64_t address, std::int64_t bytes) {
    TileAccess access;
    access.blocks = {{address, bytes, 1, Operand::Activations, {0, 1 << 20, 1 << 20}, {}}};
    access.sm = sm;
    access.bytes_of_sm = bytes;
    return access;
}

struct Bench {
    Bench(const simt::SimtSpec& spec, std::vector<GroupsOfSms::Request> requests, Ticks clean_at = Ticks(0),
          Hertz clock = Hertz(1'000'000'000))
        : dram("dram", spec.memory),
          caches(spec, ledger),
          mmu("mmu", spec.tlb, spec.sm, spec.core_clock),
          sms("sms", std::move(requests)) {
        sms.out.bind(mmu.in);
        caches.bind(mmu, dram);
        caches.run_at(clock);
        if (clean_at > Ticks(0)) {
            sc_core::sc_start(to_sc_time(clean_at));
            caches.clean([this] { cleaned = now(); });
        }
        run_to_the_end();
    }
    std::int64_t count(const std::string& module, const std::string& name) const {
        for (const Stat& stat : caches.stats())
            if (stat.path == module && stat.name == name) return stat.value;
        FAIL("no counter " << module << "." << name);
        return 0;
    }
    /// What movers entered is what each kind of cache has counted.
    void check_ends() const {
        for (const EndCount& end : caches.ends()) {
            CHECK(end.out == ledger.out_of(end.place));
            CHECK(end.in == ledger.into(end.place));
        }
        CHECK(ledger.into(Place::Dram) == dram.bytes_written());
        CHECK(ledger.out_of(Place::Dram) == dram.bytes_read());
    }
    FreshKernel kernel;
    ByteLedger ledger{1};
    Dram dram;
    simt::Caches caches;
    simt::Mmu mmu;
    GroupsOfSms sms;
    Ticks cleaned;
};

}  // namespace

TEST_CASE("Each die reads its own copy through the memory-side cache, and that the memory once") {
    const Bench bench(machine(), {{ns(0), of_sm(0, 0, 128)},       // out of the memory
                                  {ns(1000), of_sm(1, 0, 128)},    // the same die's L2 has it
                                  {ns(2000), of_sm(2, 0, 128)}});  // the other die's has not
    // Two cycles at the SM's port and 100 of the L2; four at the die's and 40 of the cache; 300 to the
    // memory.
    CHECK(bench.sms.answered() == std::vector{ns(300 + 4 + 40 + 2 + 100), ns(1102), ns(2000 + 44 + 102)});
    CHECK(bench.count("l2_0", "bytes_fetched") == 128);
    CHECK(bench.count("l2_1", "bytes_fetched") == 128);
    CHECK(bench.ledger.total(Place::L2, Place::SharedMemory) == Bytes(3 * 128));
    CHECK(bench.ledger.total(Place::MemorySideCache, Place::L2) == Bytes(2 * 128));
    // That cache takes what its page lacks of the matrix, a die's L2 what was asked for.
    CHECK(bench.ledger.total(Place::Dram, Place::MemorySideCache) == Bytes(4096));
    CHECK(bench.ledger.total(Place::Dram, Place::L2) == Bytes(0));
    bench.check_ends();
}

TEST_CASE("Dies' L2s follow the SMs' clock, and the memory-side cache keeps its own") {
    const Bench bench(machine(),
                      {{ns(0), of_sm(0, 0, 128)}, {ns(1000), of_sm(1, 0, 128)}, {ns(2000), of_sm(2, 0, 128)}},
                      Ticks(0), Hertz(500'000'000));
    CHECK(bench.sms.answered() ==
          std::vector{ns(300 + 44 + 2 * 102), ns(1000 + 2 * 102), ns(2000 + 44 + 2 * 102)});
}

TEST_CASE(
    "What a die has written reaches the others when its L2 is cleaned, and is no longer theirs before") {
    const std::vector<GroupsOfSms::Request> requests{{ns(0), of_sm(2, 0, 256)},  // die 1 has both lines
                                                     {ns(1000), of_sm(0, 0, 128), true},  // die 0 writes one
                                                     {ns(3000), of_sm(3, 128, 128)},      // still there
                                                     {ns(4000), of_sm(3, 0, 128)},        // no longer
                                                     {ns(5000), of_sm(1, 0, 128)}};       // the writer's own
    const Bench bench(machine(), requests, ns(2000));
    // Eight cycles out of the die at 16 B, 40 of the cache.
    CHECK(bench.cleaned == ns(2000 + 8 + 40));
    CHECK(bench.sms.answered()[2] == ns(3102));
    CHECK(bench.sms.answered()[3] == ns(4000 + 44 + 102));
    CHECK(bench.sms.answered()[4] == ns(5102));
    CHECK(bench.ledger.total(Place::L2, Place::MemorySideCache) == Bytes(128));
    bench.check_ends();
}

TEST_CASE("Short rows that dies ask for leave the memory at their share of its bandwidth") {
    simt::SimtSpec spec = machine();
    spec.memory = hbm2();
    spec.memory.refresh = RefreshPolicy::Off;
    spec.memory.max_payload = Bytes(4096);
    spec.memory_side_cache->memory_share = 0.01;
    const auto first_to_last = [&](bool short_rows) {
        std::vector<GroupsOfSms::Request> requests;
        for (std::int64_t i = 0; i < 3; ++i) {
            requests.push_back({ns(0), of_sm(0, 8192 * i, 128)});
            requests.back().tiles.short_rows = short_rows;
        }
        const Bench bench(spec, requests);
        CHECK(bench.dram.bytes_read() == Bytes(3 * 4096));  // pages of the cache
        return static_cast<double>((bench.sms.answered()[2] - bench.sms.answered()[0]).value()) / 1000;
    };
    const double page = 4096e9 / static_cast<double>(spec.memory.peak().value());  // ns
    CHECK(first_to_last(true) == Approx(2 * 100 * page).epsilon(0.02));
    CHECK(first_to_last(false) < 10 * page);
}

TEST_CASE("Dies without a cache behind their L2s ask the memory each for itself") {
    const Bench bench(
        machine(false),
        {{ns(0), of_sm(0, 0, 128)}, {ns(1000), of_sm(3, 0, 128)}, {ns(2000), of_sm(3, 0, 128), true}},
        ns(3000));
    CHECK(bench.sms.answered()[0] == ns(300 + 2 + 100));
    CHECK(bench.sms.answered()[1] == ns(1000 + 300 + 2 + 100));
    CHECK(bench.dram.bytes_read() == Bytes(256));
    CHECK(bench.dram.bytes_written() == Bytes(128));
    bench.check_ends();
}

TEST_CASE("One die's L2 in front of a memory-side cache keeps what it wrote") {
    simt::SimtSpec spec = machine();
    spec.chiplets.count = 1;
    const Bench bench(spec, {{ns(0), of_sm(3, 0, 128), true}, {ns(1000), of_sm(0, 0, 128)}});
    CHECK_FALSE(bench.caches.apart());
    CHECK(bench.sms.answered() == std::vector{ns(102), ns(1102)});
    CHECK(bench.ledger.total(Place::L2, Place::MemorySideCache) == Bytes(0));
    bench.check_ends();
}

}  // namespace systole::test
