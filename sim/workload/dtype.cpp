// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/dtype.h"

#include <algorithm>

namespace systole {

const std::vector<std::string>& dtype_names() {
    static const std::vector<std::string> names = {"int4", "int8", "int16", "fp4",  "fp8",
                                                   "bf16", "fp16", "fp32",  "int32"};
    return names;
}

std::string_view to_string(DType dtype) {
    return dtype_names()[static_cast<std::size_t>(dtype)];
}

std::optional<DType> parse_dtype(std::string_view name) {
    const auto found = std::ranges::find(dtype_names(), name);
    if (found == dtype_names().end()) return std::nullopt;
    return static_cast<DType>(found - dtype_names().begin());
}

Bits bits_of(DType dtype) {
    switch (dtype) {
        case DType::Int4:
        case DType::Fp4:
            return Bits(4);
        case DType::Int8:
        case DType::Fp8:
            return Bits(8);
        case DType::Int16:
        case DType::Bf16:
        case DType::Fp16:
            return Bits(16);
        case DType::Fp32:
        case DType::Int32:
            break;
    }
    return Bits(32);
}

bool is_floating(DType dtype) {
    return dtype == DType::Fp4 || dtype == DType::Fp8 || dtype == DType::Bf16 || dtype == DType::Fp16 ||
           dtype == DType::Fp32;
}

Bytes row_bytes(DType dtype, std::int64_t elements) {
    return to_bytes(bits_of(dtype) * elements);
}

}  // namespace systole
