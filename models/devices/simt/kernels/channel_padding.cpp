// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/channel_padding.h"

#include <algorithm>

namespace systole::simt {
namespace {

constexpr std::int64_t kThreads = 256;  // of a CTA: assumed, as of the kernel that adds parts

}  // namespace

Bytes padded_bytes(const GemmShape& shape) {
    if (!shape.gather || shape.gather->stored == shape.gather->channels) return Bytes(0);
    return Bytes(ceil_div(shape.a_elements() * bits_of(shape.dtype).value(), 8));
}

// A thread makes 16 bytes, which hold a pixel or a part of one.
StreamPlan pad_channels(const GemmShape& shape, const MatrixPlace& from, const MatrixPlace& to,
                        const SmSpec& sm) {
    StreamPlan copy;
    copy.ctas = ceil_div(to.bytes.value(), kThreads * kThreadBytes);
    copy.warps = static_cast<int>(kThreads / sm.warp_threads);
    copy.warp_threads = sm.warp_threads;
    copy.resident = static_cast<int>(
        std::max<std::int64_t>(1, std::min<std::int64_t>(sm.ctas, sm.warps * sm.warp_threads / kThreads)));
    copy.prologue = sm.integer.latency * 8;
    copy.epilogue = sm.integer.latency;
    copy.from = from;
    copy.to = to;
    copy.elements = shape.a_elements();
    return copy;
}

}  // namespace systole::simt
