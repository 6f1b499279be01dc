// SPDX-License-Identifier: Apache-2.0
// The PE grid in a running machine: the tile engine decides when to look, the grid computes registers and
// values beside it, and every answer of one is held against the other's. Because the machine sees the same
// engine either way, a run on the grid is the same run, event for event, with a witness.
#pragma once

#include <memory>

#include "models/devices/systolic/mxu/grid_engine.h"

namespace systole {

class WitnessedEngine final : public MatrixEngine {
public:
    using Values = GridEngine::Values;

    explicit WitnessedEngine(const ArraySpec& spec)
        : tile_(make_tile_engine(spec)), grid_(make_grid_engine(spec)) {}

    Cycles now() const override { return tile_->now(); }
    void advance(Cycles to) override;
    void tile_arrives(Cycles at, const Tile& tile) override { tile_arrives(at, tile, {}); }
    std::int64_t tiles_shifted() const override;
    Cycles earliest_start(const Pass& pass) const override;
    void start(const Pass& pass) override { start(pass, {}, {}); }
    Cycles next_event() const override { return tile_->next_event(); }
    Cycles dry() const override;
    void set_up(Dataflow dataflow) override;
    std::optional<PassReport> take_finished() override;

    /// As GridEngine's, with values.
    void tile_arrives(Cycles at, const Tile& tile, Values values);
    void start(const Pass& pass, Values left, Values top);
    const GridEngine& grid() const { return *grid_; }
    /// Lets time pass in the grid alone until `to` (no later than the next advance()), so that its registers
    /// can be looked at; every answer of the engine stays as it was.
    void look_ahead(Cycles to) {
        if (to > grid_->now()) grid_->advance(to);
    }

private:
    std::unique_ptr<MatrixEngine> tile_;
    std::unique_ptr<GridEngine> grid_;
};

}  // namespace systole
