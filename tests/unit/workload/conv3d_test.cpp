// SPDX-License-Identifier: Apache-2.0
// Convolutions of volumes: shapes, products, and what cannot be.
#include "graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

Graph volumes(const std::string& keys, const std::string& in = "[2, 6, 9, 7, 4]") {
    return graph_of(trace_of(in, "  - {name: out, op: conv3d, " + keys + "}\n"));
}

std::string told(const std::string& keys, const std::string& in = "[2, 6, 9, 7, 4]") {
    return mistakes_of(trace_of(in, "  - {name: out, op: conv3d, filters: 8, " + keys + "}\n"));
}

}  // namespace

TEST_CASE("a convolution of volumes has a depth beside height and width", "[workload]") {
    // (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1 in each dimension.
    CHECK(tensor(volumes("filters: 8, kernel: 3"), "out").shape == Shape{2, 4, 7, 5, 8});
    CHECK(tensor(volumes("filters: 8, kernel: 3, pad: 1, stride: 2"), "out").shape == Shape{2, 3, 5, 4, 8});
    CHECK(tensor(volumes("filters: 8, kernel: [1, 3, 3], pad: 1, pad_t: 0, stride: 2, stride_t: 1"), "out")
              .shape == Shape{2, 6, 5, 4, 8});
    CHECK(tensor(volumes("filters: 8, kernel: [3, 1, 1], pad_t: 1"), "out").shape == Shape{2, 6, 9, 7, 8});
    CHECK(tensor(volumes("filters: 8, kernel: 2, dilation: 2, dilation_t: 5"), "out").shape ==
          Shape{2, 1, 7, 5, 8});
    const Graph graph = volumes("filters: 8, kernel: [3, 2, 5], groups: 2, bias: true, activation: relu");
    CHECK(tensor(graph, "out.weights").shape == Shape{8, 3, 2, 5, 2});
    CHECK(tensor(graph, "out.bias").shape == Shape{8});
    CHECK(op_name(layer(graph, "out").op) == "conv3d");
}

TEST_CASE("its products are those of each output with the taps of its kernel", "[workload]") {
    CHECK(total_macs(volumes("filters: 8, kernel: 3")) == Macs(2 * 4 * 7 * 5 * 8 * 27 * 4));
    CHECK(total_macs(volumes("filters: 8, kernel: [1, 3, 3], pad: 1, pad_t: 0, groups: 4")) ==
          Macs(2 * 6 * 9 * 7 * 8 * 9));
    CHECK(total_macs(volumes("filters: 8, kernel: [3, 2, 2], sparsity: 2:4")) ==
          Macs(2 * 4 * 8 * 6 * 8 * 12 * 2));
}

TEST_CASE("the convolutions of C3D have the 38.5 billion products of the literature", "[workload]") {
    // Tran et al., "ConvNet Architecture Search for Spatiotemporal Feature Learning" (2017), table 1.
    // Poolings between them: 1x2x2, then 2x2x2.
    struct Part {
        const char* in;
        int filters;
    };
    std::int64_t sum = 0;
    for (const Part& part : {Part{"[1, 16, 112, 112, 3]", 64}, Part{"[1, 16, 56, 56, 64]", 128},
                             Part{"[1, 8, 28, 28, 128]", 256}, Part{"[1, 8, 28, 28, 256]", 256},
                             Part{"[1, 4, 14, 14, 256]", 512}, Part{"[1, 4, 14, 14, 512]", 512},
                             Part{"[1, 2, 7, 7, 512]", 512}, Part{"[1, 2, 7, 7, 512]", 512}})
        sum += total_macs(volumes("kernel: 3, pad: 1, filters: " + std::to_string(part.filters), part.in))
                   .value();
    CHECK(static_cast<double>(sum) / 1e9 == Approx(38.5).margin(0.05));
}

TEST_CASE("a table asks for it with d and t", "[workload]") {
    const Graph graph = single_operator("conv3d",
                                        {{"n", "2"},
                                         {"d", "6"},
                                         {"h", "9"},
                                         {"w", "7"},
                                         {"c", "4"},
                                         {"k", "8"},
                                         {"t", "3"},
                                         {"r", "3"},
                                         {"s", "1"},
                                         {"pad", "1"},
                                         {"stride_t", "2"}},
                                        {});
    CHECK(tensor(graph, "conv3d").shape == Shape{2, 3, 9, 9, 8});  // pad_t is pad
    CHECK(tensor(graph, "conv3d.weights").shape == Shape{8, 3, 3, 1, 4});
}

TEST_CASE("convolutions of volumes that cannot be are refused", "[workload]") {
    CHECK(told("kernel: 3", "[2, 9, 7, 4]") ==
          "t:4:5: error: conv3d 'out': reads volumes [n, d, h, w, c], but 'x' is [2, 9, 7, 4]");
    CHECK_THAT(told("kernel: [7, 3, 3]"),
               Catch::Contains("the kernel [7, 3, 3] is larger than the padded input [6, 9, 7]"));
    CHECK_THAT(told("kernel: [4, 3, 3], dilation_t: 2"),
               Catch::Contains("the dilated kernel [7, 3, 3] is larger than the padded input [6, 9, 7]"));
    CHECK_THAT(told("kernel: [3, 3]"), Catch::Contains("'kernel' must be n or [d, h, w], not 2 numbers"));
    CHECK_THAT(told("kernel: 3, stride_t: 0"), Catch::Contains("'stride_t'"));
    CHECK_THAT(told("kernel: 3, round_up: true"), Catch::Contains("unknown key 'round_up'"));
    CHECK_THAT(told("kernel: 3, groups: 3"), Catch::Contains("groups 3 must divide the 4 input"));
    CHECK_THAT(told("kernel: 3, groups: 2, depthwise: true"),
               Catch::Contains("'depthwise: true' sets the groups"));
    CHECK_THAT(told("kernel: 1, pad_t: 2000000000, pad: 2000000000"), Catch::Contains("more than 2^63"));
    CHECK_THAT(
        mistakes_of(trace_of("[2, 9, 7, 4]", "  - {name: out, op: conv2d, filters: 8, kernel: [3, 3, 3]}\n")),
        Catch::Contains("'kernel' must be n or [h, w], not 3 numbers"));
}
