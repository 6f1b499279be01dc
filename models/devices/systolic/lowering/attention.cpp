// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/devices/systolic/lowering/gemm.h"
#include "models/devices/systolic/lowering/layer_plan.h"
#include "sim/base/check.h"

namespace systole::systolic {
namespace {

enum AttentionTile : std::int64_t { kQueries, kKeys, kValues };

}  // namespace

AttentionSteps::AttentionSteps(Workspace& workspace, std::int64_t layer, const AttentionOperands& operands,
                               const AttentionBlocks& blocks)
    : workspace_(workspace),
      layer_(layer),
      operands_(operands),
      costs_(attention_costs(workspace.spec.vector.cost)),
      queries_(operands.q, workspace.dtype(operands.q), operands.op, workspace.flow.resident(operands.q)),
      keys_(attention_second(workspace, operands.op, operands.k, true)),
      values_(attention_second(workspace, operands.op, operands.v, false)),
      out_(operands.op, operands.op.value_dim(), workspace.dtype(operands.out)),
      mask_(operands.op),
      block_keys_(blocks.keys) {
    queries_.cut(blocks.rows);
    const std::int64_t rounds = ceil_div(own_blocks().count, workspace.spec.mxu.count);
    constexpr std::size_t kMostBlocks = Emitter::kMaxCommands / 4;  // two products and their drains each
    std::size_t all = 0;
    for (std::int64_t round = 0; round < rounds; ++round)
        for (Step step{round, 0};; ++step.block) {
            const std::size_t parts = parts_of(step).size();
            if (parts == 0) break;
            all += parts;
            if (all > kMostBlocks)
                refuse(workspace.graph.layers[static_cast<std::size_t>(layer)],
                       fmt::format("it makes more than {} blocks of scores, {} queries by {} keys each",
                                   kMostBlocks, blocks.rows, blocks.keys));
            steps_.push_back(step);
        }
}

/// Of the queries, item by item, those of the core.
Range AttentionSteps::own_blocks() const {
    return workspace_.core.of(operands_.op.items() * queries_.blocks());
}

/// The matrix units that have keys left to meet in a step.
std::vector<AttentionSteps::Part> AttentionSteps::parts_of(const Step& step) const {
    std::vector<Part> parts;
    const std::int64_t mxus = workspace_.spec.mxu.count, blocks = queries_.blocks();
    const Range own = own_blocks();
    for (std::int64_t unit = 0; unit < mxus; ++unit) {
        const std::int64_t index = own.begin + step.round * mxus + unit;
        if (index >= own.end()) break;
        Part part;
        part.mxu = static_cast<int>(unit);
        part.item = index / blocks;
        part.query_block = index % blocks;
        part.rows = queries_.rows(part.query_block);
        part.blocks = ceil_div(mask_.seen_by(part.rows), block_keys_);
        if (step.block < part.blocks) parts.push_back(part);
    }
    return parts;
}

Range AttentionSteps::keys_of(const Step& step) const {
    const std::int64_t begin = step.block * block_keys_;
    return {begin, std::min(block_keys_, operands_.op.kv_len - begin)};
}

/// Whether keys or values go to the arrays from where they lie.
bool AttentionSteps::in_place(TensorId tensor) const {
    return workspace_.spec.mxu.weight_source == Space::Dram || workspace_.flow.resident(tensor);
}

TileKey AttentionSteps::key(Second which, const Part& part, const Step& step) const {
    const bool keys = which == Second::Keys || operands_.op.shared;
    return {layer_, keys ? kKeys : kValues, part.item, step.block};
}

TileKey AttentionSteps::query_key(const Part& part) const {
    return {layer_, kQueries, part.item * queries_.blocks() + part.query_block, 0};
}

Staging AttentionSteps::second_staging(Second which, const Part& part, const Step& step) const {
    const Range keys = keys_of(step);
    return which == Second::Keys ? keys_.staging(part.item, keys, {0, operands_.op.head_dim})
                                 : values_.staging(part.item, {0, operands_.op.value_dim()}, keys);
}

BufferTile* AttentionSteps::second_tile(Second which, const Part& part, const Step& step) {
    if (in_place(which == Second::Keys ? operands_.k : operands_.v)) return nullptr;
    BufferTile* const tile = staging_ring(workspace_).find(key(which, part, step));
    SYSTOLE_CHECK(tile != nullptr, "block {} of layer {} is not staged", step.block, layer_);
    return tile;
}

bool AttentionSteps::stage_inputs(std::int64_t index, Holds& holds) {
    const Step& step = steps_[static_cast<std::size_t>(index)];
    BufferRing& ring = staging_ring(workspace_);
    const auto staged = [&](const Part& part) {
        if (!workspace_.flow.resident(operands_.q) && !stage(workspace_, ring, query_key(part), holds, [&] {
                return queries_.staging(part.item, part.query_block, {0, operands_.op.head_dim});
            }))
            return false;
        for (const Second which : {Second::Keys, Second::Values}) {
            if (in_place(which == Second::Keys ? operands_.k : operands_.v)) continue;
            if (!stage(workspace_, ring, key(which, part, step), holds,
                       [&] { return second_staging(which, part, step); }))
                return false;
        }
        return true;
    };
    const std::vector<Part> parts = parts_of(step);
    if (std::ranges::all_of(parts, staged)) return true;
    if (index != at_work_) return false;
    // Only the values of the step before may be in the way, if this is the ring of nobody else's.
    if (open_) {
        close(*open_);
        open_.reset();
    } else if (&ring != &workspace_.inputs) {
        refuse(
            workspace_.graph.layers[static_cast<std::size_t>(layer_)],
            fmt::format("keys and values find no room in placement.weight_buffer ({} B) beside the weights "
                        "of the layers behind",
                        ring.capacity()));
    }
    return false;
}

AttentionSteps::Open AttentionSteps::opened(std::int64_t index) {
    const Step& step = steps_[static_cast<std::size_t>(index)];
    Open open{step,   index + 1 == count() || steps_[static_cast<std::size_t>(index + 1)].round != step.round,
              round_, parts_of(step),
              {},     nullptr};
    const BufferRing& ring = scratch_ring(workspace_);
    const std::int64_t rows = queries_.rows(0).count;
    if (step.block == 0) {
        round_ = open.round = std::make_shared<Round>();
        const std::int64_t bytes = ring.aligned(rows * kStatisticsBytes);
        round_->statistics = &scratch(static_cast<std::int64_t>(open.parts.size()) * bytes, round_->room);
    }
    for (Part& part : open.parts) {
        part.statistics = open.round->statistics->address + part.mxu * ring.aligned(rows * kStatisticsBytes);
        BufferTile* const values = second_tile(Second::Values, part, step);
        open.values.push_back(values);
        if (values != nullptr) ++values->holds;  // until its product, a step later
    }
    return open;
}

void AttentionSteps::work(std::int64_t index) {
    Open now = opened(index);
    std::vector<AttentionProduct> products;
    for (const Part& part : now.parts) products.push_back(scores(part, now.step));
    interleave(products);
    Tokens room;
    const std::int64_t keys = keys_of(now.step).count;
    const std::int64_t row = row_bytes(workspace_.dtype(operands_.q), keys).value();
    const std::int64_t each = scratch_ring(workspace_).aligned(queries_.rows(0).count * row);
    now.shares = &scratch((now.parts.back().mxu + 1) * each, room);
    for (std::size_t i = 0; i < products.size(); ++i) {
        now.parts[i].shares = now.shares->address + now.parts[i].mxu * each;
        take_maxima(now, now.parts[i], products[i]);
        take_shares(now, now.parts[i], products[i], room);
        products[i].release();
    }
    if (open_) close(*open_);
    open_ = std::move(now);
    at_work_ = index + 1;
    if (at_work_ < count()) return;
    close(*open_);
    open_.reset();
}

std::string AttentionSteps::describe() const {
    const std::int64_t units = std::min<std::int64_t>(workspace_.spec.mxu.count, own_blocks().count);
    return fmt::format("{} MXU{}, fused; blocks of {} rows of queries x {} keys", units,
                       units == 1 ? "" : "s", queries_.rows(0).count, block_keys_);
}

namespace {

/// Of keys and values the format that goes faster with the queries, where it is another than theirs.
std::optional<DType> faster_second(const Workspace& workspace, const AttentionOperands& operands) {
    const MxuSpec& mxu = workspace.spec.mxu;
    const DType q = workspace.dtype(operands.q), k = workspace.dtype(operands.k),
                v = workspace.dtype(operands.v);
    return other_than(q, mxu.rate_of(q, k) < mxu.rate_of(q, v) ? v : k);
}

}  // namespace

LayerPlan plan_attention(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const AttentionOperands operands{std::get<Attention>(layer.op), layer.inputs.at(0), layer.inputs.at(1),
                                     layer.inputs.at(2), layer.output};
    for (const TensorId second : {layer.inputs.at(1), layer.inputs.at(2)})
        expect_rate(workspace, layer, workspace.dtype(operands.q), workspace.dtype(second));
    const auto blocks = choose_blocks(workspace, operands);
    if (!blocks)
        refuse(layer,
               fmt::format("fused attention finds no room for its smallest blocks: operands are staged in "
                           "{} B, and scores and sums between its products lie in {} B, of "
                           "placement.input_buffer and output_buffer, or of weight_buffer where one of "
                           "these is missing (fused: false needs neither)",
                           staging_ring(workspace).capacity(), scratch_ring(workspace).capacity()));
    const auto steps = std::make_shared<AttentionSteps>(workspace, index, operands, *blocks);
    LayerPlan result;
    result.mapping = steps->describe();
    result.cycles = blocks->cycles;
    result.dtype = workspace.dtype(operands.q);
    result.second_dtype = faster_second(workspace, operands);
    for (const TensorId tensor : layer.inputs)
        result.touched.push_back({tensor, stored_bytes(workspace.graph.tensors[tensor]).value()});
    result.steps = steps;
    result.dealt = true;
    return result;
}

}  // namespace systole::systolic
