// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/shared_windows.h"

#include <algorithm>

namespace systole::systolic {

SharedWindows::SharedWindows(const WindowGeometry& window, const CoreShare& core)
    : dealt_(window),
      core_(core),
      images_divide_(window.batch % core.count == 0),
      pixels_(ceil_div(window.batch * window.out_d * window.out_h * window.out_w, core.count)) {
    if (images_divide_) dealt_.batch /= core.count;
}

WindowBlock SharedWindows::block_shape(std::int64_t pixels) const {
    return dealt_.block_shape(std::min(pixels, pixels_));
}

std::int64_t SharedWindows::block_count(const WindowBlock& shape) const {
    const std::int64_t count = dealt_.block_count(shape);
    return images_divide_ ? count : core_.of(count).count;
}

std::vector<WindowBlock> SharedWindows::cut(const WindowBlock& shape) const {
    std::vector<WindowBlock> blocks = dealt_.cut(shape);
    if (images_divide_) {
        const std::int64_t first = core_.index * dealt_.batch * dealt_.out_d;
        for (WindowBlock& block : blocks) block.image += first;
        return blocks;
    }
    const Range own = core_.of(static_cast<std::int64_t>(blocks.size()));
    return {blocks.begin() + own.begin, blocks.begin() + own.end()};
}

}  // namespace systole::systolic
