// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/memory/fabric.h"

#include <catch2/catch.hpp>

namespace systole::simt {
namespace {

/// At 1 GHz: 1000 B a cycle of all slices, 64 B into and 32 B out of an SM, 200 cycles.
Fabric fabric() {
    L2Spec spec;
    spec.bytes_per_cycle = Bytes(1000);
    spec.write_bytes_per_cycle = Bytes(500);
    spec.sm_read_per_cycle = Bytes(64);
    spec.sm_write_per_cycle = Bytes(32);
    spec.latency = Cycles(200);
    return {spec, ClockDomain(Hertz(1'000'000'000))};
}

}  // namespace

TEST_CASE("The slower of the slices and the SM's port decides, and the latency comes on top") {
    Fabric one = fabric();
    // 6400 B into one SM: 100 cycles at its port, 7 at the slices.
    CHECK(one.read(Ticks(0), Bytes(6400), {0, 1}, Bytes(6400)) == Ticks(300'000));
    Fabric many = fabric();
    // 100 SMs read the same 6400 B: 640 cycles at the slices.
    CHECK(many.read(Ticks(0), Bytes(640'000), {0, 100}, Bytes(6400)) == Ticks(840'000));
    CHECK(many.bytes_read() == Bytes(640'000));
    Fabric out = fabric();
    CHECK(out.write(Ticks(0), Bytes(6400), {0, 1}, Bytes(6400)) == Ticks(400'000));
}

TEST_CASE("What lies in the other partition comes later: where all of it does, some of it, or half of it") {
    L2Spec spec;
    spec.bytes_per_cycle = spec.write_bytes_per_cycle = Bytes(1000);
    spec.sm_read_per_cycle = spec.sm_write_per_cycle = Bytes(64);
    spec.latency = Cycles(200);
    spec.far_latency = Cycles(146);
    const Fabric two(spec, ClockDomain(Hertz(1'000'000'000)));
    // 4 KiB lie on one side, and so do SMs by turns.
    for (const std::int64_t address : {0, 4096 - 64}) {
        const auto of = [&](std::int64_t sm) { return two.far(address, {sm, 1}, Bytes(64)).value(); };
        CHECK(of(0) + of(1) == 146);
        CHECK(of(0) == of(2));
        CHECK(two.far(address, {0, 1}, Bytes(64)) == two.far(0, {0, 1}, Bytes(64)));
    }
    CHECK(two.far(4096, {0, 1}, Bytes(64)) == two.far(0, {1, 1}, Bytes(64)));
    CHECK(two.far(0, {0, 16}, Bytes(64)) == Cycles(73));
    CHECK(two.far(0, {0, 1}, Bytes(8192)) == Cycles(146));
    CHECK(fabric().far(0, {0, 1}, Bytes(8192)) == Cycles(0));
}

TEST_CASE("An SM's port serves one request after another, and that of others is another") {
    Fabric one = fabric();
    one.read(Ticks(0), Bytes(51'200), {0, 8}, Bytes(6400));
    CHECK(one.read(Ticks(0), Bytes(6400), {0, 1}, Bytes(6400)) == Ticks(400'000));
    // SM 7 was alike SM 0 until now: its port is as busy as that was then.
    CHECK(one.read(Ticks(0), Bytes(64), {7, 1}, Bytes(64)) == Ticks(301'000));
    Fabric apart = fabric();
    apart.read(Ticks(0), Bytes(6400), {5, 1}, Bytes(6400));
    CHECK(apart.read(Ticks(6'400), Bytes(640), {0, 1}, Bytes(640)) == Ticks(217'000));
}

TEST_CASE("Ports of SMs that are next to a busy one are as idle as before") {
    Fabric one = fabric();
    // 6.4 cycles each at the slices' ports, 100 at its own.
    const Ticks own(300'000);
    CHECK(one.write(Ticks(0), Bytes(3200), {3, 1}, Bytes(3200)) == own);
    CHECK(one.write(Ticks(10'000), Bytes(3200), {4, 1}, Bytes(3200)) == Ticks(10'000) + own);
    CHECK(one.write(Ticks(20'000), Bytes(3200), {2, 1}, Bytes(3200)) == Ticks(20'000) + own);
    CHECK(one.write(Ticks(30'000), Bytes(3200), {9, 1}, Bytes(3200)) == Ticks(30'000) + own);
    CHECK(one.write(Ticks(40'000), Bytes(3200), {3, 1}, Bytes(3200)) == Ticks(100'000) + own);
}

TEST_CASE("Of SMs that do the same again, the busiest port decides, and each keeps what it has to do") {
    Fabric one = fabric();
    one.read(Ticks(0), Bytes(6400), {2, 1}, Bytes(6400));
    // Of 1000 B at the slices' ports 6.4 cycles are SM 2's, which is busy until 100.
    CHECK(one.read(Ticks(10'000), Bytes(4 * 640), {0, 4}, Bytes(640)) == Ticks(310'000));
    CHECK(one.read(Ticks(15'000), Bytes(64), {3, 1}, Bytes(64)) == Ticks(221'000));
    CHECK(one.read(Ticks(15'000), Bytes(64), {2, 1}, Bytes(64)) == Ticks(311'000));
    // Idle ones are alike from here on.
    CHECK(one.read(Ticks(500'000), Bytes(4 * 640), {0, 4}, Bytes(640)) == Ticks(710'000));
    CHECK(one.read(Ticks(500'000), Bytes(640), {2, 2}, Bytes(320)) == Ticks(715'000));
}

TEST_CASE(
    "At another clock what comes from then on has other ports and latencies, behind what passes still") {
    Fabric one = fabric();
    CHECK(one.read(Ticks(0), Bytes(6400), {0, 1}, Bytes(6400)) == Ticks(300'000));
    one.run_at(ClockDomain(Hertz(500'000'000)));
    // The port is busy until cycle 100 of before; a byte takes twice as long, and so does the way.
    CHECK(one.read(Ticks(40'000), Bytes(640), {0, 1}, Bytes(640)) == Ticks(100'000 + 20'000 + 400'000));
    CHECK(one.write(Ticks(40'000), Bytes(320), {0, 1}, Bytes(320)) == Ticks(40'000 + 20'000 + 400'000));
    // The slices, too: 1000 B a cycle for what many read.
    CHECK(one.read(Ticks(800'000), Bytes(640'000), {0, 100}, Bytes(6400)) ==
          Ticks(800'000 + 1'280'000 + 400'000));
    one.run_at(ClockDomain(Hertz(1'000'000'000)));
    CHECK(one.read(Ticks(4'000'000), Bytes(6400), {3, 1}, Bytes(6400)) == Ticks(4'300'000));
}

TEST_CASE("Rounding does not add up over a busy period") {
    Port port(BytesPerSecond(3'000'000'000'000));  // a byte in a third of a tick
    Port::Service last{};
    for (int i = 0; i < 3000; ++i) last = port.pass(Ticks(0), Bytes(1));
    CHECK(last.end == Ticks(1000));
    CHECK(port.pass(Ticks(5000), Bytes(1)).end == Ticks(5001));
}

}  // namespace systole::simt
