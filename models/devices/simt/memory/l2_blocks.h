// SPDX-License-Identifier: Apache-2.0
// What the L2 holds, without time: sectors of memory, valid and perhaps dirty, the least recently used of
// a set make room. Pages (of 64 sectors or of a whole stripe of the memory) stand for lines, since CTAs read
// and write blocks of several KiB: they are dealt to sets by a hash, and recency is kept of them; what a page
// takes of the capacity is counted in lines that hold something. A miss fetches what its page lacks of the
// same matrix, too: its neighbours ask for it soon, and channels of the memory that get alike shares are
// simulated once.
// Where no more than half of the capacity can be used, each half of the chip keeps copies of what its SMs
// read of the other's lines (half of all): two of what SMs of both read, of what those of one read one and
// a half on average, so that such lines take three quarters of the place.
// Not more than a part of it is dirty: beyond, what was written longest ago is cleaned, in the order in which
// it was written, and stays.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/devices/simt/memory/dirty_pages.h"
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

/// The matrix that a range is part of, as addresses. Without one, a range is by itself.
struct MatrixRange {
    std::int64_t begin = 0, end = 0;
    /// What lies behind it up to here passes to and from the memory with its end; at least `end`.
    std::int64_t padded_end = 0;
    /// Each part of it is read by SMs of one cluster only, which lie on one half of the chip.
    bool by_one_half = false;
    bool empty() const { return begin >= end; }
    friend bool operator==(const MatrixRange&, const MatrixRange&) = default;
};

class L2Blocks {
public:
    /// What an access asks of the DRAM. Ranges that touch are one.
    struct Traffic {
        std::vector<SectorRange> fetched;  ///< sectors that were not there
        std::vector<SectorRange> evicted;  ///< dirty ones that made room, or were cleaned: to be written
        /// Of what was read, some had been written and nobody had read it since: where the L2 has two
        /// partitions, only the one that lies before the memory has it.
        bool fresh = false;
    };

    /// Pages are stripes of the memory, a power of two, or 64 sectors where these are larger or too large for
    /// the capacity. `usable` must hold 64 sectors at least; line and sector are powers of two, at most 64
    /// sectors a line.
    explicit L2Blocks(const L2Spec& spec, Bytes stripe = Bytes(0));

    /// Reads a range of `matrix`. Answers how many of its bytes were there; appends to `traffic`.
    std::int64_t read(std::int64_t address, std::int64_t bytes, Operand operand, Traffic& traffic,
                      const MatrixRange& matrix = {});
    /// Writes a range of `matrix`, which stays here, dirty, until it makes room. Nothing is fetched: of
    /// sectors that it covers in part others write the rest. Answers how many of its bytes were there.
    std::int64_t write(std::int64_t address, std::int64_t bytes, Operand operand, Traffic& traffic,
                       const MatrixRange& matrix = {});

    /// Sectors of the range that are not dirty are no longer there.
    void drop(std::int64_t address, std::int64_t bytes);
    /// All dirty sectors stay, clean; `evicted` has them in the order in which they were written.
    void clean(Traffic& traffic);

    Bytes used() const { return Bytes(lines_ * line_); }               ///< lines that hold something
    Bytes dirty() const { return Bytes(dirty_.sectors() * sector_); }  ///< sectors whose only copy is here
    std::int64_t page_bytes() const { return page_; }

private:
    static constexpr std::uint32_t kNone = DirtyPages::kNone;
    static constexpr int kSectors = kL2PageSectors;  // a bit each
    /// Shares of a line's place: of one whose copies both halves hold, and of one that SMs of one half read.
    static constexpr std::int64_t kWhole = 4, kOfOneHalf = 3;
    using Mask = std::uint64_t;

    struct Page {
        std::int64_t number = 0;
        std::uint32_t older = kNone, newer = kNone;  // by last use
        std::uint32_t set = 0;
        Operand operand = Operand::Activations;  // of the last that wrote to it
        std::int64_t share = kWhole;             // of a line's place that each of its lines takes
        bool partial = false;  // others will write the rest of the matrix that it has a part of
    };
    struct Set {
        std::uint32_t oldest = kNone, newest = kNone;  // by last use
        std::int64_t lines = 0;                        // that hold something, in shares
    };
    struct Masks {
        Mask valid = 0, dirty = 0, fresh = 0;  // fresh: written, and not read since
    };
    /// Places of consecutive pages; there only while one of them is.
    struct Leaf {
        static constexpr std::int64_t kPages = 4096;
        std::array<std::uint32_t, kPages> places;
        std::int64_t held = 0;
    };
    /// Bytes [from, until) of the memory.
    struct Range {
        std::int64_t from, until;
        bool empty() const { return from >= until; }
    };

    template <class Each>
    void each_page(Range range, const Each& each) const;
    /// Calls each(index, touched) for the page's words of 64 sectors in which the range has sectors.
    template <class Each>
    void each_word(Range range, const Each& each) const;
    Masks* masks(std::uint32_t place) { return &masks_[place * static_cast<std::size_t>(words_)]; }
    const Masks* masks(std::uint32_t place) const {
        return &masks_[place * static_cast<std::size_t>(words_)];
    }
    std::int64_t held_of(Range range, std::uint32_t place) const;
    std::uint32_t use(std::int64_t number, std::int64_t share);
    void grow(std::uint32_t place, std::int64_t share);
    std::uint32_t find(std::int64_t number) const;
    std::uint32_t set_of(std::int64_t number) const;
    void fetch_oldest(const Set& set) const;
    void add(std::uint32_t place, std::size_t word, Mask sectors, Traffic& traffic);
    std::int64_t lines_of(Mask sectors) const;
    void link_newest(std::uint32_t place);
    void unlink(std::uint32_t place);
    void note_partial(std::uint32_t place, Range whole);
    bool wait_for_rest(const Set& set);
    void evict_oldest(Set& set, Traffic& traffic);
    void clean_oldest(Traffic& traffic);
    void clean(std::uint32_t place, Traffic& traffic);
    void append(std::vector<SectorRange>& ranges, std::int64_t begin, Mask sectors, Operand operand) const;

    const std::int64_t sector_, line_, word_, page_;  // bytes; a word is 64 sectors
    const int words_;                                 // of a page
    std::vector<Set> sets_;
    const std::int64_t most_lines_;                     // of a set
    const bool halves_;                                 // each of which keeps copies of the other's lines
    const int sector_shift_, word_shift_, page_shift_;  // of addresses
    const int sectors_of_line_;                         // a power of two
    Mask first_of_lines_ = 0;                           // the first sector of each line
    std::vector<std::unique_ptr<Leaf>> leaves_;
    std::vector<Page> pages_;   // places, reused
    std::vector<Masks> masks_;  // of places, word by word
    std::vector<std::uint32_t> free_;
    std::int64_t lines_ = 0;    // that hold something, of all sets
    std::int64_t partial_ = 0;  // pages written in part
    DirtyPages dirty_;          // by place
};

}  // namespace systole::simt
