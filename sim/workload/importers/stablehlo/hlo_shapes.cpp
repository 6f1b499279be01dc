// SPDX-License-Identifier: Apache-2.0
// Constants, views, and what puts tensors together or takes them apart.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/stablehlo/hlo_meanings.h"
#include "sim/workload/importers/stablehlo/hlo_names.h"

namespace systole {
namespace {

std::int64_t elements_up_to(const Shape& shape, std::int64_t most) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) {
        if (extent > most || count > most) return most + 1;
        count *= extent;
    }
    return count;
}

/// "dense<1.0e-05>"; of other constants nothing. Bits of floating-point numbers are not taken apart.
std::optional<double> one_number(std::string_view text, bool& uniform) {
    constexpr std::string_view kDense = "dense<";
    if (!text.starts_with(kDense)) return std::nullopt;
    const std::string_view inside = text.substr(kDense.size(), text.size() - kDense.size() - 1);
    uniform = !inside.empty() && inside.front() != '[' && inside.front() != '"';
    if (inside == "true" || inside == "false") return inside == "true" ? 1 : 0;
    double number = 0;
    const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), number);
    if (!uniform || error != std::errc() || end != inside.data() + inside.size()) return std::nullopt;
    return number;
}

bool is_identity(const Order& order) {
    return std::ranges::is_sorted(order) && (order.empty() || order.back() + 1 == order.size());
}

HloValue result_like(HloNode& node, const MlirType& type) {
    HloValue held;
    if (!node.operation().results.empty()) held.name = trace_name_of(node.operation().results.front());
    held.shape = type.shape;
    held.element = type.element;
    return held;
}

}  // namespace

void hlo_constant(HloNode& node) {
    const MlirType type = node.result_type();
    HloValue held = result_like(node, type);
    const MlirTokens& tokens = node.translator().tokens();
    const auto bits = integer_bits(type.element);
    const std::int64_t count = elements_up_to(type.shape, Constant::kMost);
    for (std::size_t at = node.operation().begin; at < node.operation().end; ++at) {
        if (tokens[at].kind != MlirToken::Kind::Constant) continue;
        held.number = one_number(tokens[at].text, held.uniform);
        if (!bits || count > Constant::kMost) break;
        auto numbers = mlir_constant(tokens[at].text, *bits, static_cast<std::size_t>(Constant::kMost));
        if (numbers && held.uniform && numbers->size() == 1)
            numbers->assign(static_cast<std::size_t>(count), numbers->front());
        if (numbers && static_cast<std::int64_t>(numbers->size()) == count)
            held.constant = whole_numbers(type.shape, *std::move(numbers));
        break;
    }
    node.put(std::move(held));
}

/// 0, 1, 2 … : known when the program is built, and stored.
void hlo_iota(HloNode& node) {
    node.put(result_like(node, node.result_type()));
}

void hlo_same(HloNode& node) {
    for (std::size_t i = 0; i < node.operation().results.size(); ++i) node.pass(i, i);
}

void hlo_reshape(HloNode& node) {
    if (node.held(0).uniform) {
        HloValue same = node.held(0);
        same.shape = node.result_shape();
        return node.put(std::move(same));
    }
    node.put(node.reshaped(node.value(0), node.result_shape()));
    node.result().weights = node.held(0).weights;
}

void hlo_transpose(HloNode& node) {
    const std::size_t rank = node.shape(0).size();
    const Order order = node.dims(node.has("dims") ? "dims" : "permutation", rank);
    Order sorted = order;
    std::ranges::sort(sorted);
    if (order.size() != rank || !is_identity(sorted)) throw Unsayable("its 'dims' are no permutation");
    if (node.held(0).uniform) {
        HloValue same = node.held(0);
        same.shape = node.result_shape();
        return node.put(std::move(same));
    }
    node.put(node.network().transpose(node.value(0), order));
    node.result().weights = node.held(0).weights;
}

/// Dimension i of the operand becomes dims[i] of the result, and is met again where it is 1.
void hlo_broadcast_in_dim(HloNode& node) {
    const Shape from = node.shape(0), to = node.result_shape();
    const Order dims = node.dims(node.has("dims") ? "dims" : "broadcast_dimensions", to.size());
    if (dims.size() != from.size()) throw Unsayable("its 'dims' do not fit its operand");
    if (node.held(0).uniform) {
        HloValue same = node.held(0);
        same.shape = to;
        return node.put(std::move(same));
    }
    Order order(from.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t dim) { return dims[dim]; });
    Shape row(to.size(), 1);
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i] != 1 && from[i] != to[dims[i]]) throw Unsayable("its operand does not fit its result");
        row[dims[i]] = from[i];
    }
    Value value = node.value(0);
    if (!is_identity(order)) value = node.network().transpose(value, order);
    value = node.reshaped(value, row);
    node.put(row == to ? value : expand(node.network(), node.name(), value, to));
}

