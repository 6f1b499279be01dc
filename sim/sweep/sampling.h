// SPDX-License-Identifier: Apache-2.0
// Which combinations of axes are taken: all of them, or samples. A combination is a digit for each axis; of a
// span, samples make their own values.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "sim/sweep/axis.h"

namespace systole::sweep {

struct Sample {
    enum class Method { Grid, Random, LatinHypercube };
    Method method = Method::Grid;
    std::int64_t count = 0;  ///< of samples
    std::uint64_t seed = 1;
};

/// What a combination takes of an axis: the number of its value, or of a span the share of the way.
struct AxisPlace {
    std::size_t index = 0;
    double share = 0;  ///< in [0, 1)
};

/// Combinations one after another. Equal axes, samples and seeds give equal ones on every machine: the
/// generator is std::mt19937_64, whose sequence the standard fixes, and the rest is arithmetic.
class Combinations {
public:
    /// `axes` must outlive this. A grid has no spans.
    Combinations(const std::vector<Axis>& axes, const Sample& sample);

    /// The next one, a place for each axis; false when there are no more. A grid goes through its last axis
    /// first; a Latin hypercube has `count`, each of which has a stratum of every axis to itself; random ones
    /// do not end.
    bool next(std::vector<AxisPlace>& places);

    /// How many a grid of `axes` has; nothing if that leaves 64 bits.
    static std::optional<std::uint64_t> of_grid(const std::vector<Axis>& axes);

private:
    double uniform();
    AxisPlace at(const Axis& axis, double share) const;
    void deal_strata();

    const std::vector<Axis>& axes_;
    Sample sample_;
    std::uint64_t made_ = 0;
    std::vector<std::size_t> digits_;                 ///< of a grid: the next one
    bool ended_ = false;                              ///< a grid that has gone through all
    std::vector<std::vector<std::uint32_t>> strata_;  ///< of a Latin hypercube: by axis and sample
    std::mt19937_64 random_;
};

}  // namespace systole::sweep
