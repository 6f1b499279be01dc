// SPDX-License-Identifier: Apache-2.0
// Global addresses to channel, bank group, bank, row and column. A map is a list of bit fields from the least
// significant bit, above the burst offset: "ch5 bg2 co5 ba2 ro15". Removing the channel bits gives the
// channel-local burst number; a contiguous global range is contiguous in each channel's numbers, so cutting
// it costs a few operations a channel, not one a burst.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/memory/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

struct AddressField {
    enum class Kind { Channel, Group, Bank, Row, Column };
    static constexpr int kRest = -1;  ///< as many as the organisation has left of this kind
    Kind kind;
    int bits;
};

/// The fields of a map's text; nothing if a word is not one of ch, bg, ba, ro, co, with a
/// number of bits or (kRest) without.
std::optional<std::vector<AddressField>> parse_address_map(std::string_view text);

/// What is wrong with `spec.address_map` for this organisation (every bit once, row bits above all column
/// bits); "" if nothing is.
std::string address_map_fault(const DramSpec& spec);

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

    /// The local burst bits of column `column` (its bank and row bits are zero).
    std::int64_t scatter(std::int64_t column) const;

    /// Local bursts between one column of a row and the next; 0 if the column bits are not contiguous.
    std::int64_t column_stride() const { return column_stride_; }

    /// Consecutive local bursts rotate through all bank groups: the group is the lowest bits of the number.
    bool groups_lowest() const { return groups_lowest_; }

private:
    /// `bits` bits that lie at `at` in the burst number and at `to` in the field's value.
    struct Piece {
        AddressField::Kind kind;
        int bits, at, to;
    };
    std::int64_t gather(std::int64_t burst, AddressField::Kind kind) const;
    std::int64_t bank_of(std::int64_t burst) const;
    static std::int64_t count_below(const std::vector<Piece>& pieces, std::int64_t limit, bool channels_fixed,
                                    std::int64_t pattern);

    std::int64_t burst_bytes_, banks_per_group_;
    std::vector<std::int64_t> channel_bits_;  // per channel: its number, spread over the global channel bits
    std::vector<Piece> global_;               // low to high, positions in the global burst number
    std::vector<Piece> local_;  // without the channel pieces, positions in the local burst number
    std::vector<Piece> page_;   // the local pieces up to the highest column bit
    int page_bits_ = 0;
    std::int64_t between_ = 0;  // the page's bits that are not column bits
    std::int64_t column_stride_ = 0;
    bool groups_lowest_ = false;
};

}  // namespace systole
