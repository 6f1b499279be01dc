// SPDX-License-Identifier: Apache-2.0
// What top-k, reductions and transposes of a network become.
#include <catch2/catch.hpp>

#include "sim/base/error.h"
#include "tests/unit/simt/planned.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::planned;

TEST_CASE("Values and indices of one top-k are a layer of two kernels, of which the second sorts in place") {
    const ChipPlan chip = planned("h100", "[512, 64]",
                                  "  - {name: v, op: top_k, in: x, k: 6}\n"
                                  "  - {name: i, op: top_k, in: x, k: 6, result: indices}\n",
                                  "v, i");
    REQUIRE(chip.layers.size() == 1);
    const LayerPlan& layer = chip.layers.front();
    CHECK(layer.name == "v");
    CHECK(layer.op == "top_k + top_k");
    REQUIRE(layer.kernels.size() == 2);
    const auto& find = std::get<VectorPlan>(layer.kernels[0]);
    const auto& sort = std::get<VectorPlan>(layer.kernels[1]);
    CHECK(find.to.place.bytes == Bytes(512 * 6 * 2));
    CHECK(find.beside.bytes == Bytes(512 * 6 * 4));
    CHECK(find.beside.operand == Operand::Outputs);
    CHECK(sort.in.at(0).place.address == find.to.place.address);
    CHECK(sort.in.at(1).place.address == find.beside.address);
    CHECK(sort.to.place.address == find.to.place.address);
    CHECK(layer.compulsory_dram == Bytes(512 * 64 * 2 + 512 * 6 * (2 + 4)));
}

TEST_CASE("Of a top-k by itself, what nobody asked for lies behind all tensors; one of a row is not sorted") {
    const ChipPlan chip =
        planned("a100", "[40, 300]", "  - {name: i, op: top_k, in: x, k: 1, result: indices}\n", "i");
    const LayerPlan& layer = chip.layers.front();
    REQUIRE(layer.kernels.size() == 1);
    const auto& find = std::get<VectorPlan>(layer.kernels[0]);
    CHECK(find.to.place.operand == Operand::PartialSums);
    CHECK(find.to.place.bytes == Bytes(40 * 2));
    CHECK(find.beside.operand == Operand::Outputs);
    for (const auto& tensor : chip.tensors)
        CHECK(find.to.place.address >= tensor.address + tensor.bytes.value());
    CHECK(layer.compulsory_dram == Bytes(40 * 300 * 2 + 40 * 4));
    // Of others, or of other tensors, each is by itself.
    const ChipPlan apart = planned("a100", "[40, 300]",
                                   "  - {name: v, op: top_k, in: x, k: 2}\n"
                                   "  - {name: i, op: top_k, in: x, k: 3, result: indices}\n",
                                   "v, i");
    CHECK(apart.layers.size() == 2);
}

TEST_CASE("More of a row than shared memory holds cannot be sorted") {
    CHECK_THROWS_WITH(planned("h100", "[2, 34000]", "  - {name: v, op: top_k, in: x, k: 33000}\n", "v"),
                      Catch::Contains("no kernel for top_k fits an SM of mine (1024 threads") &&
                          Catch::Contains("458.8 kB of shared memory"));
}

TEST_CASE("Sums of rows that CTAs share have room behind all tensors") {
    const ChipPlan chip =
        planned("h100", "[4, 1000000]", "  - {name: y, op: reduce, kind: max, in: x}\n", "y");
    const auto& plan = std::get<VectorPlan>(chip.layers.at(0).kernels.at(0));
    CHECK(plan.kernel.parts == 123);
    CHECK(plan.sums.bytes == Bytes(4 * 123 * 4));
    CHECK(plan.sums.operand == Operand::PartialSums);
    CHECK(chip.layers.at(0).compulsory_dram == Bytes(8'000'000 + 8));
}

TEST_CASE("A transpose of rows and columns is one kernel of tiles on every chip") {
    for (const char* gpu : {"h100", "a100", "mi210"}) {
        const ChipPlan chip = planned(gpu, "[4, 300, 200]",
                                      "  - {name: y, op: transpose, in: x, permutation: [0, 2, 1]}\n", "y");
        const auto& plan = std::get<VectorPlan>(chip.layers.at(0).kernels.at(0));
        CHECK(plan.kernel.kind == VectorKernel::Kind::Turn);
        CHECK(plan.kernel.threads() == 256);
        CHECK(plan.kernel.ctas() == 4 * 5 * 4);
        CHECK(chip.layers.at(0).compulsory_dram == Bytes(2 * 4 * 300 * 200 * 2));
    }
}
