// SPDX-License-Identifier: Apache-2.0
// What a page knows of one run: the result as result.json has it, and what happened when.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/timeline/timeline.h"

namespace systole::report {

struct RunData {
    /// An entry of `devices` of result.json (docs/formats.md), less `layers`, which are apart.
    nlohmann::ordered_json device;
    std::vector<nlohmann::ordered_json> layers;
    /// Of each layer of the run, its row in `layers`; empty: the same.
    std::vector<std::size_t> row_of_layer = {};
    std::optional<Timeline> timeline = {};

    std::string name() const;  ///< of the device
    std::string trace() const;
};

}  // namespace systole::report
