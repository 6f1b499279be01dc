// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/vectors.h"

#include <catch2/catch.hpp>

#include "networks.h"
#include "sim/workload/importers/network/constant.h"
#include "sim/workload/importers/network/movements.h"

using namespace systole;
using namespace systole::test;

namespace {

std::string added(const Shape& a, const Shape& b) {
    Network network;
    network.output(elementwise(network, "out", "add", network.input("a", a, kF), network.input("b", b, kF)));
    return layers_of(graph_of(network));
}

}  // namespace

TEST_CASE("what is met again is met without a copy where a trace can say so") {
    CHECK(added({2, 3, 4}, {2, 3, 4}) == "add");
    CHECK(added({2, 3, 4}, {4}) == "add");
    CHECK(added({4}, {2, 3, 4}) == "add");
    CHECK(added({2, 3, 4}, {2, 1, 4}) == "add");
    CHECK(added({2, 3, 4}, {2, 3, 1}) == "add");
    CHECK(added({2, 3, 4}, {1, 3, 1}) == "concat concat add");
    CHECK(added({3, 1}, {1, 4}) == "concat add");
    CHECK_THROWS_AS(added({3, 2}, {4}), Unsayable);
}

TEST_CASE("expanded tensors are copied only for those who need all of them") {
    Network network;
    const Value x = network.input("x", {2, 1, 4}, kF), y = network.input("y", {2, 3, 4}, kF);
    const Value wide = expand(network, "wide", x, {2, 3, 4});
    network.output(elementwise(network, "sum", "add", y, wide));
    network.output(softmax(network, "soft", wide, {2}));
    CHECK(layers_of(graph_of(network)) == "add concat softmax");
    Network far;
    const Value many = expand(far, "many", far.input("x", {1, 4}, kF), {1000, 4});
    CHECK_THROWS_WITH(softmax(far, "soft", many, {1}), Catch::Contains("is met 1000 times"));
}

TEST_CASE("stored tensors are weights beside others, and inputs where a trace has no place for them") {
    Network network;
    const Value x = network.input("x", {2, 4}, kF), one = network.stored("one", {}, kF);
    const Value part = elementwise(network, "part", "sub", one, x);
    const Value token = network.stored("token", {1, 4}, kF);
    network.output(concat(network, "joined", {part, token}, 0));
    const Imported imported = network.finish("t", {}, "file");
    const Graph graph = graph_of(imported.trace);
    CHECK(layers_of(graph) == "sub concat");
    CHECK(graph.inputs.size() == 2);
    REQUIRE(imported.notes.size() == 1);
    CHECK(to_string(imported.notes[0]) ==
          "file: note: 1 stored tensor stands where a trace has none: an input of the trace (token)");
    // Of stored ones alone nothing is computed.
    CHECK(network.is_stored(elementwise(network, "c", "mul", one, token)));
    CHECK(network.is_stored(softmax(network, "s", token, {1})));
}

TEST_CASE("a batch norm behind a convolution or product is in its weights, other factors are layers") {
    Network network;
    const Value x = network.input("x", {2, 4}, kF);
    network.output(elementwise(network, "scaled", "mul", x, network.stored("s", {4}, kF)));
    CHECK(layers_of(graph_of(network)) == "mul");
}

TEST_CASE("reductions keep channels in their places") {
    Network network;
    const Value map = network.input("map", {2, 3, 4, 5}, kF);
    const Value mean = reduce(network, "mean", "mean", map, {2, 3}, true);
    CHECK(network.shape(mean) == Shape{2, 3, 1, 1});
    network.output(elementwise(network, "scaled", "mul", map, mean));
    network.output(reduce(network, "sum", "sum", map, {1}, false));
    const Graph graph = graph_of(network);
    CHECK(layers_of(graph) == "pool mul reduce");
    CHECK(tensor(graph, "map").shape == Shape{2, 4, 5, 3});
    CHECK(tensor(graph, "sum").shape.back() == 1);
}

TEST_CASE("numbers of one kind become those of another in a layer") {
    Network network;
    const Value x = network.input("x", {4, 8}, kF);
    const Value small = scale(network, "small", x, DType::Int8, 0);
    CHECK(network.dtype(small) == DType::Int8);
    network.output(convert(network, "back", small, kF));
    network.output(convert(network, "wide", small, DType::Int32));
    const Graph graph = graph_of(network);
    // Channels' scales want them last, and outputs are as the file has them.
    CHECK(layers_of(graph) == "transpose quantize dequantize transpose mul transpose");
    CHECK(tensor(graph, "wide").dtype == DType::Int32);
    CHECK(tensor(graph, "small.scales").shape == Shape{4});
}

