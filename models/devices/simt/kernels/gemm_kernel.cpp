// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemm_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.h"

namespace systole::simt {

BitsPerWeight GemmShape::element() const {
    const std::int64_t bits = bits_of(dtype).value();
    if (blocks.group == 0) return {bits, 1};
    return {bits * blocks.group + blocks.bits, blocks.group};
}

double GemmShape::operand_bytes(std::int64_t elements) const {
    const BitsPerWeight each = element();
    return static_cast<double>(elements) * static_cast<double>(each.bits) /
           static_cast<double>(8 * each.weights);
}

double GemmKernel::stored_share() const {
    const auto share = [](std::int64_t of_tile, std::int64_t of_matrix) {
        return static_cast<double>(std::min(of_tile, of_matrix)) / static_cast<double>(of_tile);
    };
    return share(tile.m, shape.m) * share(tile.n, shape.n);
}

CtaPlace place_of(const GemmKernel& kernel, std::int64_t index) {
    SYSTOLE_CHECK(index >= 0 && index < kernel.tiles() * kernel.split_k && kernel.raster.panel > 0,
                  "CTA {} of {}", index, kernel.tiles() * kernel.split_k);
    const std::int64_t grid_m = kernel.grid_m(), grid_n = kernel.grid_n();
    const std::int64_t cluster_m = kernel.tile.cluster_m, cluster_n = kernel.tile.cluster_n;
    CtaPlace place;
    place.batch = index / (grid_m * grid_n * kernel.split_k);
    place.part = index / (grid_m * grid_n) % kernel.split_k;
    const std::int64_t tile = index % (grid_m * grid_n);
    const std::int64_t panel = kernel.columns_of_panel();
    const std::int64_t first = tile / (panel * grid_m) * panel;
    const std::int64_t in_panel = tile - first * grid_m;
    const std::int64_t width = std::min(panel, grid_n - first);
    // A row of clusters, and in it one cluster behind the other.
    const std::int64_t row = in_panel / (cluster_m * width), in_row = in_panel % (cluster_m * width);
    const std::int64_t cluster = in_row / kernel.tile.cluster(), in_cluster = in_row % kernel.tile.cluster();
    place.m = row * cluster_m + in_cluster / cluster_n;
    place.n = first + cluster * cluster_n + in_cluster % cluster_n;
    return place;
}

StepBytes step_bytes(const GemmKernel& kernel) {
    const CtaTile& tile = kernel.tile;
    const double element = kernel.shape.operand_bytes(1);
    const double loaded_k = kernel.shape.gather
                                ? static_cast<double>(kernel.shape.k) / static_cast<double>(kernel.steps())
                                : static_cast<double>(tile.k);
    const auto part = [&](std::int64_t extent, std::int64_t ctas) {
        return element * static_cast<double>(extent) / static_cast<double>(ctas) * loaded_k;
    };
    const double a = part(kernel.shape.m, kernel.grid_m());
    const double b = part(kernel.shape.n, kernel.grid_n());
    const double own = a / tile.cluster_n + b / tile.cluster_m;
    return {tile.multicast ? own : a + b, own};
}

double bytes_from_l2(const GemmKernel& kernel) {
    const std::int64_t steps =
        kernel.streams > 0 ? kernel.tiles() * kernel.steps() : kernel.ctas() * kernel.steps_of_part();
    return step_bytes(kernel).from_l2 * static_cast<double>(steps);
}

std::int64_t epilogue_bytes(const GemmKernel& kernel) {
    const GemmShape& shape = kernel.shape;
    std::int64_t bytes = shape.batch * shape.epilogue.column_bytes() *
                         (kernel.swapped ? kernel.tiles_n() * shape.m : kernel.tiles_m() * shape.n);
    if (shape.epilogue.join)
        bytes += ceil_div(shape.batch * shape.m * shape.n * bits_of(shape.output).value(), 8);
    return bytes;
}

std::string to_string(const GemmKernel& kernel) {
    const CtaTile& tile = kernel.tile;
    std::string text =
        fmt::format("{}x{}x{}, {} stage{}", tile.m, tile.n, tile.k, tile.stages, tile.stages == 1 ? "" : "s");
    if (tile.slices > 1) text += fmt::format(", sliced 1x{}", tile.slices);
    if (!kernel.on_tensor_cores()) text = fmt::format("gemv {}x{}, {} loads", tile.n, tile.k, tile.stages);
    if (tile.cluster_m > 1 || tile.cluster_n > 1)
        text += fmt::format(", cluster {}x{}", tile.cluster_m, tile.cluster_n);
    if (tile.pair) text += ", CTA pairs";
    if (kernel.split_k > 1) text += fmt::format(", split {}", kernel.split_k);
    if (kernel.streams > 0) text += ", stream-K";
    return text;
}

}  // namespace systole::simt
