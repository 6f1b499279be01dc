// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/operators.h"

#include <algorithm>

namespace systole {
namespace {

struct NameOf {
    std::string_view operator()(const Conv2d& c) const { return c.depth ? "conv3d" : "conv2d"; }
    std::string_view operator()(const MatMul&) const { return "matmul"; }
    std::string_view operator()(const Elementwise&) const { return "elementwise"; }
    std::string_view operator()(const Activation&) const { return "activation"; }
    std::string_view operator()(const Pool& p) const { return p.gradient ? "pool_gradient" : "pool"; }
    std::string_view operator()(const Softmax& s) const {
        return s.gradient ? "softmax_gradient" : "softmax";
    }
    std::string_view operator()(const Norm& n) const { return n.gradient ? "norm_gradient" : "norm"; }
    std::string_view operator()(const Reduce&) const { return "reduce"; }
    std::string_view operator()(const Transpose&) const { return "transpose"; }
    std::string_view operator()(const Embedding&) const { return "embedding"; }
    std::string_view operator()(const EmbeddingGradient&) const { return "embedding_gradient"; }
    std::string_view operator()(const Optimizer&) const { return "optimizer"; }
    std::string_view operator()(const Concat&) const { return "concat"; }
    std::string_view operator()(const Slice& s) const { return s.gradient ? "slice_gradient" : "slice"; }
    std::string_view operator()(const Resize&) const { return "resize"; }
    std::string_view operator()(const Rotary&) const { return "rotary"; }
    std::string_view operator()(const Gather&) const { return "gather"; }
    std::string_view operator()(const TopK& t) const { return t.gradient ? "top_k_gradient" : "top_k"; }
    std::string_view operator()(const LstmCell&) const { return "lstm_cell"; }
    std::string_view operator()(const GruCell&) const { return "gru_cell"; }
    std::string_view operator()(const CacheAppend&) const { return "kv_cache"; }
    std::string_view operator()(const ConvTranspose&) const { return "conv_transpose"; }
    std::string_view operator()(const Collective&) const { return "collective"; }
    std::string_view operator()(const Scaling& s) const {
        return s.kind == Scaling::Kind::Quantize ? "quantize" : "dequantize";
    }
    std::string_view operator()(const Attention& a) const {
        switch (a.part) {
            case Attention::Part::Scores:
                return "attention_scores";
            case Attention::Part::Context:
                return "attention_context";
            case Attention::Part::Keys:
                return "attention_keys";
            case Attention::Part::Whole:
                break;
        }
        return "attention";
    }
};

struct MacsOf {
    std::int64_t operator()(const Conv2d& c) const {
        return c.pixels() * c.out_c * c.taps() * c.format.stored(c.in_c / c.groups);
    }
    std::int64_t operator()(const ConvTranspose& c) const {
        const auto taps = [](const std::vector<ConvPhase>& phases) {
            std::int64_t sum = 0;
            for (const ConvPhase& phase : phases) sum += phase.out * phase.taps;
            return sum;
        };
        return c.batch * c.in_c * c.out_c * taps(c.phases_h()) * taps(c.phases_w());
    }
    std::int64_t operator()(const MatMul& m) const { return m.batch * m.m * m.n * m.format.stored(m.k); }
    std::int64_t operator()(const Attention& a) const {
        const std::int64_t whole = a.head_dim + a.value_dim();
        const std::int64_t part = a.part == Attention::Part::Context ? a.value_dim() : a.row_dim();
        return a.batch * a.heads * a.pairs() * (a.part == Attention::Part::Whole ? whole : part);
    }
    template <class Other>
    std::int64_t operator()(const Other&) const {
        return 0;
    }
};

}  // namespace

std::vector<std::int64_t> Conv2d::input_shape() const {
    if (depth) return {batch, depth->in, in_h, in_w, in_c};
    return {batch, in_h, in_w, in_c};
}

std::vector<std::int64_t> Conv2d::output_shape() const {
    if (depth) return {batch, depth->out(), out_h(), out_w(), out_c};
    return {batch, out_h(), out_w(), out_c};
}

std::int64_t Conv2d::most_pad() const {
    return std::max({pad, left(), uneven.pad_bottom.value_or(pad), uneven.pad_right.value_or(pad)});
}

std::vector<ConvPhase> ConvTranspose::phases(std::int64_t out, std::int64_t kernel) const {
    std::vector<ConvPhase> all;
    for (std::int64_t first = 0; first < std::min(stride, out); ++first) {
        const std::int64_t tap =
            (first + pad) % stride;  // the first of its taps meets input (first + pad) / stride
        const std::int64_t taps = ceil_div(kernel - tap, stride);
        all.push_back({first, taps, ceil_div(out - first, stride), taps - 1 - (first + pad) / stride});
    }
    return all;
}

std::string_view op_name(const Operator& op) {
    return std::visit(NameOf{}, op);
}

const std::vector<std::string>& elementwise_kinds() {
    static const std::vector<std::string> names = {"add", "sub", "mul",     "max",   "min",
                                                   "div", "pow", "compare", "select"};
    return names;
}

const std::vector<std::string>& function_names() {
    static const std::vector<std::string> names = {
        "none", "relu", "relu6", "sigmoid",    "tanh",         "gelu",       "silu", "exp",   "abs",
        "neg",  "clip", "round", "leaky_relu", "hard_sigmoid", "hard_swish", "sqrt", "rsqrt", "reciprocal",
        "log",  "erf",  "sin",   "cos",        "elu",          "softplus",   "mish"};
    return names;
}

std::string_view to_string(Function function) {
    return function_names()[static_cast<std::size_t>(function)];
}

Macs macs(const Operator& op) {
    return Macs(std::visit(MacsOf{}, op));
}

}  // namespace systole
