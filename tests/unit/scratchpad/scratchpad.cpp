// SPDX-License-Identifier: Apache-2.0
#include "models/memory/scratchpad/scratchpad.h"

#include <catch2/catch.hpp>

namespace systole {

TEST_CASE("a port serves its width a cycle, one request after another", "[scratchpad]") {
    ScratchpadBanks banks({.capacity = Bytes(1024), .bank_bytes = Bytes(16)});
    PortTiming port(ClockDomain(Hertz(1'000'000'000)), Bytes(64), Cycles(2), banks, BankClient::Dma);
    // 65 bytes take two cycles, the latency two more; a request off the clock's edge waits for the next one.
    CHECK(port.serve(Ticks(500), Bytes(0), Bytes(65), false) == Ticks(1'000 + 2'000 + 2'000));
    // The second waits for the port, not for the first one's latency.
    CHECK(port.serve(Ticks(500), Bytes(0), Bytes(64), true) == Ticks(3'000 + 1'000 + 2'000));
    CHECK(port.serve(Ticks(100'000), Bytes(0), Bytes(1), false) == Ticks(100'000 + 1'000 + 2'000));
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

TEST_CASE("ports whose clients meet in the banks are busy for as long as these take", "[scratchpad]") {
    ScratchpadBanks banks(
        {.capacity = Bytes(1024), .banks = 2, .bank_bytes = Bytes(16), .bank_access = BankAccess::Split});
    const ClockDomain clock(Hertz(1'000'000'000));
    PortTiming a(clock, Bytes(32), Cycles(0), banks, BankClient::Dma);
    PortTiming b(clock, Bytes(32), Cycles(0), banks, BankClient::Tiles);
    // 128 B are eight lines, four of each bank: in four cycles a has taken the banks whole.
    CHECK(a.serve(Ticks(0), Bytes(0), Bytes(128), false) == Ticks(4'000));
    CHECK(b.serve(Ticks(0), Bytes(0), Bytes(128), false) == Ticks(8'000));
    CHECK(b.serve(Ticks(0), Bytes(0), Bytes(16), false) == Ticks(9'000));  // its own port
    CHECK(b.serve(Ticks(0), Bytes(0), Bytes(16), true) == Ticks(10'000));
    CHECK(banks.stats(BankClient::Dma).lost == Cycles(0));
    CHECK(banks.stats(BankClient::Tiles).lost == Cycles(4));
}

}  // namespace systole
