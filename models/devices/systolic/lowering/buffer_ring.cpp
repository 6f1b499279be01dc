// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/buffer_ring.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::systolic {

BufferTile* BufferRing::find(const TileKey& key) {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : found->second;
}

BufferRing::Tiles::iterator BufferRing::first_overlap(std::int64_t begin) {
    auto at = tiles_.upper_bound(begin);
    if (at != tiles_.begin()) {
        const auto before = std::prev(at);
        if (before->second.address + before->second.size > begin) return before;
    }
    return at;
}

std::optional<std::int64_t> BufferRing::held_until(std::int64_t begin, std::int64_t end) {
    std::optional<std::int64_t> until;
    for (auto at = first_overlap(begin); at != tiles_.end() && at->first < end; ++at) {
        if (at->second.holds > 0) until = at->second.address + at->second.size;
    }
    return until;
}

void BufferRing::forget(BufferTile& tile) {
    if (!tile.key) return;
    by_key_.erase(*tile.key);
    tile.key.reset();
}

void BufferRing::clear(std::int64_t begin, std::int64_t end, Tokens& after) {
    auto at = first_overlap(begin);
    while (at != tiles_.end() && at->first < end) {
        BufferTile old = at->second;
        forget(at->second);
        old.key.reset();
        after.add(old.ready);
        after.add(old.users);
        at = tiles_.erase(at);
        const std::int64_t old_end = old.address + old.size;
        if (old.address < begin) {  // what is left over keeps its users, for the next to overwrite it
            BufferTile head = old;
            head.size = begin - head.address;
            tiles_.emplace(head.address, std::move(head));
        }
        if (old_end > end) {
            old.address = end;
            old.size = old_end - end;
            at = tiles_.emplace(end, std::move(old)).first;
        }
    }
}

BufferTile* BufferRing::allocate(std::int64_t size, const std::optional<TileKey>& key, Tokens& after) {
    SYSTOLE_CHECK(size > 0 && size <= capacity_, "a tile of {} in a ring of {}", size, capacity_);
    std::int64_t at = head_;
    for (bool wrapped = false;;) {
        if (at + size > capacity_) {
            if (wrapped) return nullptr;
            wrapped = true;
            at = 0;
        }
        const auto held = held_until(base_ + at, base_ + at + size);
        if (!held) break;
        at = round_up(*held - base_, alignment_);
        if (wrapped && at > head_) return nullptr;
    }
    clear(base_ + at, base_ + at + size, after);
    head_ = round_up(at + size, alignment_);
    BufferTile tile;
    tile.address = base_ + at;
    tile.size = size;
    tile.key = key;
    BufferTile& placed = tiles_.emplace(tile.address, std::move(tile)).first->second;
    if (key) by_key_[*key] = &placed;
    return &placed;
}

void BufferRing::restart() {
    for (auto& [address, tile] : tiles_) {
        SYSTOLE_CHECK(tile.holds == 0, "a held tile at {}", address);
        forget(tile);
    }
    head_ = 0;
}

}  // namespace systole::systolic
