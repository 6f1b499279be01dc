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
    CHECK(one.read(Ticks(0), Bytes(6400), 0, Bytes(6400)) == Ticks(300'000));
    Fabric many = fabric();
    // 100 SMs read the same 6400 B: 640 cycles at the slices.
    CHECK(many.read(Ticks(0), Bytes(640'000), 0, Bytes(6400)) == Ticks(840'000));
    CHECK(many.bytes_read() == Bytes(640'000));
    Fabric out = fabric();
    CHECK(out.write(Ticks(0), Bytes(6400), 0, Bytes(6400)) == Ticks(400'000));
}

TEST_CASE("An SM's port serves one request after another, and that of others is another") {
    Fabric one = fabric();
    one.read(Ticks(0), Bytes(6400), 0, Bytes(6400));
    CHECK(one.read(Ticks(0), Bytes(6400), 0, Bytes(6400)) == Ticks(400'000));
    // SM 7 was alike SM 0 until now: its port is as busy.
    CHECK(one.read(Ticks(0), Bytes(64), 7, Bytes(64)) == Ticks(401'000));
    Fabric apart = fabric();
    apart.read(Ticks(0), Bytes(6400), 5, Bytes(6400));
    CHECK(apart.read(Ticks(6'400), Bytes(640), 0, Bytes(640)) == Ticks(217'000));
}

TEST_CASE("Rounding does not add up over a busy period") {
    Port port(BytesPerSecond(3'000'000'000'000));  // a byte in a third of a tick
    Port::Service last{};
    for (int i = 0; i < 3000; ++i) last = port.pass(Ticks(0), Bytes(1));
    CHECK(last.end == Ticks(1000));
    CHECK(port.pass(Ticks(5000), Bytes(1)).end == Ticks(5001));
}

}  // namespace systole::simt
