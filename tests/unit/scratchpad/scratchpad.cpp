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
    StreamPorts ports(2, 2);
    CHECK_FALSE(ports.contended());
    ports.reserve(0, Cycles(0), Cycles(100), Bytes(10));
    CHECK(ports.earliest() == Cycles(0));  // the other port
    ports.reserve(1, Cycles(5), Cycles(50), Bytes(10));
    CHECK(ports.earliest() == Cycles(50));
    ports.reserve(1, Cycles(50), Cycles(60), Bytes(10));
    CHECK(ports.earliest() == Cycles(60));
    CHECK(ports.read() == Bytes(30));
}

TEST_CASE("of several units that want a port the one served longest ago gets it, whoever asks first",
          "[scratchpad]") {
    for (const bool backwards : {false, true}) {
        StreamPorts ports(1, 3);
        CHECK(ports.contended());
        ports.reserve(0, Cycles(0), Cycles(10), Bytes(1));
        ports.reserve(2, Cycles(10), Cycles(20), Bytes(1));
        ports.wish(0, 1);
        ports.wish(2, 1);
        ports.wish(1, 2);  // too late to compete
        const bool first = ports.granted(backwards ? 2 : 0, 2, Cycles(20));
        CHECK(first == !backwards);  // unit 0 was served before unit 2
        if (first) ports.reserve(0, Cycles(20), Cycles(30), Bytes(1));
        CHECK(ports.granted(backwards ? 0 : 2, 2, Cycles(20)) == backwards);
        CHECK_FALSE(ports.granted(1, 3, Cycles(15)));  // busy
    }
}

}  // namespace systole
