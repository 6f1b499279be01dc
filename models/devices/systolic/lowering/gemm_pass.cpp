// SPDX-License-Identifier: Apache-2.0
// One command of a matrix unit: a pass, or a run of folds, with what it waits for and what its edges read.
#include <algorithm>
#include <utility>

#include "models/devices/systolic/lowering/gemm.h"

namespace systole::systolic {

/// Whether the array still holds the pass's tile; from now on it does.
bool GemmSteps::in_array(const Block& block, const OutputTile& tile, Range k) {
    const bool inputs_stay = workspace_.spec.mxu.dataflow == Dataflow::InputStationary;
    const std::array<std::int64_t, 3> wanted{block.item, inputs_stay ? tile.m.begin : tile.n.begin, k.begin};
    return std::exchange(in_array_[static_cast<std::size_t>(block.mxu)], wanted) == wanted;
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
        workspace_.flow.read_by(problem_.second, workspace_.emitter.transfer(unit, transfer, after));
        return;
    }
    const Range extent = problem_.weights->extent(block.item, n, k);
    workspace_.flow.before_read(problem_.second, extent.begin, extent.end(), after);
    workspace_.flow.read_by(problem_.second, workspace_.emitter.transfer(unit, transfer, after));
}

/// What a block's first pass of a step waits for (the others follow it).
Tokens GemmSteps::awaited(Block& block, Range step) {
    Tokens after;
    if (!std::exchange(block.fresh, false)) return after;
    if (block.input != nullptr) {
        after.add(block.input->ready);
    } else {
        const Range extent = problem_.source->extent(block.item, block.m_block);
        workspace_.flow.before_read(problem_.input, extent.begin, extent.end(), after);
    }
    if (!workspace_.spec.mxu.direct()) return after;
    if (block.weights != nullptr) {
        after.add(block.weights->ready);
    } else {
        const Range extent = problem_.weights->extent(block.item, block.n, k_range(step));
        workspace_.flow.before_read(problem_.second, extent.begin, extent.end(), after);
    }
    return after;
}

/// `reader` has read what the block's edges of the array read.
void GemmSteps::release(const Block& block, Token reader) {
    if (block.input != nullptr) {
        block.input->users.add(reader);
    } else {
        workspace_.flow.read_by(problem_.input, reader);
    }
    if (!workspace_.spec.mxu.direct()) return;
    if (block.weights != nullptr) {
        block.weights->users.add(reader);
    } else {
        workspace_.flow.read_by(problem_.second, reader);
    }
}

EdgeRead GemmSteps::input_edge(Block& block, const OutputTile& tile, Range step, Range tiles) {
    auto& known = block.reads[static_cast<std::size_t>(tiles.begin - step.begin)];
    if (!known) {
        const std::int64_t base = block.input != nullptr ? block.input->address
                                                         : workspace_.flow.region(problem_.input, {}).address;
        const PassRead read =
            problem_.source->read(block.item, block.m_block, k_range(step), k_range(tiles), base);
        known = {workspace_.emitter.stream(read.stream), read.address};
    }
    return {known->stream, known->address, tile.m.begin - block.m.begin, tile.m.count, 0};
}

EdgeRead GemmSteps::second_edge(const Block& block, const OutputTile& tile, Range step, Range tiles) {
    const GemmWeights& weights = *problem_.weights;
    const Range k = k_range(tiles);
    const PassRead read = block.weights != nullptr
                              ? weights.read_tile(block.weights->address, block.n, k_range(step), tile.n, k)
                              : weights.read_tensor(workspace_.flow, block.item, tile.n, k);
    return {workspace_.emitter.stream(read.stream), read.address, 0, read.stream.vectors(), 0};
}

/// What the edges read for the first of `folds` folds, and how far apart the others lie.
void GemmSteps::set_edges(Block& block, const OutputTile& tile, Range step, Range tiles, MatrixPass& pass) {
    const Dataflow dataflow = workspace_.spec.mxu.dataflow;
    const Range first{tiles.begin, pass.folds > 1 ? 1 : tiles.count};
    EdgeRead input = input_edge(block, tile, step, first);
    if (!workspace_.spec.mxu.direct()) {
        pass.left = input;
        return;
    }
    EdgeRead second = second_edge(block, tile, step, first);
    if (pass.folds > 1) {
        const Range next{tiles.begin + 1, 1};
        input.fold_step = input_edge(block, tile, step, next).address - input.address;
        second.fold_step = second_edge(block, tile, step, next).address - second.address;
    }
    const bool inputs_stay = dataflow == Dataflow::InputStationary;
    pass.left = inputs_stay ? second : input;
    if (pass.new_tile) pass.top = inputs_stay ? input : second;
}

/// Products of a fold that a mask throws away, or with zeros that were not stored.
std::int64_t GemmSteps::masked(Range m, Range n, Range k) const {
    if (problem_.format.sparse()) return m.count * n.count * (k.count - problem_.format.stored(k.count));
    if (!problem_.mask) return 0;
    switch (problem_.keys) {
        case GemmProblem::Keys::AlongM:
            return problem_.mask->masked(k, m) * n.count;
        case GemmProblem::Keys::AlongN:
            return problem_.mask->masked(m, n) * k.count;
        case GemmProblem::Keys::AlongK:
            break;
    }
    return problem_.mask->masked(m, k) * n.count;
}

void GemmSteps::issue(Block& block, OutputTile& tile, Range step, Range tiles) {
    const bool outputs_stay = workspace_.spec.mxu.dataflow == Dataflow::OutputStationary;
    const Range k = outputs_stay ? k_range(tiles) : k_tile(tiles.begin);
    const bool new_tile = outputs_stay || !in_array(block, tile, k);
    if (!new_tile && tiles.count > 1) {  // the first fold's tile stays, the others come
        issue(block, tile, step, {tiles.begin, 1});
        return issue(block, tile, step, {tiles.begin + 1, tiles.count - 1});
    }
    if (new_tile && !workspace_.spec.mxu.direct()) fetch_weights(block, k_range(step), tile.n, k);

    Tokens after = awaited(block, step);
    if (tiles.begin == 0) after.add(tile.room);
    MatrixPass pass;
    pass.m = tile.m.count;
    pass.k = k.count;
    pass.n = tile.n.count;
    pass.folds = outputs_stay ? 1 : static_cast<std::int32_t>(tiles.count);
    pass.accumulator_row = static_cast<std::int32_t>(tile.accumulators->address);
    pass.accumulate = tiles.begin > 0;
    pass.new_tile = new_tile;
    pass.dtype = workspace_.dtype(problem_.input);
    pass.second_dtype = other_than(pass.dtype, problem_.second_dtype);
    pass.second = problem_.second_operand;
    pass.origin = {block.item + problem_.part, tile.m.begin, k.begin, tile.n.begin};
    pass.masked = masked(tile.m, tile.n, k);
    pass.unpacked = problem_.unpacked;
    pass.sparsity = problem_.sparsity;
    set_edges(block, tile, step, tiles, pass);
    if (tiles.count > 1 && !outputs_stay) in_array(block, tile, k_tile(tiles.end() - 1));
    tile.done = workspace_.emitter.pass(block.mxu, pass, after);
    release(block, tile.done);
}

}  // namespace systole::systolic
