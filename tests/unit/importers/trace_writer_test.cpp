// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/trace_writer.h"

#include <catch2/catch.hpp>

#include "sim/workload/trace.h"

using namespace systole;

TEST_CASE("names of a trace have letters, digits and underscores, and are never empty") {
    CHECK(trace_name("conv1") == "conv1");
    CHECK(trace_name("block.0/conv 1") == "block_0_conv_1");
    CHECK(trace_name("1x1") == "l1x1");
    CHECK(trace_name("\xC3\xA9t\xC3\xA9") == "__t__");
    CHECK(trace_name("") == "unnamed");
    CHECK(trace_name(std::string(500, 'a')) == std::string(100, 'a'));
    CHECK(trace_name("7" + std::string(500, 'a')).size() == 100);
}

TEST_CASE("a name is given once") {
    TraceWriter trace("t", {}, "");
    CHECK(trace.name("a") == "a");
    CHECK(trace.name("a") == "a_2");
    CHECK(trace.name("a_3") == "a_3");
    CHECK(trace.name("a") == "a_4");
    CHECK(trace.name("a_2") == "a_2_2");
    const std::string longest(100, 'x');
    CHECK(trace.name(longest) == longest);
    CHECK(trace.name(longest) == std::string(98, 'x').append("_2"));
    CHECK(trace.name(longest) == std::string(98, 'x').append("_3"));
}

TEST_CASE("what is written is a trace") {
    TraceWriter trace("two layers", {"Of a test."}, "batch: 1, dtype: bf16");
    trace.input("x", {"batch", "8"}, "dtype");
    trace.layer("a", "op: matmul, n: 4");
    trace.layer("b", "op: matmul, n: 2");
    trace.output("b");
    CHECK(trace.layers() == 2);
    CHECK(trace.str().starts_with("# Of a test.\ntrace: two_layers\nschema: 1\n"));
    const Graph graph = build_trace(config::parse_yaml(trace.str(), "t"), {{"batch", "3", {}}});
    CHECK(graph.name == "two_layers");
    CHECK(total_macs(graph) == Macs(3 * (8 * 4 + 4 * 2)));
}
