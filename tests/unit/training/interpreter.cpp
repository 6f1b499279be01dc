// SPDX-License-Identifier: Apache-2.0
#include "interpreter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

namespace systole::test {
namespace {

double apply(Function function, double x) {
    switch (function) {
        case Function::None:
            return x;
        case Function::Relu:
            return std::max(0.0, x);
        case Function::Relu6:
            return std::clamp(x, 0.0, 6.0);
        case Function::LeakyRelu:
            return x > 0 ? x : 0.01 * x;
        case Function::Sigmoid:
            return 1 / (1 + std::exp(-x));
        case Function::Tanh:
            return std::tanh(x);
        case Function::Gelu:
            return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
        case Function::Silu:
            return x / (1 + std::exp(-x));
        case Function::Neg:
            return -x;
        case Function::Exp:
            return std::exp(x);
        case Function::Softplus:
            return std::log1p(std::exp(x));
        default:
            FAIL("no function here: " << to_string(function));
            return 0;
    }
}

double slope(Function function, double x) {
    if (function == Function::Relu) return x > 0 ? 1 : 0;
    if (function == Function::Relu6) return x > 0 && x < 6 ? 1 : 0;
    if (function == Function::LeakyRelu) return x > 0 ? 1 : 0.01;
    const double h = 1e-5;
    return (apply(function, x + h) - apply(function, x - h)) / (2 * h);
}

double combine(Elementwise::Kind kind, double a, double b) {
    switch (kind) {
        case Elementwise::Kind::Add:
            return a + b;
        case Elementwise::Kind::Sub:
            return a - b;
        case Elementwise::Kind::Mul:
            return a * b;
        case Elementwise::Kind::Div:
            return a / b;
        case Elementwise::Kind::Compare:
            return a > b ? 1 : 0;
        case Elementwise::Kind::Select:
            return b > 0.5 ? a : 0;
        default:
            FAIL("no such elementwise here");
            return 0;
    }
}

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

/// One layer's work.
struct Work {
    const Layer& layer;
    std::vector<const Numbers*> in;
    const Numbers* weights;
    const Numbers* bias;
    bool backwards;  ///< a rotary on the way back: the angles are negative
    Numbers out;

    double a(std::int64_t i) const { return in[0]->at(at(i)); }
    double b(std::int64_t i) const { return in[1]->at(at(i)); }

