// SPDX-License-Identifier: Apache-2.0
// What the trace reader says about wrong traces: the exact words and the place.
#include <algorithm>

#include "graphs.h"

using namespace systole;
using namespace systole::test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

/// One wrong layer on a feature map, at 4:5.
std::string told(const std::string& layer, const std::string& shape = "[1, 8, 8, 4]") {
    return mistakes_of(trace_of(shape, "  - {" + layer + "}\n"));
}

std::size_t lines_of(const std::string& text) {
    return 1 + std::count(text.begin(), text.end(), '\n');
}

}  // namespace

TEST_CASE("unknown words are met with a suggestion", "[workload]") {
    CHECK(told("name: out, op: conv2d, filters: 4, kernel: 3, strid: 2") ==
          "t:4:52: error: conv2d 'out': unknown key 'strid' (did you mean 'stride'?); it has: name, op, in, "
          "dtype, "
          "weight_dtype, out_dtype, filters, kernel, stride, pad, dilation, groups, bias, activation, "
          "round_up, "
          "scales, group, scale_dtype, sparsity, depthwise");
    CHECK(told("name: out, op: conv2, filters: 4, kernel: 3") ==
          "t:4:21: error: layer 'out': unknown operator 'conv2' (did you mean 'conv2d'?); expected one of: "
          "conv2d, conv3d, conv_transpose, "
          "matmul, batched_matmul, elementwise, activation, pool, softmax, norm, reduce, transpose, reshape, "
          "embedding, gather, concat, slice, resize, rotary, top_k, lstm_cell, gru_cell, "
          "quantize, dequantize, collective, kv_cache, attention");
    CHECK(told("name: out, op: softmax, in: y") ==
          "t:4:34: error: softmax 'out': unknown tensor 'y' (did you mean 'x'?); expected an input or an "
          "earlier "
          "layer");
    CHECK(told("name: out, op: pool, kind: maxx, window: 2") ==
          "t:4:33: error: pool 'out': 'kind' must be one of: max, average, not 'maxx' (did you mean 'max'?)");
    CHECK(told("name: out, op: matmul, n: 4, weight_dtype: int9") ==
          "t:4:49: error: matmul 'out': 'weight_dtype' must be a dtype, not 'int9' (did you mean 'int4'?); "
          "expected "
          "one of: int4, int8, int16, fp4, fp8, bf16, fp16, fp32, int32");
    CHECK(told("name: out, op: matmul, n: sise") ==
          "t:4:32: error: matmul 'out': 'n' must be an integer, not 'sise': unknown name 'sise' at character "
          "1");
    for (const std::string number : {"1e3", "2.5"})
        CHECK(told("name: out, op: matmul, n: " + number) ==
              "t:4:32: error: matmul 'out': 'n': '" + number + "' is not a plain whole number");
    for (const auto& [text, reason] :
         {std::pair{"99999999999999999999", "leaves 64 bits"}, {"0512", "leading zero"}, {"8n", "operator"}})
        CHECK_THAT(told(std::string("name: out, op: matmul, n: ") + text), Catch::Contains(reason));
}

TEST_CASE("missing and unfit values name the key and what was expected", "[workload]") {
    CHECK(told("name: out, op: conv2d, kernel: 3") ==
          "t:4:5: error: conv2d 'out': 'filters' is missing: expected an integer");
    CHECK(told("name: out, op: matmul, n: 0") ==
          "t:4:32: error: matmul 'out': 'n' must be 1 … 2,147,483,647, not 0");
    CHECK(told("name: out, op: matmul, n: -3") ==
          "t:4:32: error: matmul 'out': 'n' must be 1 … 2,147,483,647, not -3");
    CHECK(told("name: out, op: matmul, n: [3]") ==
          "t:4:32: error: matmul 'out': 'n' must be an integer, not a list");
    CHECK(told("name: out, op: matmul, n: 3, bias: yes") ==
          "t:4:41: error: matmul 'out': 'bias' must be true or false");
    CHECK(told("op: softmax") ==
          "t:4:5: error: layer: 'name' is missing: expected a name\n"
          "t:5:11: error: outputs: unknown tensor 'out'; expected an input or an earlier layer");
    CHECK_THAT(
        told("name: a.b, op: softmax"),
        StartsWith("t:4:12: error: layer 'a.b': 'name' must be a name of up to 100 letters, digits and '_', "
                   "not 'a.b'"));
}

