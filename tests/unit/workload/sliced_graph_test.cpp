// SPDX-License-Identifier: Apache-2.0
// Layers that run part by part of the batch.
#include "sim/workload/sliced_graph.h"

#include "graphs.h"
#include "sim/workload/shorter_graph.h"

using namespace systole;
using namespace systole::test;

namespace {

using Names = std::vector<std::string>;

Names layers_of(const Graph& graph) {
    Names names;
    for (const Layer& layer : graph.layers) names.push_back(layer.name);
    return names;
}

/// Six images through two convolutions with an identity around them, a pool, and a classifier.
Graph network() {
    return graph_of(trace_of("[6, 8, 8, 4]",
                             "  - {name: a, op: conv2d, filters: 4, kernel: 3, pad: 1}\n"
                             "  - {name: b, op: conv2d, filters: 4, kernel: 3, pad: 1}\n"
                             "  - {name: sum, op: elementwise, kind: add, in: [b, x]}\n"
                             "  - {name: pool, op: pool, kind: average, global: true}\n"
                             "  - {name: flat, op: reshape, shape: [6, 4]}\n"
                             "  - {name: out, op: matmul, n: 10}\n"));
}

bool can_slice(const std::string& shape, const std::string& layer) {
    const Graph graph = graph_of(trace_of(shape, layer, "bf16"));
    return batch_of(graph, graph.layers.back()).has_value();
}

}  // namespace

TEST_CASE("a run of layers is done for one part of the batch after the other", "[workload]") {
    const Graph whole = network();
    const Graph sliced = slice_batch(whole, {{0, 3, 3}});
    CHECK(layers_of(sliced) == Names{"a[1/3]", "b[1/3]", "sum[1/3]", "a[2/3]", "b[2/3]", "sum[2/3]", "a[3/3]",
                                     "b[3/3]", "sum[3/3]", "pool", "out"});
    CHECK(total_macs(sliced) == total_macs(whole));
    CHECK(whole_name(layer(sliced, "b[2/3]")) == "b");
    CHECK(layer(sliced, "b[2/3]").slice->index == 1);
    CHECK(std::get<Conv2d>(layer(sliced, "b[2/3]").op).batch == 2);
    CHECK(std::get<Elementwise>(layer(sliced, "sum[1/3]").op).elements == 2 * 8 * 8 * 4);
    // Weights are those of the whole layer, for all parts the same.
    CHECK(layer(sliced, "b[1/3]").weights == layer(sliced, "b[3/3]").weights);
    CHECK(sliced.tensors[*layer(sliced, "b[3/3]").weights].name == "b.weights");
}

TEST_CASE("what is read inside a run only has a place for each part; the rest is a part of the whole",
          "[workload]") {
    const Graph sliced = slice_batch(network(), {{0, 3, 3}});
    constexpr std::int64_t kPart = 2 * 8 * 8 * 4;
    CHECK(tensor(sliced, "a[2/3]").shape == Shape{2, 8, 8, 4});
    CHECK(!tensor(sliced, "a[2/3]").view_of);
    CHECK(
        std::ranges::none_of(sliced.tensors, [](const Tensor& t) { return t.name == "a" || t.name == "b"; }));
    for (const std::string name : {"sum", "x"})
        for (std::int64_t i = 0; i < 3; ++i) {
            const Tensor& part = tensor(sliced, name + "[" + std::to_string(i + 1) + "/3]");
            CHECK(sliced.tensors[part.view_of.value()].name == name);
            CHECK(part.view_offset == Bytes(i * kPart));
            CHECK(stored_bytes(part) == Bytes(kPart));
        }
    // Who comes behind reads the whole.
    CHECK(sliced.tensors[layer(sliced, "pool").inputs.front()].name == "sum");
    CHECK(sliced.tensors[sliced.outputs.front()].name == "out");
    CHECK(sliced.tensors[sliced.inputs.front()].name == "x");
}

TEST_CASE("views of what is inside a run are views of its parts", "[workload]") {
    const Graph sliced = slice_batch(network(), {{0, 5, 6}});
    CHECK(layers_of(sliced).size() == 30);
    const Tensor& flat = sliced.tensors[layer(sliced, "out[4/6]").inputs.front()];
    CHECK(flat.name == "flat[4/6]");
    CHECK(sliced.tensors[flat.view_of.value()].name == "pool[4/6]");
    CHECK(flat.view_offset == Bytes(0));
    const Tensor& out = tensor(sliced, "out[4/6]");
    CHECK(sliced.tensors[out.view_of.value()].name == "out");
    CHECK(out.view_offset == Bytes(3 * 10));
}

