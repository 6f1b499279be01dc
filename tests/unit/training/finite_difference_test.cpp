// SPDX-License-Identifier: Apache-2.0
// Gradients of every kind of layer, and of random networks, held to finite differences.
#include <random>

#include "differences.h"
#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

std::string trace(const std::string& shape, const std::string& layers) {
    return trace_of(shape, layers, "fp32");
}

}  // namespace

TEST_CASE("gradients of perceptrons are those of the loss") {
    const std::string function =
        GENERATE(as<std::string>{}, "none", "relu", "relu6", "leaky_relu", "gelu", "silu", "tanh", "sigmoid");
    expect_gradients(trace("[5, 4]", "  - {name: one, op: matmul, n: 6, bias: true, activation: " + function +
                                         "}\n  - {name: out, op: matmul, n: 3, bias: true, activation: " +
                                         function + "}\n"),
                     4);
}

TEST_CASE("gradients of functions that are layers are those of the loss") {
    expect_gradients(
        trace("[5, 4]",
              "  - {name: one, op: matmul, n: 6}\n  - {name: f, op: activation, function: relu}\n"
              "  - {name: two, op: matmul, n: 6}\n  - {name: g, op: activation, function: exp}\n"
              "  - {name: h, op: softmax}\n  - {name: out, op: matmul, n: 3}\n"),
        3);
}

TEST_CASE("gradients of residual streams with norms are those of the loss") {
    const std::string kind = GENERATE(as<std::string>{}, "layer", "rms");
    expect_gradients(trace("[2, 3, 4]",
                           "  - {name: up, op: matmul, n: 5}\n"
                           "  - name: block\n    repeat: 3\n    layers:\n"
                           "      - {name: norm, op: norm, kind: " +
                               kind +
                               ", in: block_in}\n"
                               "      - {name: gate, op: matmul, n: 7, in: norm, activation: silu}\n"
                               "      - {name: wide, op: matmul, n: 7, in: norm}\n"
                               "      - {name: both, op: elementwise, kind: mul, in: [gate, wide]}\n"
                               "      - {name: down, op: matmul, n: 5}\n"
                               "      - {name: sum, op: elementwise, kind: add, in: [down, block_in]}\n"
                               "  - {name: last, op: norm, kind: " +
                               kind +
                               "}\n"
                               "  - {name: out, op: matmul, n: 6}\n"),
                     kind == "layer" ? 1 + 3 * 5 + 2 + 1 : 1 + 3 * 4 + 1 + 1);
}

TEST_CASE("gradients of attention are those of the loss") {
    const std::string more =
        GENERATE(as<std::string>{}, "", ", causal: true", ", fused: false", ", causal: true, fused: false");
    // Rows of values are longer than those of keys, and two heads of queries share one of keys.
    expect_gradients(trace("[2, 5, 6]",
                           "  - {name: q, op: matmul, n: 4 * 3, in: x}\n"
                           "  - {name: k, op: matmul, n: 2 * 3, in: x}\n"
                           "  - {name: v, op: matmul, n: 2 * 5, in: x}\n"
                           "  - {name: a, op: attention, in: [q, k, v], heads: 4, kv_heads: 2, value_dim: 5" +
                               more + "}\n  - {name: out, op: matmul, n: 3}\n"),
                     4);
}

TEST_CASE("gradients of rotated heads are those of the loss") {
    expect_gradients(trace("[2, 5, 6]",
                           "  - {name: q, op: matmul, n: 2 * 4, in: x}\n"
                           "  - {name: heads, op: reshape, shape: [2, 5, 2, 4]}\n"
                           "  - {name: turned, op: rotary, axis: 1}\n"
                           "  - {name: k, op: matmul, n: 2 * 4, in: x}\n"
                           "  - {name: v, op: matmul, n: 2 * 4, in: x}\n"
                           "  - {name: a, op: attention, in: [turned, k, v], heads: 2, causal: true}\n"
                           "  - {name: flat, op: reshape, shape: [2, 5, 8]}\n"
                           "  - {name: out, op: matmul, n: 3}\n"),
                     4);
}

