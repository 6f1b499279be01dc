// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training/computed_again.h"

#include <algorithm>

namespace systole {

ComputedAgain::ComputedAgain(AppendedGraph& graph, const std::vector<RepeatedBlock>& blocks)
    : graph_(graph),
      tensors_(graph.tensors()),
      makers_(tensors_, kNone),
      turns_(graph.layers(), kNone),
      done_(tensors_),
      wanted_(graph.layers()) {
    for (std::size_t i = 0; i < graph.layers(); ++i) makers_[graph.graph().layers[i].output] = i;
    for (const RepeatedBlock& block : blocks)
        for (std::size_t turn = 0; turn < block.turns; ++turn) {
            const auto first =
                turns_.begin() + static_cast<std::ptrdiff_t>(block.first_layer + turn * block.layers);
            std::fill(first, first + static_cast<std::ptrdiff_t>(block.layers), prefixes_.size());
            prefixes_.push_back(fmt::format("{}.{}.", block.name, turn));
        }
}

std::size_t ComputedAgain::maker(TensorId tensor) const {
    if (tensor >= tensors_ || turn_ == kNone) return kNone;
    const Tensor& own = graph_.tensor(tensor);
    const std::size_t layer = makers_[own.view_of.value_or(tensor)];
    return layer != kNone && turns_[layer] == turn_ && own.role == TensorRole::Activation ? layer : kNone;
}

TensorId ComputedAgain::operator()(TensorId tensor) {
    const std::size_t layer = maker(tensor);
    if (layer == kNone) return tensor;
    if (done_[tensor]) return *done_[tensor];
    const TensorId root = graph_.tensor(tensor).view_of.value_or(tensor);
    if (!done_[root]) compute(layer);
    const Tensor own = graph_.tensor(tensor);
    done_[tensor] = graph_.viewed_as(*done_[root], own.shape, own.name + ".again");
    return *done_[tensor];
}

/// With all that it needs of this turn and that is not there again yet.
void ComputedAgain::compute(std::size_t last) {
    std::vector<std::size_t> open{last}, wanted;
    wanted_[last] = true;
    while (!open.empty()) {
        wanted.push_back(open.back());
        open.pop_back();
        for (const TensorId input : graph_.graph().layers[wanted.back()].inputs) {
            const std::size_t before = maker(input);
            if (before == kNone || wanted_[before]) continue;
            wanted_[before] = true;
            open.push_back(before);
        }
    }
    std::ranges::sort(wanted);
    for (const std::size_t each : wanted) {
        const Layer layer = graph_.graph().layers[each];  // a copy: layers are appended
        const Tensor made = graph_.tensor(layer.output);
        std::vector<TensorId> inputs;
        for (const TensorId input : layer.inputs) inputs.push_back((*this)(input));
        done_[layer.output] = graph_.add({name_of(each), layer.op, std::move(inputs), made.shape, made.dtype,
                                          layer.where, layer.weights, made.role, layer.bias});
    }
}

/// "decoder.3.again.query".
std::string ComputedAgain::name_of(std::size_t layer) const {
    const std::string& name = graph_.graph().layers[layer].name;
    const std::string& prefix = prefixes_[turn_];
    return prefix + "again." + (name.starts_with(prefix) ? name.substr(prefix.size()) : name);
}

}  // namespace systole
