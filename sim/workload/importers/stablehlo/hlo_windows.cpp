// SPDX-License-Identifier: Apache-2.0
// Reductions of whole dimensions, and of windows that slide.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/workload/importers/network/convolutions.h"
#include "sim/workload/importers/network/vectors.h"
#include "sim/workload/importers/stablehlo/hlo_meanings.h"
#include "sim/workload/importers/stablehlo/hlo_names.h"

namespace systole {
namespace {

/// The operation that makes one number of two: behind "applies", or the only one of the region.
std::string_view reducer(HloNode& node) {
    const MlirTokens& tokens = node.translator().tokens();
    const MlirOperation& operation = node.operation();
    for (std::size_t at = operation.begin; at + 1 < operation.end; ++at)
        if (tokens[at].is_word("applies")) {
            MlirOperation named;
            named.name = tokens[at + 1].text;
            return hlo_name(named);
        }
    if (operation.regions.size() == 1 && operation.regions[0].operations.size() == 2)
        return hlo_name(operation.regions[0].operations[0]);
    return "";
}

std::string_view kind_of_sum(std::string_view name) {
    if (name == "add") return "sum";
    if (name == "maximum" || name == "or") return "max";
    if (name == "minimum" || name == "and") return "min";
    if (name == "multiply") return "product";
    throw Unsayable("what it does to two numbers is more than one operation of a trace");
}

}  // namespace

void hlo_reduce(HloNode& node) {
    if (node.operation().results.size() != 1)
        throw Unsayable("it reduces several tensors at once (as argmax does)");
    const std::string_view kind = kind_of_sum(reducer(node));
    const Order dims = node.dims("dimensions", node.shape(0).size());
    if (dims.empty()) return node.pass(0);
    const Value x = node.value(0);
    node.put(reduce(node.network(), node.name(), kind, x, dims, false));
    if (kind == "sum") node.result().sum_of = {x, dims};
}

/// A pool, where windows are of two dimensions at most, or of three of which the trace can slide two.
void hlo_reduce_window(HloNode& node) {
    if (node.operation().results.size() != 1) throw Unsayable("it reduces several tensors at once");
    const std::string_view kind = kind_of_sum(reducer(node));
    if (kind != "sum" && kind != "max") throw Unsayable("a trace has pools of maxima and averages");
    const Shape shape = node.shape(0);
    const std::size_t rank = shape.size();
    const Shape window = node.numbers("window_dimensions");
    const Shape stride = node.numbers("window_strides", Shape(rank, 1));
    Shape pads = node.numbers("padding", Shape(2 * rank, 0));
    if (pads.size() == 1) pads.assign(2 * rank, pads[0]);
    if (window.size() != rank || stride.size() != rank || pads.size() != 2 * rank)
        throw Unsayable("its window does not fit its operand");
    for (const char* key : {"base_dilations", "window_dilations"})
        for (const std::int64_t dilation : node.numbers(key))
            if (dilation != 1) throw Unsayable("a dilated window");
    Order spatial, others;
    for (std::size_t dim = 0; dim < rank; ++dim) {
        const bool slides =
            window[dim] != 1 || stride[dim] != 1 || pads[2 * dim] != 0 || pads[2 * dim + 1] != 0;
        (slides ? spatial : others).push_back(dim);
    }
    if (spatial.empty()) return node.pass(0);
    // Of one dimension that slides another one becomes a row of height 1.
    while (spatial.size() < 2 && others.size() > 2) {
        spatial.insert(spatial.begin(), others[1]);
        others.erase(others.begin() + 1);
    }
    std::ranges::sort(spatial);
    if (spatial.size() > 3 || others.size() != 2)
        throw Unsayable("a window that slides along batch or channels");
    Windows windows = Windows::of(Shape(spatial.size(), 1));
    for (std::size_t i = 0; i < spatial.size(); ++i) {
        windows.kernel[i] = window[spatial[i]];
        windows.stride[i] = stride[spatial[i]];
        windows.pad_begin[i] = pads[2 * spatial[i]];
        windows.pad_end[i] = pads[2 * spatial[i] + 1];
        if (windows.kernel[i] < 1 || windows.stride[i] < 1 || windows.pad_begin[i] < 0 ||
            windows.pad_end[i] < 0)
            throw Unsayable("a window without elements");
        constexpr std::int64_t kMost = 1 << 20;
        if (std::max({windows.stride[i], windows.pad_begin[i], windows.pad_end[i]}) > kMost)
            throw Unsayable(fmt::format("a stride or padding above {}", kMost));
    }
    // Between batch and channels nothing tells: JAX has channels last, torch-xla second.
    const bool last = others[1] == rank - 1;
    const MapDims dims{others[0], last ? rank - 1 : others[1], spatial};
    node.put(
        pool(node.network(), node.name(), kind == "max" ? "max" : "average", node.value(0), dims, windows));
    if (kind == "sum")
        node.translator().note(
            node.operation(),
            fmt::format("{}: sums of windows are averages in the trace, at the same cost", node.name()));
}

}  // namespace systole