TEST_CASE("shapes that do not fit are printed", "[workload]") {
    CHECK(told("name: out, op: conv2d, filters: 4, kernel: 11, pad: 1") ==
          "t:4:5: error: conv2d 'out': the kernel [11, 11] is larger than the padded input [10, 10]");
    CHECK(told("name: out, op: conv2d, filters: 4, kernel: 3, groups: 3") ==
          "t:4:5: error: conv2d 'out': groups 3 must divide the 4 input and the 4 output channels");
    CHECK(told("name: out, op: pool, kind: max, window: 9") ==
          "t:4:5: error: pool 'out': the window [9, 9] is larger than the padded input [8, 8]");
    CHECK(told("name: out, op: conv2d, filters: 4, kernel: 3", "[8, 4]") ==
          "t:4:5: error: conv2d 'out': reads a feature map [n, h, w, c], but 'x' is [8, 4]");
    CHECK(told("name: out, op: reshape, shape: [8, 31]") ==
          "t:4:5: error: reshape 'out': [8, 31] does not hold as many elements as 'x' [1, 8, 8, 4]");
    CHECK(told("name: out, op: transpose, permutation: [0, 1, 1, 3]") ==
          "t:4:45: error: transpose 'out': the permutation [0, 1, 1, 3] must name each dimension of 'x' "
          "[1, 8, 8, 4] once, from 0 to 3");
    CHECK(told("name: out, op: embedding, vocabulary: 4, width: 4, dtype: bf16") ==
          "t:4:5: error: embedding 'out': reads int32 indices, but 'x' is int8");
    CHECK(
        mistakes_of(trace_of("[4, 8]",
                             "  - {name: a, op: matmul, n: 4}\n"
                             "  - {name: out, op: elementwise, kind: add, in: [a, x]}\n")) ==
        "t:5:5: error: elementwise 'out': needs two equal tensors, or a second one like the first but for "
        "outer dimensions, or some in the middle, that are 1; but 'a' is int8 [4, 4] and 'x' is int8 [4, 8]");
    CHECK(mistakes_of(trace_of("[2, 4, 8]",
                               "  - {name: a, op: matmul, n: 4}\n"
                               "  - {name: out, op: batched_matmul, in: [a, x], transpose_b: true}\n")) ==
          "t:5:5: error: batched_matmul 'out': reads [.., m, k] and [.., n, k], but 'a' is [2, 4, 4] and 'x' "
          "is "
          "[2, 4, 8]");
    CHECK(told("name: out, op: elementwise, kind: add") ==
          "t:4:5: error: elementwise 'out': reads 2 tensors, not 1: name them with 'in: [a, b]'");
    CHECK(told("name: out, op: matmul, n: 4, dtype: bf16") ==
          "t:4:42: error: matmul 'out': 'dtype' is bf16, but its input 'x' is int8; give 'out_dtype' to the "
          "layer "
          "that makes it");
}

TEST_CASE("4-bit rows that end inside a byte have no views", "[workload]") {
    const std::string odd = trace_of("[2, 3]",
                                     "  - {name: a, op: reshape, shape: [6]}\n"
                                     "  - {name: out, op: softmax}\n",
                                     "int4");
    CHECK(mistakes_of(odd) ==
          "t:4:5: error: reshape 'a': rows of int4 are padded to whole bytes, so [6] is no view "
          "of 'x' [2, 3]");
    CHECK(mistakes_of(trace_of("[2, 4]",
                               "  - {name: a, op: reshape, shape: [4, 2]}\n"
                               "  - {name: out, op: softmax}\n",
                               "int4")) == "");
}

