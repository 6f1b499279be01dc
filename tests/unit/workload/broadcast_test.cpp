// SPDX-License-Identifier: Apache-2.0
// Elementwise operators with a second operand that is shorter, or stored.
#include "graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

std::string trace_with(const std::string& b, const std::string& keys, const std::string& dtype) {
    return "trace: t\ninputs: {a: {shape: [2, 3, 4], dtype: bf16}, b: {shape: " + b + ", dtype: " + dtype +
           "}}\nlayers: [{name: out, op: elementwise, kind: mul" + keys + "}]\noutputs: [out]\n";
}

std::int64_t times_of(const std::string& b) {
    const Graph graph = graph_of(trace_with(b, ", in: [a, b]", "bf16"));
    CHECK(tensor(graph, "out").shape == Shape{2, 3, 4});
    const auto op = std::get<Elementwise>(layer(graph, "out").op);
    CHECK(op.elements == 24);
    return op.times;
}

}  // namespace

TEST_CASE("a second operand like the innermost dimensions is met again for the others", "[workload]") {
    CHECK(times_of("[2, 3, 4]") == 1);
    CHECK(times_of("[3, 4]") == 2);
    CHECK(times_of("[1, 3, 4]") == 2);
    CHECK(times_of("[4]") == 6);
    CHECK(times_of("[1, 1, 4]") == 6);
    CHECK(times_of("[1]") == 24);
}

TEST_CASE("a second operand without dimensions in the middle is met again for these", "[workload]") {
    const auto op_of = [](const std::string& b) {
        const Graph graph = graph_of(trace_with(b, ", in: [a, b]", "bf16"));
        return std::get<Elementwise>(layer(graph, "out").op);
    };
    CHECK(op_of("[2, 1, 4]") == Elementwise{Elementwise::Kind::Mul, 24, Function::None, 3, false, 2});
    CHECK(op_of("[2, 3, 1]") == Elementwise{Elementwise::Kind::Mul, 24, Function::None, 4, false, 6});
    CHECK(op_of("[2, 1, 1]") == Elementwise{Elementwise::Kind::Mul, 24, Function::None, 12, false, 2});
}

TEST_CASE("a stored operand is a weight and takes the place of the second tensor", "[workload]") {
    const Graph graph = graph_of(
        trace_of("[2, 6, 4]", "  - {name: out, op: elementwise, kind: add, stored: [6, 4]}\n", "bf16"));
    CHECK(tensor(graph, "out.weights").shape == Shape{24});
    CHECK(tensor(graph, "out.weights").role == TensorRole::Weights);
    CHECK(layer(graph, "out").inputs.size() == 1);
    CHECK(std::get<Elementwise>(layer(graph, "out").op).times == 2);
}

TEST_CASE("other second operands are told with both shapes", "[workload]") {
    const std::string head =
        "error: elementwise 'out': needs two equal tensors, or a second one like the first but for "
        "outer dimensions, or some in the middle, that are 1; but ";
    CHECK(mistakes_of(trace_with("[3, 1]", ", in: [a, b]", "bf16")) ==
          "t:3:10: " + head + "'a' is bf16 [2, 3, 4] and 'b' is bf16 [3, 1]");
    CHECK(mistakes_of(trace_with("[4]", ", in: [a, b]", "int8")) ==
          "t:3:10: " + head + "'a' is bf16 [2, 3, 4] and 'b' is int8 [4]");
    CHECK(mistakes_of(trace_with("[4]", ", in: [b, a]", "bf16")) ==
          "t:3:10: " + head + "'b' is bf16 [4] and 'a' is bf16 [2, 3, 4]");
    CHECK(mistakes_of(trace_of("[2, 4]", "  - {name: out, op: elementwise, kind: add, stored: [3]}\n")) ==
          "t:4:53: " + head + "'x' is int8 [2, 4] and 'stored' is int8 [3]");
    CHECK(mistakes_of(
              trace_of("[2, 4]", "  - {name: out, op: elementwise, kind: add, stored: [4], in: [x, x]}\n")) ==
          "t:4:62: error: elementwise 'out': reads 1 tensor beside the stored one, not 2");
    CHECK(mistakes_of(
              trace_of("[2, 3]", "  - {name: out, op: elementwise, kind: add, stored: [3]}\n", "int4")) ==
          "t:4:53: error: elementwise 'out': 'stored' [3] cannot be met again: its rows of int4 end inside a "
          "byte");
}
