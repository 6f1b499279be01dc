// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/dtype.h"

#include <catch2/catch.hpp>

#include "sim/workload/graph.h"

using namespace systole;

TEST_CASE("a dtype is known by its name and its bits", "[workload]") {
    const auto [name, dtype, bits] = GENERATE(table<std::string, DType, int>({{"int4", DType::Int4, 4},
                                                                              {"int8", DType::Int8, 8},
                                                                              {"int16", DType::Int16, 16},
                                                                              {"fp8", DType::Fp8, 8},
                                                                              {"bf16", DType::Bf16, 16},
                                                                              {"fp16", DType::Fp16, 16},
                                                                              {"fp32", DType::Fp32, 32},
                                                                              {"int32", DType::Int32, 32}}));
    CHECK(to_string(dtype) == name);
    CHECK(parse_dtype(name) == dtype);
    CHECK(bits_of(dtype).value() == bits);
}

TEST_CASE("no dtype has another name", "[workload]") {
    CHECK_FALSE(parse_dtype(""));
    CHECK_FALSE(parse_dtype("INT8"));
    CHECK_FALSE(parse_dtype("float"));
}

TEST_CASE("rows of 4-bit elements are padded to whole bytes, each by itself", "[workload]") {
    CHECK(row_bytes(DType::Int4, 4) == Bytes(2));
    CHECK(row_bytes(DType::Int4, 5) == Bytes(3));
    CHECK(stored_bytes({"t", {3, 5}, DType::Int4}) == Bytes(9));
    CHECK(stored_bytes({"t", {2, 3, 5}, DType::Bf16}) == Bytes(60));
}
