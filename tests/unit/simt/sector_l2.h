// SPDX-License-Identifier: Apache-2.0
// An L2 as chips have it, slow and plain: sets of 16 lines of four sectors, the least recently used line of a
// set makes room, addresses are hashed over the sets; written sectors go back when their line makes room.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace systole::simt::test {

class SectorL2 {
public:
    static constexpr std::int64_t kSector = 32, kSectors = 4, kLine = kSector * kSectors, kWays = 16;

    explicit SectorL2(std::int64_t capacity) : sets_(static_cast<std::size_t>(capacity / kLine / kWays)) {}

    struct Counts {
        std::int64_t reads = 0, hits = 0, writes = 0, written_back = 0;  ///< sectors
    };
    Counts counts;

    /// Every sector of which [address, address + bytes) has a byte.
    void read(std::int64_t address, std::int64_t bytes) { access(address, bytes, false); }
    /// Sectors written in part are not fetched: bytes have masks.
    void write(std::int64_t address, std::int64_t bytes) { access(address, bytes, true); }

private:
    struct Line {
        std::int64_t tag = -1, used = 0;
        std::array<bool, kSectors> valid{}, dirty{};
    };
    using Set = std::array<Line, kWays>;

    void access(std::int64_t address, std::int64_t bytes, bool write) {
        for (std::int64_t sector = address / kSector; sector * kSector < address + bytes; ++sector) {
            Line& line = line_of(sector / kSectors);
            const auto place = static_cast<std::size_t>(sector % kSectors);
            if (!write) ++counts.reads, counts.hits += line.valid[place];
            if (write) ++counts.writes, line.dirty[place] = true;
            line.valid[place] = true;
            line.used = ++time_;
        }
    }
    Line& line_of(std::int64_t tag) {
        Set& set = sets_[hash(static_cast<std::uint64_t>(tag)) % sets_.size()];
        Line* oldest = &set[0];
        for (Line& line : set) {
            if (line.tag == tag) return line;
            if (line.used < oldest->used) oldest = &line;
        }
        for (const bool dirty : oldest->dirty) counts.written_back += dirty;
        *oldest = Line{};
        oldest->tag = tag;
        return *oldest;
    }
    /// As even as chance: the finalizer of SplitMix64.
    static std::uint64_t hash(std::uint64_t x) {
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return x ^ x >> 31;
    }

    std::vector<Set> sets_;
    std::int64_t time_ = 0;
};

}  // namespace systole::simt::test
