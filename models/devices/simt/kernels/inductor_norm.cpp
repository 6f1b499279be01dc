// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/inductor_norm.h"

#include <utility>

#include "models/devices/simt/kernels/program_writer.h"
#include "models/devices/simt/kernels/row_rounds.h"

namespace systole::simt {
namespace {

constexpr int kBarrier = 0;
// A lane beyond the row adds nothing: a selection beside each sum.
constexpr InstructionMix kSum_{1, 1, 0}, kSquare{2, 1, 0}, kAdd{1, 0, 0};

Section meeting(const VectorKernel& kernel) {
    Section section;
    SectionWriter writer(section);
    // A thread's own elements first.
    writer.op(Op::Fp32, kSum, kSum, kernel.vector - 1);
    writer.meet(kernel, 1, kAdd, kBarrier);
    return section;
}

/// Behind the last sum: a quotient by the number of columns, and the root.
Section root(const VectorKernel& kernel) {
    Section section = meeting(kernel);
    SectionWriter(section).collect(1, quotient(kernel.math) + mix_of(Function::Rsqrt, kernel.math));
    return section;
}

/// What a round does with its elements in each of the passes.
void results(const VectorKernel& kernel, SectionWriter& writer) {
    const int of_columns = kernel.shift ? 2 : 1;
    for (int i = 0; i < of_columns; ++i)
        writer.load_again(1 + i, bytes_of_warp(kernel, kernel.vector, kernel.in));
    InstructionMix work{2 + of_columns, 0, 0};
    for (int i = 0; i < of_columns; ++i) work += conversion_from(kernel.in);
    writer.op(Op::Integer, loaded(1) | loaded(of_columns), value(0));
    writer.each(kernel.vector, work + conversion_to(kernel.out));
    RegisterGroups all = 0;
    for (std::int64_t element = 0; element < kernel.vector; ++element) all |= value(element);
    writer.store(all, bytes_of_warp(kernel, kernel.vector, kernel.out));
}

}  // namespace

WarpProgram inductor_norm(const VectorKernel& kernel, Section set_up, Section columns) {
    const bool layer = kernel.kind == VectorKernel::Kind::LayerNorm;
    const bool held = kernel.passes() == 1;
    RowRounds first(kernel), last(kernel);
    SectionWriter sums = first.read(false);
    sums.collect(kernel.vector, layer ? kSum_ : kSquare);
    WarpProgram program{std::move(set_up), first.take()};
    if (layer) {
        program.push_back(meeting(kernel));
        RowRounds squares(kernel);
        Section kept;
        SectionWriter writer = held ? SectionWriter(kept) : squares.read(true);
        writer.collect(kernel.vector, kSquare);
        program.push_back(held ? std::move(kept) : squares.take());
    }
    program.push_back(root(kernel));
    program.push_back(std::move(columns));
    Section kept;
    SectionWriter writer = held ? SectionWriter(kept) : last.read(true);
    results(kernel, writer);
    program.push_back(held ? std::move(kept) : last.take());
    return program;
}

}  // namespace systole::simt