TEST_CASE("only layers that do the items of a batch one by one can be sliced", "[workload]") {
    CHECK(can_slice("[4, 8, 8, 2]", "  - {name: out, op: pool, kind: max, window: 2}\n"));
    CHECK(can_slice("[4, 8, 2]", "  - {name: out, op: matmul, n: 3}\n"));
    CHECK(can_slice("[4, 8]", "  - {name: out, op: matmul, n: 3}\n"));
    CHECK(can_slice("[4, 8, 2]", "  - {name: out, op: softmax}\n"));
    CHECK(can_slice("[4, 8, 2]", "  - {name: out, op: transpose, permutation: [0, 2, 1]}\n"));
    CHECK(!can_slice("[4, 8, 2]", "  - {name: out, op: transpose, permutation: [1, 0, 2]}\n"));
    CHECK(!can_slice("[1, 8, 2]", "  - {name: out, op: softmax}\n"));
    CHECK(can_slice("[4, 8, 2]", "  - {name: out, op: slice, size: 1}\n"));
    CHECK(!can_slice("[4, 8, 2]", "  - {name: out, op: slice, axis: 0, size: 2}\n"));
    CHECK(can_slice("[4, 8, 2]", "  - {name: out, op: elementwise, kind: add, stored: [8, 2]}\n"));
    CHECK(!can_slice("[4, 8, 2]", "  - {name: out, op: elementwise, kind: add, stored: [4, 8, 2]}\n"));
    CHECK(!can_slice("[4, 8]",
                     "  - {name: row, op: slice, axis: 0, size: 1}\n"
                     "  - {name: r, op: reshape, shape: [8]}\n"
                     "  - {name: out, op: elementwise, kind: add, in: [x, r]}\n"));
}

TEST_CASE("a block that a run touches is a repeated one no longer, others move", "[workload]") {
    const Graph graph = graph_of(trace_of("[4, 8]",
                                          "  - {name: first, op: matmul, n: 8}\n"
                                          "  - {name: second, op: matmul, n: 8}\n"
                                          "  - name: block\n"
                                          "    repeat: 5\n"
                                          "    layers: [{name: a, op: matmul, n: 8}]\n"
                                          "  - {name: out, op: matmul, n: 2}\n"));
    const Graph before = slice_batch(graph, {{0, 2, 2}});
    REQUIRE(before.blocks.size() == 1);
    CHECK(before.layers[before.blocks[0].first_layer].name == "block.0.a");
    CHECK(before.tensors[before.blocks[0].first_tensor].name == "block.0.a.weights");
    CHECK(turns_alike(before, before.blocks[0]));
    CHECK(slice_batch(graph, {{1, 2, 2}}).blocks.empty());
}

TEST_CASE("what sums over the batch has no part of it", "[workload]") {
    MatMul gradient{1, 4, 6, 4, false};
    gradient.transposed_a = true;
    CHECK_FALSE(slice_of(gradient, 4, 2));
    gradient.batch = 4;
    CHECK_FALSE(slice_of(gradient, 4, 2));
    Attention keys;
    keys.batch = 4;
    CHECK(slice_of(keys, 4, 2));
    keys.part = Attention::Part::Keys;
    CHECK_FALSE(slice_of(keys, 4, 2));
    CHECK(slice_of(Reduce{Reduce::Kind::Sum, 8, 4}, 4, 2));
    CHECK_FALSE(slice_of(Reduce{Reduce::Kind::Sum, 8, 4, true}, 4, 2));
    CHECK_FALSE(slice_of(EmbeddingGradient{4, 4, 4}, 4, 2));
    CHECK_FALSE(slice_of(Optimizer{Optimizer::Kind::Adam, 16}, 4, 2));
    CHECK(slice_of(Softmax{8, 4, true}, 4, 2));
    CHECK(slice_of(MatMul{1, 8, 3, 5, true, false, true}, 4, 2));  // of a weight of another, for all items
}
