// SPDX-License-Identifier: Apache-2.0
// The windows of a feature map that are one core's: whole images (or volumes) where these divide, an even
// share then; otherwise blocks, which the cores deal in the order of their pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/systolic/lowering/core_share.h"
#include "models/devices/systolic/lowering/window.h"

namespace systole::systolic {

class SharedWindows {
public:
    SharedWindows(const WindowGeometry& window, const CoreShare& core);

    /// The core's output pixels; where blocks are dealt those of an even share, rounded up.
    std::int64_t pixels() const { return pixels_; }
    /// As those of WindowGeometry do, for this core.
    WindowBlock block_shape(std::int64_t pixels) const;
    std::int64_t block_count(const WindowBlock& shape) const;
    std::vector<WindowBlock> cut(const WindowBlock& shape) const;

private:
    WindowGeometry dealt_;  ///< as many images as the core has; all where blocks are dealt
    CoreShare core_;
    bool images_divide_;
    std::int64_t pixels_;
};

}  // namespace systole::systolic
