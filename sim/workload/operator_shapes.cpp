// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/operator_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "sim/base/checked.h"

namespace systole {
namespace {

// Four bytes an element, and every row of packed elements padded to at most twice its size.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;

using Faults = std::vector<std::string>;

template <class Range>
std::optional<std::int64_t> product(const Range& factors) {
    std::optional<std::int64_t> result = 1;
    for (const std::int64_t factor : factors)
        if (result) result = checked_mul(*result, factor);
    return result;
}

void expect_countable(std::string_view what, std::initializer_list<std::int64_t> factors, Faults& faults) {
    if (!product(factors)) faults.push_back(fmt::format("has more than 2^63 {}", what));
}

/// Whether K, or the rows of a tensor, fall into groups of scales; and K into patterns of sparse weights.
void expect_whole(const WeightFormat& format, std::int64_t k, std::string_view what, Faults& faults) {
    if (format.among_numbers() && k % format.group != 0)
        faults.push_back(fmt::format("{}s of {} that share a scale do not divide the {} {}",
                                     scales_names()[static_cast<std::size_t>(format.scales)], format.group, k,
                                     what));
    if (format.sparse() && k % format.of != 0)
        faults.push_back(
            fmt::format("the sparsity {}:{} does not divide the {} {}", format.kept, format.of, k, what));
}

struct FaultsOf {
    Faults operator()(const Conv2d& c) const {
        Faults faults;
        Shape padded = {c.padded_h(), c.padded_w()};
        Shape reach = {c.dilation * (c.kernel_h - 1) + 1, c.dilation_w() * (c.kernel_w - 1) + 1};
        if (c.depth) {
            padded.insert(padded.begin(), c.depth->in + 2 * c.depth->pad);
            reach.insert(reach.begin(), c.depth->dilation * (c.depth->kernel - 1) + 1);
        }
        bool fits = true;
        for (std::size_t i = 0; i < reach.size(); ++i) fits = fits && reach[i] <= padded[i];
        if (!fits)
            faults.push_back(fmt::format(
                "the {}kernel {} is larger than the padded input {}",
                c.dilation > 1 || c.dilation_w() > 1 || (c.depth && c.depth->dilation > 1) ? "dilated " : "",
                to_string(reach), to_string(padded)));
        if (c.in_c % c.groups != 0 || c.out_c % c.groups != 0)
            faults.push_back(fmt::format("groups {} must divide the {} input and the {} output channels",
                                         c.groups, c.in_c, c.out_c));
        if (c.format.among_numbers())
            faults.push_back(
                "scales of groups and blocks are those of a matmul; of a convolution give 'scales: channel'");
        else if (c.format != WeightFormat{} && c.depthwise())
            faults.push_back("the weights of a depthwise convolution have neither scales nor sparsity");
        else if (faults.empty())
            expect_whole(c.format, c.in_c / c.groups,
                         c.groups > 1 ? "input channels of a group" : "input channels", faults);
        if (faults.empty())
            expect_countable("multiply-accumulates",
                             {c.batch, c.out_d(), c.out_h(), c.out_w(), c.out_c, c.kernel_d(), c.kernel_h,
                              c.kernel_w, c.in_c / c.groups},
                             faults);
        return faults;
    }

    Faults operator()(const ConvTranspose& c) const {
        if (std::min(c.kernel_h, c.kernel_w) < c.stride)
            return {
                fmt::format("the kernel {} is smaller than the stride {}: pixels between would meet no input",
                            to_string(Shape{c.kernel_h, c.kernel_w}), c.stride)};
        if (c.out_pad >= c.stride)
            return {fmt::format("out_pad {} must be smaller than the stride {}", c.out_pad, c.stride)};
        // Each factor below 2^31, so that their sum of products stays below 2^63.
        const Shape out = {c.out_h(), c.out_w()};
        if (out[0] < 1 || out[1] < 1)
            return {fmt::format("pad {} leaves nothing of the output: {}", c.pad, to_string(out))};
        Faults faults;
        expect_countable(
            "multiply-accumulates",
            {c.batch, out[0] + c.kernel_h, out[1] + c.kernel_w, c.out_c, c.kernel_h, c.kernel_w, c.in_c},
            faults);
        return faults;
    }

    Faults operator()(const MatMul& m) const {
        Faults faults;
        expect_whole(m.format, m.k, "rows of its weights (K)", faults);
        if (m.experts > 0 && m.batch > m.experts)
            faults.push_back(fmt::format("rows for {} experts, but {} are stored", m.batch, m.experts));
        expect_countable("multiply-accumulates", {m.batch, m.m, m.n, m.k}, faults);
        return faults;
    }

    Faults operator()(const Pool& p) const {
        Faults faults;
        const Shape window = {p.window_h, p.window_w};
        const Shape padded = {p.in_h + p.pad + p.bottom(), p.in_w + p.left() + p.right()};
        const std::int64_t rows = std::max(p.pad, p.bottom()), columns = std::max(p.left(), p.right());
        if (window[0] > padded[0] || window[1] > padded[1])
            faults.push_back(fmt::format("the window {} is larger than the padded input {}",
                                         to_string(window), to_string(padded)));
        else if (rows >= p.window_h || columns >= p.window_w)
            faults.push_back(
                fmt::format("pad {} must be smaller than the window {}: a window would see nothing "
                            "but padding",
                            std::max(rows, columns), to_string(window)));
        if (faults.empty())
            expect_countable("window elements",
                             {p.batch, p.out_h(), p.out_w(), p.channels, p.window_h, p.window_w}, faults);
        return faults;
    }

