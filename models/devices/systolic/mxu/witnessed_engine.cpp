// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/witnessed_engine.h"

#include <utility>

#include "sim/base/check.h"

namespace systole {

void WitnessedEngine::advance(Cycles to) {
    tile_->advance(to);
    look_ahead(to);
}

std::int64_t WitnessedEngine::tiles_shifted() const {
    const bool same_time = grid_->now() == tile_->now();
    SYSTOLE_CHECK(!same_time || tile_->tiles_shifted() == grid_->tiles_shifted(),
                  "cycle {}: {} tiles shifted in, the grid says {}", now().value(), tile_->tiles_shifted(),
                  grid_->tiles_shifted());
    return tile_->tiles_shifted();
}

Cycles WitnessedEngine::earliest_start(const Pass& pass) const {
    const Cycles earliest = tile_->earliest_start(pass);
    const bool grid_ready = grid_->earliest_start(pass) == now();
    SYSTOLE_CHECK((earliest == now()) == grid_ready, "cycle {}: a pass can{} start, the grid says it can{}",
                  now().value(), earliest == now() ? "" : "not", grid_ready ? "" : "not");
    return earliest;
}

Cycles WitnessedEngine::dry() const {
    const Cycles dry = tile_->dry();
    const bool grid_dry = grid_->dry() == now();
    SYSTOLE_CHECK((dry == now()) == grid_dry, "cycle {}: the array is{} dry, the grid says it is{}",
                  now().value(), dry == now() ? "" : " not", grid_dry ? "" : " not");
    return dry;
}

void WitnessedEngine::set_up(Dataflow dataflow) {
    tile_->set_up(dataflow);
    grid_->set_up(dataflow);
}

std::optional<PassReport> WitnessedEngine::take_finished() {
    const auto report = tile_->take_finished();
    SYSTOLE_CHECK(report == grid_->take_finished(), "cycle {}: the engines report different passes",
                  now().value());
    return report;
}

void WitnessedEngine::tile_arrives(Cycles at, const Tile& tile, Values values) {
    tile_->tile_arrives(at, tile);
    grid_->tile_arrives(at, tile, std::move(values));
}

void WitnessedEngine::start(const Pass& pass, Values left, Values top) {
    tile_->start(pass);
    grid_->start(pass, std::move(left), std::move(top));
}

}  // namespace systole
