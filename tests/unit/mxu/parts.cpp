// SPDX-License-Identifier: Apache-2.0
// The parts of the PE grid, each alone.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "models/devices/systolic/mxu/accumulators.h"
#include "models/devices/systolic/mxu/skew_line.h"
#include "models/devices/systolic/mxu/stream_port.h"
#include "models/devices/systolic/mxu/tile_loader.h"
#include "models/devices/systolic/mxu/value_type.h"

namespace systole {

TEST_CASE("a value reaches tap n of a skew line n clocks after tap 0") {
    SkewLine<int> line(3);
    for (int clock = 1; clock <= 10; ++clock) {
        line.push(clock);
        for (int n = 0; n < 3; ++n) CHECK(line.tap(n) == std::max(clock - n, 0));
    }
    line.clear();
    CHECK(line.tap(0) + line.tap(1) + line.tap(2) == 0);
}

TEST_CASE("the operand port feeds vector t in floor(t * num / den) and is free after ceil(T * num / den)") {
    for (std::int64_t den = 1; den <= 12; ++den) {
        for (std::int64_t num = den; num <= 4 * den; ++num) {
            for (const std::int64_t vectors : {1, 2, 3, 7, 40}) {
                INFO(vectors << " vectors every " << num << "/" << den);
                StreamPort port;
                port.start({.vectors = vectors, .cycles_per_vector = {num, den}});
                std::vector<std::int64_t> fed;
                std::int64_t cycle = 0;
                for (; !port.free(); ++cycle) {
                    const std::int64_t vector = port.clock();
                    if (vector == StreamPort::kNone) continue;
                    REQUIRE(vector == std::ssize(fed));
                    fed.push_back(cycle);
                }
                REQUIRE(std::ssize(fed) == vectors);
                for (std::int64_t t = 0; t < vectors; ++t) REQUIRE(fed[t] == t * num / den);
                REQUIRE(cycle == (vectors * num + den - 1) / den);
                REQUIRE(port.clock() == StreamPort::kNone);
            }
        }
    }
}

TEST_CASE(
    "a loader with a shadow register begins the next shift in the cycle in which a pass takes the tile") {
    TileLoader loader(2, true);
    loader.arrive(Cycles(1));
    loader.arrive(Cycles(1));
    CHECK(loader.clock(Cycles(0)) == TileLoader::kNone);
    CHECK(loader.clock(Cycles(1)) == 0);
    CHECK_FALSE(loader.full());
    CHECK(loader.clock(Cycles(2)) == 1);
    CHECK(loader.full());
    CHECK(loader.clock(Cycles(3)) == TileLoader::kNone);
    CHECK(loader.next_shift() == kNever);
    loader.use();
    CHECK(loader.clock(Cycles(4)) == 0);
}

TEST_CASE("a loader without a shadow register begins the next shift only after the release") {
    TileLoader loader(1, false);
    loader.arrive(Cycles(0));
    loader.arrive(Cycles(0));
    CHECK(loader.clock(Cycles(0)) == 0);
    CHECK(loader.full());
    loader.use();
    CHECK(loader.clock(Cycles(1)) == TileLoader::kNone);
    CHECK(loader.next_shift() == kNever);
    loader.release();
    CHECK(loader.next_shift() == Cycles(0));
    CHECK(loader.clock(Cycles(2)) == 0);
}

TEST_CASE("an accumulator row that is read before its latency has passed gives the old sum") {
    for (const std::int64_t latency : {1, 2, 5}) {
        for (std::int64_t distance = 1; distance <= 6; ++distance) {
            Accumulators<Int8Arithmetic> accumulators(4, 2, latency);
            accumulators.issue(3, 1, 10, false);
            for (std::int64_t n = 0; n < distance; ++n) accumulators.clock();
            accumulators.issue(3, 1, 5, true);
            CHECK_FALSE(accumulators.settled());
            for (std::int64_t n = 0; n < latency; ++n) accumulators.clock();
            CHECK(accumulators.settled());
            CHECK(accumulators.at(3, 1) == (distance >= latency ? 15 : 5));
        }
    }
}

TEST_CASE("what a column issued can be seen for one cycle, as it left the array") {
    Accumulators<Int8Arithmetic> accumulators(4, 2, 1);
    accumulators.issue(3, 1, 10, false);
    accumulators.clock();
    CHECK_FALSE(accumulators.issued(0));
    CHECK(accumulators.issued(1) == IssuedSum<std::int32_t>{3, 10});
    accumulators.issue(3, 1, 5, true);
    accumulators.clock();
    CHECK(accumulators.issued(1) == IssuedSum<std::int32_t>{3, 5});
    accumulators.rest();
    CHECK_FALSE(accumulators.issued(1));
    accumulators.issue(3, 0, 7, true);
    accumulators.clock();
    CHECK(accumulators.issued(0) == IssuedSum<std::int32_t>{3, 7});
    CHECK_FALSE(accumulators.issued(1));
}

TEST_CASE("a row counts as written in the one cycle after which its sum can be read, whatever its value") {
    for (const std::int64_t latency : {1, 3}) {
        Accumulators<Int8Arithmetic> accumulators(4, 2, latency);
        CHECK_FALSE(accumulators.written(1));
        accumulators.issue(3, 1, 0, false);  // 0 onto 0
        for (std::int64_t n = 1; n <= latency; ++n) {
            INFO(n << " of " << latency);
            accumulators.clock();
            CHECK(accumulators.written(1) == (n == latency ? std::optional<std::int64_t>(3) : std::nullopt));
            CHECK_FALSE(accumulators.written(0));
        }
        accumulators.rest();
        CHECK_FALSE(accumulators.written(1));
    }
}

TEST_CASE("bf16 rounding goes to the nearest, ties to even") {
    CHECK(round_to_bf16(1.0F) == 1.0F);
    CHECK(round_to_bf16(1.0F + 0x1p-8F) == 1.0F);            // a tie, down to even
    CHECK(round_to_bf16(1.0F + 0x3p-8F) == 1.0F + 0x2p-7F);  // a tie, up to even
    CHECK(round_to_bf16(1.0F + 0x1p-8F + 0x1p-20F) == 1.0F + 0x1p-7F);
    CHECK(round_to_bf16(-1.0F - 0x1p-9F) == -1.0F);
    CHECK(std::isinf(round_to_bf16(std::numeric_limits<float>::max())));
    CHECK(std::isnan(round_to_bf16(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("fp16 rounding goes to the nearest, ties to even, with subnormals and infinity") {
    const float least = 0x1p-24F, greatest = 65504;
    CHECK(round_to_fp16(1.0F + 0x1p-11F) == 1.0F);             // a tie, down to even
    CHECK(round_to_fp16(1.0F + 0x3p-11F) == 1.0F + 0x2p-10F);  // a tie, up to even
    CHECK(round_to_fp16(1.0F + 0x1p-11F + 0x1p-20F) == 1.0F + 0x1p-10F);
    CHECK(round_to_fp16(65519.0F) == greatest);
    CHECK(round_to_fp16(-65520.0F) == -std::numeric_limits<float>::infinity());
    CHECK(round_to_fp16(5 * least) == 5 * least);
    CHECK(round_to_fp16(2.5F * least) == 2 * least);         // a tie among subnormals
    CHECK(round_to_fp16(0x1p-14F - least / 4) == 0x1p-14F);  // up to the least normal number
    CHECK(std::signbit(round_to_fp16(-least / 2)));          // -0
    CHECK(std::isnan(round_to_fp16(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("every one of the 65,536 fp16 patterns rounds to itself") {
    for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
        const int exponent = static_cast<int>(pattern >> 10 & 31);
        const float significand = static_cast<float>(pattern & 1023) / 1024;
        if (exponent == 31) continue;  // infinity and NaN
        const float size =
            exponent == 0 ? std::ldexp(significand, -14) : std::ldexp(1 + significand, exponent - 15);
        const float value = (pattern & 0x8000) != 0 ? -size : size;
        REQUIRE(round_to_fp16(value) == value);
    }
}

TEST_CASE("an int8 PE wraps its sum in two's complement") {
    CHECK(Int8Arithmetic::mac(0, -128, -128) == 16384);
    CHECK(Int8Arithmetic::mac(std::numeric_limits<std::int32_t>::max(), 1, 1) ==
          std::numeric_limits<std::int32_t>::min());
}

}  // namespace systole
