// SPDX-License-Identifier: Apache-2.0
#include "models/memory/scratchpad.h"

#include <catch2/catch.hpp>

namespace systole {

TEST_CASE("a port serves its width a cycle, one request after another", "[scratchpad]") {
    PortTiming port(ClockDomain(Hertz(1'000'000'000)), Bytes(64), Cycles(2));
    // 65 bytes take two cycles, the latency two more; a request off the clock's edge waits for the next one.
    CHECK(port.serve(Ticks(500), Bytes(65), false) == Ticks(1'000 + 2'000 + 2'000));
    // The second waits for the port, not for the first one's latency.
    CHECK(port.serve(Ticks(500), Bytes(64), true) == Ticks(3'000 + 1'000 + 2'000));
    CHECK(port.serve(Ticks(100'000), Bytes(1), false) == Ticks(100'000 + 1'000 + 2'000));
    CHECK(port.read() == Bytes(66));
    CHECK(port.written() == Bytes(64));
}

TEST_CASE("a stream port is taken for a whole interval", "[scratchpad]") {
    StreamPorts ports(2);
    ports.reserve(Cycles(0), Cycles(100), Bytes(10));
    CHECK(ports.earliest() == Cycles(0));  // the other port
    ports.reserve(Cycles(5), Cycles(50), Bytes(10));
    CHECK(ports.earliest() == Cycles(50));
    ports.reserve(Cycles(50), Cycles(60), Bytes(10));
    CHECK(ports.earliest() == Cycles(60));
    CHECK(ports.read() == Bytes(30));
}

}  // namespace systole
