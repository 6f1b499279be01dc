// SPDX-License-Identifier: Apache-2.0
// What the L2 holds, without time: sectors of memory, valid and perhaps dirty, the least recently used of
// which make room. Recency is kept of pages of 64 sectors (2 KiB with sectors of 32 B), since CTAs read and
// write blocks of several KiB; what a page takes of the capacity is counted in lines that hold something.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/devices/simt/spec/spec.h"
#include "sim/account/byte_ledger.h"
#include "sim/base/units.h"

namespace systole::simt {

/// Contiguous bytes of memory, whole sectors.
struct SectorRange {
    std::int64_t address = 0;
    std::int64_t bytes = 0;
    Operand operand = Operand::Activations;
    friend bool operator==(const SectorRange&, const SectorRange&) = default;
};

class L2Blocks {
public:
    /// What an access asks of the DRAM. Ranges that touch are one.
    struct Traffic {
        std::vector<SectorRange> fetched;  ///< sectors that were not there
        std::vector<SectorRange> evicted;  ///< dirty ones that made room: to be written
    };

    /// `usable` must hold a page at least; line and sector are powers of two, at most 64 sectors a line.
    explicit L2Blocks(const L2Spec& spec);

    /// Reads a range. Answers how many of its bytes were there; appends to `traffic`.
    std::int64_t read(std::int64_t address, std::int64_t bytes, Operand operand, Traffic& traffic);
    /// Writes a range, which stays here, dirty, until it makes room. Sectors that it covers only in part are
    /// fetched if they are not there; others are not. Answers how many of its bytes were there.
    std::int64_t write(std::int64_t address, std::int64_t bytes, Operand operand, Traffic& traffic);

    Bytes used() const { return Bytes(lines_ * line_); }  ///< lines that hold something
    Bytes dirty() const;                                  ///< sectors whose only copy is here
    std::int64_t page_bytes() const { return page_; }

private:
    static constexpr std::uint32_t kNone = ~0U;
    static constexpr int kSectors = kL2PageSectors;  // a bit each
    using Mask = std::uint64_t;

    struct Page {
        std::int64_t number = 0;
        Mask valid = 0, dirty = 0;
        std::uint32_t older = kNone, newer = kNone;  // by last use
        Operand operand = Operand::Activations;      // of the last that wrote to it
    };
    /// Places of consecutive pages; there only while one of them is.
    struct Leaf {
        static constexpr std::int64_t kPages = 4096;
        std::array<std::uint32_t, kPages> places;
        std::int64_t held = 0;
    };
    /// The part of a range that lies in one page.
    struct Share {
        std::int64_t number, from, until;  // bytes within the page
    };

    template <class Each>
    void each_page(std::int64_t address, std::int64_t bytes, const Each& each) const;
    Mask touched(const Share& share) const;
    Mask covered(const Share& share) const;
    std::int64_t bytes_of(const Share& share, Mask sectors) const;
    Page& use(std::int64_t number);
    void add(Page& page, Mask sectors, Traffic& traffic);
    std::int64_t lines_of(Mask sectors) const;
    void link_newest(std::uint32_t place);
    void unlink(std::uint32_t place);
    void evict_oldest(Traffic& traffic);
    void append(std::vector<SectorRange>& ranges, std::int64_t number, Mask sectors, Operand operand) const;

    const std::int64_t sector_, line_, page_, most_lines_;
    const int sector_shift_;     // of addresses
    const int sectors_of_line_;  // a power of two
    Mask first_of_lines_ = 0;    // the first sector of each line
    std::vector<std::unique_ptr<Leaf>> leaves_;
    std::vector<Page> pages_;  // places, reused
    std::vector<std::uint32_t> free_;
    std::uint32_t oldest_ = kNone, newest_ = kNone;
    std::int64_t lines_ = 0;  // that hold something
};

}  // namespace systole::simt
