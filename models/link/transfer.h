// SPDX-License-Identifier: Apache-2.0
// A strided copy between two places, as a DMA descriptor gives it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/account/byte_ledger.h"

namespace systole {

/// One end of a transfer: rows of contiguous bytes, `stride` apart.
struct Region {
    Place place = Place::Dram;  ///< Host, ChipLink, Dram, Scratchpad or WeightFifo
    std::int64_t address = 0;
    std::int64_t stride = 0;  ///< between rows; unused for one row
    friend bool operator==(const Region&, const Region&) = default;
};

/// Rows of a table by indices that nobody gives: lookup i takes row hash(i) of so many. The hash is fixed
/// (the finalizer of splitmix64), so that every run meets the same rows, and DRAM rows as seldom twice in a
/// row as with indices of users. Or `once`, in an order that is as fixed: as many lookups as there are rows
/// meet each of them once.
struct Lookup {
    std::int64_t rows = 0;   ///< of the table; 0: no lookup
    std::int64_t first = 0;  ///< number of the transfer's first lookup
    bool once = false;
    std::int64_t row(std::int64_t number) const {
        if (once) return shuffled(static_cast<std::uint64_t>((first + number) % rows));
        std::uint64_t x = static_cast<std::uint64_t>(first + number) + 0x9e3779b97f4a7c15U;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
        x ^= x >> 31;
        return static_cast<std::int64_t>((x >> 32) * static_cast<std::uint64_t>(rows) >> 32);
    }
    friend bool operator==(const Lookup&, const Lookup&) = default;

private:
    /// Numbers of as many bits as rows need, mixed one to one, again and again until one is a row.
    std::int64_t shuffled(std::uint64_t x) const {
        const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows - 1))));
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        const int half = (bits + 1) / 2;
        do {
            for (const std::uint64_t odd : {0x9e3779b97f4a7c15U, 0xbf58476d1ce4e5b9U, 0x94d049bb133111ebU}) {
                x = (x * odd + (odd >> 32)) & mask;
                x ^= x >> half;
            }
        } while (x >= static_cast<std::uint64_t>(rows));
        return static_cast<std::int64_t>(x);
    }
};

/// Copies `rows` rows of `row_bytes` each.
struct Transfer {
    Region from, to;
    std::int64_t rows = 1;
    std::int64_t row_bytes = 0;
    Operand operand = Operand::Activations;
    /// Which rows it takes, of a table of them `from.stride` apart; none: one after the other.
    Lookup lookup = {};
    /// From `from.address` on.
    std::int64_t source_of(std::int64_t row) const {
        return (lookup.rows > 0 ? lookup.row(row) : row) * from.stride;
    }
    /// Rows that `from` may reach.
    std::int64_t source_rows() const { return lookup.rows > 0 ? lookup.rows : rows; }
    std::int64_t bytes() const { return rows * row_bytes; }
    /// Rows that lie back to back at both ends are one row: fewer, larger payloads, the same bytes.
    Transfer merged() const {
        const auto dense = [this](const Region& region) {
            return region.place == Place::WeightFifo || region.stride == row_bytes;
        };
        Transfer one = *this;
        if (rows > 1 && lookup.rows == 0 && dense(from) && dense(to)) {
            one.row_bytes = bytes();
            one.rows = 1;
        }
        return one;
    }
    friend bool operator==(const Transfer&, const Transfer&) = default;
};

}  // namespace systole
