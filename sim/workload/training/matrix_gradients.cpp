// SPDX-License-Identifier: Apache-2.0
// Gradients of what arrays compute: of y = a b, a' = y' b^T and b' = a^T y', whichever of them lie
// transposed.
#include "sim/workload/training/gradient_rules.h"

namespace systole {
namespace {

/// a[m,k] times b[k,n], each of them possibly transposed, of `batch` pairs.
MatMul product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, bool transposed_a,
               bool transposed_b) {
    MatMul op;
    op.batch = batch, op.m = m, op.n = n, op.k = k;
    op.shared_weights = false;
    op.transposed_a = transposed_a, op.transposed_b = transposed_b;
    return op;
}

/// The gradient of what a layer stores for each of its experts: of those that are met `op` makes it, that of
/// all others is zero.
void add_stored_of(WayBack& back, const Layer& layer, const char* part, TensorId stored, const Operator& op,
                   const std::vector<TensorId>& inputs) {
    const auto& product = std::get<MatMul>(layer.op);
    if (product.experts == 0 || product.batch == product.experts)
        return back.add_stored(layer, part, stored, op, inputs);
    Shape met = back.graph().shape(stored);
    met.front() = product.batch;
    const Slice place{1, elements(met) / product.batch, product.experts, 0, product.batch, true};
    const TensorId made =
        back.add(layer, std::string(part) + "_met", op, inputs, met, back.dtype_of_stored());
    back.add_stored(layer, part, stored, place, {made});
}

void add_stored_gradients(WayBack& back, const Layer& layer, const MatMul& op, TensorId gradient) {
    const TensorId in = layer.inputs[0];
    if (back.wants(in)) {
        MatMul own;
        own.batch = op.batch, own.m = op.m, own.n = op.k, own.k = op.n;
        own.transposed_b = !op.transposed_b;
        own.experts = op.experts;
        const Tensor& read = back.graph().tensor(in);
        back.give(layer, in,
                  back.add(layer, "input_gradient", own, {gradient}, read.shape, read.dtype, layer.weights));
    }
    // One matrix meets all items; each expert its own.
    const std::int64_t items = op.experts > 0 ? op.batch : 1, rows = op.batch / items * op.m;
    if (op.transposed_b)
        add_stored_of(back, layer, "weights_gradient", *layer.weights,
                      product(items, op.n, op.k, rows, true, false), {gradient, in});
    else
        add_stored_of(back, layer, "weights_gradient", *layer.weights,
                      product(items, op.k, op.n, rows, true, false), {in, gradient});
    if (layer.bias)
        add_stored_of(back, layer, "bias_gradient", *layer.bias,
                      Reduce{Reduce::Kind::Sum, rows, op.n, true, items}, {gradient});
}

void add_product_gradients(WayBack& back, const Layer& layer, const MatMul& op, TensorId gradient) {
    const TensorId a = layer.inputs[0], b = layer.inputs[1];
    const auto give = [&](TensorId to, const char* part, const MatMul& own, TensorId first, TensorId second) {
        const Tensor& read = back.graph().tensor(to);
        back.give(layer, to, back.add(layer, part, own, {first, second}, read.shape, read.dtype));
    };
    const bool ta = op.transposed_a, tb = op.transposed_b;
    // Of a transposed operand it is the transposed gradient: its factors change places.
    if (back.wants(a) && !ta)
        give(a, "input_gradient", product(op.batch, op.m, op.k, op.n, false, !tb), gradient, b);
    if (back.wants(a) && ta)
        give(a, "input_gradient", product(op.batch, op.k, op.m, op.n, tb, true), b, gradient);
    if (back.wants(b) && !tb)
        give(b, "second_gradient", product(op.batch, op.k, op.n, op.m, !ta, false), a, gradient);
    if (back.wants(b) && tb)
        give(b, "second_gradient", product(op.batch, op.n, op.k, op.m, true, ta), gradient, a);
}

/// The two products of attention and their gradients.
class AttentionGradients {
public:
    AttentionGradients(WayBack& back, const Layer& layer)
        : back_(back), layer_(layer), op_(std::get<Attention>(layer.op)) {}

    /// Of scores = queries keys^T.
    void of_scores(TensorId gradient, TensorId queries, TensorId keys) {
        if (back_.wants(queries))
            give(queries, "query_gradient", part(Attention::Part::Context), {gradient, keys});
        if (back_.wants(keys)) give(keys, "key_gradient", part(Attention::Part::Keys), {gradient, queries});
    }
    /// Of out = shares values: of the values; and of the shares.
    void of_values(TensorId gradient, TensorId shares, TensorId values) {
        if (back_.wants(values))
            give(values, "value_gradient", by_values(Attention::Part::Keys), {shares, gradient});
    }
    TensorId of_shares(TensorId gradient, TensorId values) {
        return scores("shares_gradient", by_values(Attention::Part::Scores), {gradient, values});
    }
    void of_whole(TensorId gradient) {
        const TensorId queries = layer_.inputs[0], keys = layer_.inputs[1], values = layer_.inputs[2];
        const Softmax softmax{elements(scores_shape()) / op_.kv_len, op_.kv_len};
        const Softmax back{softmax.rows, softmax.cols, true};
        const TensorId shares =
            scores("shares", softmax, {scores("scores", part(Attention::Part::Scores), {queries, keys})});
        of_values(gradient, shares, values);
        if (!back_.wants(queries) && !back_.wants(keys)) return;
        of_scores(scores("scores_gradient", back, {of_shares(gradient, values), shares}), queries, keys);
    }

private:
    Shape scores_shape() const { return {op_.batch, op_.kv_heads, op_.q_len, op_.group(), op_.kv_len}; }
    DType dtype() const { return back_.graph().tensor(layer_.output).dtype; }
    /// Of rows like queries and keys.
    Attention part(Attention::Part which) const {
        Attention own = op_;
        own.part = which;
        own.value_width = op_.head_dim;
        return own;
    }
    Attention by_values(Attention::Part which) const {
        Attention own = op_;
        own.part = which;
        own.of_values = true;
        return own;
    }
    TensorId scores(const char* name, Operator op, std::vector<TensorId> inputs) {
        return back_.add(layer_, name, std::move(op), std::move(inputs), scores_shape(), dtype());
    }
    void give(TensorId to, const char* name, const Attention& op, std::vector<TensorId> inputs) {
        const Shape shape = back_.graph().shape(to);
        back_.give(layer_, to, back_.add(layer_, name, op, std::move(inputs), shape, dtype()));
    }

    WayBack& back_;
    const Layer& layer_;
    const Attention& op_;
};

}  // namespace

void add_matmul_gradients(WayBack& back, const Layer& layer, TensorId gradient) {
    const auto& op = std::get<MatMul>(layer.op);
    if (op.shared_weights)
        add_stored_gradients(back, layer, op, gradient);
    else
        add_product_gradients(back, layer, op, gradient);
}

void add_attention_gradients(WayBack& back, const Layer& layer, TensorId gradient) {
    AttentionGradients rules(back, layer);
    switch (std::get<Attention>(layer.op).part) {
        case Attention::Part::Whole:
            return rules.of_whole(gradient);
        case Attention::Part::Scores:
            return rules.of_scores(gradient, layer.inputs[0], layer.inputs[1]);
        case Attention::Part::Context:
            rules.of_values(gradient, layer.inputs[0], layer.inputs[1]);
            if (back.wants(layer.inputs[0]))
                back.give(layer, layer.inputs[0], rules.of_shares(gradient, layer.inputs[1]));
            return;
        case Attention::Part::Keys:
            return;  // refused
    }
}

}  // namespace systole
