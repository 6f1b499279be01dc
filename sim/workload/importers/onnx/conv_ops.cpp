// SPDX-License-Identifier: Apache-2.0
// Operators with windows, and the padding in front of them.
#include "sim/workload/importers/network/convolutions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/workload/importers/network/vectors.h"
#include "sim/workload/importers/onnx/ops.h"
#include "sim/workload/parameters.h"

namespace systole {
namespace {

Shape given(Node& node, const char* key, std::size_t count, std::int64_t usual) {
    Shape values = node.integers(key);
    if (values.empty()) values.assign(count, usual);
    if (values.size() != count)
        throw Unsayable(fmt::format("'{}' has {} numbers for {} dimensions", key, values.size(), count));
    for (const std::int64_t value : values)
        if (value < -kMaxInteger || value > kMaxInteger)
            throw Unsayable(fmt::format("'{}' is {}", key, value));
    return values;
}

void expect_positive(const Shape& values, const char* what) {
    for (const std::int64_t value : values)
        if (value < 1 || value > kMaxInteger) throw Unsayable(fmt::format("its {} is {}", what, value));
}

Shape spatial_of(const Shape& shape) {
    if (shape.size() < 3)
        throw Unsayable(fmt::format("its input {} has no spatial dimensions", to_string(shape)));
    return {shape.begin() + 2, shape.end()};
}

/// SAME_UPPER and SAME_LOWER: outputs are the input over the stride, rounded up.
void pad_same(const std::string& how, const Shape& spatial, Windows& w) {
    for (std::size_t i = 0; i < spatial.size(); ++i) {
        const std::int64_t out = (spatial[i] + w.stride[i] - 1) / w.stride[i];
        const std::int64_t reach = w.dilation[i] * (w.kernel[i] - 1) + 1;
        const std::int64_t all = std::max<std::int64_t>(0, (out - 1) * w.stride[i] + reach - spatial[i]);
        const std::int64_t less = all / 2;
        w.pad_begin[i] = how == "SAME_LOWER" ? all - less : less;
        w.pad_end[i] = all - w.pad_begin[i];
    }
}

/// Windows that begin in the input or in front of it count, even if they end beyond; one that would begin
/// behind it is dropped (ONNX since opset 19, and PyTorch).
void round_up(const Shape& spatial, Windows& w) {
    for (std::size_t i = 0; i < spatial.size(); ++i) {
        const std::int64_t room =
            spatial[i] + w.pad_begin[i] + w.pad_end[i] - w.dilation[i] * (w.kernel[i] - 1) - 1;
        // Also where the first window ends beyond: room below 0.
        const std::int64_t beyond = (room % w.stride[i] + w.stride[i]) % w.stride[i];
        if (beyond == 0) continue;
        const std::int64_t more = w.stride[i] - beyond, last = room + more;
        if (last < spatial[i] + w.pad_begin[i]) w.pad_end[i] += more;
    }
}

Filters filters_of(Node& node, Value x, std::int64_t count, std::size_t bias) {
    Filters filters;
    filters.count = count;
    filters.groups = node.integer("group", 1);
    if (filters.groups < 1 || filters.groups > kMaxInteger)
        throw Unsayable("a number of groups that cannot be");
    filters.bias = node.has(bias) && node.is_stored(bias);
    if (node.has(bias) && node.shape(bias) != Shape{count})
        throw Unsayable(
            fmt::format("its bias {} is not one number for each filter", to_string(node.shape(bias))));
    const DType weights = node.network().dtype(node.weights(1));
    if (weights != node.network().dtype(x)) filters.dtype = weights;
    return filters;
}

/// A bias that the network makes is added by a layer of its own.
Value with_made_bias(Node& node, Value out, std::size_t bias) {
    if (!node.has(bias) || node.is_stored(bias)) return out;
    Network& network = node.network();
    Shape column(network.shape(out).size() - 1, 1);
    column[0] = network.shape(out)[1];
    return elementwise(network, node.name() + "_bias", "add", out, network.reshape(node.value(bias), column));
}

void expect_stored_weights(Node& node) {
    if (!node.is_stored(1)) throw Unsayable("its weights are made by the network; a trace stores them");
}

/// Of every dimension; axes and what keeps their ratio since opset 18.
Shape wanted_size(Node& node, const Shape& shape) {
    Shape sizes = node.integers(3, "sizes");
    const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
    Order axes;
    for (const std::int64_t axis : node.integers("axes"))
        axes.push_back(Node::checked_axis(axis, shape.size()));
    if (axes.empty() && policy == "stretch") return sizes;
    if (axes.empty())
        throw Unsayable("it keeps the ratio of all its dimensions, those of batch and channel, too");
    if (axes.size() != sizes.size()) throw Unsayable("it has no size for every axis");
    expect_positive(sizes, "size");
    Shape result = shape;
    std::size_t first = 0;  // the axis that all follow
    const auto factor = [&](std::size_t i) {
        return static_cast<double>(sizes[i]) / static_cast<double>(shape[axes[i]]);
    };
    for (std::size_t i = 1; i < axes.size(); ++i)
        if (policy == "not_larger" ? factor(i) < factor(first) : factor(i) > factor(first)) first = i;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const double kept = std::floor(factor(first) * static_cast<double>(shape[axes[i]]) + 0.5);
        if (policy != "stretch" && !(kept >= 1 && kept <= static_cast<double>(kMaxInteger)))
            throw Unsayable("nothing is left of it, or more than a trace has");
        result[axes[i]] = policy == "stretch" ? sizes[i] : static_cast<std::int64_t>(kept);
    }
    if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
        throw Unsayable("its 'keep_aspect_ratio_policy' is none that ONNX has");
    return result;
}

/// Each dimension by its scale, in float32 as ONNX computes them: 27 by 40/27 is 40 there, and 39 in more
/// digits.
Shape scaled_size(Node& node, const Shape& shape, std::size_t scales_at) {
    std::vector<float> scales;
    if (node.has_attribute("scales")) {
        const auto& list = node.attribute("scales")->floats();
        scales.assign(list.begin(), list.end());
    } else if (node.has(scales_at)) {
        const Constant* const numbers = node.constant(scales_at);
        if (numbers == nullptr) throw Unsayable("its scales are not known before the network runs");
        for (std::size_t i = 0; i < numbers->size(); ++i)
            scales.push_back(static_cast<float>(numbers->number(i)));
    }
    if (scales.size() != shape.size()) throw Unsayable("it has no scale for every dimension");
    Shape size;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const float extent = std::floor(static_cast<float>(shape[i]) * scales[i]);
        if (!(extent >= 1 && static_cast<double>(extent) <= static_cast<double>(kMaxInteger)))
            throw Unsayable(fmt::format("a scale of {}", scales[i]));
        size.push_back(static_cast<std::int64_t>(extent));
    }
    return size;
}

