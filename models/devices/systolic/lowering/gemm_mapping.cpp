// SPDX-License-Identifier: Apache-2.0
// What the mapper is asked about a matrix operator, and what a mapping by hand says of it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/devices/systolic/lowering/gemm.h"
#include "models/devices/systolic/lowering/tiling_candidate.h"
#include "models/devices/systolic/lowering/tiling_variants.h"
#include "sim/base/checked.h"
#include "sim/base/error.h"

namespace systole::systolic {
namespace {

/// Candidates: what the accumulators take in double buffering, halved down to one, and even shares, so that a
/// last block is not much smaller than the others.
std::vector<std::int64_t> row_targets(std::int64_t m, std::int64_t room, int mxus) {
    constexpr int kMostShares = 12;
    std::vector<std::int64_t> targets;
    const auto add = [&](std::int64_t rows) {
        if (std::ranges::find(targets, rows) == targets.end()) targets.push_back(rows);
    };
    for (int share = 1; share <= std::max(mxus, kMostShares); ++share)
        add(std::min(room, ceil_div(m, share)));
    for (std::int64_t rows = room; rows >= 1; rows /= 2) add(std::min(rows, m));
    return targets;
}

/// Rows of M that the accumulators take of one block in double buffering, when it is as narrow as can be.
std::int64_t most_rows(const OutputShape& tile, const MxuSpec& mxu) {
    const std::int64_t room = mxu.accumulator_room();
    return tile.rows_are_m ? room : tile.m * std::max<std::int64_t>(1, room / tile.n_unit);
}

/// Of bytes of the whole problem, those of the core that is asked about.
std::int64_t share_of(std::int64_t bytes, const GemmProblem& p) {
    return p.share.part == 1 ? bytes : static_cast<std::int64_t>(static_cast<double>(bytes) * p.share.part);
}

/// How results leave, and what joins them.
void describe_results(const Workspace& workspace, const GemmProblem& p, TilingRequest& r) {
    // Of a layer that is several problems, its own share.
    r.output_bytes = workspace.flow.stored_in_dram(p.output)
                         ? share_of(p.items * p.m * row_bytes(workspace.dtype(p.output), p.n).value(), p)
                         : 0;
    if (p.join && !workspace.flow.resident(p.join->tensor))
        r.joined_bytes = share_of(stored_bytes(workspace.graph.tensors[p.join->tensor]).value(), p);
    r.store_rows = p.pixels ? p.pixels->group() : 0;
    r.output_pitch = row_bytes(workspace.dtype(p.output), (p.groups ? p.items : 1) * p.n).value();
    r.spread = [&spread = workspace.chip.spread](std::int64_t pitch, std::int64_t bytes) {
        return spread.of(pitch, bytes);
    };
}

/// All but the row blockings.
TilingRequest tiling_request(const Workspace& workspace, const GemmProblem& p, std::int64_t depth) {
    const SystolicSpec& spec = workspace.spec;
    const MxuSpec& mxu = spec.mxu;
    TilingRequest r;
    r.items = p.share.items.count;
    r.shared_input = p.groups;
    r.dataflow = mxu.dataflow;
    r.direct = mxu.direct();
    r.tile = p.tile;
    r.n = p.share.n.count;
    r.n_tiles = ceil_div(p.share.n.count, p.tile.n_unit);
    r.k_tiles = static_cast<std::int64_t>(p.k_tiles.size());
    r.weight_tile_bytes = p.weights->tile_bytes(p.tile.n_unit, depth);
    r.weight_pitch = workspace.flow.resident(p.second) ? 0 : p.second_row_bytes;
    r.weights_by_column = p.second_by_column;
    r.weight_piece_bytes = row_bytes(p.second_dtype, p.second_by_column ? depth : p.tile.n_unit).value();
    r.parameter_capacity = workspace.parameters().capacity();
    for (const TensorId column : p.columns)
        r.parameter_bytes += row_bytes(workspace.dtype(column), p.tile.n_unit).value();
    describe_results(workspace, p, r);
    r.arriving_bytes = share_of(workspace.flow.to_arrive(p.input), p);
    r.issue_cycles = spec.sequencer.issue_cycles.value();
    r.mxus = mxu.count;
    r.array_rows = mxu.rows;
    r.array_cols = mxu.cols;
    r.shadow_register = mxu.shadow_register;
    r.accumulator_room = mxu.accumulator_room();
    r.drain_rows = spec.vector.accumulator_rows_per_cycle;
    r.drain_elements = std::min(spec.vector.lanes, spec.vector.accumulator_rows_per_cycle * mxu.cols);
    r.activation_ports = std::max(1, spec.scratchpad.activation_ports);
    const bool staged = mxu.weight_source == Space::Scratchpad && !workspace.flow.resident(p.second);
    if (mxu.weight_source == Space::Scratchpad && spec.scratchpad.weight_port_bytes > Bytes(0)) {
        r.weight_port_cycles = ceil_div(r.weight_tile_bytes, spec.scratchpad.weight_port_bytes.value());
        r.weight_fill_cycles =
            (spec.dma.setup_cycles + spec.scratchpad.latency).value() + r.weight_port_cycles;
        r.weight_fifo_tiles = mxu.weight_fifo_tiles;
    }
    if (mxu.dataflow == Dataflow::InputStationary) {
        const std::int64_t vector = row_bytes(workspace.dtype(p.input), depth).value();
        r.weight_port_cycles = mxu.cols * ceil_div(vector, spec.scratchpad.weight_port_bytes.value());
    }
    if (p.unpacked)
        r.weight_port_cycles =
            std::max(r.weight_port_cycles, ceil_div(depth / p.sparsity * p.tile.n_unit, mxu.unpack));
    const MacRate rate = mxu.rate_of(workspace.dtype(p.input), p.second_dtype).value_or(MacRate{1});
    r.k_vectors = ceil_div(p.k, rate.macs * p.sparsity);
    r.vector_cycles = rate.cycles;
    const bool resident = workspace.flow.resident(p.input);
    r.input_capacity = resident ? 0 : std::max<std::int64_t>(1, workspace.inputs.capacity());
    r.weight_capacity = staged ? std::max<std::int64_t>(1, workspace.weights.capacity()) : 0;
    r.alignment = workspace.weights.aligned(1);
    if (spec.memory.kind == DramSpec::Kind::Dram) {
        r.dram_bytes_per_cycle = static_cast<double>(spec.memory.peak().value()) /
                                 static_cast<double>(spec.core_clock.value()) / p.share.cores;
        r.dma_setup_cycles = spec.dma.setup_cycles.value();
    }
    return r;
}

/// Commands that an output tile takes along K.
std::int64_t commands_along_k(const Workspace& workspace, const GemmProblem& p, const Tiling& tiling) {
    const auto k_tiles = static_cast<std::int64_t>(p.k_tiles.size());
    std::int64_t commands = 0;
    for (std::int64_t step = 0; step < k_tiles; step += tiling.k_tiles) {
        const std::int64_t end = std::min(step + tiling.k_tiles, k_tiles);
        for (std::int64_t at = step; at < end; ++commands) at += folds_at_once(workspace, p, {at, end - at});
    }
    return commands;
}

/// Finds out early what the emitter would find out after minutes, and what would be simulated for ages.
void refuse_too_many(const Workspace& workspace, const Layer& layer, const GemmProblem& p,
                     const Tiling& tiling) {
    const MxuSpec& mxu = workspace.spec.mxu;
    const std::int64_t blocks = p.source->blocks() * p.tile.m_tiles(p.source->rows(0).count);
    const std::int64_t n_tiles =
        ceil_div(p.n, p.tile.n == 0 ? p.tile.n_unit * tiling.n_tiles : p.tile.n_unit);
    const auto tiles = checked_mul(p.items * n_tiles, blocks);
    const auto refuse_beyond = [&](std::int64_t most, std::int64_t each, const char* what) {
        const auto all = tiles ? checked_mul(*tiles, each) : tiles;
        if (!all || *all > most)
            refuse(layer, fmt::format("it needs more than {} {} on an array of {}x{}", most, what, mxu.rows,
                                      mxu.cols));
    };
    const std::int64_t commands = commands_along_k(workspace, p, tiling);
    const bool outputs_stay = mxu.dataflow == Dataflow::OutputStationary;
    refuse_beyond(static_cast<std::int64_t>(Emitter::kMaxCommands), commands, "passes");
    refuse_beyond(kMaxFolds, outputs_stay ? commands : static_cast<std::int64_t>(p.k_tiles.size()),
                  "folds, which are simulated one by one even where few commands start them,");
}

/// What was asked for, or why it cannot be.
struct AskedTiling {
    Tiling tiling;
    std::string why_not = {};
};

/// What is said of a layer, in the units of the array. Sets the row blockings to the one that is asked for.
AskedTiling tiling_of(const LayerMapping& wanted, TilingRequest& r, const GemmProblem& p,
                      std::int64_t depth) {
    r.row_blockings = {p.source->blocking(std::min(wanted.rows, p.share.m), depth)};
    if (r.row_blockings.front().rows != wanted.rows)
        return {{},
                fmt::format("its blocks cannot have {} rows; the nearest below is {}", wanted.rows,
                            r.row_blockings.front().rows)};
    const std::int64_t columns = p.share.n.count;
    if (wanted.columns != columns && (wanted.columns % p.tile.n_unit != 0 || wanted.columns > columns))
        return {{},
                fmt::format("{} columns are neither all of its {} nor a multiple of {}", wanted.columns,
                            columns, p.tile.n_unit)};
    const auto step = std::ranges::find(p.k_tiles, wanted.depth, &Range::end);
    if (step == p.k_tiles.end())
        return {{},
                fmt::format("its K of {} is cut into tiles of at most {}, and none ends at {}", p.k, depth,
                            wanted.depth)};
    Tiling tiling;
    tiling.n_tiles = ceil_div(wanted.columns, p.tile.n_unit);
    tiling.k_tiles = step - p.k_tiles.begin() + 1;
    tiling.split_items = wanted.over_batch, tiling.split_m = wanted.over_m, tiling.split_n = wanted.over_n;
    tiling.m_outer = wanted.m_outer;
    const std::string why_not = obstacle(r, tiling);
    if (why_not.empty()) tiling.cycles = tiling_time(r, tiling).cycles;
    return {tiling, why_not};
}

/// That of an earlier part of the layer of which this is one, if it can be this one's, too: parts are alike,
/// and to choose takes longer than all else. Or that which is to be tried, if it can be.
std::optional<LayerMapping> fitting_mapping(const Workspace& workspace, const Layer& layer, TilingRequest r,
                                            const GemmProblem& p, std::int64_t depth) {
    const bool later_part = layer.slice && layer.slice->index > 0;
    const LayerMappings* const known = later_part ? &workspace.chip.used.layers : workspace.chip.tried;
    if (!known) return std::nullopt;
    const auto found = known->find(whole_name(layer));
    if (found == known->end() || !tiling_of(found->second, r, p, depth).why_not.empty()) return std::nullopt;
    return found->second;
}

/// What a mapping says of a layer: by hand, for another part of it, or to be tried. Throws UserError at its
/// place in the file.
std::optional<GemmMapping> mapping_of(const Workspace& workspace, const Layer& layer, TilingRequest& r,
                                      GemmProblem& p, std::int64_t depth) {
    std::optional<LayerMapping> wanted = fitting_mapping(workspace, layer, r, p, depth);
    if (workspace.chip.mapping) {
        const auto by_hand = workspace.chip.mapping->layers.find(whole_name(layer));
        if (by_hand != workspace.chip.mapping->layers.end()) wanted = by_hand->second;
    }
    if (!wanted) return std::nullopt;
    const AskedTiling asked = tiling_of(*wanted, r, p, depth);
    if (!asked.why_not.empty())
        throw UserError(wanted->where,
                        fmt::format("the mapping of '{}' does not fit: {}", layer.name, asked.why_not));
    p.source->cut(wanted->rows);
    refuse_too_many(workspace, layer, p, asked.tiling);
    return GemmMapping{.tiling = asked.tiling, .rows = wanted->rows};
}

/// What could be tried instead of `chosen`, if anybody asks; the first is that.
std::vector<LayerMapping> variants_of(const Workspace& workspace, const GemmProblem& p,
                                      const TilingRequest& r, const Tiling& chosen) {
    std::vector<LayerMapping> variants;
    if (workspace.chip.most_variants < 2) return variants;
    for (const Tiling& tiling : tiling_variants(r, chosen, workspace.chip.most_variants))
        variants.push_back(mapping_of_tiling(p, r, tiling));
    return variants;
}

/// "4096 B": of what is beyond all numbers nobody knows how far.
std::string bytes_needed(std::int64_t bytes) {
    return bytes == kBeyond ? "more than can be counted" : fmt::format("{} B", bytes);
}

}  // namespace

GemmMapping map_share(const Workspace& workspace, const Layer& layer, GemmProblem& p) {
    const MxuSpec& mxu = workspace.spec.mxu;
    const std::int64_t depth = std::ranges::max(p.k_tiles, {}, &Range::count).count;
    TilingRequest r = tiling_request(workspace, p, depth);
    if (const std::optional<GemmMapping> said = mapping_of(workspace, layer, r, p, depth)) return *said;
    const std::vector<std::int64_t> targets = row_targets(p.share.m, most_rows(p.tile, mxu), mxu.count);
    for (const std::int64_t rows : targets) r.row_blockings.push_back(p.source->blocking(rows, depth));
    const std::optional<Tiling> tiling = choose_tiling(r);
    if (workspace.chip.choices) workspace.chip.choices->push_back(mapping_choice(layer, p, r));
    if (!tiling) {
        const LeastBuffers least = least_buffers(r);
        refuse(layer,
               fmt::format("its smallest tiles do not fit: two need {} of placement.input_buffer ({} B) and "
                           "{} of placement.weight_buffer ({} B)",
                           bytes_needed(least.input), workspace.inputs.capacity(),
                           bytes_needed(least.weights), workspace.weights.capacity()));
    }
    p.source->cut(targets[tiling->blocking]);
    refuse_too_many(workspace, layer, p, *tiling);
    return {.tiling = *tiling,
            .rows = targets[tiling->blocking],
            .variants = variants_of(workspace, p, r, *tiling)};
}

}  // namespace systole::systolic
