// SPDX-License-Identifier: Apache-2.0
// Operators of the vector unit with a file of their own: their shapes, and what is said about wrong ones.
#include "graphs.h"

using namespace systole;
using namespace systole::test;
using Catch::Contains;

namespace {

Graph layer_on(const std::string& shape, const std::string& layer, const std::string& dtype = "bf16") {
    return graph_of(trace_of(shape, "  - {name: out, " + layer + "}\n", dtype));
}

std::string told(const std::string& shape, const std::string& layer, const std::string& dtype = "bf16") {
    return mistakes_of(trace_of(shape, "  - {name: out, " + layer + "}\n", dtype));
}

}  // namespace

TEST_CASE("a resize multiplies height and width, or names them", "[workload]") {
    const std::string map = "[2, 7, 5, 8]";
    CHECK(tensor(layer_on(map, "op: resize, kind: nearest, scale: 2"), "out").shape == Shape{2, 14, 10, 8});
    CHECK(tensor(layer_on(map, "op: resize, kind: bilinear, scale: [1, 3]"), "out").shape ==
          Shape{2, 7, 15, 8});
    CHECK(tensor(layer_on(map, "op: resize, kind: bilinear, size: [3, 20]"), "out").shape ==
          Shape{2, 3, 20, 8});
    CHECK(tensor(layer_on(map, "op: resize, kind: bilinear, size: 9"), "out").shape == Shape{2, 9, 9, 8});
    CHECK(told(map, "op: resize, kind: nearest") ==
          "t:4:5: error: resize 'out': 'scale' or 'size' is missing: expected n or [h, w]");
    CHECK(told(map, "op: resize, kind: nearest, scale: 2, size: 4") ==
          "t:4:51: error: resize 'out': 'scale' and 'size' say the same; give one of the two");
    CHECK(told("[7, 5]", "op: resize, kind: nearest, scale: 2") ==
          "t:4:5: error: resize 'out': reads a feature map [n, h, w, c], but 'x' is [7, 5]");
    CHECK(told(map, "op: resize, kind: nearest, scale: 500000000") ==
          "t:4:51: error: resize 'out': [2, 7, 5, 8] times [500000000, 500000000] has more than 2147483647 "
          "rows "
          "or columns");
    CHECK_THAT(told(map, "op: resize, kind: cubic, scale: 2"), Contains("must be one of: nearest, bilinear"));
}