TEST_CASE("what leaves 64 bits is a mistake, not a wrong number", "[workload]") {
    CHECK(told("name: out, op: matmul, n: 2147483647", "[2000000000, 2000000000]") ==
          "t:2:10: error: tensor 'x' [2000000000, 2000000000] has more than 2^56 elements");
    CHECK(told("name: out, op: matmul, n: 2147483647", "[2000000000, 1]") ==
          "t:4:5: error: tensor 'out' [2000000000, 2147483647] has more than 2^56 elements");
    CHECK(told("name: out, op: matmul, n: 2147483647", "[10000000, 1000000000]") ==
          "t:4:5: error: matmul 'out': has more than 2^63 multiply-accumulates");
    CHECK(told("name: out, op: matmul, n: 2000000000 * 2000000000 * 2000000000") ==
          "t:4:32: error: matmul 'out': 'n' must be an integer, not '2000000000 * 2000000000 * 2000000000': "
          "4000000000000000000 * 2000000000 leaves 64 bits at character 25");
}

TEST_CASE("names are unique, outputs exist, and nothing is left unread", "[workload]") {
    CHECK(mistakes_of(trace_of("[4, 8]", "  - {name: out, op: softmax}\n  - {name: out, op: softmax}\n")) ==
          "t:5:5: error: 'out' is the name of an input, layer or block already");
    CHECK(mistakes_of(trace_of(
              "[4, 8]", "  - {name: dead, op: matmul, n: 2}\n  - {name: out, op: softmax, in: x}\n")) ==
          "t:4:5: error: 'dead' is never read and is no output");
    CHECK(mistakes_of("trace: t\ninputs: {x: {shape: [4], dtype: int8}, y: {shape: [4], dtype: int8}}\n"
                      "layers: [{name: out, op: softmax, in: x}]\noutputs: [out]\n") ==
          "t:2:40: error: input 'y' is never read");
    CHECK(mistakes_of("trace: t\ninputs: {x: {shape: [4], dtype: int8}}\n"
                      "layers: [{name: out, op: softmax}]\noutputs: [out, out, x, ou]\n") ==
          "t:4:16: error: outputs: 'out' is listed twice\n"
          "t:4:21: error: outputs: 'x' is an input; expected a layer\n"
          "t:4:24: error: outputs: unknown tensor 'ou' (did you mean 'out'?); expected an input or an "
          "earlier layer");
}

TEST_CASE("overrides must name a parameter and be of its kind", "[workload]") {
    const std::string text =
        "trace: t\nparams: {batch: 1, type: int8}\ninputs: {x: {shape: [batch, 4], dtype: type}}\n"
        "layers: [{name: out, op: softmax}]\noutputs: [out]\n";
    const SourceMark option{"--set workload", 0, 0};
    CHECK(mistakes_of(text, {{"bach", "8", option}}) ==
          "--set workload: error: the trace has no parameter 'bach' (did you mean 'batch'?); it has: batch, "
          "type");
    CHECK(mistakes_of(text, {{"batch", "int8", option}}) ==
          "--set workload: error: parameter 'batch' must be an integer, not 'int8': unknown name 'int8' at "
          "character "
          "1");
    CHECK_THAT(mistakes_of(text, {{"type", "8", option}}),
               StartsWith("--set workload: error: parameter 'type' must be a dtype, not '8'"));
}

