// SPDX-License-Identifier: Apache-2.0
// A warp's tile on a tensor core, as a panel of the dataflow explorer.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/devices/simt/explore/warp_tile.h"
#include "sim/app/library.h"

namespace systole::app {

struct WarpTile {
    std::string title;
    std::string device;  ///< reference
    simt::WarpTileShape shape;
    std::vector<std::string> settings;  ///< as --set has them
};

/// Runs the warp and records its tensor core. Throws UserError for other devices and tiles that it cannot
/// have.
nlohmann::ordered_json explore(const Library& library, const WarpTile& tile);

}  // namespace systole::app
