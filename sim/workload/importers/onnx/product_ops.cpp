// SPDX-License-Identifier: Apache-2.0
// Matrix products in the spellings of ONNX.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/network/products.h"
#include "sim/workload/importers/network/vectors.h"
#include "sim/workload/importers/onnx/ops.h"
#include "sim/workload/parameters.h"

namespace systole {
namespace {

/// Letters of one operand, with those that '...' stands for as capital ones counted from the last.
std::string letters_of(std::string text, std::size_t rank) {
    std::erase(text, ' ');
    const std::size_t dots = text.find("...");
    if (dots != std::string::npos) {
        const std::size_t rest = text.size() - 3, count = rank >= rest ? rank - rest : 0;
        if (count > 8) throw Unsayable("its '...' stands for more than eight dimensions");
        std::string more;
        for (std::size_t i = count; i-- > 0;) more += static_cast<char>('0' + i);
        text.replace(dots, 3, more);
    }
    const std::set<char> once(text.begin(), text.end());
    if (text.size() != rank || once.size() != text.size())
        throw Unsayable(fmt::format("'{}' names {} dimensions of {}, or one twice", text, text.size(), rank));
    return text;
}

struct Equation {
    std::vector<std::string> in;
    std::string out;
};

Equation equation_of(Node& node) {
    std::string text = node.text("equation", "");
    std::erase(text, ' ');
    const std::size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    Equation equation;
    for (std::size_t i = 0; i < node.inputs(); ++i) {
        const std::size_t comma = left.find(',');
        if ((comma == std::string::npos) != (i + 1 == node.inputs()))
            throw Unsayable("its equation has another number of operands");
        equation.in.push_back(letters_of(left.substr(0, comma), node.rank(i)));
        left = comma == std::string::npos ? "" : left.substr(comma + 1);
    }
    if (arrow == std::string::npos) {  // letters that stand once, in the order of the alphabet
        std::map<char, int> seen;
        for (const std::string& in : equation.in)
            for (const char c : in) ++seen[c];
        std::string dots;  // in front, in their order: '0' is the last of them
        for (const auto& [c, times] : seen) {
            if (c >= '0' && c <= '9')
                dots.insert(dots.begin(), c);
            else if (times == 1)
                equation.out += c;
        }
        equation.out.insert(0, dots);
        return equation;
    }
    std::string out = text.substr(arrow + 2);
    std::size_t widest = 0;
    for (const std::string& in : equation.in)
        widest = std::max<std::size_t>(widest, static_cast<std::size_t>(std::ranges::count_if(
                                                   in, [](char c) { return c >= '0' && c <= '9'; })));
    const bool dots = out.find("...") != std::string::npos;
    equation.out = letters_of(out, dots ? out.size() - 3 + widest : out.size());
    return equation;
}

Order places(const std::string& letters, const std::string& in) {
    Order order;
    for (const char c : letters) {
        const std::size_t at = in.find(c);
        if (at == std::string::npos) throw Unsayable("its equation asks for a letter that no operand has");
        order.push_back(at);
    }
    return order;
}

/// Whether both are matrices of many, each of which meets one of the other.
bool are_batched(const Shape& a, const Shape& b) {
    for (std::size_t i = 3; i <= std::min(a.size(), b.size()); ++i)
        if (a[a.size() - i] > 1 && b[b.size() - i] > 1) return true;
    return false;
}

/// Weights, where a layer stores that one and reads the other.
Value operand(Node& node, std::size_t i, bool batched) {
    const bool weighs = !batched && node.is_stored(i) && !node.is_stored(1 - i);
    return weighs ? node.weights(i) : node.value(i);
}

/// Without letters that nobody else has: summed.
Value summed(Node& node, Value x, std::string& letters, const std::string& kept) {
    Order gone;
    std::string left;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        if (kept.find(letters[i]) == std::string::npos)
            gone.push_back(i);
        else
            left += letters[i];
    }
    letters = left;
    return gone.empty() ? x : reduce(node.network(), node.name() + "_sum", "sum", x, gone, false);
}

/// Scores [batch, heads, seq, seq] where a mask lets them be; one of lengths is told.
Value masked(Node& node, Value scores, const Shape& x) {
    Network& network = node.network();
    const Shape mask = node.shape(3);
    Shape met;
    if (mask == Shape{x[0], x[1]}) met = {x[0], 1, 1, x[1]};
    if (mask == Shape{x[0], x[1], x[1]}) met = {x[0], 1, x[1], x[1]};
    if (met.empty()) {
        network.note(fmt::format("'{}': its mask {} is not in the trace", node.name(), to_string(mask)));
        return scores;
    }
    return elementwise(network, node.name() + "_kept", "select", scores, network.reshape(node.value(3), met));
}

}  // namespace

void map_matmul(Node& node) {
    const bool batched = are_batched(node.shape(0), node.shape(1));
    const Value a = operand(node, 0, batched), b = operand(node, 1, batched);
    node.put(0, matmul(node.network(), node.name(), a, b));
}

