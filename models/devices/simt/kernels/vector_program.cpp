// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/vector_program.h"

#include <optional>

#include "models/devices/simt/kernels/counted_program.h"
#include "models/devices/simt/kernels/inductor_norm.h"
#include "models/devices/simt/kernels/program_writer.h"
#include "models/devices/simt/kernels/qkv_kernel.h"
#include "models/devices/simt/kernels/row_rounds.h"
#include "models/devices/simt/kernels/row_sum_program.h"
#include "models/devices/simt/kernels/top_k_program.h"
#include "models/devices/simt/kernels/transpose_program.h"
#include "models/devices/simt/kernels/window_program.h"

namespace systole::simt {
namespace {

constexpr int kSetUp = 12;  // instructions: indices, pointers, predicates
constexpr int kOtherRegisters = 20;
constexpr int kBarrier = 0;
constexpr InstructionMix kAdd{1, 0, 0}, kMax{0, 1, 0}, kSubtract{1, 0, 0};
// Of two sets with their means, sums of squares and counts, besides 1 / count.
constexpr InstructionMix kWelfordOfSets{9, 1, 0};

Section set_up() {
    Section section;
    SectionWriter(section).op(Op::Integer, kAddress, kAddress, kSetUp);
    return section;
}

/// Registers of 32 bits for what is loaded, and for values.
int registers(const VectorKernel& kernel, std::int64_t values) {
    // Queries, keys and values, pairs of the first two, and a cosine and a sine of each element.
    if (kernel.kind == VectorKernel::Kind::Qkv)
        return static_cast<int>(ceil_div(5 * values * bits_of(kernel.in).value(), 32) + 2 * values) +
               kOtherRegisters;
    // Both as compiled for sm_80: 26, 29, 32 and 48 of rows of 64 to 1024 elements, which leave their loads'
    // places as numbers; 38.
    if (kernel.kind == VectorKernel::Kind::WarpSoftmax) return static_cast<int>(values) + 16;
    if (kernel.kind == VectorKernel::Kind::BlockSoftmax && kernel.made_by == Library::PyTorch2023) return 38;
    const std::int64_t of_loads = ceil_div(values * bits_of(kernel.in).value(), 32);
    return static_cast<int>(of_loads + values) + kOtherRegisters;
}

RegisterGroups all_values(const VectorKernel& kernel) {
    RegisterGroups all = 0;
    for (std::int64_t element = 0; element < kernel.vector; ++element) all |= value(element);
    return all;
}

WarpProgram elementwise(const VectorKernel& kernel) {
    Section step, finish;
    step.steps = true;
    SectionWriter loads(step), stores(finish);
    for (int operand = 0; operand < kernel.operands; ++operand)
        loads.load(operand, bytes_of_warp(kernel, kernel.vector, kernel.in));
    for (int operand = 0; operand < kernel.operands; ++operand)
        loads.convert(kernel.vector, operand, kernel.vector, kernel.in);
    loads.each(kernel.vector, kernel.work + conversion_to(kernel.out));
    for (int i = 0; i < kernel.stores; ++i)
        stores.store(all_values(kernel), bytes_of_warp(kernel, kernel.vector, kernel.out));
    return {set_up(), std::move(step), std::move(finish)};
}

/// Values of loads, where they are to be numbers: a copy stores them as they came.
bool converts(const VectorKernel& kernel) {
    return kernel.in != kernel.out || kernel.lookup.bag > 1;
}

/// Each element's place is computed, and it is loaded and stored by itself.
WarpProgram scattered(const VectorKernel& kernel) {
    Section step, finish;
    step.steps = true;
    SectionWriter loads(step), stores(finish);
    loads.each(kernel.vector, offsets());
    for (std::int64_t i = 0; i < kernel.vector; ++i)
        step.body.push_back({.op = Op::GlobalLoad,
                             .reads = value(i),
                             .writes = loaded(i),
                             .bytes = bytes_of_warp(kernel, 1, kernel.in)});
    if (converts(kernel)) {
        loads.convert(kernel.vector, 0, 1, kernel.in);
        loads.each(kernel.vector, conversion_to(kernel.out));
    }
    for (std::int64_t i = 0; i < kernel.vector; ++i)
        stores.store(converts(kernel) ? value(i) : loaded(i), bytes_of_warp(kernel, 1, kernel.out));
    return {set_up(), std::move(step), std::move(finish)};
}

/// An index, the row that it names, and those of the bag's other indices, which the first one's load brought.
WarpProgram lookup(const VectorKernel& kernel) {
    if (kernel.stores_each) return lookups_in_turn(kernel, set_up());
    if (kernel.made_by == Library::PyTorch2023) return lookup_by_element(kernel, set_up());
    constexpr std::int64_t kIndexBytes = 4;
    Section index, row, finish;
    index.steps = row.steps = true;
    row.trips = kernel.lookup.bag;
    SectionWriter first(index), rows(row), stores(finish);
    first.load(0, kIndexBytes);
    if (kernel.lookup.bag > 1) {
        rows.load_again(0, kIndexBytes);
        rows.loop();
    }
    rows.op(Op::Integer, loaded(0) | kAddress, kAddress, 2);
    rows.load(1, bytes_of_warp(kernel, kernel.vector, kernel.in));
    if (converts(kernel)) {
        rows.convert(kernel.vector, 1, kernel.vector, kernel.in);
        if (kernel.lookup.bag > 1) rows.collect(kernel.vector, kAdd);
        stores.each(kernel.vector, conversion_to(kernel.out));
    }
    stores.store(kernel.lookup.bag > 1 ? kSum
                 : converts(kernel)    ? all_values(kernel)
                                       : loaded(1),
                 bytes_of_warp(kernel, kernel.vector, kernel.out));
    return {set_up(), std::move(index), std::move(row), std::move(finish)};
}

/// Rounds over a CTA's row: both operands' elements, and the result. Addresses and constants as compiled for
/// sm_80: 48 instructions a round for SiLU, of which one rounds the negated operand to 16 bits (F2F, which
/// the special function units execute) and one converts it back.
WarpProgram gate(const VectorKernel& kernel) {
    constexpr InstructionMix kOperand{1, 3, 0}, kResult{1, 4, 0}, kConstants{3, 0, 0}, kNegated{1, 0, 1};
    Section round;
    round.trips = kernel.trips();
    round.steps = true;
    SectionWriter writer(round);
    for (int i = 0; i < kernel.operands; ++i) {
        writer.address(kOperand);
        writer.load(i, bytes_of_warp(kernel, kernel.vector, kernel.in));
    }
    writer.loop();
    for (int i = 0; i < kernel.operands; ++i) writer.convert(kernel.vector, i, kernel.vector, kernel.in);
    writer.each(kernel.vector, kernel.work + kConstants + kNegated + conversion_to(kernel.out));
    writer.address(kResult);
    writer.store(all_values(kernel), bytes_of_warp(kernel, kernel.vector, kernel.out));
    return {set_up(), std::move(round)};
}

// Of a row that a warp holds, for each element (PersistentSoftmax.cuh as compiled for sm_80): whether its
// column is in the row before it is loaded and -infinity where not; a maximum is a comparison and a
// selection, for NaN's sake.
constexpr InstructionMix kInRow{0, 2, 0}, kGreater{0, 2, 0};
// Before it is stored: the thread's number once more, its column, whether that is in the row, the way out;
// whether the sum is 0, around the quotient, with where the ways meet.
constexpr InstructionMix kBeforeStore{0, 9, 0};

/// Threads have every 32nd element of a row: loads and stores are of one each.
WarpProgram warp_softmax(const VectorKernel& kernel) {
    Section step, finish;
    step.steps = true;
    SectionWriter writer(step), stores(finish);
    const std::int64_t held = kernel.held();
    for (std::int64_t i = 0; i < kernel.loads_of_step(); ++i)
        writer.load(i, bytes_of_warp(kernel, 1, kernel.in));
    for (int row = 0; row < kernel.rows_of_lanes; ++row) {
        writer.each(held, kInRow);
        writer.convert(held, row * held, 1, kernel.in);
        writer.collect(held, kGreater);
        writer.shuffle(kernel, kernel.lanes(), 1, kGreater);
        writer.op(Op::Fp32, kSum, value(0));
        writer.each(held, kSubtract + exponential(kernel.math));
        writer.collect(held, kAdd);
        writer.shuffle(kernel, kernel.lanes(), 1, kAdd);
        writer.op(Op::Fp32, kSum, value(0));
        writer.one_by_one(held, quotient(kernel.math) + conversion_to(kernel.out) + kBeforeStore);
    }
    for (std::int64_t i = 0; i < kernel.loads_of_step(); ++i)
        stores.store(value(i), bytes_of_warp(kernel, 1, kernel.out));
    return {set_up(), std::move(step), std::move(finish)};
}

void store_round(SectionWriter& writer, const VectorKernel& kernel) {
    writer.store(all_values(kernel), bytes_of_warp(kernel, kernel.vector, kernel.out));
}

Section meeting(const VectorKernel& kernel, int values, const InstructionMix& mix) {
    Section section;
    SectionWriter(section).meet(kernel, values, mix, kBarrier);
    return section;
}

// What a thread does ahead of each of a row's passes (SoftMax.cu of 2023 as compiled for sm_80; of the first,
// besides its set-up): its place, and how many elements whole rounds of all threads leave over: I2F, rcp,
// F2I, and fifteen that wait for each other.
constexpr int kFirstPass = 52 - kSetUp, kSecondPass = 37, kThirdPass = 42, kOfDivision = 15;

void find_rounds(SectionWriter& writer, int instructions) {
    writer.op(Op::Integer, kAddress, 0, instructions - kOfDivision);
    writer.op(Op::Special, kAddress, kAddress, 3);
    writer.op(Op::Integer, kAddress, kAddress, kOfDivision);
}

/// All threads' values by `mix`: through shuffles, or as in 2023, for the first warp or another one, and then
/// the way to the next pass.
Section softmax_meeting(const VectorKernel& kernel, const InstructionMix& mix, bool first, int next_pass) {
    if (kernel.made_by != Library::PyTorch2023) return meeting(kernel, 1, mix);
    Section section;
    SectionWriter writer(section);
    writer.meet_in_turn(kernel, mix, kBarrier, first);
    find_rounds(writer, next_pass);
    return section;
}

WarpProgram block_softmax(const VectorKernel& kernel, bool first) {
    Section before = set_up();
    if (kernel.made_by == Library::PyTorch2023) {
        SectionWriter writer(before);
        find_rounds(writer, kFirstPass);
    }
    RowRounds most(kernel), sum(kernel), quotients(kernel);
    most.read(false).collect(kernel.vector, kMax);
    SectionWriter sums = sum.read(true);
    sums.each(kernel.vector, kSubtract + exponential(kernel.math));
    sums.collect(kernel.vector, kAdd);
    SectionWriter results = quotients.read(true);
    results.one_by_one(kernel.vector, kSubtract + exponential(kernel.math) + quotient(kernel.math) +
                                          conversion_to(kernel.out));
    store_round(results, kernel);
    return {std::move(before),
            most.take(),
            softmax_meeting(kernel, kMax, first, kSecondPass),
            sum.take(),
            softmax_meeting(kernel, kAdd, first, kThirdPass),
            quotients.take()};
}

/// Gains, and what is added, of columns: each thread's, once for each of its columns.
Section columns(const VectorKernel& kernel) {
    Section section;
    SectionWriter writer(section);
    section.trips = kernel.trips();
    for (int i = 0; i < (kernel.shift ? 2 : 1); ++i)
        writer.load(1 + i, bytes_of_warp(kernel, kernel.vector, kernel.in));
    return section;
}

WarpProgram norm(const VectorKernel& kernel) {
    if (kernel.made_by == Library::Inductor2023) return inductor_norm(kernel, set_up(), columns(kernel));
    if (kernel.made_by == Library::Vllm) return vllm_norm(kernel, set_up());
    const bool layer = kernel.kind == VectorKernel::Kind::LayerNorm;
    RowRounds statistics(kernel), results(kernel);
    SectionWriter first = statistics.read(false);
    if (layer) {
        for (std::int64_t i = 0; i < kernel.vector; ++i) first.welford(i, kernel.math);
    } else {
        first.collect(kernel.vector, kAdd);  // a square, added
    }
    SectionWriter second = results.read(true);
    const int of_columns = kernel.shift ? 2 : 1;
    for (int i = 0; i < of_columns; ++i)
        second.load_again(1 + i, bytes_of_warp(kernel, kernel.vector, kernel.in));
    // Gains and shifts are converted, too; a multiplication each with the deviation and the gain, which adds.
    InstructionMix work{layer ? 3 : 2, 0, 0};
    for (int i = 0; i < of_columns; ++i) work += conversion_from(kernel.in);
    second.op(Op::Integer, loaded(1) | loaded(of_columns), value(0));
    second.each(kernel.vector, work + conversion_to(kernel.out));
    store_round(second, kernel);
    Section root =
        layer ? meeting(kernel, 3, kWelfordOfSets + reciprocal(kernel.math)) : meeting(kernel, 1, kAdd);
    SectionWriter(root).collect(1, quotient(kernel.math) + mix_of(Function::Rsqrt, kernel.math));
    return {set_up(), statistics.take(), std::move(root), columns(kernel), results.take()};
}

/// Of the first warp, or another one.
WarpProgram program_of(const VectorKernel& kernel, bool first) {
    switch (kernel.kind) {
        case VectorKernel::Kind::Elementwise:
            return kernel.scattered ? scattered(kernel) : elementwise(kernel);
        case VectorKernel::Kind::WarpSoftmax:
            return warp_softmax(kernel);
        case VectorKernel::Kind::BlockSoftmax:
            return block_softmax(kernel, first);
        case VectorKernel::Kind::LayerNorm:
        case VectorKernel::Kind::RmsNorm:
            return norm(kernel);
        case VectorKernel::Kind::Lookup:
            return lookup(kernel);
        case VectorKernel::Kind::Gate:
            return gate(kernel);
        case VectorKernel::Kind::Rotary:
            break;  // not all warps alike: below
        case VectorKernel::Kind::Window:
            return window_program(kernel);
        case VectorKernel::Kind::Turn:
            return transpose_program(kernel);
        case VectorKernel::Kind::RowSum:
            return row_sum_program(kernel);
        case VectorKernel::Kind::TopK:
            return top_k_program(kernel);
        case VectorKernel::Kind::Sort:
            return sort_program(kernel);
        case VectorKernel::Kind::Qkv:
            return qkv_program(kernel);
    }
    return {};
}

/// What a thread loads together.
std::int64_t values_of(const VectorKernel& kernel) {
    switch (kernel.kind) {
        case VectorKernel::Kind::Elementwise:
            return kernel.vector * kernel.operands;
        case VectorKernel::Kind::Window:
            return window_values(kernel);
        case VectorKernel::Kind::WarpSoftmax:
        case VectorKernel::Kind::Sort:
            return kernel.loads_of_step();
        case VectorKernel::Kind::Turn:
            return kernel.loads_of_step() * kernel.turn.word;
        case VectorKernel::Kind::RowSum:
            return VectorKernel::kUnderWay;
        default:
            return kernel.vector;
    }
}

/// Shared memory; nothing where the warps of a CTA need none of each other.
std::optional<Bytes> shared_by(const VectorKernel& kernel) {
    switch (kernel.kind) {
        case VectorKernel::Kind::Turn:
            return shared_by_tile(kernel);
        case VectorKernel::Kind::RowSum:
            return shared_by_sums(kernel);
        case VectorKernel::Kind::TopK:
            return shared_by_counts(kernel);
        case VectorKernel::Kind::Sort:
            return shared_by_sorted(kernel);
        default:
            break;
    }
    if (kernel.kind == VectorKernel::Kind::Qkv && kernel.warps > 1) return Bytes(0);
    if (kernel.sharing > 1) return Bytes(kernel.threads() * kernel.vector * 4);
    // Of softmax as in 2023, a word of each thread.
    if (kernel.kind == VectorKernel::Kind::BlockSoftmax && kernel.made_by == Library::PyTorch2023)
        return Bytes(kernel.threads() * 4);
    if (kernel.row_of_cta()) return Bytes(kernel.warps * 3 * 4);
    return std::nullopt;
}

}  // namespace

CtaProgram vector_program(const VectorKernel& kernel) {
    CtaProgram program;
    program.roles = {{kernel.warps, program_of(kernel, true)}};
    if (kernel.kind == VectorKernel::Kind::Rotary) program.roles = vllm_rotary(kernel, set_up());
    if (kernel.kind == VectorKernel::Kind::BlockSoftmax && kernel.made_by == Library::PyTorch2023 &&
        kernel.warps > 1) {
        program.roles.front().warps = 1;
        program.roles.push_back({kernel.warps - 1, program_of(kernel, false)});
    }
    program.registers_of_thread = registers(kernel, values_of(kernel));
    if (const auto shared = shared_by(kernel)) {
        program.barriers = {{.arrivals = kernel.warps}};
        program.shared = *shared;
    }
    return program;
}

}  // namespace systole::simt
