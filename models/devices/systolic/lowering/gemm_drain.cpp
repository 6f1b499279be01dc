// SPDX-License-Identifier: Apache-2.0
// The way out of a round: accumulators through the vector unit into the scratchpad, and from there to DRAM.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/devices/systolic/lowering/gemm.h"
#include "models/devices/systolic/lowering/vector_cost.h"
#include "models/devices/systolic/lowering/vector_steps.h"

namespace systole::systolic {
namespace {

/// A tile on its way out is at most this large, so that its store starts while the rest drains.
constexpr std::int64_t kOutputTileBytes = 256 * 1024;

Range overlap(Range a, Range b) {
    const std::int64_t begin = std::max(a.begin, b.begin);
    return {begin, std::max<std::int64_t>(0, std::min(a.end(), b.end()) - begin)};
}

}  // namespace

TensorBox GemmSteps::output_box(const Block& block, Range m, Range n) const {
    const DType dtype = workspace_.dtype(problem_.output);
    const std::int64_t pitch =
        row_bytes(dtype, problem_.groups ? problem_.items * problem_.n : problem_.n).value();
    const std::int64_t row = (problem_.groups ? 0 : block.item * problem_.m) + m.begin;
    const std::int64_t column = (problem_.groups ? block.item * problem_.n : 0) + n.begin;
    const std::int64_t offset = row * pitch + bits_of(dtype).value() * column / 8;
    return {offset, m.count, row_bytes(dtype, n.count).value(), pitch};
}

/// Drains outputs `m` x `n` of a tile. Accumulator rows that are rows of N leave turned, at the same rate.
Token GemmSteps::drain_tile(Block& block, OutputTile& tile, Range m, Range n, const Destination& to,
                            const Tokens& room) {
    std::vector<BufferTile*> columns;
    for (std::size_t i = 0; i < problem_.columns.size(); ++i)
        columns.push_back(workspace_.parameters().find(column_key(block, i)));
    const bool by_m = problem_.tile.rows_are_m;
    const Range rows = by_m ? m : n, cols = by_m ? n : m;
    VectorWork work;
    work.source = VectorWork::Source::Accumulator;
    work.elements = m.count * n.count;
    const auto joined = problem_.join ? std::optional(problem_.join->post) : std::nullopt;
    work.lane_cycles =
        work.elements * drain_cost(workspace_.spec.vector, problem_.operations(), problem_.post, joined);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const DType dtype = workspace_.dtype(problem_.columns[i]);
        const std::int64_t bytes = row_bytes(dtype, n.count).value();
        const std::int64_t skipped = bits_of(dtype).value() * (n.begin - block.n.begin) / 8;
        work.reads.push_back(
            {workspace_.emitter.stream(piece_pattern(bytes)), columns[i]->address + skipped, 0, 1, 0});
        work.scratchpad_read += bytes;
    }
    const std::int64_t row = row_bytes(workspace_.dtype(problem_.output), n.count).value();
    work.scratchpad_written = m.count * row;
    AddressStream pattern = rows_pattern(m.count, to.pitch, row);
    if (to.group > 0) {
        pattern.levels[1] = {m.count / to.group, Bytes(to.group_pitch)};
        pattern.levels[2].count = to.group;
    }
    work.write = {workspace_.emitter.stream(pattern), to.address, 0, m.count, 0};
    work.mxu = block.mxu;
    work.accumulator_row =
        static_cast<std::int32_t>(tile.accumulators->address + rows.begin - (by_m ? tile.m : tile.n).begin);
    work.accumulator_rows = static_cast<std::int32_t>(rows.count);
    work.cols = static_cast<std::int32_t>(cols.count);
    work.origin = {block.item + problem_.part, m.begin, 0, n.begin};

