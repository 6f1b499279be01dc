// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/devices/systolic/lowering/gemm.h"
#include "models/devices/systolic/lowering/head_rows.h"
#include "models/devices/systolic/lowering/heads_input.h"
#include "models/devices/systolic/lowering/untiled_weights.h"
#include "sim/base/check.h"
#include "sim/base/error.h"

namespace systole::systolic {
namespace {

std::string rates(const MxuSpec& mxu) {
    std::string names;
    const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
    for (std::size_t i = 0; i < mxu.rate.size(); ++i) {
        if (mxu.rate[i]) add(dtype_names()[i]);
    }
    for (const auto& [formats, rate] : mxu.mixed_rate)
        if (rate.macs > 0)
            add(fmt::format("{} with {}", to_string(formats.first), to_string(formats.second)));
    return names;
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
    p.m = c.pixels();
    p.n = c.out_c / c.groups;
    p.k = c.taps() * (c.in_c / c.groups);
    p.post = c.post;
    const bool slices_alone = !c.depth || (c.depth->stride == 1 && c.depth->pad == 0);
    const bool pointwise = c.taps() == 1 && c.stride == 1 && c.stride_w() == 1 && c.most_pad() == 0 &&
                           slices_alone && c.groups == 1;
    if (pointwise) {
        p.source = std::make_shared<MatrixInput>(p.input, dtype, 1, p.m, p.k, resident,
                                                 std::max<std::int64_t>(1, p.tile.m));
        return;
    }
    p.source = std::make_shared<ConvInput>(p.input, dtype, c, resident);
}

void shape_matmul(const Workspace& workspace, const MatMul& op, GemmProblem& p) {
    const bool folded = p.stored_weights && op.experts == 0;
    p.items = folded ? 1 : op.batch;
    p.m = folded ? op.batch * op.m : op.m;
    p.experts = op.experts;
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

/// Turned scores, [kv_len, q_len * group] of an item, by rows of queries.
void shape_keys(const Workspace& workspace, const Attention& op, GemmProblem& p) {
    SYSTOLE_CHECK(op.turned, "scores of '{}' are to be turned first", workspace.graph.tensors[p.output].name);
    const HeadLayout rows(op, op.row_dim(), workspace.dtype(p.second));
    p.items = op.items();
    p.m = op.kv_len;
    p.n = op.row_dim();
    p.k = rows.rows();
    p.second_operand = workspace.operand(p.second);
    p.weights = std::make_shared<HeadRows>(
        p.second, BitsPerWeight{bits_of(workspace.dtype(p.second)).value(), 1}, p.second_operand, rows);
    if (op.causal) p.mask = CausalMask(op);
    p.keys = GemmProblem::Keys::AlongM;
    p.heads = HeadLayout::of_keys(op, op.row_dim(), workspace.dtype(p.output));
    p.source =
        std::make_shared<MatrixInput>(p.input, workspace.dtype(p.input), p.items, p.m, p.k,
                                      workspace.flow.resident(p.input), std::max<std::int64_t>(1, p.tile.m));
}

void shape_attention(const Workspace& workspace, const Attention& op, GemmProblem& p) {
    if (op.part == Attention::Part::Keys) return shape_keys(workspace, op, p);
    const bool scores = op.part == Attention::Part::Scores;
    const DType dtype = workspace.dtype(p.input);
    const bool resident = workspace.flow.resident(p.input);
    p.items = op.items();
    p.m = op.q_len * op.group();
    p.n = scores ? op.kv_len : op.value_dim();
    p.k = scores ? op.row_dim() : op.kv_len;
    p.second_operand = workspace.operand(p.second);
    p.weights = std::make_shared<RowWeights>(attention_second(workspace, op, p.second, scores));
    if (op.causal) p.mask = CausalMask(op);
    p.keys = scores ? GemmProblem::Keys::AlongN : GemmProblem::Keys::AlongK;
    if (scores) {
        p.source = std::make_shared<HeadsInput>(p.input, dtype, op, resident);
        return;
    }
    p.heads = HeadLayout(op, op.value_dim(), workspace.dtype(p.output));
    if (!p.tile.rows_are_m) p.tile.m = tile_of_heads(p.tile.m, op.group());
    p.source = std::make_shared<MatrixInput>(p.input, dtype, p.items, p.m, p.k, resident,
                                             std::max<std::int64_t>(1, p.tile.m));
}

/// Whether blocks of the second operand are staged, or read where it lies.
bool stages_second(const Workspace& workspace, TensorId second) {
    return workspace.spec.mxu.weight_source == Space::Scratchpad && !workspace.flow.resident(second);
}

/// How K is cut: into tiles of at most `depth`, none of which crosses a multiple of `span`.
struct KCut {
    std::int64_t span, depth;
};

/// Rows of queries that are read in place: whole positions, or heads of one. A FIFO takes several positions
/// at once where their rows are as wide as a tile.
KCut cut_of_heads(const Workspace& workspace, const Attention& op, const GemmProblem& p, KCut cut) {
    const HeadLayout layout(op, op.row_dim(), workspace.dtype(p.second));
    if (layout.even() || stages_second(workspace, p.second)) return cut;
    const MxuSpec& mxu = workspace.spec.mxu;
    if (mxu.dataflow == Dataflow::OutputStationary) cut.depth = std::max(cut.depth, op.group());
    if (cut.depth < op.group() || (!mxu.direct() && op.row_dim() > mxu.cols)) return {op.group(), cut.depth};
    return {cut.span, cut.depth / op.group() * op.group()};
}

/// Whether weights that are turned are staged column of tiles by column: no pass needs more of K than one.
bool by_columns(const Workspace& workspace, const Placement& placement, std::int64_t depth) {
    return workspace.spec.mxu.dataflow != Dataflow::OutputStationary && depth <= placement.tile_cols;
}

/// Of stored weights that another layer has laid out, as this one meets them. `depth`: of K tiles, at most.
std::shared_ptr<GemmWeights> stored_weights(const Workspace& workspace, const Layer& layer, bool turned,
                                            std::int64_t depth, const GemmProblem& p) {
    const Placement& placement = workspace.placements[p.second];
    if (turned && p.format != WeightFormat{})
        refuse(layer,
               "its weights are those of another layer the other way round, which they can only be as plain "
               "numbers, without scales or sparsity");
    const bool by_column = placement.layout == Layout::ColumnMajor;
    const bool inputs_stay = workspace.spec.mxu.dataflow == Dataflow::InputStationary;
    if (p.format.packed() && by_column != inputs_stay)
        refuse(layer,
               "its packed weights are those of another layer, laid out for arrays of another dataflow");
    if (by_column)
        return std::make_shared<RowWeights>(p.second, placement.each, p.second_operand, p.n, p.k, !turned);
    // Arrays that hold inputs take all columns at once.
    if (turned || inputs_stay)
        return std::make_shared<UntiledWeights>(p.second, placement.each, placement, p.n, p.k, turned,
                                                turned && by_columns(workspace, placement, depth));
    return std::make_shared<StoredWeights>(p.second, placement.each, placement, p.n, p.k);
}

}  // namespace

MacRate expect_rate(const Workspace& workspace, const Layer& layer, DType input, DType second) {
    const MxuSpec& mxu = workspace.spec.mxu;
    if (const auto rate = mxu.rate_of(input, second)) return *rate;
    const std::string both = fmt::format("{}' with '{}", to_string(input), to_string(second));
    const std::string lacking = input == second || !mxu.rate_of(input) ? std::string(to_string(input))
                                : !mxu.rate_of(second)                 ? std::string(to_string(second))
                                                                       : both;
    refuse(layer,
           fmt::format("no matrix unit takes dtype '{}'; the matrix units have: {}", lacking, rates(mxu)));
}

GemmProblem gemm_problem(const Workspace& workspace, const Layer& layer) {
    GemmProblem p;
    p.input = layer.inputs.at(0);
    p.stored_weights = layer.weights.has_value();
    p.second = layer.weights ? *layer.weights : layer.inputs.at(1);
    p.output = layer.output;
    for (const auto& column : {layer.bias, layer.scales})
        if (column) p.columns.push_back(*column);
    if (layer.joined) p.join = GemmProblem::Join{layer.inputs.back(), layer.joined->post};
    p.tile = output_shape(workspace.spec.mxu);
    const std::int64_t depth = take_packed(workspace, layer, p);
    const Placement& placement = workspace.placements[p.second];
    std::optional<std::int64_t> span;  // that no K tile may leave
    bool transposed = false;
    bool turned = false;  // of stored weights: laid out as [n, k]
    if (const auto* conv = std::get_if<Conv2d>(&layer.op)) {
        shape_conv(workspace, *conv, p);
        if (workspace.spec.mxu.im2col == Im2col::PerTap) span = conv->in_c / conv->groups;
    } else if (const auto* attention = std::get_if<Attention>(&layer.op)) {
        shape_attention(workspace, *attention, p);
    } else {
        const auto& op = std::get<MatMul>(layer.op);
        SYSTOLE_CHECK(!op.transposed_a, "the first operand of '{}' is to be turned first", layer.name);
        shape_matmul(workspace, op, p);
        transposed = op.transposed_b;
        turned = placement.layout != Layout::RowMajor && transposed != placement.turned;
    }
    if (turned && placement.layout == Layout::Tiled &&
        (!stages_second(workspace, p.second) || by_columns(workspace, placement, depth)))
        span = placement.tile_cols;
    KCut cut{span.value_or(p.k), depth};
    const auto* attention = std::get_if<Attention>(&layer.op);
    if (attention && attention->part == Attention::Part::Keys)
        cut = cut_of_heads(workspace, *attention, p, cut);
    p.k_tiles = cut_k(layer, p.k, cut.span, cut.depth);
    if (p.weights) return p;
    if (!p.stored_weights) p.second_operand = workspace.operand(p.second);
    if (placement.layout != Layout::RowMajor) {
        p.weights = stored_weights(workspace, layer, turned, depth, p);
    } else {
        const BitsPerWeight each{bits_of(workspace.dtype(p.second)).value(), 1};
        p.weights = std::make_shared<RowWeights>(p.second, each, p.second_operand, p.n, p.k, transposed);
        p.second_row_bytes = row_bytes(each, transposed ? p.k : p.n).value();
        p.second_by_column = transposed;
    }
    return p;
}

GemmProblem phase_problem(const Workspace& workspace, const Layer& layer, std::size_t phase,
                          const WindowGeometry& window) {
    const auto& op = std::get<ConvTranspose>(layer.op);
    GemmProblem p;
    p.input = layer.inputs.at(0);
    p.second = *layer.weights;
    p.output = layer.output;
    p.part = static_cast<std::int64_t>(phase);
    if (layer.bias) p.columns.push_back(*layer.bias);
    p.tile = output_shape(workspace.spec.mxu);
    p.m = op.batch * window.out_h * window.out_w;
    p.n = op.out_c;
    p.k = window.kernel_h * window.kernel_w * op.in_c;
    p.post = op.post;
    p.source = std::make_shared<ConvInput>(p.input, workspace.dtype(p.input), window, op.in_c,
                                           workspace.flow.resident(p.input));
    const std::int64_t depth = take_packed(workspace, layer, p);
    const bool per_tap = workspace.spec.mxu.im2col == Im2col::PerTap;
    p.k_tiles = cut_k(layer, p.k, per_tap ? op.in_c : p.k, depth);
    const Placement& placement = workspace.placements[p.second];
    const std::int64_t begin = placement.parts.empty() ? 0 : placement.parts[phase];
    if (placement.layout == Layout::Tiled)
        p.weights = std::make_shared<StoredWeights>(p.second, placement.each, placement, p.n, p.k, begin);
    else
        p.weights = std::make_shared<RowWeights>(p.second, placement.each, p.second_operand, p.n, p.k, true,
                                                 ItemsApart{0, 0, 0, 0, begin});
    return p;
}

}  // namespace systole::systolic
