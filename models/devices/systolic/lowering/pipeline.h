// SPDX-License-Identifier: Apache-2.0
// The order of issue. A layer is a sequence of steps; each first stages what it reads and then works. Staging
// runs a few steps ahead of work, across layers for weights, so that transfers overlap computation although
// the sequencer issues in order. Cores take their steps in turn; none stages inputs of a layer before all
// have worked on all layers before it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "models/devices/systolic/lowering/range.h"
#include "models/devices/systolic/lowering/workspace.h"

namespace systole::systolic {

/// The tiles that a step will read; they stay in their buffers until it has issued its work.
class Holds {
public:
    Holds() = default;
    Holds(Holds&& other) noexcept : tiles_(std::move(other.tiles_)) { other.tiles_.clear(); }
    Holds(const Holds&) = delete;
    Holds& operator=(const Holds&) = delete;
    ~Holds() { release(); }

    void hold(BufferTile& tile);
    void release();

private:
    std::vector<BufferTile*> tiles_;
};

/// The steps of one layer, in order.
class Steps {
public:
    virtual ~Steps() = default;
    virtual std::int64_t count() const = 0;
    /// Brings a step's weights or inputs into their buffer and holds them. False: held tiles stand in the
    /// way; to be called again after the work of an earlier step. `stage_inputs` comes after all earlier
    /// layers.
    virtual bool stage_weights(std::int64_t step, Holds& holds) = 0;
    virtual bool stage_inputs(std::int64_t step, Holds& holds) = 0;
    /// Issues the work of a staged step.
    virtual void work(std::int64_t step) = 0;
};

/// Steps of several parts of a layer, one behind the other.
class PartSteps : public Steps {
public:
    explicit PartSteps(std::vector<std::shared_ptr<Steps>> parts) : parts_(std::move(parts)) {}

    std::int64_t count() const override;
    bool stage_weights(std::int64_t step, Holds& holds) override;
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;

private:
    /// Which part a step is of, and which of that part's steps.
    std::pair<std::size_t, std::int64_t> find(std::int64_t step) const;

    std::vector<std::shared_ptr<Steps>> parts_;
};

/// Some of the steps of another.
class StepRange : public Steps {
public:
    StepRange(std::shared_ptr<Steps> steps, Range range) : steps_(std::move(steps)), range_(range) {}

    std::int64_t count() const override { return range_.count; }
    bool stage_weights(std::int64_t step, Holds& holds) override {
        return steps_->stage_weights(range_.begin + step, holds);
    }
    bool stage_inputs(std::int64_t step, Holds& holds) override {
        return steps_->stage_inputs(range_.begin + step, holds);
    }
    void work(std::int64_t step) override { steps_->work(range_.begin + step); }

private:
    std::shared_ptr<Steps> steps_;
    Range range_;
};

class Pipeline {
public:
    /// `cores`: their workspaces, of one chip.
    explicit Pipeline(std::vector<Workspace>& cores) : cores_(cores) {}

    /// Issues a layer behind all earlier ones; `steps` by core.
    void run(const std::vector<std::shared_ptr<Steps>>& steps, std::int32_t layer);
    /// Issues what is still pending.
    void finish();

private:
    struct Pending {
        std::shared_ptr<Steps> steps;
        std::int64_t step;
        std::int32_t layer;
        Workspace* core;
        Holds weights = {}, inputs = {};
        bool staged = false;
    };

    static void enter(const Pending& pending);
    static bool stage_inputs(Pending& pending);
    void add(Pending pending);
    void work_on_front();
    void stage_ahead();

    std::vector<Workspace>& cores_;
    std::deque<Pending> window_;
};

}  // namespace systole::systolic