    Tokens after = room;
    after.add(tile.done);
    for (const BufferTile* column : columns) after.add(column->ready);
    if (problem_.join) read_joined(block, m, n, to, work, after);
    const Token token = workspace_.emitter.vector(work, after);
    tile.accumulators->users.add(token);
    for (BufferTile* column : columns) column->users.add(token);
    if (problem_.join && workspace_.flow.resident(problem_.join->tensor))
        workspace_.flow.read_by(problem_.join->tensor, token);
    return token;
}

/// What joins the results of a box comes from DRAM to where the results will be, which needs no room of its
/// own. What their drain then waits for.
Tokens GemmSteps::fetch_joined(const TensorBox& box, const Destination& to, const Tokens& room) {
    if (!problem_.join || workspace_.flow.resident(problem_.join->tensor)) return room;
    const TensorId tensor = problem_.join->tensor;
    return load(workspace_, tensor, workspace_.operand(tensor), {box, 0, to.pitch}, to.address, room);
}

/// A resident tensor is read where it lies, another where it was brought.
void GemmSteps::read_joined(const Block& block, Range m, Range n, const Destination& to, VectorWork& work,
                            Tokens& after) {
    std::int64_t address = to.address, pitch = to.pitch;
    if (workspace_.flow.resident(problem_.join->tensor)) {
        const TensorBox box = output_box(block, m, n);
        workspace_.flow.before_read(problem_.join->tensor, box.offset, box.end(), after);
        address = workspace_.flow.region(problem_.join->tensor, box).address;
        pitch = box.stride;
    }
    const std::int64_t row = row_bytes(workspace_.dtype(problem_.output), n.count).value();
    work.scratchpad_read += m.count * row;
    work.reads.push_back(
        {workspace_.emitter.stream(rows_pattern(m.count, pitch, row)), address, 0, m.count, 0});
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
    drain(row);
    for (Block& block : blocks_) {
        for (const OutputTile& tile : block.tiles) --tile.accumulators->holds;
    }
}

void GemmSteps::drain(const std::vector<Block*>& row) {
    if (!workspace_.flow.resident(problem_.output)) return drain_in_bands(row);
    Tokens room;
    workspace_.flow.before_write(problem_.output, room);
    for (Block* block : row) {
        for (OutputTile& tile : block->tiles) {
            if (problem_.heads) {
                drain_to(*problem_.heads, *block, tile, room);
                continue;
            }
            if (problem_.pixels) {
                drain_to(*problem_.pixels, *block, tile, room);
                continue;
            }
            const TensorBox box = output_box(*block, tile.m, tile.n);
            const Destination to{workspace_.flow.region(problem_.output, box).address, box.stride};
            const Token token = drain_tile(*block, tile, tile.m, tile.n, to, fetch_joined(box, to, room));
            workspace_.flow.wrote(problem_.output, box, token);
        }
    }
}

/// Into a resident tensor whose rows hold all heads, or the pixels of all phases.
template <class ResultLayout>
void GemmSteps::drain_to(const ResultLayout& layout, Block& block, OutputTile& tile, const Tokens& room) {
    for (const Range& rows : layout.pieces(tile.m)) {
        const std::int64_t at = layout.offset(block.item, rows.begin) + layout.bytes(tile.n.begin);
        Destination to{workspace_.flow.region(problem_.output, {at, 1, 0, 0}).address, layout.step()};
        to.group = std::min(layout.group(), rows.count);
        to.group_pitch = layout.pitch();
        const Token token = drain_tile(block, tile, rows, tile.n, to, room);
        for (const StagedCopy& copy : layout.copies(block.item, rows, tile.n))
            workspace_.flow.wrote(problem_.output, copy.from, token);
    }
}

