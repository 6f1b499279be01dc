// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/elementwise_chains.h"

#include <catch2/catch.hpp>
#include <string>

#include "sim/config/yaml.h"
#include "sim/workload/trace.h"

using namespace systole;

namespace {

/// Over inputs x and y [4, 8] and v [8], those of them that are read.
std::vector<ElementwiseChain> chains_of(const std::string& layers, const std::string& outputs) {
    const auto reads = [&](const std::string& name) { return layers.find(name) != std::string::npos; };
    std::string text = "trace: t\ninputs:\n  x: {shape: [4, 8], dtype: bf16}\n";
    if (reads("[y") || reads("y]")) text += "  y: {shape: [4, 8], dtype: bf16}\n";
    if (reads("v]") || reads("in: v")) text += "  v: {shape: [8], dtype: bf16}\n";
    text += "layers:\n" + layers + "outputs: [" + outputs + "]\n";
    return elementwise_chains(build_trace(config::parse_yaml(text, "t.yaml"), {}));
}

}  // namespace

TEST_CASE("Elementwise layers that read each other are one chain") {
    const std::string layers =
        "  - {name: a, op: elementwise, kind: mul, in: [x, v]}\n"
        "  - {name: b, op: activation, function: gelu, in: a}\n"
        "  - {name: c, op: elementwise, kind: add, in: [y, b]}\n";
    CHECK(chains_of(layers, "c") == std::vector<ElementwiseChain>{{0, 3}});
    // What is asked for from outside is written.
    CHECK(chains_of(layers, "b, c") == std::vector<ElementwiseChain>{{0, 2}});
    CHECK(chains_of(layers, "a, b, c").empty());
}

TEST_CASE("What another layer reads, what is met again and what is no such layer ends a chain") {
    CHECK(chains_of("  - {name: a, op: activation, function: relu, in: x}\n"
                    "  - {name: b, op: activation, function: gelu, in: a}\n"
                    "  - {name: c, op: elementwise, kind: add, in: [a, b]}\n",
                    "c") == std::vector<ElementwiseChain>{{1, 2}});
    CHECK(chains_of("  - {name: a, op: activation, function: relu, in: x}\n"
                    "  - {name: b, op: elementwise, kind: mul, in: [a, a]}\n",
                    "b")
              .empty());
    CHECK(chains_of("  - {name: a, op: activation, function: relu, in: v}\n"
                    "  - {name: b, op: elementwise, kind: mul, in: [x, a]}\n",
                    "b")
              .empty());
    CHECK(chains_of("  - {name: a, op: activation, function: relu, in: x}\n"
                    "  - {name: b, op: softmax, in: a}\n"
                    "  - {name: c, op: activation, function: relu, in: b}\n",
                    "c")
              .empty());
}

TEST_CASE("A chain reads eight tensors at most") {
    std::string layers = "  - {name: l0, op: activation, function: relu, in: x}\n";
    for (int i = 1; i <= 9; ++i)
        layers += "  - {name: l" + std::to_string(i) + ", op: elementwise, kind: add, in: [l" +
                  std::to_string(i - 1) + ", y]}\n";
    CHECK(chains_of(layers, "l9") == std::vector<ElementwiseChain>{{0, 8}, {8, 2}});
}
