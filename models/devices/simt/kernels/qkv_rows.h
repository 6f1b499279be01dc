// SPDX-License-Identifier: Apache-2.0
// New rows of queries, keys and values, and how a kernel that turns them (and writes keys and values into
// their caches) shares them out: each head of queries has CTAs of its own, which load the keys and values
// that it shares with others again. A row is that of a token: row r is of sequence r / seq.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

#include "sim/base/units.h"

namespace systole::simt {

struct QkvRows {
    std::int64_t batch = 1, seq = 1;                  ///< sequences, and new rows of each
    std::int64_t heads = 1, kv_heads = 1, dim = 128;  ///< of queries, of keys; elements of one
    std::int64_t length = 1;                          ///< rows of a cache, of which the last ones are new
    /// Cosines and sines are computed, not read: a CTA has one position of one head, and goes over sequences.
    bool computed = false;
    std::int64_t own = 1;   ///< rows of a CTA at a time
    std::int64_t wide = 1;  ///< CTAs of a head side by side; computed: that share the sequences
    /// Cycles until a word of a table is there out of the L2, and one that the L1 has.
    std::int64_t table = 0, near = 0;
    bool packed = false;      ///< a row of queries, its keys and its values are one row of one matrix
    bool keeps_keys = false;  ///< turned keys are stored by themselves, too: attention reads them, no cache

    std::int64_t rows() const { return batch * seq; }
    std::int64_t blocks() const { return ceil_div(rows(), own); }
    std::int64_t group() const { return heads / kv_heads; }
    /// Of a CTA. With a table its rounds are CTAs here: between them a thread waits for nothing but the
    /// others.
    std::int64_t rounds() const { return computed ? ceil_div(batch, wide) : 1; }
    std::int64_t ctas() const { return computed ? seq * heads * wide : blocks() * heads; }

    /// Rows first, first + 1 … end - 1 of a head.
    struct Part {
        std::int64_t head = 0, first = 0, end = 0;
    };
    /// What CTA number `cta` has in a round. `wide` blocks of rows of each head, then the next ones of all
    /// heads. (There, heads that are on the SMs at a time go over all rows, then the next ones do: each
    /// brings as much out of the memory.)
    Part part(std::int64_t cta, std::int64_t round) const {
        if (computed) {
            const std::int64_t item = cta / (seq * heads) + round * wide;
            const std::int64_t row = item < batch ? item * seq + cta % seq : rows();
            return {cta / seq % heads, row, std::min(row + 1, rows())};
        }
        const std::int64_t trip = cta / (wide * heads), within = cta % (wide * heads);
        const std::int64_t across = std::min(wide, blocks() - trip * wide);
        const std::int64_t first = (trip * wide + within % across) * own;
        return {within / across, first, std::min(first + own, rows())};
    }
    /// Of one CTA, which goes as all do.
    QkvRows of_cta() const {
        QkvRows one = *this;
        one.batch = computed ? rounds() : 1;
        one.seq = std::min<std::int64_t>(seq, 2);
        one.heads = group();
        one.kv_heads = one.wide = one.length = 1;
        one.packed = false;
        return one;
    }
    /// Whether its CTAs write the keys and values of the head that it shares.
    bool leads(std::int64_t head) const { return head % group() == 0; }

    friend auto operator<=>(const QkvRows&, const QkvRows&) = default;
};

}  // namespace systole::simt
