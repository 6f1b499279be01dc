// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/workload/importers/network/convolutions.h"
#include "sim/workload/importers/network/products.h"
#include "sim/workload/importers/stablehlo/hlo_meanings.h"
#include "sim/workload/importers/stablehlo/hlo_names.h"

namespace systole {
namespace {

/// Two lists of dimensions behind a key of the pretty form; of the generic one two keys.
std::pair<Order, Order> pairs(HloNode& node, std::string_view key, std::string_view left,
                              std::string_view right) {
    const std::size_t a = node.shape(0).size(), b = node.shape(1).size();
    if (!node.has(key)) return {node.dims(left, a), node.dims(right, b)};
    const auto lists = node.lists(key);
    if (lists.size() != 2) throw Unsayable(fmt::format("'{}' has {} lists, not two", key, lists.size()));
    std::pair<Order, Order> found;
    for (const std::int64_t dim : lists[0]) found.first.push_back(static_cast<std::size_t>(dim));
    for (const std::int64_t dim : lists[1]) found.second.push_back(static_cast<std::size_t>(dim));
    return found;
}

/// Each below the rank, and none twice.
void expect_dims(const Order& one, const Order& other, std::size_t rank) {
    std::vector<bool> seen(rank);
    for (const Order* order : {&one, &other})
        for (const std::size_t dim : *order) {
            if (dim >= rank || seen[dim])
                throw Unsayable("its dimensions are none of its operands', or named twice");
            seen[dim] = true;
        }
}

/// Dimensions of a letter form: "b", "f", "o", "i" and spatial ones by number.
struct Letters {
    std::size_t first = 0, second = 0;  ///< b and f, i and o
    Order spatial;
};

/// One "[b, 0, 1, f]" of "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"; moves behind it.
Letters letters(const MlirTokens& tokens, std::size_t& at, std::size_t end, std::string_view first,
                std::string_view second) {
    Letters found;
    std::vector<std::pair<std::string_view, std::size_t>> spatial;
    bool has_first = false, has_second = false;
    std::size_t dim = 0;
    while (at < end && !tokens[at].is("[")) ++at;
    for (++at; at < end && !tokens[at].is("]"); ++at) {
        if (tokens[at].is(",")) continue;
        if (tokens[at].is_word(first)) {
            found.first = dim;
            has_first = true;
        } else if (tokens[at].is_word(second)) {
            found.second = dim;
            has_second = true;
        } else {
            spatial.emplace_back(tokens[at].text, dim);
        }
        ++dim;
    }
    if (!has_first || !has_second || dim != spatial.size() + 2)
        throw Unsayable("its dim_numbers cannot be read");
    std::ranges::sort(spatial);  // at most a handful, of one digit each
    for (const auto& each : spatial) found.spatial.push_back(each.second);
    return found;
}

/// The dimension order that has `b`, `f` and spatial ones where `to` has them, given as `from` has them.
Order as_written(const Letters& from, const Letters& to) {
    Order order(from.spatial.size() + 2);
    order[to.first] = from.first;
    order[to.second] = from.second;
    for (std::size_t i = 0; i < from.spatial.size(); ++i) order[to.spatial[i]] = from.spatial[i];
    return order;
}

struct ConvolutionNumbers {
    Letters in, kernel, out;
};

ConvolutionNumbers convolution_numbers(HloNode& node) {
    const MlirTokens& tokens = node.translator().tokens();
    const std::size_t end = node.operation().end;
    auto key = mlir_key(tokens, node.operation(), "dim_numbers");
    if (!key) key = mlir_key(tokens, node.operation(), "dimension_numbers");
    if (!key) throw Unsayable("it has no dim_numbers");
    std::size_t at = *key;
    ConvolutionNumbers numbers;
    numbers.in = letters(tokens, at, end, "b", "f");
    numbers.kernel = letters(tokens, at, end, "i", "o");
    numbers.out = letters(tokens, at, end, "b", "f");
    const std::size_t spatial = node.shape(0).size() - 2;
    for (const Letters* each : {&numbers.in, &numbers.kernel, &numbers.out})
        if (each->spatial.size() != spatial) throw Unsayable("its dim_numbers do not fit its operands");
    return numbers;
}

/// Of the pretty form, or of the generic one.
Shape window_numbers(const HloNode& node, std::string_view pretty, std::string_view generic, std::size_t rank,
                     std::int64_t otherwise) {
    Shape numbers = node.numbers(node.has(pretty) ? pretty : generic, Shape(rank, otherwise));
    if (numbers.size() == 1 && rank > 1) numbers.assign(rank, numbers[0]);  // dense<1> : tensor<2xi64>
    if (numbers.size() != rank) throw Unsayable(fmt::format("'{}' has {} numbers", pretty, numbers.size()));
    return numbers;
}

constexpr std::int64_t kMostStep = 1 << 20;  // of strides, dilations and paddings: products of them count

void expect_step(std::int64_t number) {
    if (number < 1 || number > kMostStep)
        throw Unsayable(fmt::format("a stride or dilation of {}; 1 to {} are taken", number, kMostStep));
}

Windows windows_of(const HloNode& node, const Shape& kernel) {
    const std::size_t rank = kernel.size();
    Windows windows = Windows::of(kernel);
    windows.stride = window_numbers(node, "stride", "window_strides", rank, 1);
    windows.dilation = window_numbers(node, "rhs_dilate", "rhs_dilation", rank, 1);
    const Shape pads = window_numbers(node, "pad", "padding", 2 * rank, 0);
    for (std::size_t i = 0; i < rank; ++i) {
        windows.pad_begin[i] = pads[2 * i];
        windows.pad_end[i] = pads[2 * i + 1];
    }
    for (const Shape* each : {&windows.stride, &windows.dilation})
        for (const std::int64_t number : *each) expect_step(number);
    for (const std::int64_t pad : pads)
        if (pad < 0 || pad > kMostStep) throw Unsayable(fmt::format("a padding of {}", pad));
    return windows;
}

bool all_ones(const Shape& numbers) {
    return std::ranges::all_of(numbers, [](std::int64_t number) { return number == 1; });
}

/// What an input with holes between its elements (lhs_dilate) means: a transposed convolution, of which
/// padding is counted from the other side.
Value transposed(HloNode& node, const ConvolutionNumbers& numbers, Windows windows, const Shape& holes,
                 const Filters& filters, const Shape& out) {
    if (!all_ones(windows.stride)) throw Unsayable("strides of both input and output");
    for (const std::int64_t each : holes) expect_step(each);
    const std::size_t rank = holes.size();
    windows.stride = holes;
    Shape out_pad(rank);
    const Shape in = node.shape(0);
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t reach = windows.dilation[i] * (windows.kernel[i] - 1);
        windows.pad_begin[i] = reach - windows.pad_begin[i];
        windows.pad_end[i] = reach - windows.pad_end[i];
        const std::int64_t plain = (in[numbers.in.spatial[i]] - 1) * holes[i] + reach + 1 -
                                   windows.pad_begin[i] - windows.pad_end[i];
        out_pad[i] = out[numbers.out.spatial[i]] - plain;
        if (windows.pad_begin[i] < 0 || out_pad[i] < 0 || out_pad[i] >= holes[i])
            throw Unsayable("padding of a transposed convolution beyond its kernel");
        if (windows.pad_end[i] < 0) {
            out_pad[i] -= windows.pad_end[i];
            windows.pad_end[i] = 0;
        }
    }
    const MapDims dims{numbers.in.first, numbers.in.second, numbers.in.spatial};
    return convolve_transposed(node.network(), node.name(), node.value(0), dims, windows, out_pad, filters);
}

/// In the dtype that is written: of int8 operands int32, say.
void put_as_written(HloNode& node, Value made) {
    const auto dtype = hlo_dtype(node.result_type().element);
    if (!dtype) throw Unsayable("a trace has no numbers of that type");
    if (*dtype != node.network().dtype(made)) node.network().write_as(made, *dtype);
    node.put(made);
}

/// Of two known operands (a state of zeros before its first turn, say) one is an input: no compiler works it
/// out.
void put_product(HloNode& node, const Contraction& dims) {
    Network& network = node.network();
    Value a = node.value(0);
    const Value b = node.value(1);
    if (network.is_stored(a) && network.is_stored(b)) a = network.active(a);
    for (const std::size_t i : {0, 1}) node.translator().store(node.held(i));
    put_as_written(node, contract(network, node.name(), a, b, dims));
}

}  // namespace

