// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training/way_back.h"

#include <algorithm>
#include <map>

#include "sim/workload/training/gradient_rules.h"

namespace systole {
namespace {

Collective sum_over(std::int64_t chips, const Shape& shape) {
    return {Collective::Kind::AllReduce, chips, 1, elements(shape)};
}

}  // namespace

WayBack::WayBack(AppendedGraph& graph, const GradientPath& path, const Training& how,
                 const std::vector<RepeatedBlock>& again)
    : graph_(graph),
      path_(path),
      how_(how),
      again_(graph, again),
      relatives_(graph.graph(), path),
      gradients_(graph.tensors()),
      replicas_left_(graph.layers()) {
    find_first_readers();
}

/// Where gradients of a tensor come together: a tensor that is no view, or a replica.
TensorId WayBack::node(TensorId tensor) const {
    const auto& replica = graph_.tensor(tensor).replica;
    return replica ? replica->view : path_.root(tensor);
}

/// A replica is left with the first of its readers, and of those of its replicas.
void WayBack::find_first_readers() {
    std::map<TensorId, std::size_t> first;
    for (std::size_t i = graph_.layers(); i-- > 0;) {
        const Layer& layer = graph_.graph().layers[i];
        if (!path_.has(layer)) continue;
        for (const TensorId input : layer.inputs)
            if (graph_.tensor(input).replica && wants(input)) first[node(input)] = i;
    }
    for (auto each = first.rbegin(); each != first.rend(); ++each) {
        replicas_left_[each->second].push_back(each->first);
        const TensorId of = graph_.tensor(each->first).replica->of;
        if (!graph_.tensor(of).replica) continue;
        // It stands before, and is met later.
        const auto [found, added] = first.emplace(of, each->second);
        if (!added) found->second = std::min(found->second, each->second);
    }
}

void WayBack::begin() {
    const TensorId output = graph_.graph().outputs.front();
    const Tensor made = graph_.tensor(output);
    const Softmax shares{elements(made.shape) / made.shape.back(), made.shape.back()};
    const TensorId loss =
        graph_.add({made.name + ".loss", shares, {output}, made.shape, made.dtype, how_.where});
    const Layer place{made.name, shares, {}, {}, {}, output, how_.where};
    give(place, output, loss);
}

void WayBack::pass(std::size_t index) {
    again_.stand_at(index);
    const Layer layer = graph_.graph().layers[index];  // a copy: layers are appended
    if (path_.has(layer))
        if (const auto gradient = gradients_[layer.output]) add_gradients(*this, layer, *gradient);
    leave_replicas(index);
}

void WayBack::leave_replicas(std::size_t index) {
    for (const TensorId view : replicas_left_[index]) {
        const auto gradient = gradients_[view];
        if (!gradient) continue;
        const Tensor own = graph_.tensor(view);
        const Layer place{own.name, sum_over(own.replica->chips, own.shape), {}, {}, {},
                          view,     graph_.graph().layers[index].where};
        give(place, own.replica->of, add(place, "gradient_sum", place.op, {*gradient}, own.shape, own.dtype));
    }
}

TensorId WayBack::add(const Layer& of, const std::string& part, Operator op, std::vector<TensorId> inputs,
                      Shape output, DType dtype, std::optional<TensorId> weights) {
    for (TensorId& input : inputs) input = again_(input);
    return graph_.add({of.name + "." + part, std::move(op), std::move(inputs), std::move(output), dtype,
                       of.where, weights});
}

void WayBack::give(const Layer& from, TensorId tensor, TensorId gradient) {
    if (!wants(tensor)) return;
    const TensorId at = node(tensor);
    const std::string name = graph_.tensor(at).name + ".gradient";
    const TensorId own = graph_.viewed_as(gradient, graph_.shape(at), graph_.tensor(gradient).name + ".view");
    std::optional<TensorId>& sum = gradients_[at];
    if (!sum) {
        sum = own;
        return;
    }
    const Shape shape = graph_.shape(at);
    const Elementwise add{Elementwise::Kind::Add, elements(shape)};
    sum = graph_.add({name, add, {*sum, own}, shape, graph_.tensor(own).dtype, from.where});
}

void WayBack::add_stored(const Layer& of, const std::string& part, TensorId stored, Operator op,
                         std::vector<TensorId> inputs) {
    const Shape shape = graph_.shape(stored);
    if (gradients_[stored])
        throw UserError(of.where,
                        fmt::format("'{}': layers that share stored numbers are not trained", of.name));
    TensorId gradient = add(of, part, std::move(op), std::move(inputs), shape, how_.gradients);
    const std::int64_t chips = how_.data_parallel;
    if (chips > 1)
        gradient = add(of, part + ".sum", sum_over(chips, shape), {gradient}, shape, how_.gradients);
    gradients_[stored] = gradient;
}

}  // namespace systole