    void operator()(const MatMul& m) {
        const Numbers& second = m.shared_weights ? *weights : *in[1];
        for (std::int64_t item = 0; item < m.batch; ++item)
            for (std::int64_t i = 0; i < m.m; ++i)
                for (std::int64_t j = 0; j < m.n; ++j) {
                    const std::int64_t expert = m.experts > 0 ? item : 0;
                    double sum = bias ? bias->at(at(expert * m.n + j)) : 0;
                    for (std::int64_t k = 0; k < m.k; ++k) {
                        const double x = a(item * m.m * m.k + (m.transposed_a ? k * m.m + i : i * m.k + k));
                        const std::int64_t place = m.transposed_b ? j * m.k + k : k * m.n + j;
                        sum += x * second.at(at(place + (m.shared_weights ? expert : item) * m.k * m.n));
                    }
                    out.push_back(apply(m.post, sum));
                }
    }
    void operator()(const Elementwise& e) {
        const Numbers& second = e.stored ? *weights : *in[1];
        const std::int64_t item = e.elements / e.items, period = item / e.times;
        for (std::int64_t i = 0; i < e.elements; ++i) {
            const double other = second.at(at(i / item * period + i % item % period));
            out.push_back(e.slope == Function::None ? apply(e.post, combine(e.kind, a(i), other))
                                                    : a(i) * slope(e.slope, other));
        }
    }
    void operator()(const Activation& op) {
        for (std::int64_t i = 0; i < op.elements; ++i) out.push_back(apply(op.function, a(i)));
    }
    void operator()(const Softmax& s) {
        for (std::int64_t r = 0; r < s.rows; ++r) {
            double sum = 0, most = -INFINITY;
            for (std::int64_t c = 0; c < s.cols; ++c) most = std::max(most, a(r * s.cols + c));
            for (std::int64_t c = 0; c < s.cols; ++c)
                sum +=
                    s.gradient ? a(r * s.cols + c) * b(r * s.cols + c) : std::exp(a(r * s.cols + c) - most);
            for (std::int64_t c = 0; c < s.cols; ++c) {
                const std::int64_t i = r * s.cols + c;
                out.push_back(s.gradient ? b(i) * (a(i) - sum) : std::exp(a(i) - most) / sum);
            }
        }
    }
    void operator()(const Norm& n) {
        const Numbers& x = n.gradient ? *in[1] : *in[0];
        const auto count = static_cast<double>(n.cols);
        for (std::int64_t r = 0; r < n.rows; ++r) {
            double mean = 0, square = 0;
            for (std::int64_t c = 0; c < n.cols; ++c) mean += x[at(r * n.cols + c)] / count;
            if (n.kind == Norm::Kind::Rms) mean = 0;
            for (std::int64_t c = 0; c < n.cols; ++c)
                square += std::pow(x[at(r * n.cols + c)] - mean, 2) / count;
            const double deviation = std::sqrt(square + 1e-6);
            Numbers made, come;
            for (std::int64_t c = 0; c < n.cols; ++c) {
                made.push_back((x[at(r * n.cols + c)] - mean) / deviation);
                come.push_back(n.gradient ? a(r * n.cols + c) * (*weights)[at(c)] : 0);
            }
            double sum = 0, product = 0;
            for (std::size_t c = 0; c < made.size(); ++c)
                sum += come[c] / count, product += come[c] * made[c] / count;
            if (n.kind == Norm::Kind::Rms) sum = 0;
            for (std::size_t c = 0; c < made.size(); ++c)
                out.push_back(n.gradient ? (come[c] - sum - made[c] * product) / deviation
                                         : made[c] * (*weights)[c] + (bias ? (*bias)[c] : 0));
        }
    }
    void operator()(const Reduce& r) {
        REQUIRE(r.kind == Reduce::Kind::Sum);
        REQUIRE(r.columns);
        out.resize(at(r.items * r.cols));
        for (std::int64_t i = 0; i < r.items * r.rows * r.cols; ++i)
            out[at(i / r.cols / r.rows * r.cols + i % r.cols)] += a(i) * (in.size() > 1 ? b(i) : 1);
    }
    void operator()(const Transpose& t) {
        const std::size_t rank = t.shape.size();
        for (std::int64_t i = 0; i < elements(t.shape); ++i) {
            std::vector<std::int64_t> index(rank);  // of the input
            std::int64_t rest = i;
            for (std::size_t d = rank; d-- > 0;) {
                const auto from = at(t.permutation[d]);
                index[from] = rest % t.shape[from];
                rest /= t.shape[from];
            }
            std::int64_t place = 0;
            for (std::size_t d = 0; d < rank; ++d) place = place * t.shape[d] + index[d];
            out.push_back(a(place));
        }
    }
    void operator()(const Embedding& e) {
        for (std::int64_t i = 0; i < e.lookups / e.bag; ++i)
            for (std::int64_t c = 0; c < e.width; ++c) {
                double sum = 0;
                for (std::int64_t l = i * e.bag; l < (i + 1) * e.bag; ++l)
                    sum += weights->at(at(static_cast<std::int64_t>(a(l)) * e.width + c));
                out.push_back(sum);
            }
    }
    void operator()(const EmbeddingGradient& e) {
        out.resize(at(e.vocabulary * e.width));
        for (std::int64_t l = 0; l < e.lookups; ++l)
            for (std::int64_t c = 0; c < e.width; ++c)
                out[at(static_cast<std::int64_t>(b(l)) * e.width + c)] += a(l / e.bag * e.width + c);
    }
    void operator()(const Concat& c) {
        for (std::int64_t outer = 0; outer < c.outer; ++outer)
            for (std::size_t part = 0; part < in.size(); ++part)
                for (std::int64_t i = 0; i < c.sizes[part] * c.inner; ++i)
                    out.push_back(in[part]->at(at(outer * c.sizes[part] * c.inner + i)));
    }
    void operator()(const Gather& g) {
        for (std::int64_t l = 0; l < g.lookups; ++l)
            for (std::int64_t c = 0; c < g.width; ++c)
                out.push_back(a(static_cast<std::int64_t>(b(l)) * g.width + c));
    }
    void operator()(const TopK& t) {
        if (t.gradient) out.resize(at(t.rows * t.cols));
        for (std::int64_t r = 0; r < t.rows; ++r) {
            if (t.gradient) {
                for (std::int64_t i = r * t.k; i < (r + 1) * t.k; ++i)
                    out[at(r * t.cols + static_cast<std::int64_t>(b(i)))] = a(i);
                continue;
            }
            std::vector<std::int64_t> order;
            for (std::int64_t c = 0; c < t.cols; ++c) order.push_back(c);
            std::stable_sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) {
                return a(r * t.cols + x) > a(r * t.cols + y);
            });
            for (std::int64_t i = 0; i < t.k; ++i) {
                const std::int64_t place = order[at(i)];
                out.push_back(t.indices ? static_cast<double>(place) : a(r * t.cols + place));
            }
        }
    }
    void operator()(const Pool& p) {
        REQUIRE(p.kind == Pool::Kind::Average);
        REQUIRE(p.global());
        const std::int64_t pixels = p.in_h * p.in_w, map = pixels * p.channels;
        if (!p.gradient) out.resize(at(p.batch * p.channels));
        for (std::int64_t i = 0; i < p.batch * map; ++i) {
            const std::int64_t one = i / map * p.channels + i % p.channels;
            if (p.gradient)
                out.push_back(a(one) / static_cast<double>(pixels));
            else
                out[at(one)] += a(i) / static_cast<double>(pixels);
        }
    }
    void operator()(const Slice& s) {
        if (s.gradient) {
            out.resize(at(s.outer * s.in * s.inner));
            for (std::int64_t i = 0; i < s.outer * s.size * s.inner; ++i) {
                const std::int64_t part = s.size * s.inner;
                out[at((i / part * s.in + s.begin) * s.inner + i % part)] = a(i);
            }
            return;
        }
        for (std::int64_t outer = 0; outer < s.outer; ++outer)
            for (std::int64_t i = 0; i < s.size * s.inner; ++i)
                out.push_back(a((outer * s.in + s.begin) * s.inner + i));
    }
    void operator()(const Rotary& r) {
        out.resize(in[0]->size());
        for (std::int64_t i = 0; i < r.outer * r.seq * r.heads; ++i)
            for (std::int64_t p = 0; p < r.dim / 2; ++p) {
                const std::int64_t position = i / r.heads % r.seq;
                const double angle = weights->at(at(position * r.dim + p)) * (backwards ? -1 : 1);
                const double x = a(i * r.dim + p), y = a(i * r.dim + r.dim / 2 + p);
                out[at(i * r.dim + p)] = x * std::cos(angle) - y * std::sin(angle);
                out[at(i * r.dim + r.dim / 2 + p)] = x * std::sin(angle) + y * std::cos(angle);
            }
    }
    void operator()(const Collective&) { out = *in[0]; }
    void operator()(const Optimizer& o) { out.resize(at(o.slots() * o.elements)); }
    void operator()(const Attention& t) {
        if (t.part == Attention::Part::Whole) {
            const Numbers shares = shares_of(t);
            context(t, shares, *in[2], t.value_dim());
        } else if (t.part == Attention::Part::Scores) {
            out = scores(t, t.row_dim());
        } else if (t.part == Attention::Part::Context) {
            context(t, *in[0], *in[1], t.value_dim());
        } else {
            keys(t, t.row_dim());
        }
    }

