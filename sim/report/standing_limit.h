// SPDX-License-Identifier: Apache-2.0
// Layers of a comparison: of many those on which its devices differ most.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/report/result_check.h"

namespace systole::report {

/// A layer or the total of a comparison, as far as the page relies on it.
void check_standing(const nlohmann::ordered_json& standing, const Check& check);

/// Takes layers one by one, and never holds more than twice `most` of them.
class StandingLimit {
public:
    explicit StandingLimit(std::size_t most) : most_(most) {}

    /// The next layer, checked.
    void add(nlohmann::ordered_json layer);
    std::size_t count() const { return count_; }
    /// At most `most`: those with the largest difference of the fastest and the next, in the order of layers.
    std::vector<nlohmann::ordered_json> finish();

private:
    struct Kept {
        std::size_t layer = 0;
        double difference = 0;  // ns
        nlohmann::ordered_json json;
    };
    void shed();

    std::size_t most_;
    std::size_t count_ = 0;
    std::vector<Kept> kept_;
};

}  // namespace systole::report
