// SPDX-License-Identifier: Apache-2.0
#include "models/energy/energy_table.h"

#include <catch2/catch.hpp>

namespace systole {
namespace {

EnergyTable table() {
    EnergyTable table;
    const auto multiply = [&](DType dtype, std::int64_t femtojoules) {
        table.multiply[static_cast<std::size_t>(dtype)] = Femtojoules(femtojoules);
    };
    multiply(DType::Int8, 70);
    multiply(DType::Int16, 280);
    multiply(DType::Bf16, 210);
    multiply(DType::Fp32, 1310);
    table.add_int32 = Femtojoules(30);
    table.add_fp32 = Femtojoules(380);
    table.sram = {{{Bytes(8 << 10), Femtojoules(8000)},
                   {Bytes(32 << 10), Femtojoules(16'000)},
                   {Bytes(1 << 20), Femtojoules(80'000)}}};
    table.wire = Femtojoules(80);
    return table;
}

}  // namespace

TEST_CASE("a multiply-accumulate is a multiplication and an addition into its sum") {
    CHECK(table().mac(DType::Int8, DType::Int8) == Femtojoules(100));
    CHECK(table().mac(DType::Bf16, DType::Bf16) == Femtojoules(590));
    CHECK(table().fp32_operation() == Femtojoules(1690));
}

TEST_CASE("a multiplier of two formats takes the geometric mean of both") {
    CHECK(table().mac(DType::Int16, DType::Int8) == Femtojoules(140 + 30));
    CHECK(table().mac(DType::Int8, DType::Int16) == Femtojoules(140 + 30));
}

TEST_CASE("a byte of SRAM takes an eighth of 64 bits, and goes by a power of the size between sizes") {
    CHECK(table().sram_byte(Bytes(8 << 10)) == Femtojoules(1000));
    CHECK(table().sram_byte(Bytes(32 << 10)) == Femtojoules(2000));
    CHECK(table().sram_byte(Bytes(16 << 10)) == Femtojoules(1414));  // root of 2
    CHECK(table().sram_byte(Bytes(1 << 20)) == Femtojoules(10'000));
}

TEST_CASE("small SRAMs take what the smallest does, large ones are built of the largest") {
    CHECK(table().sram_byte(Bytes(1)) == Femtojoules(1000));
    CHECK(table().sram_byte(Bytes(std::int64_t{24} << 20)) == Femtojoules(10'000));
}

TEST_CASE("wires take energy by bits and millimetres") {
    CHECK(table().wire_byte(0) == Femtojoules(0));
    CHECK(table().wire_byte(2.5) == Femtojoules(8 * 200));
}

}  // namespace systole