TEST_CASE("rows are looked up in stored tables and in others, along any axis") {
    Network network;
    const Value ids = network.input("ids", {2, 7}, DType::Int32), x = network.input("x", {5, 6, 4}, kF);
    const Value words = gather(network, "words", network.stored("table", {100, 16}, kF), ids, 0);
    CHECK(network.shape(words) == Shape{2, 7, 16});
    network.output(words);
    const Value rows = gather(network, "rows", x, ids, 1);
    CHECK(network.shape(rows) == Shape{5, 2, 7, 4});
    network.output(rows);
    network.output(top_k(network, "best", words, 2, 3, true));
    const Graph graph = graph_of(network);
    CHECK(layers_of(graph) == "embedding transpose gather transpose top_k");
    CHECK(std::get<Gather>(layer(graph, "rows").op) == Gather{6, 20, 14});
    CHECK(tensor(graph, "best").dtype == DType::Int32);
}

TEST_CASE("tensors that do not fit beside each other are not joined") {
    Network network;
    const Value x = network.input("x", {2, 4}, kF), flat = network.input("flat", {2}, kF),
                longer = network.input("longer", {3, 4}, kF);
    CHECK_THROWS_WITH(concat(network, "c", {x, flat}, 1), "[2, 4] and [2] are not joined along dimension 1");
    CHECK_THROWS_WITH(concat(network, "c", {x, longer}, 1),
                      "[2, 4] and [3, 4] are not joined along dimension 1");
    CHECK_THROWS_AS(concat(network, "c", {x, x}, 2), Unsayable);
    CHECK(network.shape(concat(network, "c", {x, longer}, 0)) == Shape{5, 4});
}

TEST_CASE("what has other elements is no view") {
    Network network;
    const Value x = network.input("x", {4, 6}, kF), stored = network.stored("w", {4, 6}, kF);
    for (const Value value : {x, stored})
        for (const Shape& other : {Shape{4, 5}, Shape{4, 7}, Shape{48}, Shape{}, Shape{2, 2, 2}})
            CHECK_THROWS_AS(network.reshape(value, other), Unsayable);
    CHECK(network.shape(network.reshape(x, {3, 8})) == Shape{3, 8});
    CHECK_FALSE(Arrangement({4, 6}).reshaped({4, 12}).has_value());
    CHECK_FALSE(Arrangement({4, 6}).reshaped({4, 3}).has_value());
}

TEST_CASE("a condition is converted once, whoever asks, and never the branches to its dtype") {
    for (const bool stored : {true, false}) {
        Network network;
        const Value x = network.input("x", {4, 6}, kF), y = network.input("y", {4, 6}, kF);
        const Value mask = elementwise(network, "mask", "compare", x, y);
        const Value branch = stored ? network.stored("w", {4, 6}, kF) : x;
        const Value kept = select(network, "kept", branch, mask), other = select(network, "other", y, mask);
        CHECK(network.dtype(kept) == kF);
        network.output(elementwise(network, "sum", "add", kept, other));
        CHECK(layers_of(graph_of(network)) == "compare dequantize select select add");
    }
}

TEST_CASE("a conversion that is shared follows the feature map that it was made of") {
    Network network;
    const Value bytes = network.input("bytes", {1, 3, 8, 8}, DType::Int8);
    const Value one = convert(network, "one", bytes, kF), two = convert(network, "two", bytes, kF);
    network.feature_map(one, {0, 2, 3, 1});
    CHECK_FALSE(network.is_open(two));
    CHECK(network.arrangement(two).held() == Shape{1, 8, 8, 3});
    CHECK(network.tensor(one) == network.tensor(two));
    // And is found again when nothing is open any more.
    CHECK(network.tensor(convert(network, "three", bytes, kF)) == network.tensor(one));
}

TEST_CASE("whole numbers are compared as such, and remainders have the sign that each language gives them") {
    const auto of = [](const char* op, std::int64_t a, std::int64_t b) {
        return combine(op, whole_numbers({}, {a}), whole_numbers({}, {b})).value().whole.at(0);
    };
    constexpr std::int64_t kLast = std::int64_t{1} << 53;  // of those that are doubles, one and all
    CHECK(of("Equal", kLast, kLast + 1) == 0);
    CHECK(of("Less", kLast, kLast + 1) == 1);
    CHECK(of("Equal", kLast + 1, kLast + 1) == 1);
    CHECK(of("Rem", -7, 3) == -1);
    CHECK(of("Rem", 7, -3) == 1);
    CHECK(of("Mod", -7, 3) == 2);
    CHECK(of("Mod", 7, -3) == -2);
    CHECK_FALSE(combine("Rem", whole_numbers({}, {1}), whole_numbers({}, {0})).has_value());
}

TEST_CASE("what a network says of a value stays where it is while more are made") {
    Network network;
    const Value x = network.input("x", {2, 4}, kF);
    const Shape& shape = network.shape(x);
    const std::string& name = network.name(x);
    const Shape& held = network.tensor_shape(network.tensor(x));
    Value last = x;
    for (int i = 0; i < 100; ++i) last = elementwise(network, "sum", "add", last, x);
    CHECK(&shape == &network.shape(x));
    CHECK(&name == &network.name(x));
    CHECK(&held == &network.tensor_shape(network.tensor(x)));
}