TEST_CASE("gradients of products of two activations are those of the loss") {
    const bool transpose_a = GENERATE(false, true), transpose_b = GENERATE(false, true);
    // [2, 3, 4] times [2, 4, 5], as they lie.
    const auto operand = [](const std::string& name, int rows, int cols, bool turned) {
        return "  - {name: " + name + "_all, op: matmul, in: x, n: " + std::to_string(rows * cols) +
               "}\n  - {name: " + name + ", op: reshape, shape: [2, " + std::to_string(turned ? cols : rows) +
               ", " + std::to_string(turned ? rows : cols) + "]}\n";
    };
    expect_gradients(trace("[2, 6]", operand("a", 3, 4, transpose_a) + operand("b", 4, 5, transpose_b) +
                                         "  - {name: out, op: batched_matmul, in: [a, b], transpose_a: " +
                                         (transpose_a ? "true" : "false") +
                                         ", transpose_b: " + (transpose_b ? "true" : "false") + "}\n"),
                     2);
}

TEST_CASE("gradients of tables are those of the loss") {
    const std::string bag = GENERATE(as<std::string>{}, "1", "2");
    expect_gradients(
        "trace: t\ninputs: {i: {shape: [3, 4], dtype: int32}}\nlayers:\n"
        "  - {name: rows, op: embedding, vocabulary: 5, width: 4, dtype: fp32, bag: " +
            bag + "}\n  - {name: out, op: matmul, n: 3}\noutputs: [out]\n",
        2);
}

TEST_CASE("gradients of what is added and multiplied, met again or stored, are those of the loss") {
    const std::string kind = GENERATE(as<std::string>{}, "add", "sub", "mul");
    const std::string post = GENERATE(as<std::string>{}, "none", "relu", "gelu");
    const std::string keys = "op: elementwise, kind: " + kind + ", activation: " + post;
    expect_gradients(
        trace("[3, 2, 4]",
              "  - {name: one, op: matmul, in: x, n: 5}\n"
              "  - {name: a, " +
                  keys +
                  ", stored: [2, 5]}\n"
                  "  - {name: two, op: matmul, n: 5, in: x}\n"
                  "  - {name: b, " +
                  keys +
                  ", in: [a, two]}\n"
                  "  - {name: part, op: matmul, n: 5, in: y}\n"
                  "  - {name: c, " +
                  keys +
                  ", in: [b, part]}\n"
                  "  - {name: d, op: elementwise, kind: mul, in: [c, one]}\n"
                  "  - {name: square, op: elementwise, kind: mul, in: [d, d]}\n"
                  "  - {name: out, op: matmul, n: 3}\n")
            .replace(std::string("trace: t\ninputs: {").size(), 0, "y: {shape: [2, 4], dtype: fp32}, "),
        5);
}

TEST_CASE("gradients of moved and joined tensors are those of the loss") {
    expect_gradients(trace("[2, 3, 4]",
                           "  - {name: one, op: matmul, n: 6}\n"
                           "  - {name: turned, op: transpose, permutation: [1, 2, 0]}\n"
                           "  - {name: rows, op: reshape, shape: [3, 2, 6]}\n"
                           "  - {name: two, op: matmul, n: 5}\n"
                           "  - {name: both, op: concat, in: [rows, two, rows], axis: 2}\n"
                           "  - {name: sums, op: collective, kind: all_reduce, chips: 2}\n"
                           "  - {name: ends, op: reshape, shape: [2, 3, 17]}\n"
                           "  - {name: out, op: matmul, n: 3}\n"),
                     3);
}

TEST_CASE("gradients of quotients and of what is selected are those of the loss") {
    expect_gradients(
        trace("[3, 4]",
              "  - {name: one, op: matmul, in: x, n: 5}\n"
              "  - {name: test, op: elementwise, kind: compare, in: [one, y]}\n"
              "  - {name: some, op: elementwise, kind: select, in: [one, test]}\n"
              "  - {name: less, op: elementwise, kind: div, in: [some, y]}\n"
              "  - {name: out, op: matmul, n: 3}\n")
            .replace(std::string("trace: t\ninputs: {").size(), 0, "y: {shape: [3, 5], dtype: fp32}, "),
        2);
}

