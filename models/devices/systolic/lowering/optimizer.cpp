// SPDX-License-Identifier: Apache-2.0
// A step of training: piece by piece the gradient and the state come on chip, the vector unit writes the new
// state over the old one and the new weights behind it, and both go back to where they lie.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/optimizer_pieces.h"
#include "models/devices/systolic/lowering/vector_cost.h"
#include "models/devices/systolic/lowering/vector_steps.h"
#include "sim/base/check.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

/// Large enough for long bursts, small enough that loads, work and stores overlap.
constexpr std::int64_t kStatePieceBytes = 256 * 1024;
constexpr std::int64_t kStateBytes = 4;  // of an element of a slot

enum StateTile : std::int64_t { kGradient, kState };

class OptimizerSteps : public Steps {
public:
    OptimizerSteps(Workspace& workspace, std::int32_t layer)
        : workspace_(workspace),
          index_(layer),
          layer_(workspace.graph.layers[static_cast<std::size_t>(layer)]),
          op_(std::get<Optimizer>(layer_.op)),
          pieces_(workspace.graph, layer_, workspace.placements[*layer_.weights]) {
        cut();
    }

    std::int64_t count() const override { return pieces_.count(); }
    bool stage_weights(std::int64_t step, Holds& holds) override;
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;

private:
    TensorId gradient() const { return layer_.inputs.at(0); }
    TensorId state() const { return layer_.output; }
    bool in_place() const { return workspace_.flow.resident(gradient()); }
    /// Pieces of state go where inputs do; on a machine without room for these, where weights do.
    bool among_inputs() const { return workspace_.inputs.capacity() > 0; }
    BufferRing& ring() const { return among_inputs() ? workspace_.inputs : workspace_.parameters(); }
    TileKey key(StateTile kind, std::int64_t step) const { return {index_, kind, step, 0}; }
    /// Of a piece on chip: its slots one behind the other, and behind them its weights.
    std::int64_t state_bytes(const UpdatePiece& piece) const {
        return op_.slots() * piece.state.count * kStateBytes;
    }
    TensorBox state_box(const UpdatePiece& piece) const {
        return {piece.state.begin * kStateBytes, op_.slots(), piece.state.count * kStateBytes,
                op_.elements * kStateBytes};
    }
    void cut();
    bool stage_state(std::int64_t step, Holds& holds);
    EdgeRead read_gradient(const UpdatePiece& piece, std::int64_t step, Tokens& after);

    Workspace& workspace_;
    std::int32_t index_;
    const Layer& layer_;
    const Optimizer& op_;
    UpdatePieces pieces_;
};

void OptimizerSteps::cut() {
    const std::int64_t room = std::min(kStatePieceBytes, ring().capacity() / (among_inputs() ? 2 : 8));
    std::int64_t each = op_.slots() * kStateBytes + pieces_.weight_bytes();
    if (!in_place()) each += pieces_.gradient_bytes();
    if (room < each) {
        refuse(layer_,
               fmt::format(
                   "the {} B of a weight, with its state and gradient, do not fit: pieces may have {} B of "
                   "placement.input_buffer (or weight_buffer where there is none)",
                   each, room));
    }
    pieces_.cut(room / each);
}

bool OptimizerSteps::stage_state(std::int64_t step, Holds& holds) {
    return stage(workspace_, ring(), key(kState, step), holds, [&] {
        const UpdatePiece piece = pieces_.piece(step);
        const TensorBox box = state_box(piece);
        return Staging{state(),
                       Operand::OptimizerState,
                       state_bytes(piece) + piece.state.count * pieces_.weight_bytes(),
                       {{box, 0, box.row_bytes}}};
    });
}

bool OptimizerSteps::stage_weights(std::int64_t step, Holds& holds) {
    return among_inputs() || stage_state(step, holds);
}

bool OptimizerSteps::stage_inputs(std::int64_t step, Holds& holds) {
    if (among_inputs() && !stage_state(step, holds)) return false;
    if (in_place()) return true;
    return stage(workspace_, workspace_.inputs, key(kGradient, step), holds, [&] {
        const TensorBox box = pieces_.piece(step).gradient;
        return Staging{gradient(), workspace_.operand(gradient()), box.bytes(), {{box, 0, box.row_bytes}}};
    });
}

