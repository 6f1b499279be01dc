// SPDX-License-Identifier: Apache-2.0
// A ring of on-chip storage (bytes of a scratchpad buffer, rows of an accumulator): new tiles overwrite the
// oldest ones, and every tile remembers who uses it. Whoever overwrites waits for those users: double
// buffering, and prefetch across layers, follow from that alone.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/devices/systolic/lowering/tokens.h"

namespace systole::systolic {

/// What a tile holds, for finding it again: a layer, a kind of operand, and two coordinates.
using TileKey = std::array<std::int64_t, 4>;

struct BufferTile {
    std::int64_t address = 0;  ///< absolute: of the ring's base on
    std::int64_t size = 0;
    Tokens ready;  ///< complete once its contents are there
    Tokens users;  ///< commands that read it (or write into it)
    std::optional<TileKey> key;
    int holds = 0;  ///< steps that still have commands to issue for it
};

class BufferRing {
public:
    /// Addresses [base, base + capacity); every tile begins at a multiple of `alignment` from the base.
    BufferRing(std::int64_t base, std::int64_t capacity, std::int64_t alignment = 1)
        : base_(base), capacity_(capacity), alignment_(alignment) {}

    /// The tile of that key, if nothing has overwritten it.
    BufferTile* find(const TileKey& key);
    /// Room for a tile; nothing when held tiles stand in every place. `after` receives what its writer has to
    /// wait for. The tile stays where it is until it is overwritten.
    BufferTile* allocate(std::int64_t size, const std::optional<TileKey>& key, Tokens& after);
    /// Forgets all keys and starts over at the base; users of overwritten tiles are still waited for. For a
    /// ring without held tiles.
    void restart();

    std::int64_t capacity() const { return capacity_; }
    std::int64_t aligned(std::int64_t size) const { return round_up(size, alignment_); }

private:
    using Tiles = std::map<std::int64_t, BufferTile>;  ///< by address; entries without key are remains

    /// The end of the last held tile that overlaps [begin, end), if there is one.
    std::optional<std::int64_t> held_until(std::int64_t begin, std::int64_t end);
    Tiles::iterator first_overlap(std::int64_t begin);
    void clear(std::int64_t begin, std::int64_t end, Tokens& after);
    void forget(BufferTile& tile);

    std::int64_t base_, capacity_, alignment_;
    std::int64_t head_ = 0;  ///< relative to base: where the next tile goes if it can
    Tiles tiles_;
    std::map<TileKey, BufferTile*> by_key_;
};

}  // namespace systole::systolic
