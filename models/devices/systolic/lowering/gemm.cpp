// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/gemm.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"

namespace systole::systolic {
namespace {

enum GemmTile : std::int64_t { kInput, kWeights, kColumns, kTileKinds };

}  // namespace

GemmSteps::GemmSteps(Workspace& workspace, std::int64_t layer, GemmProblem problem, const Tiling& tiling)
    : workspace_(workspace),
      layer_(layer),
      problem_(std::move(problem)),
      tiling_(tiling),
      in_array_(static_cast<std::size_t>(workspace.spec.mxu.count)) {
    const std::int64_t n_tiles = ceil_div(problem_.share.n.count, problem_.tile.n_unit);
    const std::int64_t items = problem_.share.items.count;
    n_blocks_ = ceil_div(n_tiles, tiling_.n_tiles);
    m_rounds_ = ceil_div(problem_.source->blocks(), tiling_.split_m);
    n_rounds_ = ceil_div(n_blocks_ * (problem_.groups ? items : 1), tiling_.split_n);
    const std::int64_t item_rounds = problem_.groups ? 1 : ceil_div(items, tiling_.split_items);
    rounds_ = item_rounds * m_rounds_ * n_rounds_;
    k_steps_ = ceil_div(static_cast<std::int64_t>(problem_.k_tiles.size()), tiling_.k_tiles);
    if (rounds_ > 0) reserve_rooms();  // a core may have no part
}

/// A ring that holds two steps and not three must not be left with the remains of a ragged block between
/// them: the next step would wait for both. There, every block takes as much room as the largest.
void GemmSteps::reserve_rooms() {
    const auto room = [](const BufferRing& ring, std::int64_t blocks, std::int64_t bytes) {
        return ring.capacity() / 3 < blocks * ring.aligned(bytes) ? bytes : 0;
    };
    const Range k = k_range(k_tiles(0));
    const std::vector<Block> first = round(0);
    if (!workspace_.flow.resident(problem_.input)) {
        std::int64_t bytes = 0;
        for (std::int64_t m = 0; m < std::min<std::int64_t>(2, problem_.source->blocks()); ++m)
            bytes = std::max(bytes, problem_.source->staging(0, m, k).bytes);
        input_room_ = room(workspace_.inputs, tiling_.split_items * tiling_.split_m, bytes);
    }
    if (staged_weights())
        weight_room_ = room(workspace_.weights, tiling_.split_items * tiling_.split_n,
                            problem_.weights->staging(0, first.front().n, k).bytes);
}

Staging GemmSteps::weights_staging(const Block& block, Range k) const {
    Staging staging = problem_.weights->staging(block.item, block.n, k);
    staging.bytes = std::max(staging.bytes, weight_room_);
    return staging;
}

Staging GemmSteps::input_staging(const Block& block, Range k) const {
    Staging staging = problem_.source->staging(block.item, block.m_block, k);
    staging.bytes = std::max(staging.bytes, input_room_);
    return staging;
}

std::vector<Block> GemmSteps::round(std::int64_t index) const {
    const std::int64_t inner = tiling_.m_outer ? n_rounds_ : m_rounds_;
    const std::int64_t inside = index % (m_rounds_ * n_rounds_);
    const std::int64_t m_round = tiling_.m_outer ? inside / inner : inside % inner;
    const std::int64_t n_round = tiling_.m_outer ? inside % inner : inside / inner;
    const GemmProblem::Share& own = problem_.share;
    const std::int64_t columns = n_blocks_ * (problem_.groups ? own.items.count : 1);
    const std::int64_t width = tiling_.n_tiles * problem_.tile.n_unit;
    const std::int64_t share = tiling_.split_m * tiling_.split_n;

    std::vector<Block> blocks;
    for (std::int64_t unit = 0; unit < tiling_.split_items * share; ++unit) {
        Block b;
        b.mxu = static_cast<int>(unit);
        b.item = own.items.begin + index / (m_rounds_ * n_rounds_) * tiling_.split_items + unit / share;
        b.m_block = m_round * tiling_.split_m + unit % share / tiling_.split_n;
        std::int64_t column = n_round * tiling_.split_n + unit % tiling_.split_n;
        if (b.item >= own.items.end() || b.m_block >= problem_.source->blocks() || column >= columns)
            continue;
        if (problem_.groups) b.item = own.items.begin + column / n_blocks_;
        column %= n_blocks_;
        b.m = problem_.source->rows(b.m_block);
        b.n = {own.n.begin + column * width, std::min(width, own.n.count - column * width)};
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

/// Tiles of the parts of a layer are not each other's.
std::int64_t GemmSteps::kind(std::int64_t kind) const {
    return problem_.part * kTileKinds + kind;
}

TileKey GemmSteps::input_key(const Block& block, std::int64_t step) const {
    const std::int64_t item = problem_.groups ? 0 : block.item;
    const std::int64_t slice = problem_.source->sliced() ? step % k_steps_ : 0;
    return {layer_, kind(kInput), item * problem_.source->blocks() + block.m_block, slice};
}

TileKey GemmSteps::weights_key(const Block& block, std::int64_t step) const {
    return {layer_, kind(kWeights), block.item * problem_.n + block.n.begin, step % k_steps_};
}

TileKey GemmSteps::column_key(const Block& block, std::size_t which) const {
    const bool own = problem_.groups || problem_.experts > 0;  // columns of each item
    const std::int64_t first = (own ? block.item * problem_.n : 0) + block.n.begin;
    return {layer_, kind(kColumns), first, static_cast<std::int64_t>(which)};
}

Staging GemmSteps::column_staging(const Block& block, std::size_t which) const {
    const TensorId tensor = problem_.columns[which];
    const DType dtype = workspace_.dtype(tensor);
    const std::int64_t first = column_key(block, which)[2];
    const std::int64_t bytes = row_bytes(dtype, block.n.count).value();
    return {tensor, Operand::Weights, bytes, {{{row_bytes(dtype, first).value(), 1, bytes, 0}, 0, 0}}};
}

bool GemmSteps::staged_weights() const {
    return workspace_.spec.mxu.weight_source == Space::Scratchpad &&
           !workspace_.flow.resident(problem_.second);
}

bool GemmSteps::stage_weights(std::int64_t step, Holds& holds) {
    const std::size_t columns = last_k(step) ? problem_.columns.size() : 0;
    const bool weights = staged_weights() && problem_.stored_weights;
    if (columns == 0 && !weights) return true;
    for (const Block& block : round(step / k_steps_)) {
        if (weights && !stage(workspace_, workspace_.weights, weights_key(block, step), holds,
                              [&] { return weights_staging(block, k_range(k_tiles(step))); })) {
            return false;
        }
        for (std::size_t i = 0; i < columns; ++i)
            if (!stage(workspace_, workspace_.parameters(), column_key(block, i), holds,
                       [&] { return column_staging(block, i); }))
                return false;
    }
    return true;
}

bool GemmSteps::stage_inputs(std::int64_t step, Holds& holds) {
    const bool input = !workspace_.flow.resident(problem_.input);
    const bool second = staged_weights() && !problem_.stored_weights;
    const std::vector<Block> blocks = round(step / k_steps_);
    if (!input) {
        const Range extent = problem_.source->extent(blocks.front().item, blocks.front().m_block);
        workspace_.flow.fetch(problem_.input, extent.begin, extent.end());
    }
    for (const Block& block : blocks) {
        const Range k = k_range(k_tiles(step));
        if (second && !stage(workspace_, workspace_.weights, weights_key(block, step), holds,
                             [&] { return weights_staging(block, k); })) {
            return false;
        }
        if (input && !stage(workspace_, workspace_.inputs, input_key(block, step), holds,
                            [&] { return input_staging(block, k); })) {
            return false;
        }
    }
    return true;
}

void GemmSteps::open_accumulators() {
    const bool by_m = problem_.tile.rows_are_m;
    for (Block& block : blocks_) {
        cut(block, problem_.tile);
        BufferRing& ring = workspace_.accumulators[static_cast<std::size_t>(block.mxu)];
        for (OutputTile& tile : block.tiles) {
            tile.accumulators = ring.allocate(by_m ? tile.m.count : tile.n.count, std::nullopt, tile.room);
            SYSTOLE_CHECK(tile.accumulators != nullptr, "accumulators of layer {}", layer_);
            ++tile.accumulators->holds;
        }
    }
}

void GemmSteps::open_step(std::int64_t step) {
    const bool input = !workspace_.flow.resident(problem_.input);
    for (Block& block : blocks_) {
        block.fresh = true;
        block.reads.assign(static_cast<std::size_t>(k_tiles(step).count), std::nullopt);
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
    const Range all = k_tiles(step);
    std::size_t most = 0;
    for (const Block& block : blocks_) most = std::max(most, block.tiles.size());
    for (std::size_t index = 0; index < most; ++index) {
        for (Range tiles = all; tiles.count > 0;) {
            const std::int64_t count = folds_at_once(workspace_, problem_, tiles);
            for (Block& block : blocks_) {
                if (index < block.tiles.size()) issue(block, block.tiles[index], all, {tiles.begin, count});
            }
            tiles = {tiles.begin + count, tiles.count - count};
        }
    }
    if (last_k(step)) drain_round();
}

std::int64_t folds_at_once(const Workspace& workspace, const GemmProblem& problem, Range tiles) {
    if (workspace.spec.mxu.dataflow == Dataflow::OutputStationary) return tiles.count;
    if (!workspace.runs_of_folds || problem.mask) return 1;  // folds of a run are all alike
    const auto tile = [&](std::int64_t index) { return problem.k_tiles[static_cast<std::size_t>(index)]; };
    const Range first = tile(tiles.begin);
    const std::int64_t until =
        std::min(problem.source->uniform_until(first), problem.weights->uniform_until(first));
    std::int64_t count = 1;
    while (count < tiles.count && tile(tiles.begin + count).count == first.count &&
           tile(tiles.begin + count).end() <= until)
        ++count;
    return count;
}

}  // namespace systole::systolic
