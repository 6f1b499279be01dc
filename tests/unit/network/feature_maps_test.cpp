// SPDX-License-Identifier: Apache-2.0
// Files that have channels first, on traces that have them last.
#include <catch2/catch.hpp>

#include "networks.h"
#include "sim/workload/importers/network/convolutions.h"
#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/network/products.h"
#include "sim/workload/importers/network/vectors.h"

using namespace systole;
using namespace systole::test;

namespace {

Value conv(Network& network, const std::string& name, Value x, std::int64_t filters,
           std::int64_t kernel = 3) {
    Windows windows = Windows::of({kernel, kernel});
    windows.pad_begin = windows.pad_end = {kernel / 2, kernel / 2};
    return convolve(network, name, x, channels_first(4), windows, {filters, 1, true, {}});
}

}  // namespace

TEST_CASE("a network of feature maps needs no transposition, up to what flattens them") {
    Network network;
    const Value image = network.input("image", {2, 3, 8, 9}, kF);
    // A mean and a deviation for each channel, before anything asks how the image lies.
    Value x = elementwise(network, "mean", "sub", image, network.stored("m", {3, 1, 1}, kF));
    x = elementwise(network, "deviation", "div", x, network.stored("d", {1, 3, 1, 1}, kF));
    const Value first = apply(network, "relu", "relu", conv(network, "first", x, 4));
    const Value second = conv(network, "second", first, 4);
    const Value sum = elementwise(network, "sum", "add", first, second);
    const Value pooled = pool(network, "pool", "max", sum, channels_first(4), [] {
        Windows windows = Windows::of({2, 2});
        windows.stride = {2, 2};
        return windows;
    }());
    const Value flat = network.reshape(pooled, {2, 4 * 4 * 4});
    network.output(matmul(network, "fc", flat, network.stored("w", {64, 10}, kF)));
    const Graph graph = graph_of(network);
    CHECK(layers_of(graph) == "sub div conv2d conv2d add pool matmul");
    CHECK(tensor(graph, "image").shape == Shape{2, 8, 9, 3});
    CHECK(tensor(graph, "pool").shape == Shape{2, 4, 4, 4});
    CHECK(std::get<Conv2d>(layer(graph, "first").op).post == Function::Relu);
    CHECK(tensor(graph, "mean.weights").shape == Shape{3});
}

TEST_CASE("an image that is row-major in the file and turned there is turned in no layer") {
    Network network;
    const Value image = network.input("image", {1, 8, 9, 3}, kF);
    network.output(conv(network, "out", network.transpose(image, {0, 3, 1, 2}), 4));
    const Graph graph = graph_of(network);
    CHECK(layers_of(graph) == "conv2d");
    CHECK(tensor(graph, "image").shape == Shape{1, 8, 9, 3});
}

TEST_CASE(
    "a reshape that mixes channels with pixels waits for a transposition, and only where order counts") {
    Network network;
    const Value map = conv(network, "map", network.input("x", {1, 3, 4, 4}, kF), 6);
    const Value rows = network.reshape(map, {1, 6, 16});  // [n, c, h * w]
    network.output(softmax(network, "over_pixels", rows, {2}));
    CHECK(layers_of(graph_of(network)) == "conv2d transpose softmax");

    Network over;
    const Value other = conv(over, "map", over.input("x", {1, 3, 4, 4}, kF), 6);
    over.output(softmax(over, "over_channels", other, {1}));
    CHECK(layers_of(graph_of(over)) == "conv2d softmax");
}

TEST_CASE("a transposition that the file asks for and an output shows is a layer") {
    Network network;
    network.output(network.transpose(network.input("x", {2, 3, 4}, kF), {1, 0, 2}));
    const Graph graph = graph_of(network);
    CHECK(layers_of(graph) == "transpose");
    CHECK(out_shape(graph) == Shape{3, 2, 4});
}

TEST_CASE("windows of one dimension are one pixel high, uneven ones say so") {
    Network network;
    Windows line = Windows::of({5});
    line.stride = {2}, line.pad_begin = {4}, line.pad_end = {0};
    const Value x = network.input("x", {2, 3, 20}, kF);
    const Value out = convolve(network, "out", x, channels_first(3), line, {7, 1, false, {}});
    CHECK(network.shape(out) == Shape{2, 7, 10});
    network.output(out);
    const Graph graph = graph_of(network);
    const auto& op = std::get<Conv2d>(layer(graph, "out").op);
    CHECK((op.in_h == 1 && op.in_w == 20 && op.out_w() == 10 && op.left() == 4 && op.pad == 0));
    CHECK(tensor(graph, "out").shape == Shape{2, 1, 10, 7});
    CHECK(total_macs(graph).value() == 2 * 10 * 7 * 5 * 3);
}

