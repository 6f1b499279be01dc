// SPDX-License-Identifier: Apache-2.0
// Transposed convolution.
#include <fmt/format.h>

#include <tuple>

#include "sim/workload/op_readers.h"

namespace systole {

std::optional<LayerMeaning> read_conv_transpose(LayerText& text) {
    Keys& keys = text.keys();
    ConvTranspose conv;
    conv.out_c = keys.integer("filters", 1);
    std::tie(conv.kernel_h, conv.kernel_w) = std::tuple_cat(keys.pair("kernel"));
    conv.stride = keys.integer("stride", 1, 1);
    conv.pad = keys.integer("pad", 0, 0);
    conv.out_pad = keys.integer("out_pad", 0, 0);
    conv.bias = keys.flag("bias", false);
    conv.post = read_post(keys);
    if (!text.expect_rank(4, "a feature map [n, h, w, c]")) return std::nullopt;
    const Shape& in = text.shape(0);
    conv.batch = in[0], conv.in_h = in[1], conv.in_w = in[2], conv.in_c = in[3];
    const Shape output = {conv.batch, conv.out_h(), conv.out_w(), conv.out_c};
    if (output[1] <= kMaxInteger && output[2] <= kMaxInteger) return LayerMeaning{conv, output};
    keys.fail(fmt::format("its output {} has more than {} rows or columns", to_string(output), kMaxInteger));
    return std::nullopt;
}

}  // namespace systole
