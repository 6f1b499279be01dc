// SPDX-License-Identifier: Apache-2.0
// Of a convolution, what the rows of a CTA's tile load for a step (kernels/conv_gather.h).
#include "models/devices/simt/machine/gemm_blocks.h"

namespace systole::simt {

// Of a group of channels all pixels lie one behind the other, and of these each slice that a step takes.
TileAccess::Block GemmBlocks::gathered_block(const CtaPlace& place, Depth depth) const {
    const GemmShape& shape = plan_.kernel.shape;
    const ConvGather& gather = *shape.gather;
    const GatherStep step = gather.step(depth.step, plan_.kernel.tile.k);
    const std::int64_t first = place.m * plan_.kernel.tile.m, height = rows(place.m);
    if (depth.size == 0 || height == 0) return {};
    const PixelRange pixels = gather.pixels(first, height, step);
    // The last slice has what pads a pixel, too.
    const bool last = step.channel + step.channels == gather.channels;
    const std::int64_t width = last ? gather.stored - step.channel : step.channels;
    const std::int64_t begin = gather.in_pixels() * (place.batch * gather.stored + step.channel);
    TileAccess::Block taken = elements_of(plan_.a, begin + pixels.begin * width,
                                          (pixels.end - pixels.begin) * width, shape.element());
    taken.gathered = ceil_div(pixels.loaded * width * bits_of(shape.dtype).value(), 8);
    return taken;
}

std::int64_t GemmBlocks::between_pixels() const {
    const auto& gather = plan_.kernel.shape.gather;
    if (!gather) return 0;
    const std::int64_t rows = gather->apart() ? 1 : gather->stride_h;
    const std::int64_t row = gather->in_w * rows * plan_.kernel.tile.k;
    return row * bits_of(plan_.kernel.shape.dtype).value() / 8;
}

}  // namespace systole::simt
