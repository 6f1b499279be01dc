// SPDX-License-Identifier: Apache-2.0
#include "models/link/host_link.h"

#include <catch2/catch.hpp>

namespace systole {
namespace {

// 16 GB/s are 62.5 ps a byte; 10 ns of latency.
const HostLinkSpec kSpec{BytesPerSecond(16'000'000'000), Ticks(10'000)};

}  // namespace

TEST_CASE("a payload on an idle link takes its size over the bandwidth plus the latency", "[link]") {
    LinkTiming timing(kSpec.bandwidth, kSpec.latency);
    CHECK(timing.send(Ticks(5'000), Bytes(16)) == Ticks(5'000 + 1'000 + 10'000));
}

TEST_CASE("payloads queue behind each other but share the latency", "[link]") {
    LinkTiming timing(kSpec.bandwidth, kSpec.latency);
    CHECK(timing.send(Ticks(0), Bytes(1600)) == Ticks(100'000 + 10'000));
    CHECK(timing.send(Ticks(1), Bytes(1600)) == Ticks(200'000 + 10'000));
    CHECK(timing.send(Ticks(200'000), Bytes(16)) == Ticks(201'000 + 10'000));
}

TEST_CASE("rounding does not add up over a busy period", "[link]") {
    // 3 bytes take 187.5 ps each time: a million of them in one busy period take exactly 187.5 us.
    LinkTiming timing(kSpec.bandwidth, kSpec.latency);
    Ticks last;
    for (int i = 0; i < 1'000'000; ++i) last = timing.send(Ticks(0), Bytes(3));
    CHECK(last == Ticks(187'500'000 + 10'000));
    CHECK(timing.sent() == Bytes(3'000'000));
}

}  // namespace systole
