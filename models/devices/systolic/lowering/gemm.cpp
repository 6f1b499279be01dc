// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/gemm.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"

namespace systole::systolic {
namespace {

enum TileKind : std::int64_t { kInput, kWeights, kBias };

}  // namespace

GemmSteps::GemmSteps(Workspace& workspace, std::int64_t layer, GemmProblem problem, const Tiling& tiling)
    : workspace_(workspace),
      layer_(layer),
      problem_(std::move(problem)),
      tiling_(tiling),
      in_array_(static_cast<std::size_t>(workspace.spec.mxu.count)) {
    const std::int64_t n_tiles = ceil_div(problem_.n, workspace.spec.mxu.cols);
    n_blocks_ = ceil_div(n_tiles, tiling_.n_tiles);
    m_rounds_ = ceil_div(problem_.source->blocks(), tiling_.split_m);
    n_rounds_ = ceil_div(n_blocks_ * (problem_.groups ? problem_.items : 1), tiling_.split_n);
    const std::int64_t item_rounds = problem_.groups ? 1 : ceil_div(problem_.items, tiling_.split_items);
    rounds_ = item_rounds * m_rounds_ * n_rounds_;
    k_steps_ = ceil_div(static_cast<std::int64_t>(problem_.k_tiles.size()), tiling_.k_tiles);
}

std::vector<GemmSteps::Block> GemmSteps::round(std::int64_t index) const {
    const std::int64_t inner = tiling_.m_outer ? n_rounds_ : m_rounds_;
    const std::int64_t inside = index % (m_rounds_ * n_rounds_);
    const std::int64_t m_round = tiling_.m_outer ? inside / inner : inside % inner;
    const std::int64_t n_round = tiling_.m_outer ? inside % inner : inside / inner;
    const std::int64_t columns = n_blocks_ * (problem_.groups ? problem_.items : 1);
    const std::int64_t width = tiling_.n_tiles * workspace_.spec.mxu.cols;
    const std::int64_t share = tiling_.split_m * tiling_.split_n;

    std::vector<Block> blocks;
    for (std::int64_t unit = 0; unit < tiling_.split_items * share; ++unit) {
        Block b;
        b.mxu = static_cast<int>(unit);
        b.item = index / (m_rounds_ * n_rounds_) * tiling_.split_items + unit / share;
        b.m_block = m_round * tiling_.split_m + unit % share / tiling_.split_n;
        std::int64_t column = n_round * tiling_.split_n + unit % tiling_.split_n;
        if (b.item >= problem_.items || b.m_block >= problem_.source->blocks() || column >= columns) continue;
        if (problem_.groups) b.item = column / n_blocks_;
        column %= n_blocks_;
        b.m = problem_.source->rows(b.m_block);
        b.n = {column * width, std::min(width, problem_.n - column * width)};
        blocks.push_back(std::move(b));
    }
    return blocks;
}

Range GemmSteps::k_tiles(std::int64_t step) const {
    const std::int64_t begin = step % k_steps_ * tiling_.k_tiles;
    const auto all = static_cast<std::int64_t>(problem_.k_tiles.size());
    return {begin, std::min(tiling_.k_tiles, all - begin)};
}

Range GemmSteps::k_range(Range tiles) const {
    const std::int64_t begin = problem_.k_tiles[static_cast<std::size_t>(tiles.begin)].begin;
    return {begin, problem_.k_tiles[static_cast<std::size_t>(tiles.end() - 1)].end() - begin};
}

Range GemmSteps::n_tile(const Block& block, std::int64_t index) const {
    const std::int64_t cols = workspace_.spec.mxu.cols;
    return {block.n.begin + index * cols, std::min(cols, block.n.count - index * cols)};
}

TileKey GemmSteps::input_key(const Block& block, std::int64_t step) const {
    const std::int64_t item = problem_.groups ? 0 : block.item;
    const std::int64_t slice = problem_.source->sliced() ? step % k_steps_ : 0;
    return {layer_, kInput, item * problem_.source->blocks() + block.m_block, slice};
}

TileKey GemmSteps::weights_key(const Block& block, std::int64_t step) const {
    return {layer_, kWeights, block.item * problem_.n + block.n.begin, step % k_steps_};
}

TileKey GemmSteps::bias_key(const Block& block) const {
    return {layer_, kBias, (problem_.groups ? block.item * problem_.n : 0) + block.n.begin, 0};
}

Staging GemmSteps::bias_staging(const Block& block) const {
    const DType dtype = workspace_.dtype(*problem_.bias);
    const std::int64_t first = bias_key(block)[2];
    const std::int64_t bytes = row_bytes(dtype, block.n.count).value();
    return {
        *problem_.bias, Operand::Weights, bytes, {{{row_bytes(dtype, first).value(), 1, bytes, 0}, 0, 0}}};
}

bool GemmSteps::staged_weights() const {
    return workspace_.spec.mxu.weight_source == Space::Scratchpad &&
           !workspace_.flow.resident(problem_.second);
}

bool GemmSteps::stage_weights(std::int64_t step, Holds& holds) {
    const bool bias = problem_.bias && last_k(step);
    const bool weights = staged_weights() && problem_.stored_weights;
    if (!bias && !weights) return true;
    for (const Block& block : round(step / k_steps_)) {
        if (weights && !stage(workspace_, workspace_.weights, weights_key(block, step), holds, [&] {
                return problem_.weights->staging(block.item, block.n, k_range(k_tiles(step)));
            })) {
            return false;
        }
        if (bias && !stage(workspace_, workspace_.parameters(), bias_key(block), holds,
                           [&] { return bias_staging(block); })) {
            return false;
        }
    }
    return true;
}

bool GemmSteps::stage_inputs(std::int64_t step, Holds& holds) {
    const bool input = !workspace_.flow.resident(problem_.input);
    const bool second = staged_weights() && !problem_.stored_weights;
    for (const Block& block : round(step / k_steps_)) {
        const Range k = k_range(k_tiles(step));
        if (second && !stage(workspace_, workspace_.weights, weights_key(block, step), holds,
                             [&] { return problem_.weights->staging(block.item, block.n, k); })) {
            return false;
        }
        if (input && !stage(workspace_, workspace_.inputs, input_key(block, step), holds,
                            [&] { return problem_.source->staging(block.item, block.m_block, k); })) {
            return false;
        }
    }
    return true;
}

void GemmSteps::open_accumulators() {
    for (Block& block : blocks_) {
        const std::int64_t tiles = ceil_div(block.n.count, workspace_.spec.mxu.cols);
        BufferRing& ring = workspace_.accumulators[static_cast<std::size_t>(block.mxu)];
        block.room.resize(static_cast<std::size_t>(tiles));
        block.done.resize(static_cast<std::size_t>(tiles));
        for (Tokens& room : block.room) {
            BufferTile* rows = ring.allocate(block.m.count, std::nullopt, room);
            SYSTOLE_CHECK(rows != nullptr, "accumulators of layer {}", layer_);
            ++rows->holds;
            block.accumulators.push_back(rows);
        }
    }
}

void GemmSteps::open_step(std::int64_t step) {
    const bool input = !workspace_.flow.resident(problem_.input);
    for (Block& block : blocks_) {
        block.fresh = true;
        if (input) block.input = workspace_.inputs.find(input_key(block, step));
        if (staged_weights()) block.weights = workspace_.weights.find(weights_key(block, step));
        SYSTOLE_CHECK(!input || block.input != nullptr, "inputs of step {} of layer {}", step, layer_);
        SYSTOLE_CHECK(!staged_weights() || block.weights != nullptr, "weights of step {} of layer {}", step,
                      layer_);
    }
}

void GemmSteps::work(std::int64_t step) {
    if (step % k_steps_ == 0) {
        blocks_ = round(step / k_steps_);
        open_accumulators();
    }
    open_step(step);
    const Range tiles = k_tiles(step);
    const Range step_k = k_range(tiles);
    for (std::int64_t n_index = 0; n_index < tiling_.n_tiles; ++n_index) {
        for (std::int64_t tile = tiles.begin; tile < tiles.end(); ++tile) {
            for (Block& block : blocks_) {
                if (n_index < static_cast<std::int64_t>(block.accumulators.size()))
                    issue(block, step_k, tile, n_index);
            }
        }
    }
    if (last_k(step)) drain_round();
}

void GemmSteps::fetch_weights(Block& block, Range step_k, Range n, Range k) {
    const UnitIndex unit = unit_index(UnitKind::Weights, block.mxu);
    if (block.weights != nullptr) {
        const std::int64_t base = block.weights->address;
        const Transfer transfer = problem_.weights->from_tile(base, block.n, step_k, n, k);
        block.weights->users.add(workspace_.emitter.transfer(unit, transfer, block.weights->ready));
        return;
    }
    const Transfer transfer = problem_.weights->from_tensor(workspace_.flow, block.item, n, k);
    Tokens after;
    if (problem_.stored_weights) {
        workspace_.emitter.transfer(unit, transfer, after);
        return;
    }
    const Range extent = problem_.weights->extent(block.item, n, k);
    workspace_.flow.before_read(problem_.second, extent.begin, extent.end(), after);
    workspace_.flow.read_by(problem_.second, workspace_.emitter.transfer(unit, transfer, after));
}

/// Where the block's vectors are read from; what its first pass of a step waits for (the others follow it).
std::int64_t GemmSteps::input_base(const Block& block, Tokens& after) {
    if (block.input != nullptr) {
        if (block.fresh) after.add(block.input->ready);
        return block.input->address;
    }
    if (block.fresh) {
        const Range extent = problem_.source->extent(block.item, block.m_block);
        workspace_.flow.before_read(problem_.input, extent.begin, extent.end(), after);
    }
    return workspace_.flow.region(problem_.input, {}).address;
}

void GemmSteps::release_input(const Block& block, Token reader) {
    if (block.input != nullptr) {
        block.input->users.add(reader);
    } else {
        workspace_.flow.read_by(problem_.input, reader);
    }
}

void GemmSteps::issue(Block& block, Range step_k, std::int64_t tile, std::int64_t n_index) {
    const Range n = n_tile(block, n_index);
    const Range k = problem_.k_tiles[static_cast<std::size_t>(tile)];
    const std::array<std::int64_t, 3> wanted{block.item, n.begin, k.begin};
    auto& in_array = in_array_[static_cast<std::size_t>(block.mxu)];
    const bool new_tile = in_array != wanted;
    if (new_tile) {
        fetch_weights(block, step_k, n, k);
        in_array = wanted;
    }

    Tokens after;
    const std::int64_t base = input_base(block, after);
    block.fresh = false;
    const auto at = static_cast<std::size_t>(n_index);
    if (tile == 0) after.add(block.room[at]);
    const PassRead read = problem_.source->read(block.item, block.m_block, step_k, k, base);
    MatrixPass pass;
    pass.left = {workspace_.emitter.stream(read.stream), read.address};
    pass.m = block.m.count;
    pass.k = k.count;
    pass.n = n.count;
    pass.accumulator_row = static_cast<std::int32_t>(block.accumulators[at]->address);
    pass.accumulate = tile > 0;
    pass.new_tile = new_tile;
    pass.dtype = workspace_.dtype(problem_.input);
    pass.origin = {block.item, block.m.begin, k.begin, n.begin};
    block.done[at] = workspace_.emitter.pass(block.mxu, pass, after);
    release_input(block, block.done[at]);
}

}  // namespace systole::systolic