    static std::int64_t score(const Attention& t, std::int64_t b, std::int64_t i, std::int64_t head,
                              std::int64_t j) {
        const std::int64_t h = head / t.group(), g = head % t.group();
        return (((b * t.kv_heads + h) * t.q_len + i) * t.group() + g) * t.kv_len + j;
    }
    /// Calls back for every pair that sees each other.
    template <typename Each>
    static void pairs(const Attention& t, Each each) {
        for (std::int64_t b = 0; b < t.batch; ++b)
            for (std::int64_t head = 0; head < t.heads; ++head)
                for (std::int64_t i = 0; i < t.q_len; ++i)
                    for (std::int64_t j = 0; j < t.visible(i); ++j) each(b, head, i, j);
    }
    Numbers scores(const Attention& t, std::int64_t dim) const {
        // What is not seen has no share, and, of gradients, is met by a share of zero.
        Numbers all(at(t.batch * t.heads * t.q_len * t.kv_len), -1e30);
        pairs(t, [&](std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j) {
            double sum = 0;
            for (std::int64_t d = 0; d < dim; ++d)
                sum += a(((b * t.q_len + i) * t.heads + head) * dim + d) *
                       this->b(((b * t.kv_len + j) * t.kv_heads + head / t.group()) * dim + d);
            all[at(score(t, b, i, head, j))] = sum;
        });
        if (t.of_values)
            for (double& each : all)
                if (each == -1e30) each = 0;
        return all;
    }
    Numbers shares_of(const Attention& t) const {
        const Numbers all = scores(t, t.head_dim);
        const Layer own{"", Softmax{std::int64_t(all.size()) / t.kv_len, t.kv_len}, {}, {}, {}, 0, {}};
        Work softmax{own, {&all}, nullptr, nullptr, false, {}};
        softmax(std::get<Softmax>(own.op));
        return softmax.out;
    }
    void context(const Attention& t, const Numbers& shares, const Numbers& rows, std::int64_t dim) {
        out.resize(at(t.batch * t.q_len * t.heads * dim));
        pairs(t, [&](std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j) {
            for (std::int64_t d = 0; d < dim; ++d)
                out[at(((b * t.q_len + i) * t.heads + head) * dim + d)] +=
                    shares[at(score(t, b, i, head, j))] *
                    rows[at(((b * t.kv_len + j) * t.kv_heads + head / t.group()) * dim + d)];
        });
    }
    void keys(const Attention& t, std::int64_t dim) {
        out.resize(at(t.batch * t.kv_len * t.kv_heads * dim));
        pairs(t, [&](std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j) {
            for (std::int64_t d = 0; d < dim; ++d)
                out[at(((b * t.kv_len + j) * t.kv_heads + head / t.group()) * dim + d)] +=
                    a(score(t, b, i, head, j)) * this->b(((b * t.q_len + i) * t.heads + head) * dim + d);
        });
    }
    template <class Other>
    void operator()(const Other&) {
        FAIL("no operator here: " << op_name(layer.op));
    }
};

}  // namespace

std::vector<Numbers> interpret(const Graph& graph, std::vector<Numbers> given) {
    const auto numbers = [&](TensorId id) { return &given[graph.tensors[id].view_of.value_or(id)]; };
    for (const Layer& layer : graph.layers) {
        Work work{layer, {}, nullptr, nullptr, false, {}};
        for (const TensorId input : layer.inputs) work.in.push_back(numbers(input));
        if (layer.weights) {
            work.weights = &given[*layer.weights];
            work.backwards = layer.name.ends_with(".input_gradient");
        }
        if (layer.bias) work.bias = &given[*layer.bias];
        std::visit(work, layer.op);
        INFO(layer.name);
        REQUIRE(work.out.size() == at(elements(graph.tensors[layer.output].shape)));
        given[layer.output] = std::move(work.out);
    }
    return given;
}

}  // namespace systole::test
