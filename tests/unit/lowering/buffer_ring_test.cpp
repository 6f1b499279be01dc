// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/buffer_ring.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace systole::systolic {
namespace {

const Token kFirst{1, 1}, kSecond{1, 2}, kThird{2, 7};

TEST_CASE("A ring places tiles one behind the other, aligned, and wraps without splitting one") {
    BufferRing ring(100, 64, 16);
    Tokens after;
    CHECK(ring.allocate(20, std::nullopt, after)->address == 100);
    CHECK(ring.allocate(16, std::nullopt, after)->address == 132);
    CHECK(ring.allocate(17, std::nullopt, after)->address == 100);
}

TEST_CASE("A new tile waits for the users of everything it overwrites, and of nothing else") {
    BufferRing ring(0, 64);
    Tokens after;
    ring.allocate(32, std::nullopt, after)->users.add(kFirst);
    ring.allocate(32, std::nullopt, after)->users.add(kThird);
    REQUIRE(after.empty());
    ring.allocate(16, std::nullopt, after);
    CHECK(std::ranges::equal(after, std::vector{kFirst}));
    Tokens across;
    ring.allocate(32, std::nullopt, across);  // the rest of the first tile and half of the second
    CHECK(std::ranges::equal(across, std::vector{kFirst, kThird}));
}

TEST_CASE("A tile is found by its key until it is overwritten") {
    BufferRing ring(0, 64);
    Tokens after;
    const TileKey key{1, 2, 3, 4};
    BufferTile* tile = ring.allocate(40, key, after);
    CHECK(ring.find(key) == tile);
    ring.allocate(24, std::nullopt, after);
    CHECK(ring.find(key) == tile);
    ring.allocate(8, std::nullopt, after);
    CHECK(ring.find(key) == nullptr);
}

TEST_CASE("Held tiles are never overwritten: the ring passes over them or refuses") {
    BufferRing ring(0, 64);
    Tokens after;
    BufferTile* held = ring.allocate(16, std::nullopt, after);
    held->holds = 1;
    ring.allocate(40, std::nullopt, after);
    CHECK(ring.allocate(24, std::nullopt, after)->address == 16);
    CHECK(ring.allocate(56, std::nullopt, after) == nullptr);
    held->holds = 0;
    CHECK(ring.allocate(56, std::nullopt, after) != nullptr);
}

TEST_CASE("After a restart the users of old tiles are still waited for") {
    BufferRing ring(0, 64);
    Tokens after;
    ring.allocate(16, TileKey{}, after)->users.add(kSecond);
    ring.restart();
    CHECK(ring.find(TileKey{}) == nullptr);
    CHECK(ring.allocate(8, std::nullopt, after)->address == 0);
    CHECK(std::ranges::equal(after, std::vector{kSecond}));
}

}  // namespace
}  // namespace systole::systolic
