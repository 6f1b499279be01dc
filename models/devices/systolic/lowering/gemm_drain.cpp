// SPDX-License-Identifier: Apache-2.0
// The way out of a round: accumulators through the vector unit into the scratchpad, and from there to DRAM.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/devices/systolic/lowering/gemm.h"
#include "models/devices/systolic/lowering/vector_cost.h"

namespace systole::systolic {
namespace {

/// A tile on its way out is at most this large, so that its store starts while the rest drains.
constexpr std::int64_t kOutputTileBytes = 256 * 1024;

}  // namespace

TensorBox GemmSteps::output_box(const Block& block, Range rows, Range n) const {
    const DType dtype = workspace_.dtype(problem_.output);
    const std::int64_t pitch =
        row_bytes(dtype, problem_.groups ? problem_.items * problem_.n : problem_.n).value();
    const std::int64_t row = (problem_.groups ? 0 : block.item * problem_.m) + block.m.begin + rows.begin;
    const std::int64_t column = (problem_.groups ? block.item * problem_.n : 0) + n.begin;
    const std::int64_t offset = row * pitch + bits_of(dtype).value() * column / 8;
    return {offset, rows.count, row_bytes(dtype, n.count).value(), pitch};
}

Token GemmSteps::drain_tile(Block& block, std::int64_t n_index, Range rows, const Tokens& room) {
    const auto at = static_cast<std::size_t>(n_index);
    const Range n = n_tile(block, n_index);
    BufferTile* bias = problem_.bias ? workspace_.parameters().find(bias_key(block)) : nullptr;
    VectorWork work;
    work.source = VectorWork::Source::Accumulator;
    work.elements = rows.count * n.count;
    work.lane_cycles =
        work.elements * drain_cost(workspace_.spec.vector.cost, problem_.bias.has_value(), problem_.post);
    if (bias != nullptr) work.scratchpad_read = row_bytes(workspace_.dtype(*problem_.bias), n.count).value();
    work.scratchpad_written = rows.count * row_bytes(workspace_.dtype(problem_.output), n.count).value();
    work.mxu = block.mxu;
    work.accumulator_row = static_cast<std::int32_t>(block.accumulators[at]->address + rows.begin);
    work.accumulator_rows = static_cast<std::int32_t>(rows.count);
    work.cols = static_cast<std::int32_t>(n.count);
    work.origin = {block.item, block.m.begin + rows.begin, 0, n.begin};

    Tokens after = room;
    after.add(block.done[at]);
    if (bias != nullptr) after.add(bias->ready);
    const Token token = workspace_.emitter.vector(work, after);
    block.accumulators[at]->users.add(token);
    if (bias != nullptr) bias->users.add(token);
    return token;
}

void GemmSteps::drain_round() {
    const auto beside = [&](const Block& a, const Block& b) {
        if (a.m_block != b.m_block) return false;
        if (a.item != b.item)
            return problem_.groups && b.n.begin == 0 && a.n.end() == problem_.n && b.item == a.item + 1;
        return a.n.end() == b.n.begin;
    };
    std::vector<Block*> row;
    for (Block& block : blocks_) {
        if (!row.empty() && !beside(*row.back(), block)) drain(std::exchange(row, {}));
        row.push_back(&block);
    }
    drain(std::move(row));
    for (Block& block : blocks_) {
        for (BufferTile* rows : block.accumulators) --rows->holds;
    }
}

void GemmSteps::drain(std::vector<Block*> row) {
    const Range all_rows{0, row.front()->m.count};
    if (workspace_.flow.resident(problem_.output)) {
        Tokens room;
        workspace_.flow.before_write(problem_.output, room);
        for (Block* block : row) {
            for (std::int64_t j = 0; j < static_cast<std::int64_t>(block->done.size()); ++j) {
                const Token token = drain_tile(*block, j, all_rows, room);
                workspace_.flow.wrote(problem_.output, output_box(*block, all_rows, n_tile(*block, j)),
                                      token);
            }
        }
        return;
    }
    std::int64_t width = 0;
    for (const Block* block : row) width += block->n.count;
    const std::int64_t pitch = row_bytes(workspace_.dtype(problem_.output), width).value();
    const std::int64_t most = std::min(workspace_.outputs.capacity() / 2, kOutputTileBytes);
    if (pitch > most && row.size() > 1) {
        for (Block* block : row) drain({block});
        return;
    }
    if (pitch > most) {
        refuse(workspace_.graph.layers[static_cast<std::size_t>(layer_)],
               fmt::format("two rows of results need {} B of placement.output_buffer ({} B)", 2 * pitch,
                           workspace_.outputs.capacity()));
    }
    const std::int64_t step = std::min(all_rows.count, most / pitch);
    for (std::int64_t begin = 0; begin < all_rows.count; begin += step) {
        store_rows(row, {begin, std::min(step, all_rows.count - begin)}, pitch);
    }
}

void GemmSteps::store_rows(const std::vector<Block*>& row, Range rows, std::int64_t pitch) {
    Tokens room;
    BufferTile* tile = workspace_.outputs.allocate(rows.count * pitch, std::nullopt, room);
    if (tile == nullptr) {
        refuse(workspace_.graph.layers[static_cast<std::size_t>(layer_)],
               fmt::format("its results and biases do not fit into placement.output_buffer ({} B) together",
                           workspace_.outputs.capacity()));
    }
    for (Block* block : row) {
        for (std::int64_t j = 0; j < static_cast<std::int64_t>(block->done.size()); ++j) {
            tile->ready.add(drain_tile(*block, j, rows, room));
        }
    }
    TensorBox box = output_box(*row.front(), rows, {row.front()->n.begin, 0});
    box.row_bytes = pitch;
    Tokens after = tile->ready;
    workspace_.flow.before_write(problem_.output, after);
    Transfer transfer;
    transfer.from = {Place::Scratchpad, tile->address, pitch};
    transfer.to = workspace_.flow.region(problem_.output, box);
    transfer.rows = box.rows;
    transfer.row_bytes = pitch;
    transfer.operand = Operand::Outputs;
    if (transfer.to.stride == pitch) transfer.row_bytes *= std::exchange(transfer.rows, 1);
    if (transfer.rows == 1) transfer.from.stride = transfer.to.stride = 0;
    const Token token = workspace_.emitter.transfer(unit_index(UnitKind::Store), transfer, after);
    tile->users.add(token);
    workspace_.flow.wrote(problem_.output, box, token);
}

}  // namespace systole::systolic