/// Whether windows at an edge would see nothing but zeros: those of a Pad in front, and the pool's own.
bool sees_zeros_only(const Held& held, const Windows& w) {
    if (!held.zeros_before) return false;
    for (std::size_t i = 0; i < w.kernel.size(); ++i)
        if (w.pad_begin[i] + (*held.zeros_before)[i] >= w.kernel[i] ||
            w.pad_end[i] + (*held.zeros_behind)[i] >= w.kernel[i])
            return true;
    return false;
}

}  // namespace

Windows windows_of(Node& node, const Shape& kernel, const Shape& spatial) {
    const std::size_t rank = spatial.size();
    if (kernel.size() != rank) throw Unsayable("its kernel has another number of dimensions than its input");
    Windows w = Windows::of(kernel);
    w.stride = given(node, "strides", rank, 1);
    w.dilation = given(node, "dilations", rank, 1);
    expect_positive(w.kernel, "kernel");
    expect_positive(w.stride, "stride");
    expect_positive(w.dilation, "dilation");
    const std::string how = node.text("auto_pad", "NOTSET");
    if (how == "SAME_UPPER" || how == "SAME_LOWER") {
        pad_same(how, spatial, w);
    } else if (how == "NOTSET" || how.empty()) {
        const Shape pads = given(node, "pads", 2 * rank, 0);
        const auto half = pads.begin() + static_cast<std::ptrdiff_t>(rank);
        w.pad_begin.assign(pads.begin(), half);
        w.pad_end.assign(half, pads.end());
    } else if (how != "VALID") {
        throw Unsayable("its 'auto_pad' is none that ONNX has");
    }
    return w;
}

Shape kernel_of(Node& node, const Shape& weights) {
    Shape kernel(weights.begin() + 2, weights.end());
    const Shape told = node.integers("kernel_shape");
    if (!told.empty() && told != kernel)
        throw Unsayable(fmt::format("its kernel_shape {} is not that of its weights, {}", to_string(told),
                                    to_string(weights)));
    return kernel;
}

Value padded_input(Node& node, std::size_t input, Windows& windows) {
    Held& held = node.held(input);
    if (!held.zeros_before) return node.value(input);
    for (std::size_t i = 0; i < windows.kernel.size(); ++i) {
        windows.pad_begin[i] += (*held.zeros_before)[i];
        windows.pad_end[i] += (*held.zeros_behind)[i];
    }
    return *held.value;
}