TEST_CASE("gradients of turns that are computed again are those of the loss") {
    const std::string recompute = GENERATE(as<std::string>{}, "none", "blocks");
    expect_gradients(trace("[2, 3, 4]",
                           "  - {name: up, op: matmul, n: 8}\n"
                           "  - name: block\n    repeat: 3\n    layers:\n"
                           "      - {name: norm, op: norm, kind: layer, in: block_in}\n"
                           "      - {name: all, op: collective, kind: replicate, chips: 2}\n"
                           "      - {name: q, op: matmul, n: 8, in: all}\n"
                           "      - {name: heads, op: reshape, shape: [2, 3, 2, 4]}\n"
                           "      - {name: turned, op: rotary, axis: 1}\n"
                           "      - {name: k, op: matmul, n: 4, in: all}\n"
                           "      - {name: v, op: matmul, n: 4, in: all, bias: true}\n"
                           "      - {name: a, op: attention, in: [turned, k, v], heads: 2, kv_heads: 1}\n"
                           "      - {name: flat, op: reshape, shape: [2, 3, 8]}\n"
                           "      - {name: down, op: matmul, n: 8, activation: gelu}\n"
                           "      - {name: sum, op: elementwise, kind: add, in: [down, block_in]}\n"
                           "  - {name: out, op: matmul, n: 6}\n"),
                     1 + 3 * 7 + 1, ", recompute: " + recompute);
}

namespace {

/// A network of tensors [3, 4] whose layers read any before them, in the text of a trace.
class RandomNetwork {
public:
    explicit RandomNetwork(unsigned seed) : dice_(seed) {
        add("matmul, in: x, n: 4, bias: true", 2);  // so that all behind it have gradients
        while (made_.size() < 9) add_one();
        std::string all;
        for (const std::string& name : unread_) all += (all.empty() ? "" : ", ") + name;
        if (unread_.size() > 1) add("concat, in: [" + all + "]", 0), all = made_.back();
        layers_ += "  - {name: out, op: matmul, n: 3, in: " + all + "}\n";
    }
    const std::string& layers() const { return layers_; }
    /// Stored tensors that are learnt.
    std::size_t updates() const { return updates_; }

private:
    const std::string& one_of(const std::vector<std::string>& names) { return names[dice_() % names.size()]; }
    std::string read() {
        const std::string name = one_of(made_);
        std::erase(unread_, name);
        return name;
    }
    void add(const std::string& keys, std::size_t stored) {
        made_.push_back("l" + std::to_string(count_++));
        unread_.push_back(made_.back());
        layers_ += "  - {name: " + made_.back() + ", op: " + keys + "}\n";
        updates_ += stored;
    }
    /// Two layers, of which others read the second.
    void add_two(const std::string& first, const std::string& second, std::size_t stored) {
        add(first, 0);
        add(second, stored);
        made_.erase(made_.end() - 2);
        unread_.erase(unread_.end() - 2);
    }
    void add_one() {
        const std::string function =
            one_of({"none", "gelu", "silu", "tanh", "sigmoid", "relu", "leaky_relu"});
        const std::string kind = one_of({"add", "sub", "mul"}), in = "in: " + read();
        switch (dice_() % 8) {
            case 0:
                return add("matmul, n: 4, " + in + ", activation: " + function, 1);
            case 1:
                return add("norm, kind: layer, " + in, 2);
            case 2:
                return add("norm, kind: rms, " + in, 1);
            case 3:
                // A tensor less itself would say nothing.
                return add("elementwise, in: [" + in.substr(4) + ", " + (kind == "sub" ? "x" : read()) +
                               "], kind: " + kind + ", activation: " + function,
                           0);
            case 4:
                return add("elementwise, stored: [4], " + in + ", kind: " + kind, 1);
            case 5:
                return add(dice_() % 2 == 0 ? "softmax, " + in : "activation, function: tanh, " + in, 0);
            case 6:
                return add_two("concat, in: [" + in.substr(4) + ", " + read() + "]", "matmul, n: 4", 1);
            default:
                return add_two("transpose, permutation: [1, 0], " + in, "reshape, shape: [3, 4]", 0);
        }
    }

    std::mt19937 dice_;
    std::string layers_;
    std::vector<std::string> made_, unread_;
    std::size_t count_ = 0, updates_ = 1;  // of `out`
};

}  // namespace

TEST_CASE("gradients of random networks are those of the loss") {
    const unsigned seed = GENERATE(range(1U, 61U));
    CAPTURE(seed);
    const RandomNetwork network(seed);
    expect_gradients(trace("[3, 4]", network.layers()), network.updates());
}
