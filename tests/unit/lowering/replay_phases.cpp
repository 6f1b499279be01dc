// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions as they reach the arrays, by their definition: output pixel y meets input p with
// the tap y + pad - p * stride of the kernel, where there is one. A phase is the pixels of one remainder by
// the stride; its products run over the inputs that a pixel meets, in their order, and channels.
#include <algorithm>

#include "tests/unit/lowering/replay.h"

namespace systole::systolic::test {
namespace {

/// The inputs that meet output y in one dimension, whether they exist or not: from the first on, so many.
std::pair<std::int64_t, std::int64_t> met(const ConvTranspose& op, std::int64_t kernel, std::int64_t y) {
    std::int64_t first = 0, count = 0;
    for (std::int64_t p = -kernel - 1; p <= y + op.pad; ++p) {
        const std::int64_t tap = y + op.pad - p * op.stride;
        if (tap < 0 || tap >= kernel) continue;
        if (count++ == 0) first = p;
    }
    return {first, count};
}

}  // namespace

std::array<std::int64_t, 3> Replay::phase_pixel(std::int64_t phase, std::int64_t m) const {
    const ConvTranspose& op = *transposed();
    const std::int64_t across = std::min(op.stride, op.out_w());
    const std::int64_t i = phase / across, j = phase % across;
    const std::int64_t rows = ceil_div(op.out_h() - i, op.stride), cols = ceil_div(op.out_w() - j, op.stride);
    return {m / cols / rows, i + m / cols % rows * op.stride, j + m % cols * op.stride};
}

std::int64_t Replay::phase_input(const MatrixPass& pass, std::int64_t m, std::int64_t k) const {
    const ConvTranspose& op = *transposed();
    const TensorId id = layer().inputs.at(0);
    const auto [image, y, x] = phase_pixel(pass.origin.batch, m);
    const auto [top, rows] = met(op, op.kernel_h, y);
    const auto [left, cols] = met(op, op.kernel_w, x);
    const std::int64_t p = top + k / op.in_c / cols, q = left + k / op.in_c % cols;
    if (p < 0 || p >= op.in_h || q < 0 || q >= op.in_w) return -1;
    return address_of(id,
                      (((image * op.in_h + p) * op.in_w + q) * op.in_c + k % op.in_c) * element_bytes(id));
}

/// Phase by phase, each a matrix of its own in the layout of the machine.
std::int64_t Replay::phase_weight(const MatrixPass& pass, std::int64_t k, std::int64_t n) const {
    const ConvTranspose& op = *transposed();
    const Placement& p = lowered_.placements[*layer().weights];
    const std::int64_t across = std::min(op.stride, op.out_w());
    const std::int64_t width = element_bytes(*layer().weights);
    const auto depth = [&](std::int64_t phase) {
        return met(op, op.kernel_h, phase / across).second * met(op, op.kernel_w, phase % across).second *
               op.in_c;
    };
    const bool tiled = p.layout == Layout::Tiled;
    std::int64_t at = 0;
    for (std::int64_t phase = 0; phase < pass.origin.batch; ++phase)
        at += tiled ? round_up(depth(phase), p.tile_rows) * round_up(op.out_c, p.tile_cols)
                    : depth(phase) * op.out_c;
    const std::int64_t all_k = depth(pass.origin.batch);
    if (!tiled) return p.address + (at + n * all_k + k) * width;
    at += n / p.tile_cols * round_up(all_k, p.tile_rows) * p.tile_cols;
    return p.address + (at + k * p.tile_cols + n % p.tile_cols) * width;
}

}  // namespace systole::systolic::test