void hlo_concatenate(HloNode& node) {
    const std::size_t rank = node.shape(0).size();
    const Order axis = node.dims(node.has("dim") ? "dim" : "dimension", rank);
    if (axis.size() != 1) throw Unsayable("it has no dimension");
    if (node.operands() == 1) return node.pass(0);
    std::vector<Value> parts;
    bool stored = true;
    for (std::size_t i = 0; i < node.operands(); ++i) {
        parts.push_back(node.value(i));
        stored = stored && node.network().is_stored(parts.back());
    }
    if (stored) {
        HloValue held = result_like(node, node.result_type());
        return node.put(std::move(held));
    }
    node.put(concat(node.network(), node.name(), std::move(parts), axis[0]));
}

namespace {

/// The part of `shape` from `begins` on, every `steps`th.
void put_part(HloNode& node, const Shape& begins, const Shape& steps) {
    const Shape from = node.shape(0), to = node.result_shape();
    if (begins.size() != from.size() || steps.size() != from.size() || to.size() != from.size())
        throw Unsayable("its limits do not fit its operand");
    for (std::size_t i = 0; i < from.size(); ++i)
        if (begins[i] < 0 || steps[i] < 1 || begins[i] > from[i] || to[i] < 1 ||
            (to[i] - 1) > (from[i] - 1 - begins[i]) / steps[i])
            throw Unsayable("its limits reach beyond its operand");
    if (node.held(0).uniform) {
        HloValue same = node.held(0);
        same.shape = to;
        return node.put(std::move(same));
    }
    Value value = node.value(0);
    if (node.network().is_stored(value)) return node.put(result_like(node, node.result_type()));
    for (std::size_t i = 0; i < from.size(); ++i)
        if (to[i] != from[i])
            value = slice(node.network(), node.name(), value, i, begins[i], to[i], steps[i]);
    node.put(value);
}

}  // namespace

/// "slice %0 [0:1, 0:128:2]", or three lists.
void hlo_slice(HloNode& node) {
    const std::size_t rank = node.shape(0).size();
    if (node.has("start_indices"))
        return put_part(node, node.numbers("start_indices"), node.numbers("strides", Shape(rank, 1)));
    const MlirTokens& tokens = node.translator().tokens();
    Shape begins, steps;
    std::size_t at = node.operation().begin;
    while (at < node.operation().end && !tokens[at].is("[")) ++at;
    int part = 0;
    std::size_t dimension = 0;
    for (++at; at < node.operation().end && !tokens[at].is("]"); ++at) {
        if (tokens[at].is(",")) part = 0, ++dimension;
        if (tokens[at].is(":")) ++part;
        if (tokens[at].kind != MlirToken::Kind::Word) continue;
        std::int64_t number = 0;
        const std::string_view text = tokens[at].text;
        if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc())
            throw Unsayable("its limits are no numbers");
        if (begins.size() != dimension + (part == 0 ? 0 : 1) || part > 2)
            throw Unsayable("its limits are not begin:end:step of each dimension");
        if (part == 0) {
            begins.push_back(number);
            steps.push_back(1);
        } else if (part == 2) {
            steps.back() = number;
        }
    }
    put_part(node, begins, steps);
}

/// Where the part begins is data; how much it moves is not.
void hlo_dynamic_slice(HloNode& node) {
    const Shape from = node.shape(0), to = node.result_shape();
    if (node.operands() != from.size() + 1 || to.size() != from.size())
        throw Unsayable("it does not say where each dimension begins");
    Shape begins;
    bool known = true;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const auto* const begin = node.integers(i + 1);
        known = known && (begin || to[i] == from[i]);
        const std::int64_t last = std::max<std::int64_t>(0, from[i] - to[i]);
        begins.push_back(begin && begin->size() == 1 ? std::clamp<std::int64_t>((*begin)[0], 0, last) : 0);
    }
    put_part(node, begins, Shape(from.size(), 1));
    if (!known)
        node.translator().note(node.operation(),
                               fmt::format("{} begins where data says; here it begins at 0", node.name()));
}

void hlo_pad(HloNode& node) {
    for (const char* key :
         {"low", "high", "edge_padding_low", "edge_padding_high", "interior", "interior_padding"})
        for (const std::int64_t pad : node.numbers(key))
            if (pad != 0) throw Unsayable("a trace pads within convolutions and pools only");
    node.pass(0);
}

}  // namespace systole
