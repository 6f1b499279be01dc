// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/online_softmax.h"

#include <algorithm>
#include <bit>

namespace systole::simt {
namespace {

constexpr std::int64_t kSumBytes = 4;

class Writer {
public:
    Writer(const ScoreBlock& block, Section& section)
        : threads_(block.threads),
          row_threads_(block.row_threads),
          scores_(block.rows * block.keys / block.threads),
          results_(block.rows * block.dim / block.threads),
          rows_(std::max<std::int64_t>(1, block.rows * block.row_threads / block.threads)),
          section_(section) {}

    void op(Op op, RegisterGroups reads, RegisterGroups writes) {
        section_.body.push_back({.op = op, .reads = reads, .writes = writes});
    }
    void each_score(Op pipe) {
        for (std::int64_t i = 0; i < scores_; ++i) op(pipe, score_group(i), score_group(i));
    }
    /// Of a thread's scores into what its rows have: each row's chain is its own.
    void collect(Op pipe) {
        for (std::int64_t i = 0; i < scores_; ++i) op(pipe, score_group(i), row(i));
    }
    void each_row(Op pipe) {
        for (std::int64_t i = 0; i < rows_; ++i) op(pipe, row(i), row(i));
    }
    /// Over the threads that share rows by halves; `beside(part, parts)` is done while numbers are passed.
    template <class Beside>
    void shuffle(Op joins, const Beside& beside) {
        const std::int64_t parts = std::bit_width(static_cast<std::uint64_t>(row_threads_)) - 1;
        for (std::int64_t part = 0; part < parts; ++part) {
            for (std::int64_t i = 0; i < rows_; ++i)
                section_.body.push_back({.op = Op::SharedLoad,
                                         .reads = row(i),
                                         .writes = other(i),
                                         .bytes = threads_ * kSumBytes});
            beside(part, parts);
            for (std::int64_t i = 0; i < rows_; ++i) op(joins, row(i) | other(i), row(i));
        }
    }
    void shuffle(Op joins) {
        shuffle(joins, [](std::int64_t, std::int64_t) {});
    }
    /// Two numbers at a time to 16 bits, by the integer pipe (NVIDIA, Nsight Compute documentation: the ALU
    /// has Ampere's fast conversions).
    void convert(std::int64_t part, std::int64_t parts) {
        const std::int64_t pairs = ceil_div(scores_, std::int64_t{2});
        for (std::int64_t i = pairs * part / parts; i < pairs * (part + 1) / parts; ++i)
            op(Op::Integer, score_group(2 * i) | score_group(2 * i + 1), score_group(i));
    }
    /// Sums of rows of this block (softmax.h, reduce<Sum_>; warpspec/epilogue.h), and conversions, which wait
    /// for none of them.
    void finish() {
        if (row_threads_ == 1) return convert(0, 1);
        shuffle(Op::Fp32, [this](std::int64_t part, std::int64_t parts) { convert(part, parts); });
    }
    /// exp(s - max): ex2 of one score stands beside the multiply-add of the next.
    void exponentials() {
        for (std::int64_t i = 0; i < scores_; ++i) {
            op(Op::Fp32, score_group(i) | row(i), score_group(i));
            if (i > 0) op(Op::Special, score_group(i - 1), score_group(i - 1));
        }
        op(Op::Special, score_group(scores_ - 1), score_group(scores_ - 1));
    }
    void rescale() {
        for (std::int64_t i = 0; i < results_; ++i) op(Op::Fp32, result_group(i) | row(i), result_group(i));
    }

private:
    static constexpr int kRowGroups = 8;
    RegisterGroups row(std::int64_t i) const {
        return kOfRows << (i % std::min<std::int64_t>(rows_, kRowGroups));
    }
    static RegisterGroups other(std::int64_t i) { return kOfRows << (kRowGroups + i % 4); }

    const std::int64_t threads_, row_threads_;
    const std::int64_t scores_, results_, rows_;  // of a thread
    Section& section_;
};

}  // namespace

void add_online_softmax(const ScoreBlock& block, Section& section) {
    Writer writer(block, section);
    if (block.masked) {
        writer.each_score(Op::Integer);
        writer.each_score(Op::Integer);
    }
    if (block.base_e) writer.each_score(Op::Fp32);
    writer.collect(Op::Integer);
    writer.shuffle(Op::Integer);
    writer.each_row(Op::Fp32);
    writer.each_row(Op::Special);
    writer.each_row(Op::Fp32);
    writer.rescale();
    if (block.base_e) writer.each_score(Op::Fp32);
    writer.exponentials();
    writer.collect(Op::Fp32);
    writer.finish();
}

void add_normalization(const ScoreBlock& block, Section& section) {
    Writer(block, section).each_row(Op::Special);
}

}  // namespace systole::simt