TEST_CASE("all mistakes of a file are told at once, none of them twice", "[workload]") {
    const std::string found =
        mistakes_of(trace_of("[1, 8, 8, 4]",
                             "  - {name: a, op: conv2d, filters: 0, kernel: 3}\n"
                             "  - {name: b, op: matmul, n: 4, foo: 1}\n"
                             "  - name: blocks\n"
                             "    repeat: 1000\n"
                             "    layers: [{name: c, op: matmul}]\n"
                             "  - {name: out, op: elementwise, kind: add, in: [c, b]}\n"));
    INFO(found);
    CHECK(lines_of(found) == 4);
    CHECK_THAT(found, Contains("t:4:36: error: conv2d 'a': 'filters' must be 1"));
    CHECK_THAT(found, Contains("t:5:33: error: matmul 'b': unknown key 'foo'"));
    CHECK_THAT(found, Contains("t:8:14: error: matmul 'c': 'n' is missing"));
    CHECK_THAT(found, Contains("t:9:50: error: elementwise 'out': unknown tensor 'c'"));
}

TEST_CASE("block_in stands only where something enters a block", "[workload]") {
    CHECK_THAT(
        told("name: out, op: softmax, in: block_in"),
        StartsWith("t:4:34: error: softmax 'out': nothing enters here as 'block_in': it stands only inside a "
                   "repeated block"));
    CHECK(
        mistakes_of("trace: t\n"
                    "inputs: {x: {shape: [4, 4], dtype: int8}, y: {shape: [4, 4], dtype: int8}}\n"
                    "layers: [{name: out, repeat: 2, layers: [{name: a, op: softmax}]}]\noutputs: [out]\n") ==
        "t:3:42: error: softmax 'a': 'in' is missing: there is no layer before, and not exactly one input");
}

TEST_CASE("hostile traces end in a message, soon", "[workload]") {
    CHECK_THAT(
        mistakes_of(trace_of("[4, 8]",
                             "  - name: out\n    repeat: 2000000000\n"
                             "    layers: [{name: a, op: reshape, shape: [4, 8]}]\n")),
        StartsWith("t:4:5: error: more than 1,000,000 layers, every turn of a repeated block counted"));
    std::string nested = "{name: a, op: softmax}";
    for (int depth = 0; depth < 20; ++depth) nested = "{name: a, repeat: 1, layers: [" + nested + "]}";
    CHECK_THAT(mistakes_of(trace_of("[4]", "  - " + nested + "\n")),
               Contains("blocks nested deeper than 16"));
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "  - {op: what}\n";
    CHECK(lines_of(mistakes_of(trace_of("[4]", many))) ==
          20 + 1);  // the first, and a line that counts the rest
    CHECK_THAT(told("name: out, op: matmul, n: " + std::string(100'000, '1')),
               Contains("is an expression of more than 200 characters"));
    CHECK(told("name: out, op: " + std::string(100'000, 'o')).size() < 1000);
}

TEST_CASE("documents of another shape are refused with what was expected", "[workload]") {
    CHECK_THAT(mistakes_of("[1, 2]"), StartsWith("t:1:1: error: a trace must be a map"));
    CHECK_THAT(mistakes_of("trace: t"), Contains("trace: 'layers' is missing: expected a list of layers"));
    CHECK_THAT(mistakes_of("trace: t\ninputs: {}\n"),
               Contains("'inputs' must be a map of tensors, not an empty one"));
    CHECK_THAT(mistakes_of("trace: t\ninputs: [x]\nlayers: 5\noutputs: out\n"),
               Contains("t:2:9: error: 'inputs' must be a map of tensors, not a list") &&
                   Contains("t:3:9: error: 'layers' must be a list of at least one layer, not text") &&
                   Contains("t:4:10: error: 'outputs' must be a list of layers, not text"));
    CHECK_THAT(mistakes_of(trace_of("[4]", "  - {name: out, op: softmax}\n  - 3\n")),
               StartsWith("t:5:5: error: a layer must be a map with 'name' and 'op'"));
    CHECK_THAT(
        mistakes_of(
            "trace: t\nparams: {int8: 3}\ninputs: {x: {shape: [0], dtype: i}}\nlayers: []\noutputs: []"),
        Contains("t:2:10: error: 'int8' cannot name a parameter") &&
            Contains("t:3:22: error: input 'x': 'shape' must be 1"));
}
