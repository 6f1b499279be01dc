// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/pixel_layout.h"

#include <algorithm>

namespace systole::systolic {

std::int64_t PixelLayout::offset(std::int64_t, std::int64_t pixel) const {
    const std::int64_t row = pixel / columns_.out;
    const std::int64_t y = rows_.first + row % rows_.out * op_.stride;
    const std::int64_t x = columns_.first + pixel % columns_.out * op_.stride;
    return ((row / rows_.out * op_.out_h() + y) * op_.out_w() + x) * bytes(op_.out_c);
}

std::vector<Range> PixelLayout::pieces(Range pixels) const {
    const std::int64_t width = columns_.out, image = rows_.out * width;
    std::vector<Range> all;
    for (std::int64_t at = pixels.begin; at < pixels.end(); at = all.back().end()) {
        const std::int64_t until = std::min(pixels.end(), (at / image + 1) * image);
        const std::int64_t whole = at % width == 0 ? (until - at) / width : 0;
        const std::int64_t rest = std::min(width - at % width, until - at);
        all.push_back({at, whole > 0 ? whole * width : rest});
    }
    return all;
}

std::vector<StagedCopy> PixelLayout::copies(std::int64_t item, Range pixels, Range channels) const {
    const std::int64_t width = bytes(channels.count);
    std::vector<StagedCopy> all;
    for (std::int64_t at = pixels.begin; at < pixels.end();) {
        const std::int64_t count = std::min(columns_.out - at % columns_.out, pixels.end() - at);
        all.push_back({{offset(item, at) + bytes(channels.begin), count, width, step()},
                       (at - pixels.begin) * width,
                       width});
        at += count;
    }
    return all;
}

}  // namespace systole::systolic