TEST_CASE("volumes, transposed convolutions, resized maps") {
    Network network;
    Windows cube = Windows::of({3, 3, 3});
    cube.pad_begin = cube.pad_end = {1, 1, 1};
    const Value x = network.input("x", {1, 2, 4, 5, 6}, kF);
    const Value volume = convolve(network, "volume", x, channels_first(5), cube, {3, 1, false, {}});
    CHECK(network.shape(volume) == Shape{1, 3, 4, 5, 6});
    network.output(volume);
    Windows up = Windows::of({4, 4});
    up.stride = {2, 2}, up.pad_begin = up.pad_end = {1, 1};
    const Value grown = convolve_transposed(network, "grown", network.input("y", {1, 3, 5, 5}, kF),
                                            channels_first(4), up, {0, 0}, {2, 1, true, {}});
    CHECK(network.shape(grown) == Shape{1, 2, 10, 10});
    network.output(resize(network, "resized", "nearest", grown, channels_first(4), {20, 30}));
    const Graph graph = graph_of(network);
    CHECK(layers_of(graph) == "conv3d conv_transpose resize");
    CHECK(macs(layer(graph, "volume").op).value() == 4 * 5 * 6 * 27 * 2 * 3);
    CHECK(tensor(graph, "resized").shape == Shape{1, 20, 30, 2});
}

TEST_CASE("what a trace cannot say is thrown in words") {
    Network network;
    const Value x = network.input("x", {1, 4, 8, 8}, kF);
    Windows windows = Windows::of({3, 3});
    CHECK_THROWS_WITH(convolve(network, "c", x, channels_first(4), windows, {6, 3, false, {}}),
                      Catch::Contains("groups 3 must divide"));
    windows.kernel = {9, 9};
    CHECK_THROWS_WITH(convolve(network, "c", x, channels_first(4), windows, {6, 1, false, {}}),
                      Catch::Contains("larger than the padded input"));
    windows.pad_begin = {-1, 0};
    CHECK_THROWS_WITH(convolve(network, "c", x, channels_first(4), windows, {6, 1, false, {}}),
                      Catch::Contains("negative"));
    CHECK_THROWS_AS(network.input("y", {1, 0, 3}, kF), Unsayable);
    CHECK_THROWS_AS(network.input("y", {std::int64_t{1} << 40}, kF), Unsayable);
    CHECK_THROWS_AS(network.finish("t", {}, "f"), Unsayable);  // nothing is left
}

TEST_CASE("joined and cut feature maps stay as they lie") {
    Network network;
    const Value a = conv(network, "a", network.input("x", {1, 3, 4, 4}, kF), 6),
                b = conv(network, "b", network.input("y", {1, 3, 4, 4}, kF), 2);
    const Value both = concat(network, "both", {a, b}, 1);
    CHECK(network.shape(both) == Shape{1, 8, 4, 4});
    network.output(slice(network, "part", both, 1, 2, 4));
    network.output(slice(network, "every_other", both, 2, 1, 2, 2));
    const Graph graph = graph_of(network);
    CHECK(layers_of(graph) == "conv2d conv2d concat slice slice");
    CHECK(tensor(graph, "both").shape == Shape{1, 4, 4, 8});
    CHECK(tensor(graph, "part").shape == Shape{1, 4, 4, 4});
}

TEST_CASE("one number for all elements has no order that a feature map could change") {
    Network network;
    const Value bytes = network.input("bytes", {1, 3, 8, 8}, DType::Int8);
    const Value words = convert(network, "words", bytes, DType::Int32);
    const Value x = convert(network, "x", words, Network::kFloat);
    network.output(
        convolve(network, "conv", x, channels_first(4), Windows::of({3, 3}), {.count = 4, .groups = 1}));
    const Graph graph = graph_of(network);
    CHECK(layers_of(graph) == "mul dequantize conv2d");
    CHECK(out_shape(graph) == Shape{1, 6, 6, 4});
}

TEST_CASE("a stored row that channels last cannot meet decides how its input is held") {
    // Beside [2, 3, 8, 4] the row is [4]; beside [2, 8, 4, 3] it would be met again around and within.
    Network network;
    const Value x = network.input("x", {2, 3, 8, 4}, Network::kFloat);
    const Value sum = elementwise(network, "sum", "add", x, network.stored("row", {4}, Network::kFloat));
    network.output(
        convolve(network, "conv", sum, channels_first(4), Windows::of({3, 3}), {.count = 5, .groups = 1}));
    const Graph graph = graph_of(network);
    CHECK(layers_of(graph) == "add transpose conv2d");
    CHECK(out_shape(graph) == Shape{2, 6, 2, 5});
    // What both orders meet leaves it open.
    Network whole;
    const Value map = whole.input("map", {2, 3, 8, 4}, Network::kFloat);
    const Value moved =
        elementwise(whole, "sum", "add", map, whole.stored("all", {3, 8, 4}, Network::kFloat));
    whole.output(
        convolve(whole, "conv", moved, channels_first(4), Windows::of({3, 3}), {.count = 5, .groups = 1}));
    CHECK(layers_of(graph_of(whole)) == "add conv2d");
}
