// SPDX-License-Identifier: Apache-2.0
// An array that takes every dataflow, one after the other: it is the array of one dataflow until it has run
// dry and is set up for another. Weight and input stationary are the same hardware with the operands
// exchanged, so there are two arrays to be; both write the same accumulators.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "models/devices/systolic/mxu/grid_engine.h"
#include "models/devices/systolic/mxu/matrix_engine.h"
#include "sim/base/check.h"

namespace systole {

/// `Engine`: MatrixEngine, or a BasicGridEngine.
template <class Engine>
class ReconfigurableEngine : public Engine {
public:
    Cycles now() const final { return active_->now(); }
    void advance(Cycles to) final { active_->advance(to); }
    std::int64_t tiles_shifted() const final {
        return shifting_->tiles_shifted() + outputs_stay_->tiles_shifted();
    }
    Cycles earliest_start(const Pass& pass) const final {
        const Cycles earliest = active_->earliest_start(pass);
        return earliest == kNever ? kNever : std::max(earliest, ready_);
    }
    Cycles next_event() const final {
        return std::min(active_->next_event(), ready_ > now() ? ready_ : kNever);
    }
    Cycles dry() const final { return std::max(active_->dry(), ready_); }
    void set_up(Dataflow dataflow) final {
        SYSTOLE_CHECK(dry() == now(), "cycle {}: an array is set up for {} before it has run dry",
                      now().value(), to_string(dataflow));
        Engine& next = array_of(dataflow);
        next.advance(now());
        ready_ = now() + switch_;
        if (active_ != &next) std::swap(active_, resting_);
    }
    std::optional<PassReport> take_finished() final {
        // All passes of the array that rests are older than those of the other.
        if (auto report = resting_->take_finished()) return report;
        return active_->take_finished();
    }

protected:
    /// Of `spec`: `shifting` with dataflow ws or is, `outputs_stay` with os.
    ReconfigurableEngine(const ArraySpec& spec, std::unique_ptr<Engine> shifting,
                         std::unique_ptr<Engine> outputs_stay)
        : shifting_(std::move(shifting)),
          outputs_stay_(std::move(outputs_stay)),
          active_(&array_of(spec.dataflow)),
          resting_(active_ == shifting_.get() ? outputs_stay_.get() : shifting_.get()),
          switch_(spec.dataflow_switch) {}

    Engine& array_of(Dataflow dataflow) const {
        return dataflow == Dataflow::OutputStationary ? *outputs_stay_ : *shifting_;
    }
    Engine& active() const { return *active_; }
    /// When a tile can enter that could at `at`.
    Cycles entering(Cycles at) const { return std::max(at, ready_); }
    void check_ready() const {
        SYSTOLE_CHECK(ready_ <= now(), "a pass was started in cycle {} on an array that is set up in {}",
                      now().value(), ready_.value());
    }

private:
    const std::unique_ptr<Engine> shifting_, outputs_stay_;
    Engine* active_;
    Engine* resting_;  // its time stands still
    const Cycles switch_;
    Cycles ready_;  // the array is set up
};

/// In closed form.
class ReconfigurableTileEngine final : public ReconfigurableEngine<MatrixEngine> {
public:
    ReconfigurableTileEngine(const ArraySpec& spec, std::unique_ptr<MatrixEngine> shifting,
                             std::unique_ptr<MatrixEngine> outputs_stay)
        : ReconfigurableEngine(spec, std::move(shifting), std::move(outputs_stay)) {}

    void tile_arrives(Cycles at, const Tile& tile) override { active().tile_arrives(entering(at), tile); }
    void start(const Pass& pass) override {
        check_ready();
        active().start(pass);
    }
};

/// Register by register. PEs have the registers of the dataflow that the array is set up for.
template <class Operand, class Sum>
class ReconfigurableGrid final : public ReconfigurableEngine<BasicGridEngine<Operand, Sum>> {
    using Grid = BasicGridEngine<Operand, Sum>;
    using Core = ReconfigurableEngine<Grid>;

public:
    using Grid::start, Grid::tile_arrives;
    using typename Grid::Values;

    /// Both write the same accumulators.
    ReconfigurableGrid(const ArraySpec& spec, std::unique_ptr<Grid> shifting,
                       std::unique_ptr<Grid> outputs_stay)
        : Core(spec, std::move(shifting), std::move(outputs_stay)) {}

    void tile_arrives(Cycles at, const Tile& tile, Values values) override {
        this->active().tile_arrives(this->entering(at), tile, std::move(values));
    }
    void start(const Pass& pass, Values left, Values top) override {
        this->check_ready();
        this->active().start(pass, std::move(left), std::move(top));
    }
    Sum accumulator(std::int64_t row, int col) const override { return this->active().accumulator(row, col); }
    PeState<Operand, Sum> pe(int row, int col) const override { return this->active().pe(row, col); }
    std::optional<IssuedSum<Sum>> issued(int col) const override { return this->active().issued(col); }
    std::optional<std::int64_t> written(int col) const override { return this->active().written(col); }
    bool shifting(int col) const override { return this->active().shifting(col); }
};

}  // namespace systole
