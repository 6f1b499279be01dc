// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training/gradient_path.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole {
namespace {

/// What these make is no number that changes with what they read: the way back ends.
bool ends_the_way(const Operator& op) {
    const auto* elementwise = std::get_if<Elementwise>(&op);
    const auto* top = std::get_if<TopK>(&op);
    return (elementwise && elementwise->kind == Elementwise::Kind::Compare) || (top && top->indices);
}

struct WhyNot {
    const Layer& layer;
    const GradientPath& path;

    bool second_wants() const { return layer.inputs.size() > 1 && path.wants(layer.inputs[1]); }

    std::string operator()(const Conv2d&) const { return "convolutions are not trained"; }
    std::string operator()(const ConvTranspose&) const { return "convolutions are not trained"; }
    std::string operator()(const MatMul&) const { return ""; }
    std::string operator()(const Elementwise& e) const {
        using Kind = Elementwise::Kind;
        const bool learnt = e.stored || second_wants();
        if (e.kind == Kind::Max || e.kind == Kind::Min || e.kind == Kind::Pow)
            return fmt::format("of kind {}", elementwise_kinds()[static_cast<std::size_t>(e.kind)]);
        if (learnt && (e.kind == Kind::Div || e.kind == Kind::Select))
            return fmt::format("the second operand of kind {}",
                               elementwise_kinds()[static_cast<std::size_t>(e.kind)]);
        return "";
    }
    std::string operator()(const Activation&) const { return ""; }
    std::string operator()(const Softmax& s) const { return s.gradient ? "it is one" : ""; }
    std::string operator()(const Norm& n) const { return n.gradient ? "it is one" : ""; }
    std::string operator()(const Transpose&) const { return ""; }
    std::string operator()(const Embedding&) const { return ""; }
    std::string operator()(const Concat&) const { return ""; }
    std::string operator()(const Slice& s) const { return s.gradient ? "it is one" : ""; }
    std::string operator()(const Gather&) const { return ""; }
    std::string operator()(const TopK& t) const { return t.gradient ? "it is one" : ""; }
    std::string operator()(const Pool& p) const {
        if (p.gradient) return "it is one";
        const bool padded = std::max({p.pad, p.left(), p.bottom(), p.right()}) > 0;
        if (p.kind == Pool::Kind::Average && p.global() && !padded) return "";
        return "of pools only averages of whole maps are trained";
    }
    std::string operator()(const Rotary&) const { return ""; }
    std::string operator()(const Collective&) const { return ""; }
    std::string operator()(const Attention& a) const {
        if (a.by_head) return "a cache is for serving; attention reads keys and values themselves";
        if (a.shared) return "keys and values are one tensor";
        return a.part == Attention::Part::Keys ? "it is one" : "";
    }
    std::string operator()(const CacheAppend&) const {
        return "a cache is for serving; attention can read keys and values themselves";
    }
    std::string operator()(const Scaling&) const { return "numbers of narrow formats are not trained"; }
    template <class Other>
    std::string operator()(const Other&) const {
        return "the operator is not trained";
    }
};

std::string why_not_stored(const Graph& graph, const Layer& layer) {
    for (const auto& id : {layer.weights, layer.bias}) {
        if (!id) continue;
        const Tensor& stored = graph.tensors[*id];
        if (stored.format != WeightFormat{} || !is_floating(stored.dtype))
            return "only plain floating-point weights are trained";
    }
    return "";
}

}  // namespace

bool has_trained_weights(const Layer& layer) {
    return (layer.weights || layer.bias) && !std::holds_alternative<Rotary>(layer.op);
}

Function post_of(const Operator& op) {
    if (const auto* matmul = std::get_if<MatMul>(&op)) return matmul->post;
    if (const auto* elementwise = std::get_if<Elementwise>(&op)) return elementwise->post;
    const auto* activation = std::get_if<Activation>(&op);
    return activation ? activation->function : Function::None;
}

bool slope_from_output(Function function) {
    return function == Function::Relu || function == Function::Relu6 || function == Function::LeakyRelu;
}

GradientPath::GradientPath(const Graph& graph)
    : trained_(graph.tensors.size()), matters_(graph.tensors.size()) {
    for (TensorId id = 0; id < graph.tensors.size(); ++id)
        roots_.push_back(graph.tensors[id].view_of.value_or(id));
    for (const Layer& layer : graph.layers)
        trained_[layer.output] =
            !ends_the_way(layer.op) &&
            (has_trained_weights(layer) ||
             std::ranges::any_of(layer.inputs, [&](TensorId input) { return wants(input); }));
    for (const TensorId output : graph.outputs) matters_[root(output)] = true;
    for (std::size_t i = graph.layers.size(); i-- > 0;)
        if (has(graph.layers[i]))
            for (const TensorId input : graph.layers[i].inputs) matters_[root(input)] = true;
}

std::string why_no_gradient(const Graph& graph, const Layer& layer, const GradientPath& path) {
    if (std::string why = std::visit(WhyNot{layer, path}, layer.op); !why.empty()) return why;
    if (layer.joined) return "another layer has joined it";
    if (std::string why = why_not_stored(graph, layer); !why.empty()) return why;
    if (post_of(layer.op) == Function::Round) return "rounding has no slope";
    const DType made = graph.tensors[layer.output].dtype;
    if (!is_floating(made)) return fmt::format("it makes {}", to_string(made));
    for (const TensorId input : layer.inputs) {
        const DType read = graph.tensors[input].dtype;
        if (is_floating(read) && read != made)
            return fmt::format("it reads {} and makes {}", to_string(read), to_string(made));
    }
    return "";
}

}  // namespace systole
