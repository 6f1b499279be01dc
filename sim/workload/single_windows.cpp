// SPDX-License-Identifier: Apache-2.0
// Columns of operators with windows: convolutions and pooling.
#include <fmt/format.h>

#include "sim/workload/op_reader.h"
#include "sim/workload/single_readers.h"

namespace systole {
namespace {

/// Feature map, kernel and epilogue, of a convolution of any kind.
template <class Conv>
Conv read_kernel(Keys& keys) {
    Conv c;
    c.batch = keys.integer("n", 1, 1);
    c.in_h = keys.integer("h", 1);
    c.in_w = keys.integer("w", 1);
    c.in_c = keys.integer("c", 1);
    c.out_c = keys.integer("k", 1);
    c.kernel_h = keys.integer("r", 1);
    c.kernel_w = keys.integer("s", 1);
    c.stride = keys.integer("stride", 1, 1);
    c.pad = keys.integer("pad", 0, 0);
    c.bias = keys.flag("bias", false);
    c.post = read_post(keys);
    return c;
}

/// What a convolution has whatever its dimensions.
Conv2d read_conv(Keys& keys) {
    auto c = read_kernel<Conv2d>(keys);
    c.dilation = keys.integer("dilation", 1, 1);
    c.groups = keys.integer("groups", 1, 1);
    c.format = read_conv_weight_format(keys);
    return c;
}

}  // namespace

Single read_single_conv2d(Keys& keys) {
    Conv2d c = read_conv(keys);
    c.round_up = keys.flag("round_up", false);
    return {c, {c.input_shape()}, c.output_shape()};
}

Single read_single_conv3d(Keys& keys) {
    Conv2d c = read_conv(keys);
    ConvDepth depth = read_conv_depth(keys, c);
    depth.in = keys.integer("d", 1);
    depth.kernel = keys.integer("t", 1);
    c.depth = depth;
    return {c, {c.input_shape()}, c.output_shape()};
}

Single read_single_conv_transpose(Keys& keys) {
    auto c = read_kernel<ConvTranspose>(keys);
    c.out_pad = keys.integer("out_pad", 0, 0);
    if (c.out_h() > kMaxInteger || c.out_w() > kMaxInteger)
        keys.fail(fmt::format("its output of {} x {} pixels has more than {} rows or columns", c.out_h(),
                              c.out_w(), kMaxInteger));
    return {c, {{c.batch, c.in_h, c.in_w, c.in_c}}, {c.batch, c.out_h(), c.out_w(), c.out_c}};
}

Single read_single_pool(Keys& keys) {
    Pool p;
    p.kind = static_cast<Pool::Kind>(keys.choice("kind", pool_kinds()));
    p.batch = keys.integer("n", 1, 1);
    p.in_h = keys.integer("h", 1);
    p.in_w = keys.integer("w", 1);
    p.channels = keys.integer("c", 1);
    p.window_h = keys.integer("r", 1);
    p.window_w = keys.integer("s", 1);
    p.stride = keys.integer("stride", 1, p.window_h);
    p.pad = keys.integer("pad", 0, 0);
    return {p, {{p.batch, p.in_h, p.in_w, p.channels}}, {p.batch, p.out_h(), p.out_w(), p.channels}};
}

}  // namespace systole