void hlo_dot_general(HloNode& node) {
    Contraction dims;
    std::tie(dims.batch_a, dims.batch_b) =
        pairs(node, "batching_dims", "lhs_batching_dimensions", "rhs_batching_dimensions");
    std::tie(dims.over_a, dims.over_b) =
        pairs(node, "contracting_dims", "lhs_contracting_dimensions", "rhs_contracting_dimensions");
    const Shape &a = node.shape(0), &b = node.shape(1);
    expect_dims(dims.batch_a, dims.over_a, a.size());
    expect_dims(dims.batch_b, dims.over_b, b.size());
    const auto same = [](const Shape& x, const Order& of_x, const Shape& y, const Order& of_y) {
        if (of_x.size() != of_y.size()) return false;
        for (std::size_t i = 0; i < of_x.size(); ++i)
            if (x[of_x[i]] != y[of_y[i]]) return false;
        return true;
    };
    if (!same(a, dims.batch_a, b, dims.batch_b) || !same(a, dims.over_a, b, dims.over_b))
        throw Unsayable(fmt::format("{} and {} do not meet", to_string(a), to_string(b)));
    put_product(node, dims);
}

/// [m, k] by [k, n], or vectors in the place of either.
void hlo_dot(HloNode& node) {
    const std::size_t rank = node.shape(0).size();
    if (rank == 0 || node.shape(1).empty() || node.shape(0).back() != node.shape(1).front())
        throw Unsayable("its operands do not meet");
    put_product(node, {{}, {}, {rank - 1}, {0}});
}

