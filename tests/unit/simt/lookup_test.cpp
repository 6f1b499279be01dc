// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/lookup.h"

#include <catch2/catch.hpp>
#include <set>

#include "models/devices/simt/kernels/vector_program.h"

using namespace systole;
using namespace systole::simt;

TEST_CASE("Even lookups go through the table in equal strides, and begin anew at its end") {
    const LookupRows sparse{.rows = 100, .width = 8, .lookups = 20};
    CHECK(row_of(sparse, 0) == 0);
    CHECK(row_of(sparse, 1) == 5);
    CHECK(row_of(sparse, 19) == 95);
    CHECK(distinct_rows(sparse) == 20);
    const LookupRows dense{.rows = 100, .width = 8, .lookups = 250};
    CHECK(row_of(dense, 99) == 99);
    CHECK(row_of(dense, 100) == 0);
    CHECK(distinct_rows(dense) == 100);
}

TEST_CASE("Random lookups stay in the table, and are counted where they differ") {
    const LookupRows rows{.rows = 50, .width = 8, .lookups = 60, .bag = 1, .spread = Spread::Random};
    std::set<std::int64_t> met;
    for (std::int64_t i = 0; i < rows.lookups; ++i) met.insert(row_of(rows, i));
    CHECK(*met.begin() >= 0);
    CHECK(*met.rbegin() < 50);
    // 60 of 50 at random meet 50 (1 - (49/50)^60) = 35.1 of them on average, give or take 2.4.
    CHECK(met.size() > 25);
    CHECK(met.size() < 45);
    CHECK(distinct_rows(rows) == static_cast<std::int64_t>(met.size()));
}

TEST_CASE("A lookup's threads have 16 bytes of a row each, and CTAs no more than 256 threads") {
    // 768 numbers of 16 bits: 96 threads.
    const VectorKernel words = lookup_kernel({30'000, 768, 64, 1, {}}, DType::Fp16, DType::Fp16);
    CHECK(words.vector == 8);
    CHECK(words.warps == 3);
    CHECK(words.ctas() == 64);
    CHECK(words.steps() == 2);
    // 4096 numbers of 32 bits: 1024 threads, in four CTAs.
    const VectorKernel wide = lookup_kernel({1000, 4096, 10, 1, {}}, DType::Fp32, DType::Fp32);
    CHECK(wide.warps == 8);
    CHECK(wide.ctas() == 40);
    // Rows of an odd length are loaded number by number.
    CHECK(lookup_kernel({1000, 101, 10, 1, {}}, DType::Fp16, DType::Fp16).vector == 1);
    // Bags of four: an index, and four rows one behind the other, for each of 16 results.
    const VectorKernel bags = lookup_kernel({1000, 64, 64, 4, {}}, DType::Fp32, DType::Fp32);
    CHECK(bags.rows == 16);
    CHECK(bags.warps == 2);
    CHECK(bags.steps() == 5);
}

TEST_CASE("A lookup loads an index and what it names, and a bag adds up") {
    const auto count = [](const VectorKernel& kernel, Op op) {
        const CtaProgram program = vector_program(kernel);
        std::int64_t sum = 0;
        for (const Section& section : program.roles.at(0).program)
            for (const Instruction& instruction : section.body)
                if (instruction.op == op) sum += section.trips;
        return sum;
    };
    const VectorKernel one = lookup_kernel({1000, 768, 64, 1, {}}, DType::Fp16, DType::Fp16);
    CHECK(count(one, Op::GlobalLoad) == 2);
    CHECK(count(one, Op::GlobalStore) == 1);
    CHECK(count(one, Op::Fp32) == 0);  // a copy
    const VectorKernel bags = lookup_kernel({1000, 64, 64, 4, {}}, DType::Fp16, DType::Fp16);
    CHECK(count(bags, Op::GlobalLoad) == 1 + 4);
    CHECK(count(bags, Op::Fp32) == 4 * (1 + 1));  // each made fp32, and added
}
