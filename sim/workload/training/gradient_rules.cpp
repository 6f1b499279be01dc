// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training/gradient_rules.h"

#include <utility>

namespace systole {
namespace {

/// One operator's gradients, of `gradient`, that of what the layer made.
class Rules {
public:
    Rules(WayBack& back, const Layer& layer, TensorId gradient)
        : back_(back), layer_(layer), gradient_(gradient) {}

    void operator()(const MatMul& op) {
        pass_post(op.post);
        add_matmul_gradients(back_, layer_, gradient_);
    }
    void operator()(const Attention&) { add_attention_gradients(back_, layer_, gradient_); }
    void operator()(const Activation& op) {
        const TensorId at = slope_from_output(op.function) ? layer_.output : layer_.inputs[0];
        give(0, "input_gradient", slope(op.function), {gradient_, at});
    }
    void operator()(const Softmax& op) {
        give(0, "input_gradient", Softmax{op.rows, op.cols, true}, {gradient_, layer_.output});
    }
    void operator()(const Norm& op) {
        Norm own = op;
        own.gradient = true;
        if (back_.wants(layer_.inputs[0]))
            give(0, "input_gradient", own, {gradient_, layer_.inputs[0]}, layer_.weights);
        add_stored("weights_gradient", layer_.weights, columns(op.rows, op.cols), {gradient_, layer_.output});
        add_stored("bias_gradient", layer_.bias, columns(op.rows, op.cols), {gradient_});
    }
    void operator()(const Transpose& op) {
        Transpose own{back_.graph().shape(layer_.output), op.permutation};
        for (std::size_t d = 0; d < op.permutation.size(); ++d)
            own.permutation[static_cast<std::size_t>(op.permutation[d])] = static_cast<std::int64_t>(d);
        give(0, "input_gradient", own, {gradient_});
    }
    /// The same table, and the angles the other way round.
    void operator()(const Rotary& op) { give(0, "input_gradient", op, {gradient_}, layer_.weights); }
    void operator()(const Embedding& op) {
        add_stored("weights_gradient", layer_.weights,
                   EmbeddingGradient{op.vocabulary, op.width, op.lookups, op.spread, op.bag},
                   {gradient_, layer_.inputs[0]});
    }
    void operator()(const Pool& op) {
        Pool own = op;
        own.gradient = true;
        give(0, "input_gradient", own, {gradient_});
    }
    void operator()(const Concat&) { add_concat_gradients(back_, layer_, gradient_); }
    void operator()(const Slice&) { add_slice_gradients(back_, layer_, gradient_); }
    void operator()(const Gather&) { add_gather_gradients(back_, layer_, gradient_); }
    void operator()(const TopK&) { add_top_k_gradients(back_, layer_, gradient_); }
    void operator()(const Collective& op);
    void operator()(const Elementwise& op);
    template <class Other>
    void operator()(const Other&) {}  // refused (why_no_gradient)

private:
    static Reduce columns(std::int64_t rows, std::int64_t cols, std::int64_t items = 1) {
        return {Reduce::Kind::Sum, rows, cols, true, items};
    }
    const Tensor& tensor(TensorId id) const { return back_.graph().tensor(id); }
    Elementwise slope(Function function) const {
        Elementwise op{Elementwise::Kind::Mul, elements(tensor(layer_.output).shape)};
        op.slope = function;
        return op;
    }
    /// Behind a function that is part of the layer, and whose slope its output tells.
    void pass_post(Function post) {
        if (post == Function::None) return;
        const Tensor& made = tensor(layer_.output);
        gradient_ = back_.add(layer_, "activation_gradient", slope(post), {gradient_, layer_.output},
                              made.shape, made.dtype);
    }
    void give(std::size_t input, const char* part, Operator op, std::vector<TensorId> inputs,
              std::optional<TensorId> weights = {}) {
        const Tensor& read = tensor(layer_.inputs[input]);
        const TensorId own =
            back_.add(layer_, part, std::move(op), std::move(inputs), read.shape, read.dtype, weights);
        back_.give(layer_, layer_.inputs[input], own);
    }
    void add_stored(const char* part, std::optional<TensorId> stored, Operator op,
                    std::vector<TensorId> inputs) {
        if (stored) back_.add_stored(layer_, part, *stored, std::move(op), std::move(inputs));
    }
    void give_second(const Elementwise& op);

    WayBack& back_;
    const Layer& layer_;
    TensorId gradient_;
};

void Rules::operator()(const Collective& op) {
    Collective own = op;
    switch (op.kind) {
        case Collective::Kind::AllReduce:
            back_.give(layer_, layer_.inputs[0], gradient_);
            return;
        case Collective::Kind::AllGather:  // this chip's part
            give(0, "input_gradient", Slice{op.outer, 1, op.row * op.chips, 0, op.row}, {gradient_});
            return;
        case Collective::Kind::ReduceScatter:
            own.kind = Collective::Kind::AllGather;
            own.row /= own.chips;
            break;
        case Collective::Kind::AllToAll:
            break;
    }
    give(0, "input_gradient", own, {gradient_});
}

void Rules::operator()(const Elementwise& op) {
    pass_post(op.post);
    const TensorId a = layer_.inputs[0];
    if (back_.wants(a)) {
        Elementwise own = op;
        own.post = Function::None;
        std::vector<TensorId> inputs{gradient_};
        if (!op.stored) inputs.push_back(layer_.inputs[1]);
        if (op.kind == Elementwise::Kind::Add || op.kind == Elementwise::Kind::Sub)
            back_.give(layer_, a, gradient_);
        else  // of products and quotients with b, and of what b selects
            give(0, "input_gradient", own, inputs, layer_.weights);
    }
    if (op.stored || back_.wants(layer_.inputs[1])) give_second(op);
}

/// The gradient of b: summed over the times that it was met.
void Rules::give_second(const Elementwise& op) {
    const bool negative = op.kind == Elementwise::Kind::Sub;
    const bool product = op.kind == Elementwise::Kind::Mul;
    const std::int64_t own = op.elements / op.times;
    const Reduce sums = columns(op.times, own / op.items, op.items);
    if (op.stored && negative)
        gradient_ = back_.add(layer_, "negative_gradient", Activation{Function::Neg, op.elements},
                              {gradient_}, tensor(layer_.output).shape, tensor(layer_.output).dtype);
    std::vector<TensorId> factors{gradient_};
    if (product) factors.push_back(layer_.inputs[0]);
    if (op.stored) return add_stored("weights_gradient", layer_.weights, sums, factors);
    if (op.times > 1 && negative) {
        const Tensor& read = tensor(layer_.inputs[1]);
        gradient_ = back_.add(layer_, "columns", sums, factors, read.shape, read.dtype);
        factors = {gradient_};
    }
    if (negative) return give(1, "second_gradient", Activation{Function::Neg, own}, factors);
    if (op.times > 1) return give(1, "second_gradient", sums, factors);
    if (!product) return back_.give(layer_, layer_.inputs[1], gradient_);
    give(1, "second_gradient", Elementwise{Elementwise::Kind::Mul, own}, factors);
}

}  // namespace

void add_gradients(WayBack& back, const Layer& layer, TensorId gradient) {
    Rules rules(back, layer, gradient);
    std::visit(rules, layer.op);
}

}  // namespace systole
