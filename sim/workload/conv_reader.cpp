// SPDX-License-Identifier: Apache-2.0
// Convolutions of feature maps and of volumes.
#include <array>
#include <tuple>

#include "sim/workload/op_readers.h"

namespace systole {
namespace {

/// n or [h, w] of an optional key.
std::array<std::int64_t, 2> read_both(Keys& keys, const char* key, std::int64_t fallback) {
    if (keys.has(key)) return keys.pair(key);
    keys.optional(key);
    return {fallback, fallback};
}

std::optional<std::int64_t> unless_equal(std::int64_t value, std::int64_t usual) {
    return value == usual ? std::nullopt : std::optional(value);
}

/// What a convolution has whatever its dimensions.
void read_conv(Keys& keys, Conv2d& conv) {
    const Steps steps = read_steps(keys, 1);
    conv.stride = steps.stride, conv.pad = steps.pad, conv.uneven = steps.uneven;
    const std::array<std::int64_t, 2> dilation = read_both(keys, "dilation", 1);
    conv.dilation = dilation[0];
    conv.uneven.dilation_w = unless_equal(dilation[1], dilation[0]);
    conv.groups = keys.integer("groups", 1, 1);
    conv.bias = keys.flag("bias", false);
    conv.post = read_post(keys);
}

bool read_depthwise(Keys& keys) {
    const bool depthwise = keys.flag("depthwise", false);
    if (depthwise && keys.has("groups"))
        keys.fail("'depthwise: true' sets the groups; give one of the two", "groups");
    return depthwise;
}

}  // namespace

Steps read_steps(Keys& keys, std::int64_t stride) {
    const std::array<std::int64_t, 2> strides = read_both(keys, "stride", stride);
    const std::array<std::int64_t, 4> pads = keys.sides("pad");
    return {strides[0],
            pads[0],
            {unless_equal(strides[1], strides[0]),
             {},
             unless_equal(pads[1], pads[0]),
             unless_equal(pads[2], pads[0]),
             unless_equal(pads[3], pads[0])}};
}

ConvDepth read_conv_depth(Keys& keys, const Conv2d& conv) {
    ConvDepth depth;
    depth.stride = keys.integer_if_given("stride_t", 1).value_or(conv.stride);
    depth.pad = keys.integer_if_given("pad_t", 0).value_or(conv.pad);
    depth.dilation = keys.integer_if_given("dilation_t", 1).value_or(conv.dilation);
    return depth;
}

std::optional<LayerMeaning> read_conv2d(LayerText& text) {
    Keys& keys = text.keys();
    Conv2d conv;
    conv.out_c = keys.integer("filters", 1);
    std::tie(conv.kernel_h, conv.kernel_w) = std::tuple_cat(keys.pair("kernel"));
    read_conv(keys, conv);
    conv.round_up = keys.flag("round_up", false);
    conv.format = read_conv_weight_format(keys);
    const bool depthwise = read_depthwise(keys);
    if (!text.expect_rank(4, "a feature map [n, h, w, c]")) return std::nullopt;
    const Shape& in = text.shape(0);
    conv.batch = in[0], conv.in_h = in[1], conv.in_w = in[2], conv.in_c = in[3];
    if (depthwise) conv.groups = conv.in_c;
    return LayerMeaning{conv, conv.output_shape()};
}

std::optional<LayerMeaning> read_conv3d(LayerText& text) {
    Keys& keys = text.keys();
    Conv2d conv;
    conv.out_c = keys.integer("filters", 1);
    const std::array<std::int64_t, 3> kernel = keys.triple("kernel");
    conv.kernel_h = kernel[1], conv.kernel_w = kernel[2];
    read_conv(keys, conv);
    ConvDepth depth = read_conv_depth(keys, conv);
    depth.kernel = kernel[0];
    conv.format = read_conv_weight_format(keys);
    const bool depthwise = read_depthwise(keys);
    if (!text.expect_rank(5, "volumes [n, d, h, w, c]")) return std::nullopt;
    const Shape& in = text.shape(0);
    conv.batch = in[0], depth.in = in[1], conv.in_h = in[2], conv.in_w = in[3], conv.in_c = in[4];
    conv.depth = depth;
    if (depthwise) conv.groups = conv.in_c;
    return LayerMeaning{conv, conv.output_shape()};
}

}  // namespace systole