void map_gemm(Node& node) {
    Network& network = node.network();
    Value a = operand(node, 0, false), b = operand(node, 1, false);
    if (node.rank(0) != 2 || node.rank(1) != 2) throw Unsayable("its operands are no matrices");
    if (node.integer("transA", 0) != 0) a = network.transpose(a, {1, 0});
    if (node.integer("transB", 0) != 0) b = network.transpose(b, {1, 0});
    Value out = contract(network, node.name(), a, b, {{}, {}, {1}, {0}});
    if (node.has(2) && node.real("beta", 1) != 0)
        out = elementwise(network, node.name() + "_bias", "add", out, node.value(2));
    node.put(0, out);
}

void map_einsum(Node& node) {
    Network& network = node.network();
    if (node.inputs() == 0 || node.inputs() > 2) throw Unsayable("it has more than two operands");
    const Equation equation = equation_of(node);
    std::string a = equation.in[0];
    if (node.inputs() == 1) {
        const Value x = summed(node, node.value(0), a, equation.out);
        return node.put(0, network.transpose(x, places(equation.out, a)));
    }
    std::string b = equation.in[1];
    const bool batched = std::ranges::any_of(equation.out, [&](char c) {
        return a.find(c) != std::string::npos && b.find(c) != std::string::npos;
    });
    const Value x = summed(node, operand(node, 0, batched), a, equation.out + b),
                y = summed(node, operand(node, 1, batched), b, equation.out + a);
    Contraction dims;
    std::string front, rest_a, rest_b;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const std::size_t there = b.find(a[i]);
        const bool stays = equation.out.find(a[i]) != std::string::npos;
        if (there == std::string::npos) {
            rest_a += a[i];
        } else if (stays) {
            dims.batch_a.push_back(i), dims.batch_b.push_back(there);
            front += a[i];
        } else {
            dims.over_a.push_back(i), dims.over_b.push_back(there);
        }
    }
    for (const char c : b)
        if (a.find(c) == std::string::npos) rest_b += c;
    const Value out = contract(network, node.name(), x, y, dims);
    const Order order = places(equation.out, front + rest_a + rest_b);
    node.put(0, std::ranges::is_sorted(order) ? out : network.transpose(out, order));
}

void map_attention(Node& node) {
    Network& network = node.network();
    const Value x = node.value(0), weights = operand(node, 1, false);
    const auto heads = node.integer("num_heads", 0);
    const Shape shape = network.shape(x);
    if (shape.size() != 3 || network.shape(weights).size() != 2)
        throw Unsayable("its input is no [batch, seq, width]");
    Shape widths = node.integers("qkv_hidden_sizes");
    if (widths.empty()) widths.assign(3, network.shape(weights)[1] / 3);
    if (widths.size() != 3 || widths[0] != widths[1]) throw Unsayable("its queries and keys are not as wide");
    for (const std::int64_t width : widths)
        if (heads < 1 || width < 1 || width > kMaxInteger || width % heads != 0)
            throw Unsayable("its heads do not divide its width");
    if (widths[0] + widths[1] + widths[2] != network.shape(weights)[1])
        throw Unsayable("its weights are not as wide as queries, keys and values");
    if (node.has(4) || node.has(6)) throw Unsayable("it reads keys and values of earlier steps");
    const std::string name = node.name();
    Value all = contract(network, name + "_qkv", x, weights, {{}, {}, {2}, {0}});
    if (node.has(2)) all = elementwise(network, name + "_bias", "add", all, node.value(2));
    std::int64_t begin = 0;
    const auto part = [&](const char* what, std::int64_t width) {
        const Value rows = slice(network, name + what, all, 2, begin, width);
        begin += width;
        return network.transpose(network.reshape(rows, {shape[0], shape[1], heads, width / heads}),
                                 {0, 2, 1, 3});
    };
    const Value q = part("_q", widths[0]), k = part("_k", widths[1]), v = part("_v", widths[2]);
    Value scores = matmul(network, name + "_scores", q, network.transpose(k, {0, 1, 3, 2}));
    scores = elementwise(network, name + "_scale", "mul", scores,
                         network.stored(name + "_factor", {}, network.dtype(x)));
    if (node.has(5)) scores = elementwise(network, name + "_biased", "add", scores, node.value(5));
    if (node.integer("unidirectional", 0) != 0)
        scores = elementwise(network, name + "_masked", "select", scores,
                             network.stored(name + "_mask", {shape[1], shape[1]}, network.dtype(x)));
    if (node.has(3)) scores = masked(node, scores, shape);
    const Value shares = softmax(network, name + "_softmax", scores, {3});
    const Value out = network.transpose(matmul(network, name, shares, v), {0, 2, 1, 3});
    node.put(0, network.reshape(out, {shape[0], shape[1], widths[2]}));
}

}  // namespace systole
