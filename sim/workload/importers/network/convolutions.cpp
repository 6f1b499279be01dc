// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/convolutions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/workload/operator_shapes.h"

namespace systole {
namespace {

/// Throws what is wrong with the operator.
void expect_sound(const Operator& op) {
    const std::vector<std::string> faults = find_faults(op);
    if (!faults.empty()) throw Unsayable(faults.front());
}

Order held_order(const MapDims& dims) {
    Order order{dims.batch};
    order.insert(order.end(), dims.spatial.begin(), dims.spatial.end());
    order.push_back(dims.channel);
    return order;
}

/// n, or [a, b] where they differ.
std::string pair_text(const Shape& values) {
    const bool equal = std::ranges::all_of(values, [&](std::int64_t v) { return v == values[0]; });
    return equal ? fmt::format("{}", values[0]) : fmt::format("[{}]", fmt::join(values, ", "));
}

/// A feature map of two spatial dimensions, or three: one of one is an image one pixel high.
struct Map {
    Value value;
    Shape shape;  ///< [n, (d,) h, w, c]
    Order order;
};

Map map_of(Network& network, Value x, const MapDims& dims, std::size_t most) {
    if (dims.spatial.empty() || dims.spatial.size() > most)
        throw Unsayable(
            fmt::format("it has {} spatial dimensions; a trace has 1 to {}", dims.spatial.size(), most));
    Map map{x, {}, held_order(dims)};
    map.value = network.feature_map(x, map.order);
    for (const std::size_t dim : map.order) map.shape.push_back(network.shape(x)[dim]);
    if (dims.spatial.size() == 1) map.shape.insert(map.shape.begin() + 1, 1);
    return map;
}

/// The layer's output, as the value was.
Value made(Network& network, Step step, const Map& map, const MapDims& dims, const Shape& spatial,
           std::int64_t channels) {
    Shape logical = network.shape(map.value);
    for (std::size_t i = 0; i < dims.spatial.size(); ++i) logical[dims.spatial[i]] = spatial[i];
    logical[dims.channel] = channels;
    Shape shape;
    for (const std::size_t dim : map.order) shape.push_back(logical[dim]);
    if (dims.spatial.size() == 1) shape.insert(shape.begin() + 1, 1);
    const DType dtype = network.dtype(map.value);
    return network.make(std::move(step), shape, Arrangement(logical, map.order), dtype);
}

/// With a height of 1 in front of a width alone.
Windows of_two(Windows w) {
    if (w.kernel.size() != 1) return w;
    for (Shape* each : {&w.kernel, &w.stride, &w.dilation}) each->insert(each->begin(), 1);
    for (Shape* each : {&w.pad_begin, &w.pad_end}) each->insert(each->begin(), 0);
    return w;
}

void expect_padding(const Windows& windows) {
    for (const Shape* each : {&windows.pad_begin, &windows.pad_end})
        for (const std::int64_t pad : *each)
            if (pad < 0) throw Unsayable("its padding is negative, which cuts");
}

/// "stride" and the like of the last two dimensions, where they are not `usual`.
std::string step_key(const char* key, const Shape& values, std::int64_t usual) {
    const Shape two(values.end() - 2, values.end());
    if (two[0] == usual && two[1] == usual) return "";
    return fmt::format(", {}: {}", key, pair_text(two));
}

std::string pad_key(const Windows& w) {
    const std::size_t h = w.kernel.size() - 2, v = h + 1;
    const Shape four{w.pad_begin[h], w.pad_begin[v], w.pad_end[h], w.pad_end[v]};
    if (std::ranges::all_of(four, [](std::int64_t pad) { return pad == 0; })) return "";
    return fmt::format(", pad: {}", pair_text(four));
}

Conv2d conv_of(const Map& map, const Windows& w, const Filters& filters) {
    const std::size_t h = w.kernel.size() - 2, v = h + 1;
    Conv2d conv;
    conv.batch = map.shape[0], conv.in_c = map.shape.back();
    conv.in_h = map.shape[h + 1], conv.in_w = map.shape[v + 1];
    conv.out_c = filters.count, conv.groups = filters.groups, conv.bias = filters.bias;
    conv.kernel_h = w.kernel[h], conv.kernel_w = w.kernel[v];
    conv.stride = w.stride[h], conv.dilation = w.dilation[h], conv.pad = w.pad_begin[h];
    conv.uneven = {w.stride[v], w.dilation[v], w.pad_begin[v], w.pad_end[h], w.pad_end[v]};
    if (h == 1) conv.depth = ConvDepth{map.shape[1], w.kernel[0], w.stride[0], w.pad_begin[0], w.dilation[0]};
    return conv;
}

/// `more` becomes what is cut at the end less than at the begin. A dimension of which more is cut at the end
/// is turned round, for a trace has it only so. Whether any is.
bool mirror(Windows& w, Shape& more) {
    bool any = false;
    for (std::size_t i = 0; i < more.size(); ++i) {
        more[i] += w.pad_begin[i] - w.pad_end[i];
        if (more[i] >= 0) continue;
        any = true;
        w.pad_begin[i] -= more[i];  // what is cut at the end
        more[i] = -more[i];
    }
    return any;
}

Step with_filters(Step step, const Filters& filters) {
    step.bias = filters.bias;
    step.takes_function = true;
    step.columns = filters.count;
    step.weight_dtype = filters.dtype;
    return step;
}

}  // namespace

MapDims channels_first(std::size_t rank) {
    MapDims dims;
    for (std::size_t dim = 2; dim < rank; ++dim) dims.spatial.push_back(dim);
    return dims;
}

Windows Windows::of(const Shape& kernel) {
    const std::size_t rank = kernel.size();
    return {kernel, Shape(rank, 1), Shape(rank, 1), Shape(rank, 0), Shape(rank, 0)};
}

Value convolve(Network& network, const std::string& name, Value x, const MapDims& dims,
               const Windows& windows, const Filters& filters) {
    expect_padding(windows);
    const Map map = map_of(network, x, dims, 3);
    const Windows w = of_two(windows);
    const bool volume = w.kernel.size() == 3;
    if (volume && w.pad_begin[0] != w.pad_end[0])
        throw Unsayable("volumes are padded by as much in front as behind");
    const Conv2d conv = conv_of(map, w, filters);
    expect_sound(conv);
    Step step{name, volume ? "conv3d" : "conv2d", {network.tensor(map.value, map.shape)}};
    step.keys = fmt::format(", filters: {}, kernel: {}", filters.count, pair_text(w.kernel));
    step.keys += step_key("stride", w.stride, 1) + pad_key(w) + step_key("dilation", w.dilation, 1);
    if (volume)
        step.keys += fmt::format(", stride_t: {}, pad_t: {}, dilation_t: {}", w.stride[0], w.pad_begin[0],
                                 w.dilation[0]);
    if (filters.groups > 1) step.keys += fmt::format(", groups: {}", filters.groups);
    Shape out = conv.output_shape();
    const Shape spatial(out.begin() + (dims.spatial.size() == 1 ? 2 : 1), out.end() - 1);
    return made(network, with_filters(std::move(step), filters), map, dims, spatial, filters.count);
}

Value convolve_transposed(Network& network, const std::string& name, Value x, const MapDims& dims,
                          const Windows& windows, const Shape& out_pad, const Filters& filters) {
    expect_padding(windows);
    constexpr std::int64_t kMostStride = 4096;  // each remainder by it is a convolution of its own
    if (filters.groups > 1) throw Unsayable("a trace's transposed convolution has no groups");
    for (const std::int64_t stride : windows.stride)
        if (stride > kMostStride) throw Unsayable(fmt::format("a stride of {}", stride));
    const Map map = map_of(network, x, dims, 2);
    Windows w = of_two(windows);
    Shape more = out_pad;
    if (more.size() == 1) more.insert(more.begin(), 0);
    const bool mirrored = mirror(w, more);
    if (w.stride[0] != w.stride[1] || w.pad_begin[0] != w.pad_begin[1] || more[0] != more[1])
        throw Unsayable(
            "a trace's transposed convolution has one stride and one padding for both directions");
    if (w.dilation != Shape{1, 1}) throw Unsayable("a trace's transposed convolution is not dilated");
    ConvTranspose conv;
    conv.batch = map.shape[0], conv.in_h = map.shape[1], conv.in_w = map.shape[2], conv.in_c = map.shape[3];
    conv.out_c = filters.count, conv.kernel_h = w.kernel[0], conv.kernel_w = w.kernel[1];
    conv.stride = w.stride[0], conv.pad = w.pad_begin[0], conv.out_pad = more[0];
    expect_sound(conv);
    if (mirrored)
        network.note(fmt::format(
            "'{}': more of its map is cut at the end than at the begin: the trace has it mirrored, at the "
            "same cost",
            name));
    Step step{name, "conv_transpose", {network.tensor(map.value, map.shape)}};
    step.keys = fmt::format(", filters: {}, kernel: {}", filters.count, pair_text(w.kernel));
    step.keys += step_key("stride", w.stride, 1);
    if (conv.pad > 0) step.keys += fmt::format(", pad: {}", conv.pad);
    if (conv.out_pad > 0) step.keys += fmt::format(", out_pad: {}", conv.out_pad);
    const Shape out = {conv.out_h(), conv.out_w()};
    const Shape spatial(out.begin() + (dims.spatial.size() == 1 ? 1 : 0), out.end());
    return made(network, with_filters(std::move(step), filters), map, dims, spatial, filters.count);
}

Value pool(Network& network, const std::string& name, std::string_view kind, Value x, const MapDims& dims,
           const Windows& windows) {
    expect_padding(windows);
    const Map map = map_of(network, x, dims, 2);
    const Windows w = of_two(windows);
    if (w.dilation != Shape{1, 1}) throw Unsayable("a trace's pool is not dilated");
    Pool op;
    op.batch = map.shape[0], op.in_h = map.shape[1], op.in_w = map.shape[2], op.channels = map.shape[3];
    op.window_h = w.kernel[0], op.window_w = w.kernel[1];
    op.stride = w.stride[0], op.pad = w.pad_begin[0];
    op.uneven = {w.stride[1], {}, w.pad_begin[1], w.pad_end[0], w.pad_end[1]};
    expect_sound(op);
    Step step{name, "pool", {network.tensor(map.value, map.shape)}};
    step.keys = fmt::format(", kind: {}, window: {}, stride: {}{}", kind, pair_text(w.kernel),
                            pair_text(w.stride), pad_key(w));
    const Shape out = {op.out_h(), op.out_w()};
    const Shape spatial(out.begin() + (dims.spatial.size() == 1 ? 1 : 0), out.end());
    return made(network, std::move(step), map, dims, spatial, op.channels);
}

Value resize(Network& network, const std::string& name, std::string_view kind, Value x, const MapDims& dims,
             const Shape& size) {
    const Map map = map_of(network, x, dims, 2);
    Shape two = size;
    if (two.size() == 1) two.insert(two.begin(), 1);
    Step step{name, "resize", {network.tensor(map.value, map.shape)}};
    step.keys = fmt::format(", kind: {}, size: {}", kind, pair_text(two));
    return made(network, std::move(step), map, dims, size, map.shape[3]);
}

}  // namespace systole
