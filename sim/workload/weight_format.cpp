// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/weight_format.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace systole {

const std::vector<std::string>& scales_names() {
    static const std::vector<std::string> names = {"none", "tensor", "channel", "group", "block"};
    return names;
}

BitsPerWeight bits_per_weight(DType dtype, const WeightFormat& format, std::int64_t depth) {
    BitsPerWeight each{bits_of(dtype).value(), 1};
    if (format.sparse()) {
        const int place = std::bit_width(static_cast<std::uint64_t>(format.of - 1));
        each = {format.kept * (each.bits + place), format.of};
    }
    if (format.among_numbers()) {
        const std::int64_t rows = depth > 0 ? std::min(format.group, depth) : format.group;
        each = {each.bits * rows + bits_of(format.scale_dtype).value() * each.weights, each.weights * rows};
    }
    const std::int64_t common = std::gcd(each.bits, each.weights);
    return {each.bits / common, each.weights / common};
}

Bytes row_bytes(BitsPerWeight each, std::int64_t weights) {
    // In two steps, because bits times weights may leave 64 bits where the bytes do not.
    const std::int64_t whole = 8 * each.weights;
    return Bytes(weights / whole * each.bits + ceil_div(weights % whole * each.bits, whole));
}

}  // namespace systole
