// SPDX-License-Identifier: Apache-2.0
// Number formats of operands. Sizes are in bits; a row of elements is padded to whole bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace systole {

/// Fp4: e2m1. Fp8: e4m3 and e5m2 alike, and as a scale e8m0, too.
enum class DType { Int4, Int8, Int16, Fp4, Fp8, Bf16, Fp16, Fp32, Int32 };
constexpr std::size_t kDTypes = 9;

std::string_view to_string(DType dtype);
/// By its name ("bf16"), or nothing.
std::optional<DType> parse_dtype(std::string_view name);
/// All names, in the order of the enum.
const std::vector<std::string>& dtype_names();
Bits bits_of(DType dtype);
/// `second`, where it is another format than `first`.
constexpr std::optional<DType> other_than(DType first, DType second) {
    return first == second ? std::nullopt : std::optional(second);
}
bool is_floating(DType dtype);
/// Bytes that a contiguous row of `elements` takes, padded to whole bytes.
Bytes row_bytes(DType dtype, std::int64_t elements);

}  // namespace systole
