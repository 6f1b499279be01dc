// SPDX-License-Identifier: Apache-2.0
// The L2 module between groups of SMs and a memory, ideal or real. Times are computed by hand.
#include "models/devices/simt/machine/l2.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "models/memory/dram.h"
#include "sim/kernel/kernel.h"
#include "tests/module/simt/groups_of_sms.h"
#include "tests/unit/memory/memory_specs.h"

namespace systole::test {
namespace {

using simt::TileAccess;

/// At 1 GHz: 1000 B a cycle to all SMs and 500 B from them, 64 B into and 32 B out of one; 200 cycles to data
/// that are there, 300 more to the memory; 64 KiB.
simt::L2Spec l2_spec() {
    simt::L2Spec spec;
    spec.capacity = spec.usable = Bytes(64 * 1024);
    spec.line = Bytes(128);
    spec.sector = Bytes(32);
    spec.bytes_per_cycle = Bytes(1000);
    spec.write_bytes_per_cycle = Bytes(500);
    spec.sm_read_per_cycle = Bytes(64);
    spec.sm_write_per_cycle = Bytes(32);
    spec.latency = Cycles(200);
    spec.memory_latency = Cycles(300);
    return spec;
}

DramSpec ideal() {
    DramSpec spec;
    spec.kind = DramSpec::Kind::Ideal;
    spec.flat_capacity = Bytes(1 << 26);
    spec.max_payload = Bytes(4096);
    return spec;
}

/// Four pseudo-channels of HBM2E at 3.2 Gb/s, 102.4 GB/s.
DramSpec real() {
    DramSpec spec = hbm2();
    spec.clock = Hertz(1'600'000'000);
    spec.channels = 4;
    spec.address_map = "bg2 ch2 co5 ba2 ro15";
    spec.max_payload = Bytes(4096);
    return spec;
}

/// `sms` SMs read, or one writes, a range each.
TileAccess one(std::int64_t address, std::int64_t bytes, std::int64_t sms = 1) {
    TileAccess access;
    access.blocks = {{address, bytes, sms, Operand::Weights}};
    access.sms = sms;
    access.bytes_of_sm = bytes;
    return access;
}

constexpr Ticks ns(std::int64_t n) {
    return Ticks(n * 1000);
}

struct Bench {
    Bench(const DramSpec& memory, std::vector<GroupsOfSms::Request> requests,
          const simt::L2Spec& spec = l2_spec())
        : dram("dram", memory),
          l2("l2", spec, Hertz(1'000'000'000), memory, ledger),
          sms("sms", std::move(requests)) {
        sms.out.bind(l2.in);
        l2.memory.bind(dram.in);
        run_to_the_end();
    }
    std::int64_t count(const std::string& name) const {
        for (const Stat& stat : l2.stats())
            if (stat.name == name) return stat.value;
        FAIL("no counter " << name);
        return 0;
    }
    FreshKernel kernel;
    ByteLedger ledger{2};
    Dram dram;
    simt::L2 l2;
    GroupsOfSms sms;
};

}  // namespace

TEST_CASE("A hit takes the L2's latency, a miss the memory's, too") {
    Bench bench(ideal(), {{ns(0), one(0, 64)}, {ns(1000), one(0, 64)}, {ns(2000), one(64, 64), true}});
    // A cycle at the SM's port each, two where it writes.
    CHECK(bench.sms.answered() == std::vector{ns(501), ns(1201), ns(2202)});
    CHECK(bench.count("bytes_missed") == 64);
    CHECK(bench.count("bytes_hit") == 64);
    CHECK(bench.dram.bytes_read() == Bytes(64));
    CHECK(bench.dram.bytes_written() == Bytes(0));
    CHECK(bench.l2.idle());
}

TEST_CASE("At half the SMs' clock hits and misses take twice as long") {
    FreshKernel kernel;
    ByteLedger ledger{2};
    Dram dram("dram", ideal());
    simt::L2 l2("l2", l2_spec(), Hertz(1'000'000'000), ideal(), ledger);
    GroupsOfSms sms("sms", {{ns(0), one(0, 64)}, {ns(2000), one(0, 64)}, {ns(4000), one(64, 64), true}});
    sms.out.bind(l2.in);
    l2.memory.bind(dram.in);
    l2.run_at(Hertz(500'000'000));
    run_to_the_end();
    CHECK(sms.answered() == std::vector{ns(2 * 501), ns(2000 + 2 * 201), ns(4000 + 2 * 202)});
}

TEST_CASE("What was written in the other partition takes the way across once") {
    simt::L2Spec spec = l2_spec();
    spec.far_latency = Cycles(70);
    // For SM 0 the first 4 KiB lie near, the next far.
    Bench bench(ideal(),
                {{ns(0), one(0, 64), true},
                 {ns(1000), one(4096, 64), true},
                 {ns(2000), one(0, 64)},
                 {ns(3000), one(4096, 64)},
                 {ns(4000), one(4096, 64)}},
                spec);
    CHECK(bench.sms.answered() == std::vector{ns(202), ns(1202), ns(2201), ns(3271), ns(4201)});
    CHECK(bench.dram.bytes_read() == Bytes(0));
}

TEST_CASE("Reads of short rows leave at their share of the memory's bandwidth, others as they come") {
    simt::L2Spec spec = l2_spec();
    spec.memory_share = 0.01;  // of 102.4 GB/s: 62.5 ns for 64 B
    DramSpec memory = real();
    memory.refresh = RefreshPolicy::Off;
    const auto from_first_to_last = [&](bool short_rows) {
        std::vector<GroupsOfSms::Request> requests;
        for (std::int64_t i = 0; i < 5; ++i) {
            requests.push_back({ns(0), one(8192 * i, 64)});
            requests.back().tiles.short_rows = short_rows;
        }
        const Bench bench(memory, requests, spec);
        CHECK(bench.dram.bytes_read() == Bytes(5 * 64));
        return static_cast<double>((bench.sms.answered()[4] - bench.sms.answered()[0]).value()) / 1000;
    };
    CHECK(from_first_to_last(true) == Approx(4 * 62.5).margin(10));
    CHECK(from_first_to_last(false) < 30);
}

TEST_CASE("A miss in a closed row takes what the memory's standard says") {
    DramSpec memory = real();
    memory.clock = Hertz(1'000'000'000);
    memory.refresh = RefreshPolicy::Off;
    Bench bench(memory, {{ns(0), one(0, 32)}});
    // 300 cycles to the memory; an activation of two clocks with RCD from its second, CL and a burst of 2; a
    // cycle at the port, and 200 to the SM.
    CHECK(bench.sms.answered()[0] == ns(300 + 15 + 14 + 2 + 1 + 200));
}

TEST_CASE("Reads of bytes on their way wait for them and fetch none of them again") {
    Bench bench(ideal(), {{ns(0), one(0, 6400)}, {ns(100), one(3200, 6400)}, {ns(299), one(0, 3200)}});
    CHECK(bench.dram.bytes_read() == Bytes(9600));
    CHECK(bench.ledger.moved(0, Place::Dram, Place::L2, Operand::Weights) == Bytes(9600));
    // All pass one SM's port, from 300 on: the third's 50 cycles, for which the first piece (4096 B) is
    // enough, the first's 100, and the second's, whose last bytes come at 400.
    CHECK(bench.sms.answered() == std::vector{ns(450 + 200), ns(550 + 200), ns(350 + 200)});
    CHECK(bench.count("bytes_missed") == 9600);
}

TEST_CASE("What is there of a block passes at once, and the rest when it has come") {
    Bench bench(ideal(), {{ns(0), one(0, 3200)}, {ns(1000), one(0, 6400)}});
    // 50 cycles of the SM's port are over by the time that the other 3200 B come, at 1300.
    CHECK(bench.sms.answered()[1] == ns(1300 + 50 + 200));
    CHECK(bench.count("bytes_hit") == 3200);
}

TEST_CASE("A block that many SMs read passes once for each, and comes from the memory once") {
    Bench bench(ideal(), {{ns(0), one(0, 6400, 100)}});
    CHECK(bench.sms.answered()[0] == ns(300 + 640 + 200));
    CHECK(bench.dram.bytes_read() == Bytes(6400));
    CHECK(bench.ledger.moved(0, Place::L2, Place::SharedMemory, Operand::Weights) == Bytes(640'000));
    CHECK(bench.count("bytes_missed") == 6400);
    CHECK(bench.count("bytes_hit") == 633'600);
}

TEST_CASE("What was written leaves when it makes room, and not at the end") {
    std::vector<GroupsOfSms::Request> requests{{ns(0), one(0, 16 * 1024), true}};
    Bench stays(ideal(), requests);
    CHECK(stays.dram.bytes_written() == Bytes(0));
    // 56 KiB more: 8 KiB of the oldest make room; the layer of who needs it pays.
    TileAccess more = one(1 << 20, 56 * 1024);
    more.layer = 1;
    requests.push_back({ns(5000), more});
    Bench leaves(ideal(), requests);
    CHECK(leaves.dram.bytes_written() == Bytes(8 * 1024));
    CHECK(leaves.dram.bytes_read() == Bytes(56 * 1024));
    CHECK(leaves.ledger.moved(1, Place::L2, Place::Dram, Operand::Weights) == Bytes(8 * 1024));
    CHECK(leaves.ledger.moved(0, Place::L2, Place::Dram) == Bytes(0));
    CHECK(leaves.count("bytes_written_back") == 8 * 1024);
}

TEST_CASE("A write waits for what makes room for it where too much waits to be written, and only there") {
    DramSpec memory = real();
    memory.refresh = RefreshPolicy::Off;
    std::vector<GroupsOfSms::Request> requests{{ns(0), one(0, 64 * 1024), true}};
    for (int i = 0; i < 32; ++i) {
        requests.push_back({ns(10'000), one((1 << 20) + i * 4096, 4096), true});
        requests.back().tiles.sm = 32 - i;  // a new one has the port of the one below
    }
    Bench bench(memory, requests);
    CHECK(bench.dram.bytes_written() == Bytes(128 * 1024));
    CHECK(bench.sms.answered()[0] == ns(2048 + 200));
    // 128 cycles at the ports of SMs of their own, behind 8.192 each at the slices'. As much may wait as the
    // memory's queues hold: 32 bursts of 32 B and eight lines of each of four buses, twice 4 KiB.
    const std::vector first(bench.sms.answered().begin() + 1, bench.sms.answered().begin() + 3);
    CHECK(first == std::vector{ns(10'328), ns(10'337)});
    CHECK(bench.sms.answered()[3] > ns(10'345));
    // The last ones leave behind 31 times 4 KiB, 1240 ns of the memory's bandwidth, and 300 to it.
    CHECK(bench.sms.answered().back() > ns(11'540));
    CHECK(bench.sms.answered().back() < ns(11'900));
}

TEST_CASE("What makes room for short rows is written at their share of the memory's bandwidth") {
    DramSpec memory = real();
    memory.refresh = RefreshPolicy::Off;
    simt::L2Spec spec = l2_spec();
    spec.memory_share = 0.5;
    std::vector<GroupsOfSms::Request> requests{{ns(0), one(0, 64 * 1024), true}};
    for (int i = 0; i < 32; ++i) {
        requests.push_back({ns(10'000), one((1 << 20) + i * 4096, 4096), true});
        requests.back().tiles.sm = 32 - i;
        requests.back().tiles.short_rows = true;
    }
    const Bench bench(memory, requests, spec);
    // As above, but at half the bandwidth: 31 times 4 KiB take 2480 ns.
    CHECK(bench.sms.answered().back() > ns(10'000 + 300 + 2480));
    CHECK(bench.sms.answered().back() < ns(10'000 + 300 + 2480 + 360));
}

TEST_CASE("Streams reach the bandwidth of the SMs' ports, of the L2 and of the memory") {
    DramSpec memory = real();
    std::vector<GroupsOfSms::Request> stream, again;
    for (int i = 0; i < 128; ++i) stream.push_back({ns(i), one(i * 8192, 8192, 1)});
    Bench fetched(memory, stream);
    const double rate = 128 * 8192.0 / (static_cast<double>(fetched.sms.answered().back().value()) / 1000);
    INFO(rate << " GB/s of 102.4, and of the port's 64");
    CHECK(rate > 58);
    CHECK(rate < 64);
    // 64 KiB lie there; 32 SMs read them, 100 times.
    for (int i = 0; i < 101; ++i) again.push_back({ns(10'000 * (i > 0 ? 1 : 0)), one(0, 64 * 1024, 32)});
    Bench hits(memory, again);
    // 32.768 us at each SM's port, 2097.152 at the slices: 100 times.
    CHECK(hits.sms.answered().back() == ns(10'000 + 209'716 + 200));
}

TEST_CASE("The memory's bandwidth binds where the ports are wide") {
    simt::L2Spec wide = l2_spec();
    wide.sm_read_per_cycle = Bytes(1000);
    std::vector<GroupsOfSms::Request> stream;
    for (int i = 0; i < 256; ++i) stream.push_back({ns(i), one(i * 8192, 8192, 1)});
    Bench bench(real(), stream, wide);
    const double rate = 256 * 8192.0 / (static_cast<double>(bench.sms.answered().back().value()) / 1000);
    INFO(rate << " GB/s of 102.4");
    CHECK(rate > 0.8 * 102.4);
    CHECK(rate < 102.4);
}

TEST_CASE("On random traffic every access is answered and every byte has two ends") {
    for (const unsigned seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
        std::mt19937 random(seed);
        const auto pick = [&](std::int64_t most) {
            return static_cast<std::int64_t>(random() % static_cast<unsigned long>(most + 1));
        };
        std::vector<GroupsOfSms::Request> requests;
        Ticks at;
        Bytes read, written;
        for (int i = 0; i < 400; ++i) {
            GroupsOfSms::Request request{at += ns(pick(seed % 2 == 0 ? 2000 : 30)), {}, pick(3) == 0};
            const std::int64_t blocks = 1 + pick(4);
            for (std::int64_t block = 0; block < blocks; ++block) {
                const std::int64_t bytes = 1 + pick(9000), sms = request.write ? 1 : 1 + pick(7);
                request.tiles.blocks.push_back({pick(200'000), bytes, sms, Operand::Activations});
                request.tiles.bytes_of_sm = std::max(request.tiles.bytes_of_sm, bytes);
                (request.write ? written : read) += Bytes(bytes * sms);
            }
            request.tiles.sms = 8;
            request.tiles.sm = pick(3) * 8;
            request.tiles.layer = static_cast<std::int32_t>(pick(1));
            requests.push_back(request);
        }
        const std::vector<GroupsOfSms::Request> asked = requests;
        Bench bench(seed <= 4 ? ideal() : real(), requests);
        INFO("seed " << seed);
        for (std::size_t i = 0; i < asked.size(); ++i)
            CHECK(bench.sms.answered()[i] >= asked[i].at + ns(200));
        const ByteLedger& ledger = bench.ledger;
        CHECK(ledger.total(Place::L2, Place::SharedMemory) == read);
        CHECK(ledger.total(Place::SharedMemory, Place::L2) == written);
        CHECK(ledger.total(Place::Dram, Place::L2) == bench.dram.bytes_read());
        CHECK(ledger.total(Place::L2, Place::Dram) == bench.dram.bytes_written());
        CHECK(bench.dram.bytes_written() > Bytes(0));
        const EndCount end = bench.l2.ends().front();
        CHECK(end.out == ledger.out_of(Place::L2));
        CHECK(end.in == ledger.into(Place::L2));
        CHECK(bench.count("bytes_hit") + bench.count("bytes_missed") == read.value());
        CHECK(bench.l2.idle());
    }
}

}  // namespace systole::test