/// Through the output buffer, in bands of rows that are as many as a tile on its way out may hold. Tiles
/// whose accumulator rows are rows of N drain whole columns, so a band then has all rows of a tile, and its
/// columns are cut where even that is too much.
void GemmSteps::drain_in_bands(const std::vector<Block*>& row) {
    const DType dtype = workspace_.dtype(problem_.output);
    const Range m = row.front()->m;
    std::int64_t width = 0;
    for (const Block* block : row) width += block->n.count;
    const std::int64_t pitch = row_bytes(dtype, width).value();
    const std::int64_t most = std::min(workspace_.outputs.capacity() / 2, kOutputTileBytes);
    const bool turned = !problem_.tile.rows_are_m;
    const std::int64_t tile_rows = std::min(m.count, std::max<std::int64_t>(1, problem_.tile.m));
    const std::int64_t least = turned ? tile_rows : 1;  // rows of a band
    if (pitch * least > most && row.size() > 1) {
        for (Block* block : row) drain_in_bands({block});
        return;
    }
    const std::int64_t columns = pitch * least <= most ? width
                                 : turned              ? most / least * 8 / bits_of(dtype).value()
                                                       : 0;
    if (columns == 0) {
        refuse(workspace_.graph.layers[static_cast<std::size_t>(layer_)],
               fmt::format("two {} of results need {} B of placement.output_buffer ({} B)",
                           turned ? "tiles" : "rows", 2 * least * (turned ? 1 : pitch),
                           workspace_.outputs.capacity()));
    }
    std::int64_t rows = std::min(m.count, std::max(least, most / pitch));
    if (rows > tile_rows) rows = rows / tile_rows * tile_rows;
    for (std::int64_t at = 0; at < m.count; at += rows) {
        const Range band{m.begin + at, std::min(rows, m.count - at)};
        for (std::int64_t from = 0; from < width; from += columns)
            store(row, band, {row.front()->n.begin + from, std::min(columns, width - from)}, row.size() == 1);
    }
}

/// Drains one band of the blocks, `columns` of a single one, and sends it on its way.
void GemmSteps::store(const std::vector<Block*>& row, Range rows, Range columns, bool single) {
    Tokens room;
    const std::int64_t pitch = row_bytes(workspace_.dtype(problem_.output), columns.count).value();
    BufferTile* tile = workspace_.outputs.allocate(rows.count * pitch, std::nullopt, room);
    if (tile == nullptr) {
        refuse(workspace_.graph.layers[static_cast<std::size_t>(layer_)],
               fmt::format("its results and biases do not fit into placement.output_buffer ({} B) together",
                           workspace_.outputs.capacity()));
    }
    TensorBox band = output_box(*row.front(), rows, {columns.begin, 0});
    band.row_bytes = pitch;
    const Tokens ready = fetch_joined(band, {tile->address, pitch}, room);
    const std::int64_t bits = bits_of(workspace_.dtype(problem_.output)).value();
    std::int64_t left = row.front()->n.begin - columns.begin;  // the block's first column, in the tile
    for (Block* block : row) {
        for (OutputTile& out : block->tiles) {
            const Range m = overlap(out.m, rows), n = single ? overlap(out.n, columns) : out.n;
            if (m.count == 0 || n.count == 0) continue;
            const std::int64_t column = left + n.begin - block->n.begin;
            const Destination to{tile->address + (m.begin - rows.begin) * pitch + bits * column / 8, pitch};
            tile->ready.add(drain_tile(*block, out, m, n, to, ready));
        }
        left += block->n.count;
    }
    send(*row.front(), rows, columns, *tile, pitch);
}

/// A tile of results, rows `pitch` apart, to where they belong.
void GemmSteps::send(const Block& first, Range rows, Range columns, BufferTile& tile, std::int64_t pitch) {
    TensorBox all = output_box(first, rows, {columns.begin, 0});
    all.row_bytes = pitch;
    std::vector<StagedCopy> boxes{{all, 0, pitch}};
    if (problem_.heads) boxes = problem_.heads->copies(first.item, rows, columns);
    if (problem_.pixels) boxes = problem_.pixels->copies(first.item, rows, columns);
    unstage(workspace_, tile, problem_.output, boxes);
}

}  // namespace systole::systolic