void map_conv(Node& node) {
    expect_stored_weights(node);
    const Shape weights = node.shape(1);
    const Shape spatial = spatial_of(node.shape(0));
    if (weights.size() != spatial.size() + 2)
        throw Unsayable("its weights have another number of dimensions");
    const std::int64_t channels = node.shape(0)[1];
    Windows windows = windows_of(node, kernel_of(node, weights), spatial);
    const Value x = padded_input(node, 0, windows);
    const Filters filters = filters_of(node, x, weights[0], 2);
    if (channels % filters.groups != 0 || weights[1] != channels / filters.groups)
        throw Unsayable(
            fmt::format("weights {} do not fit the {} channels of its input", to_string(weights), channels));
    const Value out =
        convolve(node.network(), node.name(), x, channels_first(spatial.size() + 2), windows, filters);
    node.put(0, with_made_bias(node, out, 2));
}

void map_conv_transpose(Node& node) {
    expect_stored_weights(node);
    const Shape weights = node.shape(1), spatial = spatial_of(node.shape(0));
    if (weights.size() != spatial.size() + 2)
        throw Unsayable("its weights have another number of dimensions");
    if (node.integer("group", 1) != 1) throw Unsayable("a trace's transposed convolution has no groups");
    Windows w = windows_of(node, kernel_of(node, weights), spatial);
    Shape more = given(node, "output_padding", spatial.size(), 0);
    const Shape wanted = node.integers("output_shape");
    const std::string how = node.text("auto_pad", "NOTSET");
    const bool same = how == "SAME_UPPER" || how == "SAME_LOWER";
    if (!wanted.empty() || same) {
        if (!wanted.empty() && wanted.size() != spatial.size())
            throw Unsayable("its 'output_shape' has another rank");
        if (!wanted.empty()) expect_positive(wanted, "output");
        for (std::size_t i = 0; i < spatial.size(); ++i) {
            const std::int64_t out = wanted.empty() ? spatial[i] * w.stride[i] : wanted[i];
            const std::int64_t all =
                w.stride[i] * (spatial[i] - 1) + more[i] + w.dilation[i] * (w.kernel[i] - 1) + 1 - out;
            w.pad_begin[i] = how == "SAME_UPPER" ? all / 2 : all - all / 2;
            w.pad_end[i] = all - w.pad_begin[i];
        }
    }
    const Value x = node.value(0);
    const Filters filters = filters_of(node, x, weights[1], 2);
    const Value out = convolve_transposed(node.network(), node.name(), x, channels_first(spatial.size() + 2),
                                          w, more, filters);
    node.put(0, with_made_bias(node, out, 2));
}

void map_pool(Node& node) {
    const Shape spatial = spatial_of(node.shape(0));
    Windows windows = windows_of(node, node.integers("kernel_shape"), spatial);
    const bool max = node.op() == "MaxPool";
    if (max && node.is_read(1)) throw Unsayable("where its maxima stood is read, too");
    const Shape asked = windows.pad_end;
    if (node.integer("ceil_mode", 0) != 0) round_up(spatial, windows);
    // Zeros of a Pad are joined to the input where they count other than what lies beyond (for a maximum, and
    // behind windows that are rounded up), and where a trace's pool has no windows of zeros only.
    const bool joined = max || windows.pad_end != asked || sees_zeros_only(node.held(0), windows);
    const Value x = joined ? node.value(0) : padded_input(node, 0, windows);
    node.put(0, pool(node.network(), node.name(), max ? "max" : "average", x,
                     channels_first(spatial.size() + 2), windows));
}

void map_global_pool(Node& node) {
    const std::size_t rank = spatial_of(node.shape(0)).size() + 2;
    Order dims;
    for (std::size_t dim = 2; dim < rank; ++dim) dims.push_back(dim);
    const char* const kind = node.op() == "GlobalMaxPool" ? "max" : "mean";
    node.put(0, reduce(node.network(), node.name(), kind, node.value(0), dims, true));
}

void map_resize(Node& node) {
    const Shape shape = node.shape(0), spatial = spatial_of(shape);
    const bool newer = node.op() == "Resize" && node.opset() >= 11;
    const std::size_t scales_at = newer ? 2 : 1;
    const Shape size = newer && node.has(3) ? wanted_size(node, shape) : scaled_size(node, shape, scales_at);
    if (size.size() != shape.size() || size[0] != shape[0] || size[1] != shape[1])
        throw Unsayable("it resizes other dimensions than those of pixels");
    const std::string mode = node.text("mode", "nearest");
    if (mode != "nearest" && mode != "linear" && mode != "bilinear")
        throw Unsayable(
            fmt::format("a trace resizes to the nearest pixel or between four, not by '{}'", mode));
    if (node.text("coordinate_transformation_mode", "") == "tf_crop_and_resize") throw Unsayable("it crops");
    if (size == shape) return node.pass(0, 0);
    node.put(0, resize(node.network(), node.name(), mode == "nearest" ? "nearest" : "bilinear", node.value(0),
                       channels_first(shape.size()), {size.begin() + 2, size.end()}));
}

}  // namespace systole
