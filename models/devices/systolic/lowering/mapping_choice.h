// SPDX-License-Identifier: Apache-2.0
// What the mapper has weighed for a matrix layer, to be told to people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace systole::systolic {

/// How long a tiling takes by estimate, and what each part of it would take by itself, in cycles.
struct TilingTime {
    double first = 0;    ///< until the first step has been read
    double arrays = 0;   ///< all passes, the longest unit's
    double memory = 0;   ///< all that passes its bus: inputs, weights, what joins results, and those
    double results = 0;  ///< out of the accumulators, or stored, whichever is longer
    double issue = 0;
    double cycles = 0;       ///< of all together: not their sum, for they overlap
    std::string_view bound;  ///< "arrays", "memory", "results" or "issue": what the others wait for
};

/// One way to cut the operator, in its own units.
struct WeighedMapping {
    std::int64_t over_batch = 1, over_m = 1, over_n = 1;  ///< matrix units
    std::int64_t rows = 1, columns = 1, depth = 1;        ///< of a block; of K in a step
    bool m_outer = true;
    TilingTime time;
};

struct MappingChoice {
    std::string layer;
    std::size_t candidates = 0;  ///< that fit the machine
    /// The chosen one, then the best of each other way to deal units and nest loops, by time; empty if none
    /// fit.
    std::vector<WeighedMapping> best;
    /// On a chip of several cores: what they could deal ("m", "n", "batch", "none"), and the best estimate of
    /// each; the chosen one first.
    std::vector<std::pair<std::string_view, double>> cores = {};
};

}  // namespace systole::systolic
