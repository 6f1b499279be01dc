// SPDX-License-Identifier: Apache-2.0
// A KV cache takes the keys or values of a step: the DMA copies them behind each head's rows, which lie in
// DRAM one head after the other, so that attention reads a head in one piece.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/attention_blocks.h"
#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/staging.h"

namespace systole::systolic {
namespace {

/// On its way at a time: long enough for long bursts, short enough that loads and stores overlap.
constexpr std::int64_t kCachePieceBytes = 256 * 1024;

/// Rows of the step's tensor and their places in the cache: boxes of equal rows.
struct CachePiece {
    TensorBox from, to;
};

std::vector<CachePiece> pieces_of(const CacheAppend& op, std::int64_t row, std::int64_t most_rows) {
    std::vector<CachePiece> whole;
    const std::int64_t heads = op.batch * op.heads, first = op.length - op.rows;
    if (op.rows == 1) {
        whole.push_back({{0, heads, row, row}, {first * row, heads, row, op.length * row}});
    } else {
        for (std::int64_t head = 0; head < heads; ++head) {
            const std::int64_t begin = head / op.heads * op.rows * op.heads + head % op.heads;
            whole.push_back({{begin * row, op.rows, row, op.heads * row},
                             {(head * op.length + first) * row, op.rows, row, row}});
        }
    }
    std::vector<CachePiece> pieces;
    for (const CachePiece& piece : whole) {
        for (std::int64_t at = 0; at < piece.from.rows; at += most_rows) {
            CachePiece part = piece;
            for (TensorBox* box : {&part.from, &part.to}) {
                box->offset += at * box->stride;
                box->rows = std::min(most_rows, piece.from.rows - at);
            }
            pieces.push_back(part);
        }
    }
    return pieces;
}

class CacheSteps : public Steps {
public:
    CacheSteps(Workspace& workspace, std::int64_t layer, std::vector<CachePiece> pieces)
        : workspace_(workspace),
          layer_(layer),
          source_(workspace.graph.layers[static_cast<std::size_t>(layer)]),
          input_(source_.inputs.at(0)),
          pieces_(std::move(pieces)) {}

    std::int64_t count() const override { return static_cast<std::int64_t>(pieces_.size()); }
    bool stage_weights(std::int64_t, Holds&) override { return true; }
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;

private:
    TileKey key(std::int64_t step) const { return {layer_, 0, step, 0}; }

    Workspace& workspace_;
    std::int64_t layer_;
    const Layer& source_;
    TensorId input_;
    std::vector<CachePiece> pieces_;
    std::int64_t at_work_ = 0;
};

bool CacheSteps::stage_inputs(std::int64_t step, Holds& holds) {
    if (workspace_.flow.resident(input_)) return true;
    BufferRing& ring = staging_ring(workspace_);
    const TensorBox& from = pieces_[static_cast<std::size_t>(step)].from;
    const bool staged = stage(workspace_, ring, key(step), holds, [&] {
        return Staging{input_, Operand::Activations, from.bytes(), {{from, 0, from.row_bytes}}};
    });
    if (!staged && step == at_work_ && &ring != &workspace_.inputs)
        refuse(source_,
               fmt::format("its rows find no room in placement.weight_buffer ({} B) beside the weights of "
                           "the layers behind",
                           ring.capacity()));
    return staged;
}

void CacheSteps::work(std::int64_t step) {
    const CachePiece& piece = pieces_[static_cast<std::size_t>(step)];
    const TensorId cache = source_.output;
    const bool in_place = workspace_.flow.resident(input_);
    BufferTile* const tile = in_place ? nullptr : staging_ring(workspace_).find(key(step));
    Tokens after;
    Transfer transfer;
    if (in_place) {
        workspace_.flow.before_read(input_, piece.from.offset, piece.from.end(), after);
        transfer.from = workspace_.flow.region(input_, piece.from);
    } else {
        after = tile->ready;
        transfer.from = {Place::Scratchpad, tile->address, piece.from.row_bytes};
    }
    workspace_.flow.before_write(cache, after);
    transfer.to = workspace_.flow.region(cache, piece.to);
    transfer.rows = piece.to.rows;
    transfer.row_bytes = piece.to.row_bytes;
    transfer.operand = Operand::KvCache;
    const Token token = workspace_.emitter.transfer(unit_index(UnitKind::Store), transfer, after);
    if (in_place)
        workspace_.flow.read_by(input_, token);
    else
        tile->users.add(token);
    workspace_.flow.wrote(cache, piece.to, token);
    at_work_ = step + 1;
}

}  // namespace

LayerPlan plan_kv_cache(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const auto& op = std::get<CacheAppend>(layer.op);
    const std::int64_t row = row_bytes(workspace.dtype(layer.output), op.dim).value();
    const std::int64_t room = workspace.flow.resident(layer.inputs.at(0))
                                  ? kCachePieceBytes
                                  : std::min(kCachePieceBytes, staging_ring(workspace).capacity() / 4);
    const std::int64_t most = std::max<std::int64_t>(1, room / row);
    if (!workspace.flow.resident(layer.inputs.at(0)) && row > staging_ring(workspace).capacity() / 2)
        refuse(layer, fmt::format("a row of a head, {} B, does not fit half of placement.input_buffer, or of "
                                  "weight_buffer where there is none ({} B)",
                                  row, staging_ring(workspace).capacity()));
    const std::int64_t pieces = op.batch * op.heads * ceil_div(op.rows, most);
    if (pieces > static_cast<std::int64_t>(Emitter::kMaxCommands))
        refuse(layer, fmt::format("it makes {} pieces for the DMA; at most {} commands are simulated", pieces,
                                  Emitter::kMaxCommands));
    LayerPlan result;
    result.mapping = fmt::format("DMA: {} row{} of each of {} heads", op.rows, op.rows == 1 ? "" : "s",
                                 op.batch * op.heads);
    result.dtype = workspace.dtype(layer.inputs.at(0));
    result.touched.push_back({layer.inputs.at(0), op.batch * op.rows * op.heads * row});
    result.steps = std::make_shared<CacheSteps>(workspace, index, pieces_of(op, row, most));
    return result;
}

}  // namespace systole::systolic
