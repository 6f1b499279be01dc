// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions in traces: shapes, products, phases, and what cannot be.
#include "graphs.h"
#include "sim/workload/allocation.h"

using namespace systole;
using namespace systole::test;

namespace {

Graph grown(const std::string& keys, const std::string& in = "[2, 5, 7, 3]") {
    return graph_of(trace_of(in, "  - {name: out, op: conv_transpose, filters: 4, " + keys + "}\n"));
}

std::string told(const std::string& keys) {
    return mistakes_of(
        trace_of("[2, 5, 7, 3]", "  - {name: out, op: conv_transpose, filters: 4, " + keys + "}\n"));
}

}  // namespace

TEST_CASE("a transposed convolution grows a feature map as frameworks do", "[workload]") {
    // (in - 1) * stride - 2 * pad + kernel + out_pad, as PyTorch's ConvTranspose2d has it.
    CHECK(tensor(grown("kernel: 2, stride: 2"), "out").shape == Shape{2, 10, 14, 4});
    CHECK(tensor(grown("kernel: 4, stride: 2, pad: 1"), "out").shape == Shape{2, 10, 14, 4});
    CHECK(tensor(grown("kernel: 3, stride: 2, pad: 1, out_pad: 1"), "out").shape == Shape{2, 10, 14, 4});
    CHECK(tensor(grown("kernel: [3, 5], stride: 3"), "out").shape == Shape{2, 15, 23, 4});
    CHECK(tensor(grown("kernel: 3, pad: 1"), "out").shape == Shape{2, 5, 7, 4});
    const Graph graph = grown("kernel: [3, 5], stride: 3, bias: true, activation: relu");
    CHECK(tensor(graph, "out.weights").shape == Shape{4, 3, 5, 3});
    CHECK(tensor(graph, "out.bias").shape == Shape{4});
}

TEST_CASE("its products are those of each pixel with the taps that meet it", "[workload]") {
    // Kernel = stride: each input with each tap once.
    CHECK(total_macs(grown("kernel: 2, stride: 2")) == Macs(2 * 5 * 7 * 3 * 4 * 4));
    // Four taps of sixteen meet a pixel.
    CHECK(total_macs(grown("kernel: 4, stride: 2, pad: 1")) == Macs(2 * 10 * 14 * 4 * 3 * 4));
    // Of three taps in a row, one meets every other pixel and two the others: 5 * 3 and 7 * 3 products.
    CHECK(total_macs(grown("kernel: 3, stride: 2, pad: 1, out_pad: 1")) ==
          Macs(2 * (5 * 3) * (7 * 3) * 3 * 4));
    // With stride 1 it is a convolution.
    CHECK(total_macs(grown("kernel: 3, pad: 1")) == Macs(2 * 5 * 7 * 9 * 3 * 4));
}

TEST_CASE("the taps of all phases together are the kernel's", "[workload]") {
    for (std::int64_t stride = 1; stride <= 4; ++stride)
        for (std::int64_t kernel = stride; kernel <= 7; ++kernel)
            for (std::int64_t pad = 0; pad < kernel; ++pad) {
                ConvTranspose op;
                op.in_h = op.in_w = 9;
                op.kernel_h = op.kernel_w = kernel;
                op.stride = stride, op.pad = pad;
                std::int64_t taps = 0, pixels = 0;
                for (const ConvPhase& phase : op.phases_h()) taps += phase.taps, pixels += phase.out;
                CHECK(taps == kernel);
                CHECK(pixels == op.out_h());
            }
}

TEST_CASE("its weights lie phase by phase", "[workload]") {
    const Graph graph = grown("kernel: 3, stride: 2");
    AllocationRules rules;
    rules.dram_capacity = Bytes(1 << 20);
    rules.tile_rows = rules.tile_cols = 4;
    const auto place = [&] { return allocate(graph, rules)[*layer(graph, "out").weights]; };
    // 2 x 2, 2 x 1, 1 x 2 and 1 x 1 taps of three channels, in whole tiles of four rows.
    CHECK(place().parts == std::vector<std::int64_t>{0, 12 * 4, 20 * 4, 28 * 4});
    CHECK(place().bytes == Bytes((12 + 8 + 8 + 4) * 4));
    rules.weights = Layout::ColumnMajor;
    CHECK(place().parts == std::vector<std::int64_t>{0, 12 * 4, 18 * 4, 24 * 4});
    CHECK(place().bytes == Bytes(27 * 4));
}

TEST_CASE("transposed convolutions that cannot be are refused", "[workload]") {
    CHECK(told("kernel: 2, stride: 3") ==
          "t:4:5: error: conv_transpose 'out': the kernel [2, 2] is smaller than the stride 3: pixels "
          "between would "
          "meet no input");
    CHECK_THAT(told("kernel: 3, stride: 2, out_pad: 2"),
               Catch::Contains("out_pad 2 must be smaller than the stride 2"));
    CHECK_THAT(told("kernel: 3, pad: 4"), Catch::Contains("pad 4 leaves nothing of the output: [-1, 1]"));
    CHECK_THAT(told("kernel: 3, stride: 2000000000"),
               Catch::Contains("has more than 2147483647 rows or columns"));
    CHECK_THAT(told("kernel: 3, dilation: 2"), Catch::Contains("unknown key 'dilation'"));
}
