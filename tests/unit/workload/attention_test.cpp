// SPDX-License-Identifier: Apache-2.0
#include "graphs.h"

using namespace systole;
using namespace systole::test;
using Catch::Contains;

namespace {

/// q [2, 3, 32]; k and v of `keys`; then a layer `out`.
std::string attends(const std::string& keys, const std::string& what, const std::string& values = "") {
    return "trace: t\ninputs:\n  q: {shape: [2, 3, 32], dtype: bf16}\n  k: {shape: " + keys +
           ", dtype: bf16}\n  v: {shape: " + (values.empty() ? keys : values) +
           ", dtype: bf16}\nlayers:\n  - {name: out, op: attention, in: [q, k, v], " + what +
           "}\noutputs: [out]\n";
}

const std::string kCached =
    "trace: t\ninputs:\n  q: {shape: [2, 3, 4, 8], dtype: bf16}\n  k: {shape: [2, 3, 16], dtype: bf16}\n"
    "layers:\n  - {name: keys, op: kv_cache, in: k, heads: 2, length: 9}\n"
    "  - {name: values, op: kv_cache, in: k, heads: 2, length: 9}\n"
    "  - {name: out, op: attention, in: [q, keys, values], heads: 4, kv_heads: KV, causal: true}\n"
    "outputs: [out]\n";

std::string cached(const std::string& kv_heads) {
    std::string text = kCached;
    return text.replace(text.find("KV,"), 2, kv_heads);
}

}  // namespace

TEST_CASE("attention finds its lengths in its operands", "[workload]") {
    const Graph graph = graph_of(attends("[2, 7, 16]", "heads: 4, kv_heads: 2"));
    const auto op = std::get<Attention>(layer(graph, "out").op);
    CHECK(op.batch == 2);
    CHECK(op.q_len == 3);
    CHECK(op.kv_len == 7);
    CHECK(op.head_dim == 8);
    CHECK(op.group() == 2);
    CHECK_FALSE(op.by_head);
    CHECK(tensor(graph, "out").shape == Shape{2, 3, 32});
    CHECK(total_macs(graph) == Macs(2 * 2 * 4 * 3 * 7 * 8));
}

// Of 3 queries on 7 keys the first sees 5, the second 6, the third 7.
TEST_CASE("a causal mask counts the pairs that see each other", "[workload]") {
    const Graph graph = graph_of(attends("[2, 7, 16]", "heads: 4, kv_heads: 2, causal: true"));
    CHECK(total_macs(graph) == Macs(2 * 2 * 4 * (5 + 6 + 7) * 8));
}

TEST_CASE("rows of values may be of another width than those of keys", "[workload]") {
    const Graph graph = graph_of(attends("[2, 7, 16]", "heads: 4, kv_heads: 2, value_dim: 5", "[2, 7, 10]"));
    CHECK(tensor(graph, "out").shape == Shape{2, 3, 20});
    CHECK(total_macs(graph) == Macs(2 * 4 * 3 * 7 * (8 + 5)));
    const Graph parts =
        graph_of(attends("[2, 7, 16]", "heads: 4, kv_heads: 2, value_dim: 5, fused: false", "[2, 7, 10]"));
    CHECK(total_macs(parts) == total_macs(graph));
    CHECK_THAT(mistakes_of(attends("[2, 7, 16]", "heads: 4, kv_heads: 2, value_dim: 5")),
               Contains("[2, rows, 2 * 5]"));
}

