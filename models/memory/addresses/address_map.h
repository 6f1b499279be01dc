// SPDX-License-Identifier: Apache-2.0
// Global addresses to channel, bank group, bank, row and column. A map is a list of bit fields from the least
// significant bit, above the burst offset: "ch5 bg2 co5 ba2 ro15". Removing the channel bits gives the
// channel-local burst number; a contiguous global range is contiguous in each channel's numbers, so cutting
// it costs a few operations a channel, not one a burst. "bg2^ro0" hashes a field: its bits are XORed with as
// many row bits from row bit 0 on, so that strides of whole rows spread over bank groups. Row and column bits
// stand for themselves, so every map can be inverted.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/memory/standards/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

struct AddressField {
    enum class Kind { Channel, Group, Bank, Row, Column };
    static constexpr int kRest = -1;  ///< as many as the organisation has left of this kind
    Kind kind;
    int bits;
    std::vector<int> hashes;  ///< its bits are XORed with as many row bits from each of these on
};

/// The fields of a map's text; nothing if a word is not one of ch, bg, ba, ro, co, with a number of bits or
/// (kRest) without, then any number of ^roN.
std::optional<std::vector<AddressField>> parse_address_map(std::string_view text);

/// The fields of `spec.address_map` with every open one given the bits that the organisation has left for it,
/// empty ones dropped; nothing if the text is malformed or leaves one kind open twice.
std::optional<std::vector<AddressField>> address_fields(const DramSpec& spec);

/// What is wrong with `spec.address_map` for this organisation; "" if nothing is. Every bit must be there
/// once, row bits above all column bits; only channels, groups and banks are hashed, with row bits that there
/// are, each term once; the channel from row bits above it.
std::string address_map_fault(const DramSpec& spec);

/// Bytes after which addresses come upon the same channels, banks and columns again, in other rows.
std::int64_t address_cycle(const DramSpec& spec);

/// One data bus's part of a global range: local burst numbers [first, first + count).
struct ChannelShare {
    int bus;  ///< channel * pseudo_channels + pseudo-channel
    std::int64_t first, count;
};

/// Consecutive columns [column, column + columns) of one row. Column c is burst `origin + scatter(c)` of its
/// channel.
struct RowRun {
    int bank;  ///< group-major: group * banks_per_group + bank in the group
    std::int64_t row, column, columns, origin;
};

class AddressMap {
public:
    explicit AddressMap(const DramSpec& spec);

    /// The shares of the bytes [address, address + bytes), in channel order, appended to `shares`; channels
    /// without a part are left out. A partly touched burst counts whole.
    void split(std::int64_t address, Bytes bytes, std::vector<ChannelShare>& shares) const;

    /// The row runs of the local bursts [first, first + count), ordered by their first burst, appended.
    void cut(std::int64_t first, std::int64_t count, std::vector<RowRun>& runs) const;

    /// The share of the one burst at byte `address`, and the run of the one local burst `burst`: what split()
    /// and cut() would answer, without a loop over channels or pages.
    ChannelShare share_of(std::int64_t address) const;
    RowRun locate(std::int64_t burst) const;
    /// The bank and the row of it alone.
    int bank_of(std::int64_t burst) const { return static_cast<int>(gather(bank_, burst)); }
    std::int64_t row_of(std::int64_t burst) const { return gather(row_, burst); }

    /// The local burst bits of column `column` (its bank and row bits are zero).
    std::int64_t scatter(std::int64_t column) const;

    /// Local bursts between one column of a row and the next; 0 if the column bits are not contiguous.
    std::int64_t column_stride() const { return column_stride_; }

    /// Consecutive local bursts rotate through all bank groups: the group is the lowest bits of the number,
    /// and not hashed, which would change the order from row to row.
    bool groups_lowest() const { return groups_lowest_; }

private:
    /// `bits` bits that lie at `at` in the burst number and at `to` in the field's value.
    struct Piece {
        AddressField::Kind kind;
        int bits, at, to;
        std::vector<int> hashes;
    };
    /// A part of a value: the bits of a number that lie at `mask` once it is turned left by `turn`. Parts are
    /// XORed.
    struct Part {
        Part(int down, int up, std::int64_t bits)
            : turn(up - down), mask(static_cast<std::uint64_t>(bits) << up) {}
        int turn;
        std::uint64_t mask;
    };
    using Parts = std::vector<Part>;
    static std::int64_t gather(const Parts& parts, std::int64_t number) {
        std::uint64_t value = 0;
        for (const Part& part : parts)
            value ^= std::rotl(static_cast<std::uint64_t>(number), part.turn) & part.mask;
        return static_cast<std::int64_t>(value);
    }

    void lay_out(const std::vector<AddressField>& fields);
    void fold(const DramSpec& spec);
    static void add_hashes(const std::vector<Piece>& all, const Piece& hashed, int up, Parts& parts);
    void find_page();
    std::int64_t below(std::size_t bus, std::int64_t limit) const;
    void split_each(std::int64_t first, std::int64_t end, std::vector<ChannelShare>& shares) const;
    ChannelShare share_of_burst(std::int64_t burst) const;

    int burst_shift_;                         // log2 of the bytes of a burst
    std::vector<std::int64_t> channel_bits_;  // per data bus: its number, spread over the global channel bits
    std::vector<Piece> global_;               // low to high, positions in the global burst number
    std::vector<Piece> local_;  // without the channel pieces, positions in the local burst number
    std::vector<Piece> page_;   // the local pieces up to the highest column bit
    Parts bus_, to_local_;      // of a global burst number: its data bus, its local number
    Parts channel_hash_;  // of a global burst number: what its raw channel bits are XORed with, in place
    Parts bank_, row_, column_;  // of a local burst number
    int page_bits_ = 0;
    std::int64_t between_ = 0;      // the page's bits that are not column bits
    std::int64_t column_mask_ = 0;  // those that are
    std::int64_t column_stride_ = 0;
    bool groups_lowest_ = false;
};

}  // namespace systole
