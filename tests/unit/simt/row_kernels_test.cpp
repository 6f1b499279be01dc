// SPDX-License-Identifier: Apache-2.0
// Reductions and top-k: how rows are shared out among threads, and what warps execute.
#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/reduce_kernel.h"
#include "models/devices/simt/kernels/time_vector.h"
#include "models/devices/simt/kernels/top_k.h"
#include "models/devices/simt/kernels/vector_program.h"
#include "tests/unit/simt/instruction_counts.h"
#include "tests/unit/simt/sm_specs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::count_of;
using systole::simt::test::warp_mma_sm;

namespace {

/// Of 108 SMs with 64 warps each.
SmSpec sm(int warp_threads = 32) {
    SmSpec sm = warp_mma_sm();
    sm.count = 108;
    sm.warps = 64;
    sm.warp_threads = warp_threads;
    return sm;
}

VectorKernel sum(std::int64_t rows, std::int64_t cols, int warp_threads = 32) {
    return row_sum_kernel({Reduce::Kind::Sum, rows, cols}, DType::Fp16, DType::Fp16, sm(warp_threads));
}

}  // namespace

TEST_CASE("Of short rows a CTA has many, of long ones a warp each, or one for all of it") {
    // Eight threads a row, 64 rows of 512 threads; one load for each of four rounds' elements.
    const VectorKernel narrow = sum(10'000, 8);
    CHECK(narrow.row_threads == 8);
    CHECK(narrow.rows_of_cta() == 64);
    CHECK(narrow.vector == 1);
    CHECK(narrow.loads_of_step() == 4);
    CHECK(narrow.ctas() == 157);
    CHECK(narrow.trips() == 1);
    // 4096 elements are 128 of each of a warp's threads, in vectors of four.
    const VectorKernel row = sum(4096, 4096);
    CHECK(row.row_threads == 32);
    CHECK(row.rows_of_cta() == 16);
    CHECK(row.vector == 4);
    CHECK(row.loads_of_step() == 1);
    CHECK(row.trips() == 32);
    CHECK(row.ctas() == 256);
    // Of 8192, 256: 16 warps share them.
    const VectorKernel shared = sum(4096, 8192);
    CHECK(shared.row_threads == 512);
    CHECK(shared.rows_of_cta() == 1);
    CHECK(shared.trips() == 4);
    CHECK(shared.parts == 1);
    // Wavefronts are twice as wide, and eight of them a CTA.
    const VectorKernel wide = sum(4096, 4096, 64);
    CHECK(wide.warps == 8);
    CHECK(wide.row_threads == 64);
    CHECK(wide.rows_of_cta() == 8);
    CHECK(wide.trips() == 16);
}

TEST_CASE("CTAs share rows that are few and long, as many as SMs hold or find 16 elements a thread for") {
    // 1,954 of each of 512 threads: of 432 CTAs that SMs hold, 123 have 16 each.
    const VectorKernel one = sum(1, 1'000'000);
    CHECK(one.row_threads == 512);
    CHECK(one.parts == 123);
    CHECK(one.ctas() == 123);
    CHECK(one.trips() == 4);  // 8,131 elements, 2,048 a round
    // Of four rows there are places for 108 each.
    CHECK(sum(4, 1'000'000).parts == 108);
    // Where all places are taken, none: 434 rows.
    CHECK(sum(434, 1'000'000).parts == 1);
}

TEST_CASE("A reduction's threads add four elements side by side, and warps meet by halves") {
    CtaProgram program = vector_program(sum(4096, 4096));
    CHECK(count_of(program, Op::GlobalLoad) == 32);
    CHECK(count_of(program, Op::GlobalStore) == 1);
    // Conversions and sums of 32 x 4, three sums of these, five of the warp's threads.
    CHECK(count_of(program, Op::Fp32) == 32 * 8 + 3 + 5);
    CHECK(count_of(program, Op::SharedLoad) == 5);
    CHECK(program.shared == Bytes(0));
    CHECK(count_of(program, Op::Arrive) == 0);
    program = vector_program(sum(4096, 8192));
    // 16 warps in four halves.
    CHECK(count_of(program, Op::Arrive) == 4);
    CHECK(count_of(program, Op::SharedLoad) == 4 + 5);
    CHECK(program.shared == Bytes(512 * 4));
    // A mean is multiplied, a maximum compared and chosen, a part's sum stored and read.
    const VectorKernel mean =
        row_sum_kernel({Reduce::Kind::Mean, 4096, 4096}, DType::Fp16, DType::Fp16, sm());
    CHECK(count_of(vector_program(mean), Op::Fp32) == 32 * 8 + 3 + 5 + 1);
    const VectorKernel most = row_sum_kernel({Reduce::Kind::Max, 4096, 4096}, DType::Fp32, DType::Fp32, sm());
    CHECK(count_of(vector_program(most), Op::Fp32) == 0);
    program = vector_program(sum(1, 1'000'000));
    CHECK(count_of(program, Op::GlobalStore) == 2);
    CHECK(count_of(program, Op::GlobalLoad) == 4 + 1);
}

TEST_CASE("Columns are summed as pools of whole maps are, a channel a column") {
    const VectorKernel kernel =
        column_sum_kernel({Reduce::Kind::Sum, 4096, 1024, true, 3}, DType::Fp16, DType::Fp16, sm());
    CHECK(kernel.kind == VectorKernel::Kind::Window);
    CHECK(kernel.cols == 3 * 1024);
    CHECK(kernel.windows->taps() == 4096);
    CHECK(kernel.windows->images == 3);
    // 32 lanes of four columns, four warps, and CTAs that have 64 rows of each.
    CHECK(kernel.sharing == 4);
    CHECK(kernel.parts > 1);
    CHECK(kernel.work == InstructionMix{});
}

TEST_CASE("Digits are counted until the k-th greatest is alone, or all of them") {
    // Nine bits of sign and exponent, six that number 64 values, one more: eight digits, all of bf16's.
    CHECK(digits_to_count(DType::Bf16, 64) == 8);
    CHECK(digits_to_count(DType::Fp32, 64) == 8);
    CHECK(digits_to_count(DType::Fp16, 64) == 7);
    CHECK(digits_to_count(DType::Fp16, 100'000) == 8);
    CHECK(digits_to_count(DType::Fp32, 100'000) == 14);
    CHECK(digits_to_count(DType::Fp32, std::int64_t{1} << 40) == 16);
    CHECK(digits_to_count(DType::Int8, 2) == 2);
    CHECK_FALSE(top_k_kernel({4, 64, 2}, DType::Bf16).unique);
    CHECK(top_k_kernel({4, 64, 2}, DType::Fp32).unique);
}

TEST_CASE("A row of a top-k has a thread for each element, up to 1024, which read it again and again") {
    const VectorKernel experts = top_k_kernel({4096, 60, 4}, DType::Fp32);
    CHECK(experts.warps == 2);
    CHECK(experts.ctas() == 4096);
    CHECK(experts.trips() == 1);
    CHECK(experts.passes() == 8 + 1 + 2);
    const CtaProgram program = vector_program(experts);
    CHECK(count_of(program, Op::GlobalLoad) == 1);
    // Values and where they stood, in each of two rounds.
    CHECK(count_of(program, Op::GlobalStore) == 2 * 2);
    // Of each digit POPC of four votes; of each gather two.
    CHECK(count_of(program, Op::Special) == 8 * 4 + 2 * 2);
    // Three of a digit, two where it is looked for, three of each gather.
    CHECK(count_of(program, Op::Arrive) == 8 * 3 + 2 + 2 * 3);
    VectorKernel words = top_k_kernel({1, 50'000, 4}, DType::Fp16);
    CHECK(words.warps == 32);
    CHECK(words.trips() == 49);
    words.rereads_l1 = false;
    CHECK(words.steps() == 49 * (8 + 2));
    CHECK(count_of(vector_program(words), Op::GlobalLoad) == 49 * 10);
    CHECK(with_warps_of(experts, 64).warps == 1);
}

TEST_CASE("A few of each row are sorted by 16 threads, more by a thread for each two") {
    CHECK(sorted_of(2) == 32);
    CHECK(sorted_of(33) == 128);
    CHECK(sorted_of(129) == 1024);
    CHECK(sorted_of(1500) == 2048);
    CHECK(sorted_of(5000) == 8192);
    // 16 rows a CTA; where these are fewer CTAs than half of the SMs, fewer rows.
    const VectorKernel few = sort_kernel({4096, 64, 8}, DType::Bf16, sm());
    CHECK(few.row_threads == 16);
    CHECK(few.rows_of_cta() == 16);
    CHECK(few.ctas() == 256);
    CHECK(sort_kernel({540, 64, 8}, DType::Bf16, sm()).rows_of_cta() == 10);
    CHECK(sort_kernel({8, 64, 8}, DType::Bf16, sm()).rows_of_cta() == 2);
    CtaProgram program = vector_program(few);
    // Five powers of two: 15 times six loads and stores, six to begin with, four loads in the end.
    CHECK(count_of(program, Op::SharedLoad) == 15 * 6 + 4);
    CHECK(count_of(program, Op::SharedStore) == 15 * 6 + 6);
    CHECK(count_of(program, Op::GlobalLoad) == 4);
    CHECK(count_of(program, Op::GlobalStore) == 4);
    CHECK(count_of(program, Op::Arrive) == 0);
    // Keys of two bytes, indices of four, and whether there is one.
    CHECK(program.shared == Bytes(16 * 32 * 7));
    const VectorKernel many = sort_kernel({8, 4096, 1000}, DType::Fp32, sm());
    CHECK(many.threads() == 512);
    CHECK(many.ctas() == 8);
    program = vector_program(many);
    CHECK(count_of(program, Op::Arrive) == 55 + 1);
    CHECK(program.shared == Bytes(1024 * 9));
    // 8192 are four pairs of each of 1024 threads.
    const VectorKernel most = sort_kernel({8, 8192, 8192}, DType::Fp32, sm());
    CHECK(most.threads() == 1024);
    CHECK(count_of(vector_program(most), Op::SharedLoad) == 91 * 4 * 6 + 4);
    CHECK(vector_program(most).shared == Bytes(8192 * 9));
}

TEST_CASE("The first CTAs of an SM do what comes before their data while they wait for these") {
    // 12 instructions and 4 loads' of each of 64 warps that an SM has: 16 of a sub-core.
    VectorKernel relu = elementwise_kernel(512, 1, mix_of(Function::Relu), DType::Fp32, DType::Fp32);
    const auto timing = time_vector(relu, warp_mma_sm());
    REQUIRE(timing);
    CHECK(timing->before_data >= 4 * 4);  // four loads of 512 bytes pass the load/store unit in 4 each
    CHECK(timing->before_data < 4 * 4 + 13);
    CHECK(timing->before_data < timing->interval_full / timing->resident);
}
