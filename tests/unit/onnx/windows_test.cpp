// SPDX-License-Identifier: Apache-2.0
// Sizes that windows and scales make, where padding and rounding are unusual: by hand.
#include <catch2/catch.hpp>

#include "tests/unit/onnx/models.h"

using namespace systole;
using namespace systole::test;

namespace {

/// By scales that are an attribute of the first node (Upsample of opset 7), or its input `s`.
void scale_by(onnx::ModelProto& model, float scale, bool attribute) {
    const std::vector<float> scales{1, 1, scale, scale};
    if (attribute) {
        onnx::AttributeProto& told = *model.mutable_graph()->mutable_node(0)->add_attribute();
        told.set_name("scales"), told.set_type(onnx::AttributeProto::FLOATS);
        for (const float each : scales) told.add_floats(each);
        return;
    }
    store(model, "s", {4});
    onnx::TensorProto& told =
        *model.mutable_graph()->mutable_initializer(model.graph().initializer_size() - 1);
    for (const float each : scales) told.add_float_data(each);
}

Imported transposed(const std::string& attributes, std::int64_t kernel) {
    auto model = model_of("(float[1,4,8,8] x) => (float y) { y = ConvTranspose<strides = [2,2], " +
                          attributes + ">(x, w) }");
    store(model, "w", {4, 6, kernel, kernel});
    return test::import(model);
}

}  // namespace

TEST_CASE("a size that scales make is that of float32, in which ONNX multiplies") {
    struct Scaled {
        std::int64_t from, to;
    };
    // Of float32 scales the first four are below the ratio: 39.99.., 4.99.., 12.99.., 49.99.. in more digits.
    const Scaled each = GENERATE(values<Scaled>({{27, 40}, {3, 5}, {9, 13}, {33, 50}, {64, 96}, {7, 10}}));
    const bool attribute = GENERATE(false, true);
    const std::string from = std::to_string(each.from);
    auto model = model_of("(float[1,2," + from + "," + from + "] x) => (float y) { y = " +
                              (attribute ? "Upsample(x)" : "Resize(x, n, s)") + " }",
                          attribute ? 7 : 13);
    if (!attribute) model.mutable_graph()->mutable_node(0)->set_input(1, "");
    scale_by(model, static_cast<float>(static_cast<double>(each.to) / static_cast<double>(each.from)),
             attribute);
    const Imported imported = import(model);
    INFO(imported.trace << notes(imported));
    CHECK(out_shape(graph_of(imported.trace)) == Shape{1, each.to, each.to, 2});
}

TEST_CASE("a transposed convolution of which more is cut at the end is that of the mirrored map") {
    struct Cut {
        std::string attributes, mirrored;
        std::int64_t kernel, out, macs;
    };
    // Of each direction, pixels by taps: 8 x 2 + 8 x 1 of 16; 9 x 3 + 9 x 2 of 18.
    const Cut each = GENERATE(values<Cut>({
        {"auto_pad = \"SAME_UPPER\"", "auto_pad = \"SAME_LOWER\"", 3, 16, 24 * 24 * 4 * 6},
        {"pads = [0,0,1,1]", "pads = [1,1,0,0]", 3, 16, 24 * 24 * 4 * 6},
        {"pads = [1,0,0,1]", "pads = [1,1,0,0]", 3, 16, 24 * 24 * 4 * 6},
        {"pads = [0,0,1,1]", "pads = [1,1,0,0]", 5, 18, 45 * 45 * 4 * 6},
    }));
    INFO(each.attributes);
    const Imported imported = transposed(each.attributes, each.kernel),
                   other = transposed(each.mirrored, each.kernel);
    INFO(imported.trace << notes(imported));
    const Graph graph = graph_of(imported.trace);
    REQUIRE(layers_of(graph) == "conv_transpose");
    const auto& conv = std::get<ConvTranspose>(graph.layers[0].op);
    CHECK((conv.pad == 1 && conv.out_pad == 1));
    CHECK(conv == std::get<ConvTranspose>(graph_of(other.trace).layers.at(0).op));
    CHECK(out_shape(graph) == Shape{1, each.out, each.out, 6});
    CHECK(total_macs(graph).value() == each.macs);
    CHECK_THAT(notes(imported), Catch::Contains("m.onnx: note: 'y': more of its map is cut at the end than "
                                                "at the begin: the trace has it mirrored, at the same cost"));
    CHECK_THAT(notes(other), !Catch::Contains("mirrored"));
}

TEST_CASE("a transposed convolution whose ends differ by its stride is refused, whichever is cut more") {
    for (const char* pads : {"pads = [0,0,2,2]", "pads = [2,2,0,0]"})
        CHECK_THROWS_WITH(transposed(pads, 3),
                          Catch::Contains("out_pad 2 must be smaller than the stride 2"));
}

TEST_CASE("a last window that would begin behind the input is dropped, also where sizes are rounded up") {
    struct Pooled {
        std::string op, attributes;
        std::int64_t in, out;
    };
    const Pooled each = GENERATE(values<Pooled>({
        // Windows begin at -1, 1 and 3; at 0, 2 and 4.
        {"MaxPool", "kernel_shape = [2,2], strides = [2,2], pads = [1,1,1,1]", 3, 2},
        {"MaxPool", "kernel_shape = [1,1], strides = [2,2]", 4, 2},
        {"AveragePool", "kernel_shape = [2,2], strides = [2,2], pads = [1,1,1,1]", 3, 2},
        // At -1, 1 and 3, which is the last pixel; at 0, 3 and 6.
        {"MaxPool", "kernel_shape = [2,2], strides = [2,2], pads = [1,1,1,1]", 4, 3},
        {"MaxPool", "kernel_shape = [3,3], strides = [3,3]", 7, 3},
    }));
    const std::string in = std::to_string(each.in);
    const Imported imported =
        import(model_of("(float[1,3," + in + "," + in + "] x) => (float y) { y = " + each.op + "<" +
                        each.attributes + ", ceil_mode = 1>(x) }"));
    INFO(imported.trace << notes(imported));
    CHECK(out_shape(graph_of(imported.trace)) == Shape{1, each.out, each.out, 3});
}

TEST_CASE("zeros as wide as the window of a pool are joined to what it reads, narrower ones are its own") {
    struct Padded {
        std::int64_t pad, in, own, out;
    };
    const Padded each = GENERATE(values<Padded>({{3, 11, 0, 5}, {2, 9, 0, 4}, {1, 5, 1, 3}}));
    auto model = model_of(
        "(float[1,3,5,5] x) => (float y) { p = Pad(x, widths) y = AveragePool<kernel_shape = [2,2], strides "
        "= [2,2]>(p) }");
    store_numbers(model, "widths", {0, 0, each.pad, each.pad, 0, 0, each.pad, each.pad});
    const Imported imported = import(model);
    INFO(imported.trace << notes(imported));
    const Graph graph = graph_of(imported.trace);
    const auto& pool = std::get<Pool>(graph.layers.back().op);
    CHECK((pool.in_h == each.in && pool.in_w == each.in && pool.pad == each.own));
    CHECK(out_shape(graph) == Shape{1, each.out, each.out, 3});
    const bool joined = layers_of(graph).find("concat") != std::string::npos;
    CHECK(joined == (each.own == 0));
}
