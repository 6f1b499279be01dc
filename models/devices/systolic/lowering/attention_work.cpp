// SPDX-License-Identifier: Apache-2.0
// What a step of fused attention issues: its two products, and what the vector unit makes of their sums.
#include <algorithm>

#include "models/devices/systolic/lowering/attention.h"
#include "models/devices/systolic/lowering/vector_steps.h"

namespace systole::systolic {
namespace {

/// Scores and outputs are products of different operands: items of their own, and so are outputs of different
/// blocks of keys, whose sums are drained one by one.
PassOrigin origin_of(const Attention& op, std::int64_t item, std::int64_t block, bool outputs) {
    PassOrigin origin;
    origin.batch = 2 * (block * op.items() + item) + (outputs ? 1 : 0);
    return origin;
}

}  // namespace

BufferTile& AttentionSteps::scratch(std::int64_t bytes, Tokens& room) {
    BufferRing& ring = scratch_ring(workspace_);
    BufferTile* const tile = bytes <= ring.capacity() ? ring.allocate(bytes, std::nullopt, room) : nullptr;
    if (tile == nullptr)
        refuse(workspace_.graph.layers[static_cast<std::size_t>(layer_)],
               "its scores and sums find no room between the two products of fused attention");
    ++tile->holds;
    return *tile;
}

AttentionProduct AttentionSteps::scores(const Part& part, const Step& step) {
    const Range keys = keys_of(step), dim{0, operands_.op.head_dim};
    ProductInput input;
    input.tensor = operands_.q;
    input.dtype = workspace_.dtype(operands_.q);
    input.extent = queries_.extent(part.item, part.query_block);
    std::int64_t base = workspace_.flow.region(operands_.q, {}).address;
    if (!workspace_.flow.resident(operands_.q)) {
        input.tile = staging_ring(workspace_).find(query_key(part));
        base = input.tile->address;
    }
    input.read = [this, part, dim, base](Range k) {
        return queries_.read(part.item, part.query_block, dim, k, base);
    };
    const ProductSecond second{operands_.k,
                               part.item,
                               &keys_,
                               second_tile(Second::Keys, part, step),
                               workspace_.operand(operands_.k),
                               workspace_.dtype(operands_.k),
                               keys};
    PassOrigin origin = origin_of(operands_.op, part.item, step.block, false);
    origin.m0 = part.rows.begin;
    origin.n0 = keys.begin;
    const auto masked = [this](Range m, Range n, Range k) { return mask_.masked(m, n) * k.count; };
    return {workspace_, {part.mxu, part.rows, keys, dim, origin}, std::move(input), second, masked};
}

AttentionProduct AttentionSteps::context(const Open& open, std::size_t index) {
    const Part& part = open.parts[index];
    const Range keys = keys_of(open.step), dim{0, operands_.op.value_dim()};
    ProductInput input;
    input.tile = open.shares;
    input.dtype = workspace_.dtype(operands_.q);
    input.read = [dtype = input.dtype, part, keys](Range k) {
        PassRead read;
        read.address = part.shares + row_bytes(dtype, k.begin).value();
        read.stream.segments = {{Bytes(0), row_bytes(dtype, k.count)}};
        read.stream.levels[2] = {part.rows.count, row_bytes(dtype, keys.count)};
        return read;
    };
    const ProductSecond second{operands_.v,
                               part.item,
                               &values_,
                               open.values[index],
                               workspace_.operand(operands_.v),
                               workspace_.dtype(operands_.v),
                               {0, operands_.op.shared ? operands_.op.head_dim : operands_.op.value_dim()}};
    PassOrigin origin = origin_of(operands_.op, part.item, open.step.block, true);
    origin.m0 = part.rows.begin;
    const auto masked = [this](Range m, Range n, Range k) { return mask_.masked(m, k) * n.count; };
    return {workspace_, {part.mxu, part.rows, dim, keys, origin}, std::move(input), second, masked};
}

/// A command that takes a tile of sums.
VectorWork AttentionSteps::drain(const AttentionProduct& product, const OutputTile& tile) const {
    const bool by_m = output_shape(workspace_.spec.mxu).rows_are_m;
    const ProductShape& shape = product.shape();
    VectorWork work;
    work.source = VectorWork::Source::Accumulator;
    work.elements = tile.m.count * tile.n.count;
    work.mxu = shape.mxu;
    work.accumulator_row = static_cast<std::int32_t>(tile.accumulators->address);
    work.accumulator_rows = static_cast<std::int32_t>((by_m ? tile.m : tile.n).count);
    work.cols = static_cast<std::int32_t>((by_m ? tile.n : tile.m).count);
    work.origin = {shape.origin.batch, shape.origin.m0 + tile.m.begin - shape.m.begin, 0,
                   shape.origin.n0 + tile.n.begin - shape.n.begin};
    return work;
}

/// Maximum and sum of each of these rows.
EdgeRead AttentionSteps::statistics_of(const Part& part, Range rows) {
    const AddressStream pattern = piece_pattern(rows.count * kStatisticsBytes);
    return {workspace_.emitter.stream(pattern),
            part.statistics + (rows.begin - part.rows.begin) * kStatisticsBytes, 0, pattern.vectors(), 0};
}

/// `work` on a tile of results, behind its passes; reads and writes the statistics.
Token AttentionSteps::drained(Open& open, const OutputTile& tile, const VectorWork& work, Tokens after) {
    after.add(tile.done);
    const Token token = workspace_.emitter.vector(work, after);
    tile.accumulators->users.add(token);
    open.round->statistics->users.add(token);
    return token;
}

/// The maximum of each row's scores, over all tiles of the block, and what was known of it.
void AttentionSteps::take_maxima(Open& open, const Part& part, AttentionProduct& product) {
    for (const OutputTile& tile : product.tiles()) {
        VectorWork work = drain(product, tile);
        work.lane_cycles = work.elements * costs_.maximum;
        if (mask_.masked(tile.m, tile.n) > 0) work.lane_cycles += work.elements * costs_.mask;
        work.scratchpad_read = work.scratchpad_written = tile.m.count * kStatisticsBytes;
        work.write = statistics_of(part, tile.m);
        work.reads = {work.write};
        work.operand = Operand::PartialSums;
        drained(open, tile, work, open.round->room);
    }
}

/// exp(score - maximum) in the type of the queries, and the sum of each row.
void AttentionSteps::take_shares(Open& open, const Part& part, AttentionProduct& product,
                                 const Tokens& room) {
    const DType dtype = workspace_.dtype(operands_.q);
    const Range keys = product.shape().n;
    const std::int64_t pitch = row_bytes(dtype, keys.count).value();
    for (const OutputTile& tile : product.tiles()) {
        VectorWork work = drain(product, tile);
        work.lane_cycles = work.elements * costs_.share;
        if (tile.n.begin == keys.begin) work.lane_cycles += tile.m.count * costs_.rescale_row;
        work.scratchpad_read = tile.m.count * kStatisticsBytes;
        work.reads = {statistics_of(part, tile.m)};
        const std::int64_t row = row_bytes(dtype, tile.n.count).value();
        work.scratchpad_written = tile.m.count * row;
        const std::int64_t at = part.shares + (tile.m.begin - part.rows.begin) * pitch +
                                row_bytes(dtype, tile.n.begin - keys.begin).value();
        work.write = {workspace_.emitter.stream(rows_pattern(tile.m.count, pitch, row)), at, 0, tile.m.count,
                      0};
        work.operand = Operand::Activations;
        open.shares->ready.add(drained(open, tile, work, room));
    }
}

/// A block's outputs, added to those so far, which shrink where the maximum has grown.
void AttentionSteps::add_outputs(Open& open, const Part& part, AttentionProduct& product) {
    const std::int64_t pitch = operands_.op.value_dim() * kPartialBytes;
    const bool first = open.step.block == 0;
    for (const OutputTile& tile : product.tiles()) {
        VectorWork work = drain(product, tile);
        work.lane_cycles = work.elements * (first ? costs_.first : costs_.accumulate);
        const std::int64_t row = tile.n.count * kPartialBytes;
        const std::int64_t at =
            part.partial + (tile.m.begin - part.rows.begin) * pitch + tile.n.begin * kPartialBytes;
        work.write = {workspace_.emitter.stream(rows_pattern(tile.m.count, pitch, row)), at, 0, tile.m.count,
                      0};
        work.scratchpad_written = tile.m.count * row;
        if (!first) {
            work.reads = {work.write, statistics_of(part, tile.m)};
            work.scratchpad_read = tile.m.count * (row + kStatisticsBytes);
        }
        work.operand = Operand::PartialSums;
        open.round->partial->users.add(drained(open, tile, work, open.round->room));
    }
}

void AttentionSteps::close(Open& open) {
    const BufferRing& ring = scratch_ring(workspace_);
    const std::int64_t each = ring.aligned(queries_.rows(0).count * operands_.op.value_dim() * kPartialBytes);
    if (open.step.block == 0) {
        const auto parts = static_cast<std::int64_t>(open.parts.size());
        open.round->partial = &scratch(parts * each, open.round->room);
    }
    std::vector<AttentionProduct> products;
    for (std::size_t i = 0; i < open.parts.size(); ++i) {
        open.parts[i].partial = open.round->partial->address + open.parts[i].mxu * each;
        products.push_back(context(open, i));
    }
    interleave(products);
    for (std::size_t i = 0; i < open.parts.size(); ++i) {
        add_outputs(open, open.parts[i], products[i]);
        products[i].release();
        if (open.values[i] != nullptr) --open.values[i]->holds;
        if (open.step.block + 1 == open.parts[i].blocks) finish(open, open.parts[i]);
    }
    --open.shares->holds;
    if (!open.last) return;
    --open.round->statistics->holds;
    --open.round->partial->holds;
}

/// Rows of outputs over the sum of their shares.
Token AttentionSteps::divide(Open& open, const Part& part, Range rows, EdgeRead write, std::int64_t written,
                             const Tokens& after) {
    const std::int64_t row = operands_.op.value_dim() * kPartialBytes;
    const AddressStream pattern = piece_pattern(rows.count * row);
    VectorWork work;
    work.elements = rows.count * operands_.op.value_dim();
    work.lane_cycles = work.elements * costs_.finish + rows.count * costs_.finish_row;
    work.reads = {{workspace_.emitter.stream(pattern), part.partial + (rows.begin - part.rows.begin) * row, 0,
                   pattern.vectors(), 0},
                  statistics_of(part, rows)};
    work.scratchpad_read = rows.count * (row + kStatisticsBytes);
    work.write = write;
    work.scratchpad_written = written;
    const Token token = workspace_.emitter.vector(work, after);
    open.round->partial->users.add(token);
    open.round->statistics->users.add(token);
    return token;
}

/// The outputs of a block of queries, into their tensor.
void AttentionSteps::finish(Open& open, const Part& part) {
    const Range dim{0, operands_.op.value_dim()};
    const std::int64_t width = out_.bytes(dim.count);
    const TensorId output = operands_.out;
    Tokens after;
    if (!workspace_.flow.resident(output)) {
        BufferTile& tile = scratch(part.rows.count * width, after);
        const AddressStream pattern = piece_pattern(tile.size);
        const EdgeRead write{workspace_.emitter.stream(pattern), tile.address, 0, pattern.vectors(), 0};
        tile.ready.add(divide(open, part, part.rows, write, tile.size, after));
        unstage(workspace_, tile, output, out_.copies(part.item, part.rows, dim));
        --tile.holds;
        return;
    }
    workspace_.flow.before_write(output, after);
    for (const StagedCopy& copy : out_.copies(part.item, part.rows, dim)) {
        const AddressStream pattern = rows_pattern(copy.from.rows, copy.from.stride, copy.from.row_bytes);
        const EdgeRead write{workspace_.emitter.stream(pattern),
                             workspace_.flow.region(output, copy.from).address, 0, pattern.vectors(), 0};
        const Range rows{part.rows.begin + copy.to / width, copy.from.bytes() / width};
        const Token token = divide(open, part, rows, write, copy.from.bytes(), after);
        workspace_.flow.wrote(output, copy.from, token);
    }
}

}  // namespace systole::systolic
