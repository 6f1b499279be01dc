// SPDX-License-Identifier: Apache-2.0
// Traces that say which step of a language model they are.
#include "graphs.h"

using namespace systole;
using namespace systole::test;
using Catch::Contains;

namespace {

std::string step(const std::string& keys) {
    return "trace: t\nparams: {batch: 4}\nserving: " + keys +
           "\ninputs: {x: {shape: [2, 8], dtype: bf16}}\nlayers:\n  - {name: out, op: softmax}\noutputs: "
           "[out]\n";
}

}  // namespace

TEST_CASE("a trace may say which step of a language model it is", "[workload]") {
    const Graph graph =
        graph_of(step("{phase: decode, batch: 2 * batch, context: 4096, new_tokens: 3, tensor_parallel: 4}"));
    REQUIRE(graph.serving.has_value());
    CHECK(*graph.serving == ServingStep{ServingStep::Phase::Decode, 8, 4096, 3, 4, 1});
    CHECK(graph.serving->tokens() == 24);
    CHECK(graph.serving->chips() == 4);
    CHECK(graph_of(step("{phase: prefill, batch: 2, context: 10}")).serving->tokens() == 20);
    CHECK(graph_of(step("{phase: train, batch: 2, context: 10, data_parallel: 8}")).serving->chips() == 8);
    CHECK_FALSE(graph_of(trace_of("[2, 8]", "  - {name: out, op: softmax}\n", "bf16")).serving.has_value());
}

TEST_CASE("a step that cannot be is refused", "[workload]") {
    CHECK_THAT(mistakes_of(step("{phase: decod, batch: 1, context: 1}")), Contains("did you mean 'decode'?"));
    CHECK_THAT(mistakes_of(step("{phase: decode, context: 1}")), Contains("'batch'"));
    CHECK_THAT(mistakes_of(step("{phase: decode, batch: 0, context: 1}")), Contains("'batch' must be 1"));
    CHECK_THAT(mistakes_of(step("{phase: decode, batch: 1, context: 1, tokens: 1}")), Contains("'tokens'"));
    CHECK_THAT(mistakes_of(step("{phase: decode, batch: 1, context: 1, tensor_parallel: 100000}")),
               Contains("at most 65536 chips"));
    CHECK_THAT(mistakes_of(step("decode")), Contains("'serving' must be a map"));
}

TEST_CASE("a trace may say what it is a batch of", "[workload]") {
    const auto batch = [](const std::string& keys) {
        return "trace: t\nparams: {batch: 4}\nbatch_of: " + keys +
               "\ninputs: {x: {shape: [2, 8], dtype: bf16}}\nlayers:\n  - {name: out, op: softmax}\noutputs: "
               "[out]\n";
    };
    CHECK(graph_of(batch("{images: 2 * batch}")).batch_of == BatchOf{BatchOf::Item::Images, 8});
    CHECK(graph_of(batch("{queries: 3}")).batch_of == BatchOf{BatchOf::Item::Queries, 3});
    CHECK_THAT(mistakes_of(batch("{image: batch}")), Contains("did you mean 'images'?"));
    CHECK_THAT(mistakes_of(batch("{images: 0}")), Contains("'images' must be 1"));
    CHECK_THAT(mistakes_of(batch("{images: 1, tokens: 1}")),
               Contains("'images' is not one of 'tokens', too"));
    CHECK_THAT(mistakes_of(batch("{}")), Contains("one of images, sequences, "));
    CHECK_THAT(mistakes_of(batch("images")), Contains("'batch_of' must be a map"));
}