TEST_CASE("values may be the first elements of the keys' rows", "[workload]") {
    const auto latent = [](const std::string& dim) {
        return "trace: t\ninputs:\n  q: {shape: [2, 1, 4, 8], dtype: bf16}\n  r: {shape: [2, 1, 8], dtype: "
               "bf16}\n"
               "layers:\n  - {name: cache, op: kv_cache, in: r, heads: 1, length: 9}\n"
               "  - {name: out, op: attention, in: [q, cache, cache], heads: 4, kv_heads: 1, value_dim: " +
               dim + ", causal: true}\noutputs: [out]\n";
    };
    const Graph graph = graph_of(latent("6"));
    CHECK(std::get<Attention>(layer(graph, "out").op).shared);
    CHECK(tensor(graph, "out").shape == Shape{2, 1, 4, 6});
    CHECK(total_macs(graph) == Macs(2 * 4 * 9 * (8 + 6)));
    CHECK_THAT(mistakes_of(latent("9")), Contains("the first elements of the 8 of keys, and cannot have 9"));
    CHECK_THAT(mistakes_of(latent("0")), Contains("'value_dim'"));
}

TEST_CASE("attention that is not fused is three layers", "[workload]") {
    const Graph graph = graph_of(attends("[2, 7, 16]", "heads: 4, kv_heads: 2, fused: false"));
    REQUIRE(graph.layers.size() == 3);
    CHECK(op_name(layer(graph, "out.scores").op) == "attention_scores");
    CHECK(op_name(layer(graph, "out.softmax").op) == "softmax");
    CHECK(op_name(layer(graph, "out").op) == "attention_context");
    CHECK(tensor(graph, "out.softmax").shape == Shape{2, 2, 3, 2, 7});
    CHECK(tensor(graph, "out").shape == Shape{2, 3, 32});
    CHECK(total_macs(graph) == Macs(2 * 2 * 4 * 3 * 7 * 8));
}

TEST_CASE("a cache comes out of the layer that writes its last rows", "[workload]") {
    const Graph graph = graph_of(cached("2"));
    CHECK(tensor(graph, "keys").role == TensorRole::KvCache);
    CHECK(tensor(graph, "keys").shape == Shape{2, 2, 9, 8});
    const auto op = std::get<Attention>(layer(graph, "out").op);
    CHECK(op.by_head);
    CHECK(op.kv_len == 9);
    CHECK(tensor(graph, "out").shape == Shape{2, 3, 4, 8});
}

TEST_CASE("attention that does not fit its operands is told", "[workload]") {
    CHECK_THAT(
        mistakes_of(attends("[2, 7, 16]", "heads: 5")),
        Contains(
            "attention 'out': reads 5 heads, [batch, rows, 5 * dim] or [batch, rows, 5, dim], but 'q' is "
            "[2, 3, 32]"));
    CHECK_THAT(mistakes_of(attends("[2, 7, 24]", "heads: 4, kv_heads: 2")),
               Contains("reads keys and values [2, rows, 2 * 8], but 'k' is [2, 7, 24]"));
    CHECK_THAT(mistakes_of(attends("[2, 7, 24]", "heads: 4, kv_heads: 3")),
               Contains("3 heads of keys and values do not divide the 4 heads"));
    CHECK_THAT(mistakes_of(attends("[2, 2, 16]", "heads: 4, kv_heads: 2, causal: true")),
               Contains("causal: the last of 3 queries sees 2 keys, the first none"));
    CHECK_THAT(
        mistakes_of(attends("[2, 7, 16]", "heads: 4, kv_heads: 2", "[2, 8, 16]")),
        Contains("reads keys and values alike, but 'k' is bf16 [2, 7, 16] and 'v' is bf16 [2, 8, 16]"));
    CHECK_THAT(mistakes_of(cached("4")),
               Contains("reads a cache [2, 4, rows, 8], but 'keys' is [2, 2, 9, 8]"));
}

TEST_CASE("a cache is as long as what goes into it", "[workload]") {
    CHECK_THAT(mistakes_of(trace_of("[2, 7, 16]", "  - {name: out, op: kv_cache, heads: 2, length: 6}\n")),
               Contains("kv_cache 'out': 7 rows do not go into a cache of 6"));
    CHECK_THAT(
        mistakes_of(trace_of("[2, 7, 15]", "  - {name: out, op: kv_cache, heads: 5, length: 9}\n", "int4")),
        Contains("rows of 'x' int4 are cut by heads, inside a byte"));
}