    Faults operator()(const TopK& t) const {
        if (t.k <= t.cols) return {};
        return {fmt::format("a row of {} has no {} greatest elements", t.cols, t.k)};
    }

    Faults operator()(const Rotary& r) const {
        if (r.dim % 2 == 0) return {};
        return {fmt::format("turns pairs of elements, but a row has {}", r.dim)};
    }

    Faults operator()(const Scaling& s) const {
        Faults faults;
        const bool along_rows = s.format.scales == Scales::Block;
        expect_whole(s.format, along_rows ? s.cols : s.rows, along_rows ? "columns" : "rows", faults);
        return faults;
    }

    Faults operator()(const Collective& c) const {
        if (c.kind == Collective::Kind::AllGather) return {};
        // A tensor has a part for each chip.
        const bool scattered = c.kind != Collective::Kind::AllReduce;
        const std::int64_t parted = scattered ? c.row : c.outer * c.row;
        if (parted % c.chips == 0) return {};
        return {fmt::format("{} chips do not divide the {} elements {}", c.chips, parted,
                            scattered ? "of the axis and those behind it" : "of the tensor")};
    }

    Faults operator()(const CacheAppend& c) const {
        if (c.rows <= c.length) return {};
        return {fmt::format("{} rows do not go into a cache of {}", c.rows, c.length)};
    }

    Faults operator()(const Attention& a) const {
        Faults faults;
        if (a.heads % a.kv_heads != 0)
            faults.push_back(
                fmt::format("{} heads of keys and values do not divide the {} heads", a.kv_heads, a.heads));
        if (a.causal && a.kv_len < a.q_len)
            faults.push_back(fmt::format("causal: the last of {} queries sees {} keys, the first none",
                                         a.q_len, a.kv_len));
        if (faults.empty())
            expect_countable("multiply-accumulates",
                             {2, a.batch, a.heads, a.q_len, a.kv_len, std::max(a.head_dim, a.value_dim())},
                             faults);
        return faults;
    }

    template <class Other>
    Faults operator()(const Other&) const {
        return {};
    }
};

/// What one matrix has, and with experts each.
Shape of_each_expert(const MatMul& op, Shape shape) {
    if (op.experts > 0) shape.insert(shape.begin(), op.experts);
    return shape;
}

}  // namespace

std::vector<std::string> find_faults(const Operator& op) {
    return std::visit(FaultsOf{}, op);
}

WeightFormat format_of(const Operator& op) {
    if (const auto* conv = std::get_if<Conv2d>(&op)) return conv->format;
    if (const auto* matmul = std::get_if<MatMul>(&op)) return matmul->format;
    const auto* scaling = std::get_if<Scaling>(&op);
    return scaling ? scaling->format : WeightFormat{};
}

std::optional<Shape> weights_shape(const Operator& op) {
    if (const auto* c = std::get_if<Conv2d>(&op)) {
        Shape shape = {c->out_c, c->kernel_h, c->kernel_w, c->in_c / c->groups};
        if (c->depth) shape.insert(shape.begin() + 1, c->depth->kernel);
        return shape;
    }
    if (const auto* c = std::get_if<ConvTranspose>(&op))
        return Shape{c->out_c, c->kernel_h, c->kernel_w, c->in_c};
    if (const auto* m = std::get_if<MatMul>(&op); m && m->shared_weights) {
        const Shape matrix = m->transposed_b ? Shape{m->n, m->k} : Shape{m->k, m->n};
        return of_each_expert(*m, matrix);
    }
    if (const auto* n = std::get_if<Norm>(&op)) return Shape{n->cols};
    if (const auto* e = std::get_if<Embedding>(&op)) return Shape{e->vocabulary, e->width};
    if (const auto* e = std::get_if<Elementwise>(&op); e && e->stored) return Shape{e->elements / e->times};
    if (const auto* r = std::get_if<Rotary>(&op)) return Shape{r->seq, r->dim};
    return std::nullopt;
}

std::optional<Shape> scales_shape(const Operator& op) {
    if (const auto* s = std::get_if<Scaling>(&op)) {
        if (s->format.scales == Scales::Group) return Shape{s->rows / s->format.group, s->cols};
        return s->format.scales == Scales::Channel ? std::optional(Shape{s->cols}) : std::nullopt;
    }
    const auto* c = std::get_if<Conv2d>(&op);
    const auto* m = std::get_if<MatMul>(&op);
    if (c && c->format.scales == Scales::Channel) return Shape{c->out_c};
    if (m && m->format.scales == Scales::Channel) return of_each_expert(*m, {m->n});
    return std::nullopt;
}

std::optional<Shape> bias_shape(const Operator& op) {
    if (const auto* c = std::get_if<Conv2d>(&op); c && c->bias) return Shape{c->out_c};
    if (const auto* c = std::get_if<ConvTranspose>(&op); c && c->bias) return Shape{c->out_c};
    if (const auto* m = std::get_if<MatMul>(&op); m && m->bias) return of_each_expert(*m, {m->n});
    if (const auto* n = std::get_if<Norm>(&op); n && n->kind == Norm::Kind::Layer && !n->gradient)
        return Shape{n->cols};
    return std::nullopt;
}

bool is_storable(const Shape& shape) {
    const std::optional<std::int64_t> count = product(shape);
    return count && *count <= kMaxElements;
}

}  // namespace systole
