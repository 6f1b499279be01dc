// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/pipeline.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"

namespace systole::systolic {
namespace {

/// Steps of a core staged ahead of the one at work. Two: one whose transfers run, one whose transfers wait in
/// the queue.
constexpr std::size_t kStepsAhead = 2;

}  // namespace

void Holds::hold(BufferTile& tile) {
    if (std::ranges::find(tiles_, &tile) != tiles_.end()) return;
    tiles_.push_back(&tile);
    ++tile.holds;
}

void Holds::release() {
    for (BufferTile* tile : tiles_) --tile->holds;
    tiles_.clear();
}

std::int64_t PartSteps::count() const {
    std::int64_t sum = 0;
    for (const auto& part : parts_) sum += part->count();
    return sum;
}

std::pair<std::size_t, std::int64_t> PartSteps::find(std::int64_t step) const {
    std::size_t part = 0;
    for (; step >= parts_[part]->count(); ++part) step -= parts_[part]->count();
    return {part, step};
}

bool PartSteps::stage_weights(std::int64_t step, Holds& holds) {
    const auto [part, own] = find(step);
    return parts_[part]->stage_weights(own, holds);
}

bool PartSteps::stage_inputs(std::int64_t step, Holds& holds) {
    const auto [part, own] = find(step);
    return parts_[part]->stage_inputs(own, holds);
}

void PartSteps::work(std::int64_t step) {
    const auto [part, own] = find(step);
    parts_[part]->work(own);
}

void Pipeline::run(const std::vector<std::shared_ptr<Steps>>& steps, std::int32_t layer) {
    std::int64_t most = 0;
    for (const auto& core : steps) most = std::max(most, core->count());
    for (std::int64_t step = 0; step < most; ++step)
        for (std::size_t core = 0; core < steps.size(); ++core)
            if (step < steps[core]->count()) add({steps[core], step, layer, &cores_[core]});
}

void Pipeline::add(Pending pending) {
    enter(pending);
    while (!pending.steps->stage_weights(pending.step, pending.weights)) {
        if (window_.empty()) {  // only its own tiles are in the way, scattered: start from a clean buffer
            pending.weights.release();
            pending.core->weights.restart();
            SYSTOLE_CHECK(pending.steps->stage_weights(pending.step, pending.weights), "step {} of layer {}",
                          pending.step, pending.layer);
            break;
        }
        work_on_front();
        enter(pending);
    }
    window_.push_back(std::move(pending));
    if (window_.size() > kStepsAhead * cores_.size()) work_on_front();
    stage_ahead();
}

/// What follows is issued for that step.
void Pipeline::enter(const Pending& pending) {
    pending.core->emitter.set_layer(pending.layer);
    pending.core->emitter.set_core(pending.core->core.index);
}

void Pipeline::finish() {
    while (!window_.empty()) work_on_front();
}

bool Pipeline::stage_inputs(Pending& pending) {
    enter(pending);
    if (!pending.staged) pending.staged = pending.steps->stage_inputs(pending.step, pending.inputs);
    return pending.staged;
}

void Pipeline::stage_ahead() {
    for (Pending& pending : window_) {
        if (pending.layer != window_.front().layer || !stage_inputs(pending)) return;
    }
}

void Pipeline::work_on_front() {
    Pending& front = window_.front();
    if (!stage_inputs(front)) {
        front.inputs.release();
        front.core->inputs.restart();
        SYSTOLE_CHECK(stage_inputs(front), "step {} of layer {}", front.step, front.layer);
    }
    stage_ahead();
    enter(front);
    front.steps->work(front.step);
    window_.pop_front();
}

}  // namespace systole::systolic
