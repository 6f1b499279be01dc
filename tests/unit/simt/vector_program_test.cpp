// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/vector_program.h"

#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/time_vector.h"
#include "tests/unit/simt/instruction_counts.h"
#include "tests/unit/simt/sm_specs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::bytes_of;
using systole::simt::test::count_of;
using systole::simt::test::sum_of;
using systole::simt::test::warp_mma_sm;

namespace {

VectorKernel relu(std::int64_t elements, DType dtype) {
    return elementwise_kernel(elements, 1, mix_of(Function::Relu), dtype, dtype);
}

/// Of a warp, cycles from each instruction of the FP32 and integer pipes to who needs it, where the program
/// says so.
std::int64_t paced_cycles(const CtaProgram& program) {
    return (sum_of(program, Op::Fp32, &Instruction::amount) +
            sum_of(program, Op::Integer, &Instruction::amount)) /
           program.warps();
}

}  // namespace

TEST_CASE("vLLM's norms and gates have a thread for each of up to 1024 elements of a row") {
    const VectorKernel rms =
        norm_kernel({Norm::Kind::Rms, 10, 5120}, DType::Fp16, DType::Fp16, Library::Vllm);
    CHECK(rms.warps == 32);
    CHECK(rms.vector == 1);
    CHECK(rms.trips() == 5);
    // Of a round's 30 instructions, three are loads and one a store; the row is read again out of the L1, and
    // what a column has by the first CTA out of the L2.
    const CtaProgram of_norm = vector_program(rms);
    CHECK(count_of(of_norm, Op::GlobalLoad) == 5 * 2);
    CHECK(count_of(of_norm, Op::GlobalStore) == 5);
    CHECK(count_of(of_norm, Op::Fp32) >= 5 * (5 + 10));
    // The compiler's stall counts of a round leave 34 cycles between its instructions in the first loop, 58
    // in the second.
    const CtaProgram shorter =
        vector_program(norm_kernel({Norm::Kind::Rms, 10, 4096}, DType::Fp16, DType::Fp16, Library::Vllm));
    CHECK(paced_cycles(of_norm) - paced_cycles(shorter) == 34 + 58);
    CHECK(norm_kernel({Norm::Kind::Rms, 10, 320}, DType::Fp16, DType::Fp16, Library::Vllm).warps == 10);
    CHECK(norm_kernel({Norm::Kind::Layer, 10, 5120}, DType::Fp16, DType::Fp16, Library::Vllm).warps == 4);
    const VectorKernel gate = gate_kernel(7, 13'824, mix_of(Function::Silu), DType::Fp16, DType::Fp16);
    CHECK(gate.ctas() == 7);
    CHECK(gate.steps() == 14);
    const CtaProgram program = vector_program(gate);
    CHECK(count_of(program, Op::GlobalLoad) == 14 * 2);
    CHECK(bytes_of(program, Op::GlobalLoad) == 14 * 2 * 32 * 2);
    CHECK(count_of(program, Op::GlobalStore) == 14);
}

TEST_CASE("In warps of 64 threads elementwise kernels and norms keep their warps, others their threads") {
    // ATen: four warps of whatever width, four elements a thread.
    const VectorKernel wide = with_warps_of(relu(5000, DType::Fp16), 64);
    CHECK(wide.warps == 4);
    CHECK(wide.threads() == 256);
    CHECK(wide.ctas() == 5);
    CHECK(bytes_of(vector_program(wide), Op::GlobalLoad) == 64 * 4 * 2);
    const VectorKernel norm =
        with_warps_of(norm_kernel({Norm::Kind::Layer, 10, 1024}, DType::Fp16, DType::Fp16), 64);
    CHECK(norm.warps == 4);
    CHECK(norm.threads() == 256);
    CHECK(norm.trips() == 1);
    CHECK(with_warps_of(softmax_kernel(9, 4096, DType::Fp16, DType::Fp16), 64).warps == 4);
    // A row of 40 elements has 64 lanes, one of 20 as many as it is padded to.
    CHECK(with_warps_of(softmax_kernel(9, 40, DType::Fp16, DType::Fp16), 64).lanes() == 64);
    CHECK(with_warps_of(softmax_kernel(9, 20, DType::Fp16, DType::Fp16), 64).lanes() == 32);
}

TEST_CASE("A rotary embedding turns a pair of elements a thread and round") {
    // 40 heads of 128: 2,560 pairs, five rounds of 512 threads.
    const VectorKernel kernel = rotary_kernel({2, 100, 40, 128}, DType::Fp16, DType::Fp16);
    CHECK(kernel.ctas() == 200);
    CHECK(kernel.warps == 16);
    CHECK(kernel.steps() == 5);
    const CtaProgram program = vector_program(kernel);
    CHECK(count_of(program, Op::GlobalLoad) == 5 * 4);
    CHECK(bytes_of(program, Op::GlobalStore) == 5 * 2 * 32 * 2);
    // A round as compiled for sm_80: twelve of 37 for places, and eight conversions, four products and two
    // sums; a loop's set-up, with a division.
    CHECK(count_of(program, Op::Fp32) == 5 * (12 + 8 + 4 + 2) + 12);
    CHECK(count_of(program, Op::Special) == 3);
    // Of few heads there are fewer threads.
    CHECK(rotary_kernel({1, 1, 1, 64}, DType::Fp16, DType::Fp16).warps == 1);
}

TEST_CASE("Queries and keys are turned in two loops, and warps without a pair go on") {
    // Ten heads of 128 each, 640 pairs: a second round of either loop has pairs for four of 16 warps.
    const VectorKernel kernel = rotary_kernel({1, 9, 10, 128}, DType::Fp16, DType::Fp16, 10);
    CHECK(kernel.cols == 20 * 128);
    CHECK(kernel.warps == 16);
    CHECK(kernel.steps() == 4);
    const CtaProgram program = vector_program(kernel);
    REQUIRE(program.roles.size() == 2);
    CHECK(program.roles[0].warps == 4);
    CHECK(program.roles[1].warps == 12);
    const auto loads = [&](std::size_t role) {
        CtaProgram one = program;
        one.roles = {program.roles[role]};
        return count_of(one, Op::GlobalLoad);
    };
    CHECK(loads(0) == 4 * 4);
    CHECK(loads(1) == 2 * 4);
    const RotaryLoops loops = kernel.rotary_loops();
    CHECK(loops.warps_in(0) == 16);
    CHECK(loops.warps_in(1) == 16);
    CHECK(loops.warps_in(2) == 4);
    CHECK(loops.warps_in(3) == 4);
    const std::vector<RotaryLoops::Part> second = loops.parts(1);
    REQUIRE(second.size() == 2);
    CHECK_FALSE(second[0].of_keys);
    CHECK(second[0].first == 512);
    CHECK(second[0].end == 640);
    CHECK(second[1].of_keys);
    CHECK(second[1].first == 128);
    CHECK(second[1].end == 512);
    // As many threads as queries have pairs; of one head of keys two warps have a round.
    const VectorKernel few = rotary_kernel({1, 9, 5, 128}, DType::Fp16, DType::Fp16, 5);
    CHECK(few.threads() == 320);
    CHECK(few.steps() == 2);
    const VectorKernel grouped = rotary_kernel({1, 9, 8, 128}, DType::Fp16, DType::Fp16, 1);
    CHECK(grouped.threads() == 512);
    CHECK(grouped.steps() == 2);
    CHECK(grouped.rotary_loops().warps_in(1) == 2);
}

TEST_CASE("An elementwise kernel loads four elements of each operand a thread, and stores four") {
    const VectorKernel add = elementwise_kernel(
        5000, 2, mix_of(Elementwise::Kind::Add) + mix_of(Function::Relu), DType::Fp16, DType::Fp16);
    CHECK(add.ctas() == 10);  // of 512
    CHECK(add.steps() == 1);
    const CtaProgram program = vector_program(add);
    CHECK(program.warps() == 4);
    CHECK(count_of(program, Op::GlobalLoad) == 2);
    CHECK(bytes_of(program, Op::GlobalLoad) == 2 * 32 * 4 * 2);
    CHECK(bytes_of(program, Op::GlobalStore) == 32 * 4 * 2);
    // Two conversions and a sum; the greater one and a conversion back, and 12 to begin with.
    CHECK(count_of(program, Op::Fp32) == 4 * 3);
    CHECK(count_of(program, Op::Integer) == 4 * 2 + 12);
    CHECK(count_of(program, Op::Special) == 0);
}

TEST_CASE("Softmax of short rows holds them in registers, a warp a row") {
    const VectorKernel kernel = softmax_kernel(4096, 1000, DType::Fp16, DType::Fp16);
    CHECK(kernel.kind == VectorKernel::Kind::WarpSoftmax);
    CHECK(kernel.ctas() == 1024);
    CHECK(kernel.steps() == 1);
    const CtaProgram program = vector_program(kernel);
    // Elements 1000 … 1023 are computed with, as those of a row of 1024.
    CHECK(count_of(program, Op::GlobalLoad) == 32);
    CHECK(count_of(program, Op::GlobalStore) == 32);
    CHECK(count_of(program, Op::SharedLoad) == 2 * 5);
    // Of each element an exponential, a reciprocal and its test.
    CHECK(count_of(program, Op::Special) == 32 * 3);
    // Conversion, difference, exponential (6), sum, quotient (7); shuffles add 5, and two copies of a sum.
    CHECK(count_of(program, Op::Fp32) == 32 * 16 + 5 + 2);
    // Whether it is in the row (2), the greater one (2, and of shuffles), an exponential (1), a quotient (3),
    // what is asked before it is stored (9), and 12 to begin with.
    CHECK(count_of(program, Op::Integer) == 32 * 18 + 5 * 2 + 12);
    CHECK(program.registers_of_thread == 48);
    CHECK(program.barriers.empty());
}

TEST_CASE("Quotients wait for each other, behind whose tests compilers leave branches; exponentials do not") {
    const auto changes = [](const CtaProgram& program, std::size_t from, std::size_t until) {
        std::vector<RegisterGroups> written;
        for (const Section& section : program.roles.front().program)
            for (const Instruction& one : section.body)
                if (one.op == Op::Special) written.push_back(one.writes);
        int count = 0;
        for (std::size_t i = from + 1; i < until; ++i) count += written.at(i) != written.at(i - 1);
        return count;
    };
    // Of eight elements each: exponentials, then two instructions of each quotient.
    const CtaProgram program = vector_program(softmax_kernel(4096, 256, DType::Fp16, DType::Fp16));
    CHECK(changes(program, 0, 8) == 7);
    CHECK(changes(program, 8, 24) == 7);  // 15 if they went on together
}

TEST_CASE("Threads of a warp share rows of few elements") {
    CHECK(softmax_kernel(100, 128, DType::Fp16, DType::Fp16).rows_of_cta() == 4 * 2);
    const VectorKernel narrow = softmax_kernel(100, 5, DType::Fp16, DType::Fp16);
    CHECK(narrow.lanes() == 8);
    CHECK(narrow.rows_of_cta() == 128 / 8 * 2);
    CHECK(narrow.ctas() == 4);
    CHECK(narrow.loads_of_step() == 2);
}

TEST_CASE("Softmax of long rows reads them three times, and meets twice") {
    VectorKernel kernel = softmax_kernel(7, 4096, DType::Fp16, DType::Fp16);
    CHECK(kernel.kind == VectorKernel::Kind::BlockSoftmax);
    CHECK(kernel.threads() == 256);  // half of the row at least in whole vectors
    CHECK(kernel.trips() == 2);
    CHECK(kernel.steps() == 2);
    CtaProgram program = vector_program(kernel);
    CHECK(bytes_of(program, Op::GlobalLoad) == 4096 * 2 / 8);
    CHECK(bytes_of(program, Op::GlobalStore) == 4096 * 2 / 8);
    // Exponentials twice, a quotient with its test: of 16 elements a thread.
    CHECK(count_of(program, Op::Special) == 16 * 4);
    CHECK(count_of(program, Op::Arrive) == 4);
    CHECK(count_of(program, Op::Await) == 4);
    kernel.rereads_l1 = false;
    CHECK(kernel.steps() == 6);
    program = vector_program(kernel);
    CHECK(count_of(program, Op::GlobalLoad) == 6);
}

TEST_CASE(
    "In 2023 softmax of long rows met in turn: a lane for each warp's values, one thread for all lanes") {
    const VectorKernel kernel = softmax_kernel(7, 4096, DType::Fp16, DType::Fp16, Library::PyTorch2023);
    const CtaProgram program = vector_program(kernel);
    REQUIRE(program.roles.size() == 2);
    CHECK(program.warps() == 8);
    CHECK(program.shared == Bytes(256 * 4));
    // Two meetings of four barriers, which all warps pass.
    CHECK(count_of(program, Op::Arrive) == 2 * 4);
    // The first warp: 32 loads of eight words of one bank each, eight of a word; all warps the result; and
    // two rounds of two more readings of the row, 512 bytes each.
    CHECK(bytes_of(program, Op::SharedLoad) == 2 * (32 * 8 * 128 + 8 * 4 + 4) + 2 * 2 * 512);
    CHECK(sum_of(program, Op::SharedLoad, &Instruction::bytes) ==
          bytes_of(program, Op::SharedLoad) + 7 * (2 * 4 + 2 * 2 * 512));
    // Of 16 elements two exponentials, a quotient and its test; ahead of each pass a division of the row.
    CHECK(count_of(program, Op::Special) == 16 * 4 + 3 * 3);
    CHECK(program.registers_of_thread == 38);
    // Short rows have no need to.
    CHECK(softmax_kernel(7, 1000, DType::Fp16, DType::Fp16, Library::PyTorch2023) ==
          softmax_kernel(7, 1000, DType::Fp16, DType::Fp16));
}

TEST_CASE("In 2023 a lookup had a thread for each element, and eight CTAs an SM") {
    const LookupRows words{.rows = 30'000, .width = 4096, .lookups = 17};
    VectorKernel kernel = by_element(lookup_kernel(words, DType::Fp16, DType::Fp16));
    CHECK(kernel.ctas() == 17 * 4096 / 128);
    const CtaProgram program = vector_program(kernel);
    // An index of 64 bits, and two bytes a thread.
    CHECK(bytes_of(program, Op::GlobalLoad) == 8 + 64);
    // As compiled for sm_80, a round has 40 multiplications, additions and conversions, 46 others, and four
    // divisions of three special instructions; 12 to begin with.
    CHECK(count_of(program, Op::Fp32) == 40);
    CHECK(count_of(program, Op::Integer) == 46 + 12);
    CHECK(count_of(program, Op::Special) == 4 * 3);
    CHECK(paced_cycles(program) == 96 + 30 + 173 + 111 + 16);
    SmSpec sm = warp_mma_sm();
    sm.warps = 64;
    const auto timing = time_vector(kernel, sm);
    REQUIRE(timing);
    CHECK(timing->resident == 8);
}

TEST_CASE("In 2023 up to 16 lookups were gone through by each thread") {
    const LookupRows words{.rows = 30'000, .width = 4096, .lookups = 16};
    VectorKernel kernel = by_element(lookup_kernel(words, DType::Fp16, DType::Fp16));
    CHECK(kernel.ctas() == 4096 / 128);
    CHECK(kernel.steps() == 1 + 16);
    const CtaProgram program = vector_program(kernel);
    // An index of 64 bits out of the L2, then out of the L1; two bytes a thread and lookup.
    CHECK(bytes_of(program, Op::GlobalLoad) == 8 + 16 * 64);
    CHECK(bytes_of(program, Op::SharedLoad) == 16 * 8);
    CHECK(bytes_of(program, Op::GlobalStore) == 16 * 64);
    // As compiled for sm_80, a lookup has 29 multiplications and additions, 39 others without the body of its
    // assertion, and two divisions of three special instructions; 12 to begin with.
    CHECK(count_of(program, Op::Fp32) == 16 * 29);
    CHECK(count_of(program, Op::Integer) == 16 * 39 + 12);
    CHECK(count_of(program, Op::Special) == 16 * 2 * 3);
    CHECK(paced_cycles(program) == 16 * (9 + 46 + 124 + 79 + 43));
    // One behind the other: by as many lookups longer, each by what its instructions wait for at least.
    const SmSpec sm = warp_mma_sm();
    const auto all = time_vector(kernel, sm);
    REQUIRE(all);
    CHECK(all->interval_alone * 17 > 16 * (9 + 46 + 124));
    // Rows shorter than a CTA have fewer threads.
    CHECK(by_element(lookup_kernel({1000, 40, 3, 1, {}}, DType::Fp16, DType::Fp16)).threads() == 64);
}

TEST_CASE("torch.compile's norms read long rows three times, and keep short ones in registers") {
    const auto norm = [](std::int64_t cols, Norm::Kind kind = Norm::Kind::Layer) {
        return norm_kernel({kind, 10, cols}, DType::Fp16, DType::Fp16, Library::Inductor2023);
    };
    CHECK(norm(4096).threads() == 256);
    CHECK(norm(4096).vector == 8);
    CHECK(norm(4096).trips() == 2);
    CHECK(norm(4096).passes() == 3);
    CHECK(norm(4096, Norm::Kind::Rms).passes() == 2);
    CHECK(norm(1024).threads() == 256);
    CHECK(norm(1024).vector == 4);
    CHECK(norm(1024).passes() == 1);
    CHECK(norm(64).threads() == 64);
    CHECK(norm(64).trips() == 1);
    const CtaProgram program = vector_program(norm(4096));
    CHECK(count_of(program, Op::GlobalLoad) == 2 + 2);  // the row, gains
    CHECK(count_of(program, Op::GlobalStore) == 2);
    // Two meetings of the CTA's warps, two barriers each.
    CHECK(count_of(program, Op::Arrive) == 2 * 2);
    // A quotient and a root (2 + 1): no element divides.
    CHECK(count_of(program, Op::Special) == 3);
    const CtaProgram held = vector_program(norm(1024));
    CHECK(count_of(held, Op::GlobalLoad) == 1 + 1);
    CHECK(count_of(held, Op::Special) == 3);
}

TEST_CASE("A norm reads its row twice, its columns once, and divides for each element's count") {
    const VectorKernel kernel = norm_kernel({Norm::Kind::Layer, 10, 1024}, DType::Fp16, DType::Fp16);
    CHECK(kernel.threads() == 128);
    CHECK(kernel.vector == 4);
    CHECK(kernel.ctas() == 10);
    CHECK(kernel.trips() == 2);
    const CtaProgram program = vector_program(kernel);
    CHECK(count_of(program, Op::GlobalLoad) == 2 + 2);  // the row, gains
    CHECK(count_of(program, Op::GlobalStore) == 2);
    // 8 elements; 5 joins of a warp's lanes, 2 of four warps; the mean and the root (2 + 1).
    CHECK(count_of(program, Op::Special) == 8 + 7 + 3);
    const VectorKernel rms = norm_kernel({Norm::Kind::Rms, 10, 1024}, DType::Fp16, DType::Fp16);
    CHECK(count_of(vector_program(rms), Op::Special) == 3);
    CHECK(norm_kernel({Norm::Kind::Rms, 10, 1022}, DType::Fp16, DType::Fp16).vector == 2);
    CHECK(norm_kernel({Norm::Kind::Rms, 10, 1023}, DType::Fp16, DType::Fp16).vector == 1);
}

TEST_CASE("Four warps with a load each take the cycles of their chains of instructions") {
    VectorKernel kernel = relu(512, DType::Fp32);
    const auto timing = time_vector(kernel, warp_mma_sm());
    REQUIRE(timing);
    // 12 dependent integer instructions take 48 cycles; 512 bytes pass the load/store unit in 4.
    CHECK(timing->prologue == Cycles(48 + 4));
    CHECK(timing->spread == Cycles(3 * 4));
    // The first warp's data are there 12 cycles before the last one's; its 8 instructions issue in 14, its
    // results are there 4 later. Each store keeps the unit for 32, and the last one issues when no more than
    // that waits: when the third begins, behind two.
    CHECK(timing->interval_alone == 14 - 12 + 4 + 2 * 32 + 1);
    CHECK(timing->epilogue == Cycles(0));
    // 28 registers: 1,024 of a warp in units of 256.
    CHECK(timing->resident == 16);
    // 64 warps' loads keep the unit for 4 cycles, stores, which the port takes in 16 bytes a cycle, for 32.
    CHECK(timing->interval_full >= 64 * (4 + 32));
    CHECK(timing->interval_full < 1.1 * 64 * (4 + 32));
}

TEST_CASE("Rows are read again out of the L2 where those of all CTAs do not fit the L1") {
    SmSpec sm = warp_mma_sm();
    sm.l1_capacity = Bytes(192 * 1024);
    VectorKernel kernel = norm_kernel({Norm::Kind::Layer, 1, 2048}, DType::Fp16, DType::Fp16);
    const auto near = time_vector(kernel, sm);
    REQUIRE(near);
    CHECK(kernel.rereads_l1);
    kernel = norm_kernel({Norm::Kind::Layer, 1, 32768}, DType::Fp16, DType::Fp16);
    REQUIRE(time_vector(kernel, sm));
    CHECK_FALSE(kernel.rereads_l1);
    CHECK(kernel.steps() == 2 * 64);
}

TEST_CASE("A kernel that fits no SM has no timing") {
    SmSpec sm = warp_mma_sm();
    sm.registers_of_thread = 16;
    VectorKernel kernel = relu(512, DType::Bf16);
    CHECK_FALSE(time_vector(kernel, sm));
}
