// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/devices/systolic/lowering/gemm.h"
#include "models/devices/systolic/lowering/heads_input.h"
#include "sim/base/checked.h"
#include "sim/base/error.h"

namespace systole::systolic {
namespace {

std::string rates(const MxuSpec& mxu) {
    std::string names;
    for (std::size_t i = 0; i < mxu.rate.size(); ++i) {
        if (mxu.rate[i]) names += (names.empty() ? "" : ", ") + dtype_names()[i];
    }
    return names;
}

std::int64_t pass_depth(const Workspace& workspace, const Layer& layer, TensorId input) {
    return std::int64_t{workspace.spec.mxu.rows} * expect_rate(workspace, layer, input);
}

/// K cut into tiles of at most `depth`; none crosses a multiple of `span`. Refuses more than kMaxKTiles.
std::vector<Range> cut_k(const Layer& layer, std::int64_t k, std::int64_t span, std::int64_t depth) {
    const std::int64_t count = k / span * ceil_div(span, depth) + ceil_div(k % span, depth);
    if (count > kMaxKTiles)
        refuse(layer, fmt::format("its K of {} makes {} tiles of at most {}; at most {} are simulated", k,
                                  count, depth, kMaxKTiles));
    std::vector<Range> tiles;
    tiles.reserve(static_cast<std::size_t>(count));
    for (std::int64_t at = 0; at < k;) {
        tiles.push_back({at, std::min({depth, span - at % span, k - at})});
        at = tiles.back().end();
    }
    return tiles;
}

void shape_conv(const Workspace& workspace, const Conv2d& c, GemmProblem& p) {
    const DType dtype = workspace.dtype(p.input);
    const bool resident = workspace.flow.resident(p.input);
    p.items = c.groups;
    p.groups = true;
    p.m = c.batch * c.out_h() * c.out_w();
    p.n = c.out_c / c.groups;
    p.k = c.kernel_h * c.kernel_w * (c.in_c / c.groups);
    p.post = c.post;
    const bool pointwise = c.kernel_h == 1 && c.kernel_w == 1 && c.stride == 1 && c.pad == 0 && c.groups == 1;
    if (pointwise) {
        p.source = std::make_shared<MatrixInput>(p.input, dtype, 1, p.m, p.k, resident,
                                                 std::max<std::int64_t>(1, p.tile.m));
        return;
    }
    p.source = std::make_shared<ConvInput>(p.input, dtype, c, resident);
}

void shape_matmul(const Workspace& workspace, const MatMul& op, GemmProblem& p) {
    const bool folded = p.stored_weights;
    p.items = folded ? 1 : op.batch;
    p.m = folded ? op.batch * op.m : op.m;
    p.n = op.n;
    p.k = op.k;
    p.post = op.post;
    p.source =
        std::make_shared<MatrixInput>(p.input, workspace.dtype(p.input), p.items, p.m, p.k,
                                      workspace.flow.resident(p.input), std::max<std::int64_t>(1, p.tile.m));
}

/// Accumulator rows that are rows of N drain whole tiles: a tile of results is whole positions, or heads of
/// one.
std::int64_t tile_of_heads(std::int64_t most, std::int64_t group) {
    if (group <= most) return most / group * group;
    std::int64_t rows = most;
    while (group % rows != 0) --rows;
    return rows;
}

void shape_attention(const Workspace& workspace, const Attention& op, GemmProblem& p) {
    const bool scores = op.part == Attention::Part::Scores;
    const DType dtype = workspace.dtype(p.input);
    const bool resident = workspace.flow.resident(p.input);
    p.items = op.items();
    p.m = op.q_len * op.group();
    p.n = scores ? op.kv_len : op.head_dim;
    p.k = scores ? op.head_dim : op.kv_len;
    p.second_operand = workspace.operand(p.second);
    p.weights = std::make_shared<RowWeights>(attention_second(workspace, op, p.second, scores));
    if (op.causal) p.mask = CausalMask(op);
    p.mask_along_k = !scores;
    if (scores) {
        p.source = std::make_shared<HeadsInput>(p.input, dtype, op, resident);
        return;
    }
    p.heads = HeadLayout(op, workspace.dtype(p.output));
    if (!p.tile.rows_are_m) p.tile.m = tile_of_heads(p.tile.m, op.group());
    p.source = std::make_shared<MatrixInput>(p.input, dtype, p.items, p.m, p.k, resident,
                                             std::max<std::int64_t>(1, p.tile.m));
}

/// Candidates: what the accumulators take in double buffering, halved down to one, and an even share of each
/// possible number of matrix units.
std::vector<std::int64_t> row_targets(std::int64_t m, std::int64_t room, int mxus) {
    std::vector<std::int64_t> targets;
    for (int share = 1; share <= mxus; ++share) {
        if (mxus % share == 0) targets.push_back(std::min(room, ceil_div(m, share)));
    }
    for (std::int64_t rows = room; rows >= 1; rows /= 2) targets.push_back(rows);
    return targets;
}

/// Rows of M that the accumulators take of one block in double buffering, when it is as narrow as can be.
std::int64_t most_rows(const OutputShape& tile, const MxuSpec& mxu) {
    const std::int64_t room = mxu.accumulator_room();
    return tile.rows_are_m ? room : tile.m * std::max<std::int64_t>(1, room / tile.n_unit);
}

/// All but the row blockings.
TilingRequest tiling_request(const Workspace& workspace, const GemmProblem& p, std::int64_t depth) {
    const SystolicSpec& spec = workspace.spec;
    const MxuSpec& mxu = spec.mxu;
    TilingRequest r;
    r.items = p.items;
    r.shared_input = p.groups;
    r.dataflow = mxu.dataflow;
    r.direct = mxu.direct();
    r.tile = p.tile;
    r.n = p.n;
    r.n_tiles = ceil_div(p.n, p.tile.n_unit);
    r.k_tiles = static_cast<std::int64_t>(p.k_tiles.size());
    r.weight_tile_bytes = p.weights->tile_bytes(p.tile.n_unit, depth);
    r.parameter_capacity = workspace.parameters().capacity();
    r.parameter_bytes = p.bias ? row_bytes(workspace.dtype(*p.bias), p.tile.n_unit).value() : 0;
    r.output_bytes =
        workspace.flow.resident(p.output) ? 0 : stored_bytes(workspace.graph.tensors[p.output]).value();
    r.mxus = mxu.count;
    r.array_rows = mxu.rows;
    r.array_cols = mxu.cols;
    r.shadow_register = mxu.shadow_register;
    r.accumulator_room = mxu.accumulator_room();
    if (mxu.direct()) r.drain_rows = spec.vector.accumulator_rows_per_cycle;
    r.activation_ports = std::max(1, spec.scratchpad.activation_ports);
    const bool staged = mxu.weight_source == Space::Scratchpad && !workspace.flow.resident(p.second);
    if (mxu.weight_source == Space::Scratchpad && spec.scratchpad.weight_port_bytes > Bytes(0)) {
        r.weight_port_cycles = ceil_div(r.weight_tile_bytes, spec.scratchpad.weight_port_bytes.value());
    }
    if (mxu.dataflow == Dataflow::InputStationary) {
        const std::int64_t vector = row_bytes(workspace.dtype(p.input), depth).value();
        r.weight_port_cycles = mxu.cols * ceil_div(vector, spec.scratchpad.weight_port_bytes.value());
    }
    r.k_cycles = ceil_div(p.k, mxu.rate_of(workspace.dtype(p.input)).value_or(1));
    const bool resident = workspace.flow.resident(p.input);
    r.input_capacity = resident ? 0 : std::max<std::int64_t>(1, workspace.inputs.capacity());
    r.weight_capacity = staged ? std::max<std::int64_t>(1, workspace.weights.capacity()) : 0;
    r.alignment = workspace.weights.aligned(1);
    if (spec.memory.kind == DramSpec::Kind::Dram) {
        r.dram_bytes_per_cycle =
            static_cast<double>(spec.memory.peak().value()) / static_cast<double>(spec.core_clock.value());
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

/// What a mapping file says about a layer, in the units of the array. Throws UserError at its place in the
/// file.
Tiling tiling_by_hand(const Layer& layer, const LayerMapping& wanted, TilingRequest& r, const GemmProblem& p,
                      std::int64_t depth) {
    const auto refuse = [&](const std::string& why) {
        throw UserError(wanted.where, fmt::format("the mapping of '{}' does not fit: {}", layer.name, why));
    };
    r.row_blockings = {p.source->blocking(std::min(wanted.rows, p.m), depth)};
    if (r.row_blockings.front().rows != wanted.rows)
        refuse(fmt::format("its blocks cannot have {} rows; the nearest below is {}", wanted.rows,
                           r.row_blockings.front().rows));
    if (wanted.columns != p.n && (wanted.columns % p.tile.n_unit != 0 || wanted.columns > p.n))
        refuse(fmt::format("{} columns are neither all of its {} nor a multiple of {}", wanted.columns, p.n,
                           p.tile.n_unit));
    const auto step = std::ranges::find(p.k_tiles, wanted.depth, &Range::end);
    if (step == p.k_tiles.end())
        refuse(fmt::format("its K of {} is cut into tiles of at most {}, and none ends at {}", p.k, depth,
                           wanted.depth));
    Tiling tiling;
    tiling.n_tiles = ceil_div(wanted.columns, p.tile.n_unit);
    tiling.k_tiles = step - p.k_tiles.begin() + 1;
    tiling.split_items = wanted.over_batch, tiling.split_m = wanted.over_m, tiling.split_n = wanted.over_n;
    tiling.m_outer = wanted.m_outer;
    if (const std::string why = obstacle(r, tiling); !why.empty()) refuse(why);
    return tiling;
}

}  // namespace

int expect_rate(const Workspace& workspace, const Layer& layer, TensorId operand) {
    const DType dtype = workspace.dtype(operand);
    const std::optional<int> rate = workspace.spec.mxu.rate_of(dtype);
    if (!rate) {
        refuse(layer, fmt::format("no matrix unit takes dtype '{}'; the matrix units have: {}",
                                  to_string(dtype), rates(workspace.spec.mxu)));
    }
    return *rate;
}

GemmProblem gemm_problem(const Workspace& workspace, const Layer& layer) {
    GemmProblem p;
    p.input = layer.inputs.at(0);
    p.stored_weights = layer.weights.has_value();
    p.second = layer.weights ? *layer.weights : layer.inputs.at(1);
    p.output = layer.output;
    p.bias = layer.bias;
    p.tile = output_shape(workspace.spec.mxu);
    const std::int64_t depth = pass_depth(workspace, layer, p.input);
    std::optional<std::int64_t> span;  // that no K tile may leave
    bool transposed = false;
    if (const auto* conv = std::get_if<Conv2d>(&layer.op)) {
        shape_conv(workspace, *conv, p);
        if (workspace.spec.mxu.im2col == Im2col::PerTap) span = conv->in_c / conv->groups;
    } else if (const auto* attention = std::get_if<Attention>(&layer.op)) {
        shape_attention(workspace, *attention, p);
    } else {
        const auto& op = std::get<MatMul>(layer.op);
        shape_matmul(workspace, op, p);
        transposed = op.transposed_b;
    }
    p.k_tiles = cut_k(layer, p.k, span.value_or(p.k), depth);
    expect_rate(workspace, layer, p.second);  // refuses what the array cannot hold
    if (p.weights) return p;
    const DType second = workspace.dtype(p.second);
    if (!p.stored_weights) p.second_operand = workspace.operand(p.second);
    const Placement& placement = workspace.placements[p.second];
    if (placement.layout == Layout::Tiled) {
        p.weights = std::make_shared<StoredWeights>(p.second, second, placement, p.n, p.k);
    } else {
        const bool by_column = transposed || placement.layout == Layout::ColumnMajor;
        p.weights = std::make_shared<RowWeights>(p.second, second, p.second_operand, p.n, p.k, by_column);
    }
    return p;
}

LayerMapping used_mapping(const GemmProblem& p, const Tiling& t) {
    LayerMapping used;
    used.rows = p.source->rows(0).count;
    used.columns = std::min(p.n, t.n_tiles * p.tile.n_unit);
    const std::int64_t tiles = std::min<std::int64_t>(t.k_tiles, static_cast<std::int64_t>(p.k_tiles.size()));
    used.depth = p.k_tiles[static_cast<std::size_t>(tiles - 1)].end();
    used.over_batch = t.split_items, used.over_m = t.split_m, used.over_n = t.split_n;
    used.m_outer = t.m_outer;
    return used;
}

Tiling map_gemm(const Workspace& workspace, const Layer& layer, GemmProblem& p) {
    const MxuSpec& mxu = workspace.spec.mxu;
    const std::int64_t depth = std::ranges::max(p.k_tiles, {}, &Range::count).count;
    TilingRequest r = tiling_request(workspace, p, depth);
    if (workspace.mapping) {
        const auto wanted = workspace.mapping->layers.find(layer.name);
        if (wanted != workspace.mapping->layers.end()) {
            const Tiling tiling = tiling_by_hand(layer, wanted->second, r, p, depth);
            p.source->cut(wanted->second.rows);
            refuse_too_many(workspace, layer, p, tiling);
            return tiling;
        }
    }
    const std::vector<std::int64_t> targets = row_targets(p.m, most_rows(p.tile, mxu), mxu.count);
    for (const std::int64_t rows : targets) r.row_blockings.push_back(p.source->blocking(rows, depth));
    const std::optional<Tiling> tiling = choose_tiling(r);
    if (!tiling) {
        const LeastBuffers least = least_buffers(r);
        refuse(layer,
               fmt::format(
                   "its smallest tiles do not fit: two need {} B of placement.input_buffer ({} B) and "
                   "{} B of placement.weight_buffer ({} B)",
                   least.input, workspace.inputs.capacity(), least.weights, workspace.weights.capacity()));
    }
    p.source->cut(targets[tiling->blocking]);
    refuse_too_many(workspace, layer, p, *tiling);
    return *tiling;
}

std::string describe_mapping(const GemmProblem& p, const Tiling& t) {
    const std::int64_t units = t.split_items * t.split_m * t.split_n;
    std::string text = fmt::format("{} MXU{}: ", units, units == 1 ? "" : "s");
    if (units > 1) {
        if (t.split_items > 1) text += fmt::format("{} over batch x ", t.split_items);
        text += fmt::format("{} over M x {} over N; ", t.split_m, t.split_n);
    }
    const std::int64_t last =
        std::min<std::int64_t>(t.k_tiles, static_cast<std::int64_t>(p.k_tiles.size())) - 1;
    text += fmt::format("blocks {} x {} x {}; {} outer", p.source->rows(0).count,
                        std::min(p.n, t.n_tiles * p.tile.n_unit),
                        p.k_tiles[static_cast<std::size_t>(last)].end(), t.m_outer ? "m" : "n");
    if (p.groups && p.items > 1) text += fmt::format("; {} groups one by one", p.items);
    return text;
}

}  // namespace systole::systolic
