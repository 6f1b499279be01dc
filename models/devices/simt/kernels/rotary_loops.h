// SPDX-License-Identifier: Apache-2.0
// How vLLM's rotary_embedding (pos_encoding_kernels.cu) shares a token's pairs out among the threads of its
// CTA: a loop over those of queries, then one over those of keys, each as many pairs a round as there are
// threads. Warps wait for nobody between two rounds: one that has no pair in the last round over queries
// goes on to keys meanwhile, and what round number n reads may be of both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace systole::simt {

struct RotaryLoops {
    std::int64_t queries = 0, keys = 0;  ///< pairs of a token; keys may be none
    std::int64_t warps = 1, warp_threads = 32;

    std::int64_t threads() const { return warps * warp_threads; }
    /// Of a loop over so many pairs, rounds in which the warp has any.
    std::int64_t rounds_over(std::int64_t pairs, std::int64_t warp) const {
        const std::int64_t left = std::max<std::int64_t>(0, pairs - warp * warp_threads);
        return (left + threads() - 1) / threads();
    }
    std::int64_t rounds(std::int64_t warp) const {
        return rounds_over(queries, warp) + rounds_over(keys, warp);
    }
    /// Of the first warp, which has as many as any.
    std::int64_t rounds() const { return rounds(0); }
    /// Warps that have a round of that number: the first ones.
    std::int64_t warps_in(std::int64_t round) const {
        std::int64_t count = 0;
        while (count < warps && rounds(count) > round) ++count;
        return count;
    }

    /// Pairs first, first + 1 … end - 1 of queries, or of keys.
    struct Part {
        bool of_keys = false;
        std::int64_t first = 0, end = 0;
    };
    /// What warps turn in their round of that number.
    std::vector<Part> parts(std::int64_t round) const {
        std::vector<Part> parts;
        for (std::int64_t warp = 0; warp < warps_in(round); ++warp) {
            const std::int64_t before = rounds_over(queries, warp);
            const bool of_keys = round >= before;
            const std::int64_t first = (of_keys ? round - before : round) * threads() + warp * warp_threads;
            const std::int64_t end = std::min(first + warp_threads, of_keys ? keys : queries);
            if (!parts.empty() && parts.back().of_keys == of_keys && parts.back().end == first)
                parts.back().end = end;
            else
                parts.push_back({of_keys, first, end});
        }
        return parts;
    }
};

}  // namespace systole::simt
