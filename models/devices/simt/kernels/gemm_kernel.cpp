// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemm_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.h"

namespace systole::simt {

CtaPlace place_of(const GemmKernel& kernel, std::int64_t index) {
    SYSTOLE_CHECK(index >= 0 && index < kernel.tiles() * kernel.split_k && kernel.raster.panel > 0,
                  "CTA {} of {}", index, kernel.tiles() * kernel.split_k);
    const std::int64_t tiles_m = kernel.tiles_m(), tiles_n = kernel.tiles_n();
    CtaPlace place;
    place.batch = index / (tiles_m * tiles_n * kernel.split_k);
    place.part = index / (tiles_m * tiles_n) % kernel.split_k;
    const std::int64_t tile = index % (tiles_m * tiles_n);
    // All panels before the last are full ones.
    const std::int64_t panel = std::min(kernel.raster.panel, tiles_n);
    const std::int64_t first = tile / (panel * tiles_m) * panel;
    const std::int64_t in_panel = tile - first * tiles_m;
    const std::int64_t width = std::min(panel, tiles_n - first);
    place.m = in_panel / width;
    place.n = first + in_panel % width;
    return place;
}

StepBytes step_bytes(const GemmKernel& kernel) {
    const CtaTile& tile = kernel.tile;
    const double element = static_cast<double>(bits_of(kernel.shape.dtype).value()) / 8;
    const auto part = [&](std::int64_t extent, std::int64_t tiles, std::int64_t of_tile) {
        return element * static_cast<double>(std::min(of_tile * tiles, extent)) / static_cast<double>(tiles) *
               static_cast<double>(tile.k);
    };
    const double a = part(kernel.shape.m, kernel.tiles_m(), tile.m);
    const double b = part(kernel.shape.n, kernel.tiles_n(), tile.n);
    return {a + b, a / tile.cluster_n + b / tile.cluster_m};
}

std::int64_t epilogue_bytes(const GemmKernel& kernel) {
    const GemmShape& shape = kernel.shape;
    std::int64_t bytes = 0;
    if (shape.epilogue.bias)
        bytes += shape.batch * kBiasBytes *
                 (kernel.swapped ? kernel.tiles_n() * shape.m : kernel.tiles_m() * shape.n);
    if (shape.epilogue.join)
        bytes += ceil_div(shape.batch * shape.m * shape.n * bits_of(shape.output).value(), 8);
    return bytes;
}

std::string to_string(const GemmKernel& kernel) {
    const CtaTile& tile = kernel.tile;
    std::string text = fmt::format("{}x{}x{}, {} stages", tile.m, tile.n, tile.k, tile.stages);
    if (tile.cluster_m > 1 || tile.cluster_n > 1)
        text += fmt::format(", cluster {}x{}", tile.cluster_m, tile.cluster_n);
    if (kernel.split_k > 1) text += fmt::format(", split {}", kernel.split_k);
    if (kernel.streams > 0) text += ", stream-K";
    return text;
}

}  // namespace systole::simt