void hlo_convolution(HloNode& node) {
    if (node.shape(0).size() < 3 || node.shape(0).size() != node.shape(1).size())
        throw Unsayable("a convolution without spatial dimensions");
    const ConvolutionNumbers numbers = convolution_numbers(node);
    if (node.numbers("batch_group_count", {1}) != std::vector<std::int64_t>{1})
        throw Unsayable("groups of the batch");
    Shape kernel;
    for (const std::size_t dim : numbers.kernel.spatial) kernel.push_back(node.shape(1)[dim]);
    const Windows windows = windows_of(node, kernel);
    const Shape holes = window_numbers(node, "lhs_dilate", "lhs_dilation", kernel.size(), 1);
    const auto groups = node.numbers("feature_group_count", {1});
    const std::int64_t channels = node.shape(0)[numbers.in.second],
                       count = node.shape(1)[numbers.kernel.second];
    if (groups.size() != 1 || groups[0] < 1 || channels % groups[0] != 0 || count % groups[0] != 0 ||
        node.shape(1)[numbers.kernel.first] != channels / groups[0])
        throw Unsayable("its filters do not fit its channels");
    Filters filters{count, groups[0]};
    const Value weights = node.value(1);
    if (!node.network().is_stored(weights)) throw Unsayable("its filters are not stored");
    node.translator().store(node.held(1));
    if (node.network().dtype(weights) != node.network().dtype(node.value(0)))
        filters.dtype = node.network().dtype(weights);
    const MapDims dims{numbers.in.first, numbers.in.second, numbers.in.spatial};
    const Value made = all_ones(holes)
                           ? convolve(node.network(), node.name(), node.value(0), dims, windows, filters)
                           : transposed(node, numbers, windows, holes, filters, node.result_shape());
    put_as_written(node, node.network().transpose(made, as_written(numbers.in, numbers.out)));
}

}  // namespace systole
