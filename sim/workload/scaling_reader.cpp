// SPDX-License-Identifier: Apache-2.0
// How weights are stored, and layers that turn numbers of one dtype into those of another by scales.
#include <fmt/format.h>

#include <algorithm>

#include "sim/workload/op_readers.h"

namespace systole {
namespace {

/// `group`, of whose scales there is one for so many rows of K. A convolution has none.
void read_group(Keys& keys, bool convolution, WeightFormat& format) {
    if (format.among_numbers() && !convolution) {
        format.group = keys.integer("group", 1);
    } else if (format.among_numbers()) {
        keys.fail(fmt::format("scales of {}s are those of a matmul; of a convolution give 'scales: channel'",
                              scales_names()[static_cast<std::size_t>(format.scales)]),
                  "scales");
        keys.optional("group");
        format.scales = Scales::Channel;
    } else if (keys.optional("group") != nullptr) {
        keys.fail("'group' goes with 'scales: group' and 'scales: block'", "group");
    }
}

/// `scales`, and with them `group` and `scale_dtype`.
void read_scales(Keys& keys, std::size_t fallback, bool convolution, WeightFormat& format) {
    format.scales = static_cast<Scales>(keys.choice("scales", scales_names(), fallback));
    read_group(keys, convolution, format);
    // Of blocks: e4m3 (NVFP4) or e8m0 (OCP).
    if (format.scales == Scales::Block) format.scale_dtype = DType::Fp8;
    const std::optional<DType> dtype = keys.dtype("scale_dtype");
    if (!dtype) return;
    format.scale_dtype = *dtype;
    if (!is_floating(*dtype))
        keys.fail(fmt::format("scales are floating-point numbers, not {}", to_string(*dtype)), "scale_dtype");
    else if (!format.among_numbers() && format.scales != Scales::Channel)
        keys.fail("'scale_dtype' goes with 'scales: channel', 'group' and 'block': no other scale is stored",
                  "scale_dtype");
}

/// `sparsity: 2:4`.
void read_sparsity(Keys& keys, WeightFormat& format) {
    if (keys.optional("sparsity") == nullptr) return;
    const std::string text = keys.text("sparsity", "a pattern such as 2:4");
    const auto colon = text.find(':');
    const auto number = [&](const std::string& part) {
        const bool digit = part.size() == 1 && part[0] >= '1' && part[0] <= '9';
        return digit || part == "16" ? std::stoll(part) : 0;
    };
    format.kept = colon == std::string::npos ? 0 : number(text.substr(0, colon));
    format.of = colon == std::string::npos ? 0 : number(text.substr(colon + 1));
    if (format.kept > 0 && format.of > format.kept) return;
    if (!text.empty())
        keys.fail(
            fmt::format("'{}' is not a pattern N:M, N of M weights in a row that are kept, such as 2:4, with "
                        "1 <= N < M and M at most 9, or 16",
                        text.substr(0, 20)),
            "sparsity");
    format.kept = 0, format.of = 1;
}

std::optional<LayerMeaning> read_scaling(LayerText& text, Scaling::Kind kind) {
    Keys& keys = text.keys();
    Scaling op;
    op.kind = kind;
    op.format = read_scaling_format(keys);
    if (!keys.has("out_dtype")) keys.fail("'out_dtype' is missing: expected the dtype that it makes");
    if (!text.sound()) return std::nullopt;
    const Shape& shape = text.shape(0);
    op.cols = shape.back();
    op.rows = elements(shape) / op.cols;
    return LayerMeaning{op, shape};
}

}  // namespace

WeightFormat read_weight_format(Keys& keys) {
    WeightFormat format;
    read_scales(keys, 0, false, format);
    read_sparsity(keys, format);
    return format;
}

WeightFormat read_conv_weight_format(Keys& keys) {
    WeightFormat format;
    read_scales(keys, 0, true, format);
    read_sparsity(keys, format);
    return format;
}

WeightFormat read_input_format(Keys& keys) {
    WeightFormat format;
    read_scales(keys, 0, false, format);
    if (format.scales == Scales::None || format.scales == Scales::Block) return format;
    keys.fail(fmt::format("an input has scales of blocks or none ('block', 'none'), not '{}'",
                          scales_names()[static_cast<std::size_t>(format.scales)]),
              "scales");
    return {};
}

void refuse_weight_format(Keys& keys) {
    for (const char* const key : {"scales", "group", "scale_dtype", "sparsity", "fused"})
        if (keys.has(key) && keys.optional(key) != nullptr)
            keys.fail(
                fmt::format("'{}' is of stored weights; with 'batch' above 1 both operands are activations",
                            key),
                key);
}

WeightFormat read_scaling_format(Keys& keys) {
    WeightFormat format;
    read_scales(keys, static_cast<std::size_t>(Scales::Tensor), false, format);
    if (format.scales == Scales::None) keys.fail("there is nothing to do without scales", "scales");
    return format;
}

std::optional<LayerMeaning> read_quantize(LayerText& text) {
    return read_scaling(text, Scaling::Kind::Quantize);
}

std::optional<LayerMeaning> read_dequantize(LayerText& text) {
    return read_scaling(text, Scaling::Kind::Dequantize);
}

}  // namespace systole