EdgeRead OptimizerSteps::read_gradient(const UpdatePiece& piece, std::int64_t step, Tokens& after) {
    const TensorBox& box = piece.gradient;
    AddressStream pattern = piece_pattern(box.bytes());
    std::int64_t address = 0;
    if (in_place()) {
        workspace_.flow.before_read(gradient(), box.offset, box.end(), after);
        pattern = rows_pattern(box.rows, box.stride, box.row_bytes);
        address = workspace_.flow.region(gradient(), box).address;
    } else {
        const BufferTile* tile = workspace_.inputs.find(key(kGradient, step));
        SYSTOLE_CHECK(tile != nullptr, "the gradient of step {} of layer {} is not staged", step, index_);
        after.add(tile->ready);
        address = tile->address;
    }
    return {workspace_.emitter.stream(pattern), address, 0, pattern.vectors(), 0};
}

void OptimizerSteps::work(std::int64_t step) {
    const UpdatePiece piece = pieces_.piece(step);
    BufferTile* tile = ring().find(key(kState, step));
    SYSTOLE_CHECK(tile != nullptr, "the state of step {} of layer {} is not staged", step, index_);
    const std::int64_t old = state_bytes(piece), made = old + piece.weights.bytes();
    const AddressStream reads = piece_pattern(old), writes = piece_pattern(made);
    Tokens after = tile->ready;
    VectorWork work;
    work.elements = piece.state.count;
    work.lane_cycles = work.elements * optimizer_cost(workspace_.spec.vector.cost, op_.kind);
    work.scratchpad_read = piece.gradient.bytes() + old;
    work.scratchpad_written = made;
    work.reads.push_back(read_gradient(piece, step, after));
    work.reads.push_back({workspace_.emitter.stream(reads), tile->address, 0, reads.vectors(), 0});
    work.write = {workspace_.emitter.stream(writes), tile->address, 0, writes.vectors(), 0};
    work.operand = Operand::OptimizerState;
    const Token token = workspace_.emitter.vector(work, after);
    if (in_place())
        workspace_.flow.read_by(gradient(), token);
    else
        workspace_.inputs.find(key(kGradient, step))->users.add(token);
    tile->ready.add(token);
    const TensorBox box = state_box(piece);
    unstage(workspace_, *tile, state(), {{box, 0, box.row_bytes}}, Operand::OptimizerState);
    unstage(workspace_, *tile, *layer_.weights, {{piece.weights, old, piece.weights.row_bytes}},
            Operand::Weights);
}

const char* name_of(Optimizer::Kind kind) {
    if (kind == Optimizer::Kind::Sgd) return "sgd";
    return kind == Optimizer::Kind::Momentum ? "momentum" : "adam";
}

}  // namespace

LayerPlan plan_optimizer(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const auto& op = std::get<Optimizer>(layer.op);
    const auto steps = std::make_shared<OptimizerSteps>(workspace, index);
    LayerPlan result;
    result.mapping = fmt::format("vector unit: {}, {} of state a weight, in place; {} chunk{}",
                                 name_of(op.kind), format_bytes(Bytes(op.slots() * kStateBytes)),
                                 steps->count(), steps->count() == 1 ? "" : "s");
    result.dtype = workspace.dtype(layer.inputs.at(0));
    result.touched.push_back(
        {layer.inputs.at(0), stored_bytes(workspace.graph.tensors[layer.inputs.at(0)]).value()});
    result.touched.push_back(
        {*layer.weights, op.elements * bits_of(workspace.dtype(*layer.weights)).value() / 8});
    // Read, and written.
    result.touched.push_back({layer.output, 2 * op.slots() * op.elements * kStateBytes});
    result.steps = steps;
    return result;
}

void check_updates(const Graph& graph) {
    std::vector<const Layer*> writer(graph.tensors.size());
    for (const Layer& layer : graph.layers) {
        for (const std::optional<TensorId>& stored : {layer.weights, layer.bias, layer.scales})
            if (stored && writer[*stored])
                refuse(layer, fmt::format("its weights '{}' are those that '{}' has written by then",
                                          graph.tensors[*stored].name, writer[*stored]->name));
        if (!std::holds_alternative<Optimizer>(layer.op)) continue;
        SYSTOLE_CHECK(layer.weights && graph.tensors[layer.output].role == TensorRole::OptimizerState,
                      "the optimizer '{}' lacks weights or a state", layer.name);
        writer[*layer.weights] = &layer;
    }
}

}  // namespace systole::systolic
