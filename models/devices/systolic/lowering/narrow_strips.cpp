// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/narrow_strips.h"

#include <algorithm>
#include <utility>

namespace systole::systolic {
namespace {

using Strip = NarrowStrips::Strip;

/// Row by row, `right` begins where `left` ends.
bool side_by_side(const TensorBox& left, const TensorBox& right) {
    return left.rows == right.rows && left.stride == right.stride &&
           left.offset + left.row_bytes == right.offset && left.row_bytes + right.row_bytes <= left.stride;
}

bool joins(const Strip& strip, const Strip& other) {
    return strip.core == other.core && strip.layer == other.layer &&
           (side_by_side(strip.box, other.box) || side_by_side(other.box, strip.box));
}

}  // namespace

std::optional<Strip> NarrowStrips::join(Strip strip, std::int64_t least) {
    for (;;) {
        const auto beside =
            std::ranges::find_if(waiting_, [&](const Strip& other) { return joins(strip, other); });
        if (beside == waiting_.end()) break;
        strip.box.offset = std::min(strip.box.offset, beside->box.offset);
        strip.box.row_bytes += beside->box.row_bytes;
        strip.writers.add(beside->writers);
        waiting_.erase(beside);
    }
    if (!narrow(strip.box, least)) return strip;
    waiting_.push_back(std::move(strip));
    return std::nullopt;
}

std::int64_t NarrowStrips::bytes_waiting() const {
    std::int64_t sum = 0;
    for (const Strip& strip : waiting_) sum += strip.box.bytes();
    return sum;
}

}  // namespace systole::systolic
