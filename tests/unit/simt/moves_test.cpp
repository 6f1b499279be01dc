// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/moves.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

using namespace systole;
using namespace systole::simt;

namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

Ranges ranges_of(const OperandMap& map, std::int64_t begin, std::int64_t end) {
    Ranges all;
    elements_of(map, begin, end,
                [&](std::int64_t first, std::int64_t last) { all.emplace_back(first, last); });
    return all;
}

/// The layer's move; its inputs and, last, its output have these shapes.
Move moved(const Operator& op, const std::vector<Shape>& shapes) {
    Graph graph;
    Layer layer;
    layer.op = op;
    for (const Shape& shape : shapes) {
        layer.inputs.push_back(graph.tensors.size());
        Tensor tensor;
        tensor.shape = shape;
        tensor.dtype = DType::Fp16;
        graph.tensors.push_back(tensor);
    }
    layer.output = layer.inputs.back();
    layer.inputs.pop_back();
    return move_of(graph, layer).value();
}

}  // namespace

TEST_CASE("A step of an LSTM meets four gates and a state, and stores two") {
    const Move lstm = moved(LstmCell{3, 10}, {{3, 40}, {3, 10}, {3, 20}});
    CHECK(lstm.kernel.ctas() == 1);
    CHECK(lstm.kernel.operands == 5);
    CHECK(lstm.kernel.stores == 2);
    REQUIRE(lstm.from.size() == 5);
    REQUIRE(lstm.to.size() == 2);
    // Results 8 to 11: two of the first item, two of the second.
    CHECK(ranges_of(lstm.from[3].map, 8, 12) == Ranges{{38, 40}, {70, 72}});
    CHECK(lstm.from[4].map.plain());
    CHECK(ranges_of(lstm.to[1], 8, 12) == Ranges{{18, 20}, {30, 32}});
}

TEST_CASE("New rows of a cache go behind the old ones of each item's heads") {
    // Two rows of three heads of eight elements, into caches of ten rows.
    const Move append = moved(CacheAppend{2, 2, 3, 8, 10}, {{2, 2, 24}, {2, 3, 10, 8}});
    CHECK(append.kernel.scattered);
    CHECK(append.from[0].map.plain());
    // The first row of the first item: row 8 of each head.
    CHECK(ranges_of(append.to.at(0), 0, 24) == Ranges{{64, 72}, {144, 152}, {224, 232}});
    // The last one of the second item, of the last head.
    CHECK(ranges_of(append.to.at(0), 88, 96) == Ranges{{240 + 232, 240 + 240}});
}

TEST_CASE("A transpose of whole rows takes each from where it was, and a copy of all is one") {
    const Move turn = moved(Transpose{{2, 3, 4}, {1, 0, 2}}, {{2, 3, 4}, {3, 2, 4}});
    CHECK(turn.kernel.scattered);
    CHECK(ranges_of(turn.from[0].map, 0, 12) == Ranges{{0, 4}, {12, 16}, {4, 8}});
    const Move same = moved(Transpose{{1, 3, 4}, {1, 0, 2}}, {{1, 3, 4}, {3, 1, 4}});
    CHECK_FALSE(same.kernel.scattered);
    CHECK(ranges_of(same.from[0].map, 0, 12) == Ranges{{0, 12}});
}

TEST_CASE("Of a concatenation's inputs each result has one, and what is whole is copied in whole vectors") {
    const Move rows = moved(Concat{2, 1, {3, 5}}, {{2, 3}, {2, 5}, {2, 8}});
    CHECK(rows.kernel.scattered);
    CHECK(rows.kernel.operands == 1);
    CHECK(ranges_of(rows.from[1].map, 0, 16) == Ranges{{0, 10}});
    CHECK(ranges_of(rows.from[1].map, 6, 12) == Ranges{{3, 6}});
    CHECK_FALSE(moved(Concat{1, 4, {3, 5}}, {{3, 4}, {5, 4}, {8, 4}}).kernel.scattered);
}

TEST_CASE("Layers that multiply move nothing") {
    CHECK(is_move(Gather{}));
    CHECK(is_move(Rotary{}));
    CHECK_FALSE(is_move(MatMul{}));
    CHECK_FALSE(is_move(Softmax{}));
}
