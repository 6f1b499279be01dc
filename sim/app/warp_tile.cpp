// SPDX-License-Identifier: Apache-2.0
#include "sim/app/warp_tile.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "models/devices/simt/spec/simt_config.h"
#include "sim/app/explore_json.h"
#include "sim/app/load_device.h"
#include "sim/base/error.h"

namespace systole::app {
namespace {

/// The SMs of a device of kind simt.
simt::SmSpec sm_of(const DeviceDocument& document, const Settings& settings, const std::string& kind) {
    if (kind != "simt")
        throw UserError(
            fmt::format("{} is of kind {}, whose chips have no warps; a warp's tile needs one of kind simt, "
                        "such as a100",
                        document.reference, kind));
    config::Config config = config::Config::from_document(document.document, document.resolve);
    for (const Setting& setting : settings.device) config.set(setting.path, setting.value);
    return simt::read_simt_spec(config, document.file.stem().string()).sm;
}

std::string kind_of(const LoadedDevice& device) {
    for (const config::Entry& entry : device.entries)
        if (entry.path == "kind") return entry.value;
    return "";
}

}  // namespace

nlohmann::ordered_json explore(const Library& library, const WarpTile& tile) {
    const Settings settings = read_settings(tile.settings, Protocol::of_op(), {tile.device});
    const DeviceDocument document = read_device(library, tile.device);
    const LoadedDevice device = build_device(document, settings);  // every mistake is found there
    const simt::SmSpec sm = sm_of(document, settings, kind_of(device));
    if (const char* problem = simt::problem_of(tile.shape, sm))
        throw UserError(fmt::format("{} has no warp tile of {}x{}x{} in {}: {}", device.name, tile.shape.m,
                                    tile.shape.n, tile.shape.k, to_string(tile.shape.dtype), problem));
    const simt::WarpTileRecording recording = simt::record_warp_tile(tile.shape, sm);
    std::vector<std::int32_t> clocks;
    for (const simt::WarpClock clock : recording.clocks) clocks.push_back(static_cast<std::int32_t>(clock));
    return {{"kind", "warp_tile"},
            {"title", tile.title},
            {"device", device.name},
            {"dtype", to_string(tile.shape.dtype)},
            {"m", tile.shape.m},
            {"n", tile.shape.n},
            {"k", tile.shape.k},
            {"mma", {{"m", recording.mma_m}, {"n", recording.mma_n}, {"k", recording.mma_k}}},
            {"fragments", recording.shape.fragments == simt::Fragments::Registers ? "registers" : "shared"},
            {"instructions", recording.instructions},
            {"macs_per_cycle", recording.macs_per_cycle},
            {"cycles_of_mma", recording.cycles_of_mma},
            {"latency", recording.latency},
            {"cycles", recording.clocks.size()},
            {"busy", recording.busy},
            {"clocks", packed(clocks)}};
}

}  // namespace systole::app
