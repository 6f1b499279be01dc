// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/transposed_operands.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace systole {
namespace {

/// The first operand of a layer that takes it transposed: `items` matrices of rows x cols, as it lies.
struct Turned {
    std::int64_t items = 1, rows = 1, cols = 1;
};

std::optional<Turned> turned_operand(const Operator& op) {
    if (const auto* m = std::get_if<MatMul>(&op); m && m->transposed_a) return Turned{m->batch, m->k, m->m};
    const auto* a = std::get_if<Attention>(&op);
    if (a && a->part == Attention::Part::Keys && !a->turned)
        return Turned{a->items(), a->q_len * a->group(), a->kv_len};
    return std::nullopt;
}

/// The operator behind the transpose.
Operator with_plain_operand(Operator op) {
    if (auto* m = std::get_if<MatMul>(&op)) m->transposed_a = false;
    if (auto* a = std::get_if<Attention>(&op)) a->turned = true;
    return op;
}

class Rewriting {
public:
    explicit Rewriting(const Graph& graph) : graph_(graph) {}

    Graph take() {
        find();
        if (new_tensors_.empty()) return graph_;
        keep_tensors();
        keep_layers();
        result_.name = graph_.name;
        result_.serving = graph_.serving;
        result_.batch_of = graph_.batch_of;
        for (const TensorId id : graph_.inputs) result_.inputs.push_back(place(id));
        for (const TensorId id : graph_.outputs) result_.outputs.push_back(place(id));
        for (const RepeatedBlock& block : graph_.blocks) keep_block(block);
        return std::move(result_);
    }

private:
    /// A transpose, and which tensor of the graph stands behind its output: that of the first layer that
    /// takes it.
    struct New {
        std::size_t layer = 0;
        TensorId before = 0;
        Turned shape;
    };

    void find();
    void keep_tensors();
    void keep_layers();
    void keep_block(RepeatedBlock block);
    TensorId place(TensorId id) const { return places_[id]; }

    const Graph& graph_;
    Graph result_;
    std::vector<New> new_tensors_;                    // in the order of layers
    std::vector<std::optional<std::size_t>> turned_;  // by layer: which of new_tensors_ it takes
    std::vector<TensorId> places_, new_places_;
};

void Rewriting::find() {
    std::map<std::array<std::int64_t, 5>, std::size_t> known;  // by address and shape of what is transposed
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
        const Layer& layer = graph_.layers[i];
        turned_.emplace_back();
        const std::optional<Turned> shape = turned_operand(layer.op);
        if (!shape) continue;
        const Tensor& operand = graph_.tensors[layer.inputs.at(0)];
        const TensorId root = operand.view_of.value_or(layer.inputs.at(0));
        const auto [found, added] =
            known.emplace(std::array{static_cast<std::int64_t>(root), operand.view_offset.value(),
                                     shape->items, shape->rows, shape->cols},
                          new_tensors_.size());
        if (added) new_tensors_.push_back({i, layer.output, *shape});
        turned_.back() = found->second;
    }
}

void Rewriting::keep_tensors() {
    std::vector<std::size_t> order(new_tensors_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return new_tensors_[i].before; });
    new_places_.resize(order.size());
    auto next = order.begin();
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
        for (; next != order.end() && new_tensors_[*next].before == id; ++next) {
            const New& made = new_tensors_[*next];
            const Layer& layer = graph_.layers[made.layer];
            Tensor tensor;
            tensor.name = layer.name + ".transposed";
            tensor.shape = {made.shape.items, made.shape.cols, made.shape.rows};
            tensor.dtype = graph_.tensors[layer.inputs.at(0)].dtype;
            new_places_[*next] = result_.tensors.size();
            result_.tensors.push_back(std::move(tensor));
        }
        places_.push_back(result_.tensors.size());
        result_.tensors.push_back(graph_.tensors[id]);
    }
    for (Tensor& tensor : result_.tensors)
        if (tensor.view_of) tensor.view_of = place(*tensor.view_of);
}

void Rewriting::keep_layers() {
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
        Layer layer = graph_.layers[i];
        for (TensorId& input : layer.inputs) input = place(input);
        for (std::optional<TensorId>* stored : {&layer.weights, &layer.bias, &layer.scales})
            if (*stored) *stored = place(**stored);
        layer.output = place(layer.output);
        if (turned_[i]) {
            const New& made = new_tensors_[*turned_[i]];
            const TensorId plain = new_places_[*turned_[i]];
            if (made.layer == i) {
                Layer transpose;
                transpose.name = result_.tensors[plain].name;
                transpose.op = Transpose{{made.shape.items, made.shape.rows, made.shape.cols}, {0, 2, 1}};
                transpose.inputs = {layer.inputs.at(0)};
                transpose.output = plain;
                transpose.where = layer.where;
                result_.layers.push_back(std::move(transpose));
            }
            layer.op = with_plain_operand(layer.op);
            layer.inputs.at(0) = plain;
        }
        result_.layers.push_back(std::move(layer));
    }
}

void Rewriting::keep_block(RepeatedBlock block) {
    // New ones by where in a turn they stand, for each turn.
    std::vector<std::vector<std::size_t>> layers(block.turns), tensors(block.turns);
    std::size_t layers_before = 0, tensors_before = 0;
    for (const New& made : new_tensors_) {
        if (made.layer < block.first_layer) ++layers_before;
        if (made.before < block.first_tensor) ++tensors_before;
        const auto note = [&](std::size_t at, std::size_t first, std::size_t each, auto& turns) {
            if (at >= first && at < first + each * block.turns)
                turns[(at - first) / each].push_back((at - first) % each);
        };
        note(made.layer, block.first_layer, block.layers, layers);
        note(made.before, block.first_tensor, block.tensors, tensors);
    }
    const auto alike = [](const auto& turns) {
        return std::ranges::all_of(turns, [&](const auto& turn) { return turn == turns.front(); });
    };
    if (!alike(layers) || !alike(tensors)) return;
    block.first_layer += layers_before;
    block.first_tensor += tensors_before;
    block.layers += layers.front().size();
    block.tensors += tensors.front().size();
    result_.blocks.push_back(std::move(block));
}

}  // namespace

Graph transpose_operands(const Graph& graph) {
    return Rewriting(graph).take();
}

}  // namespace systole
