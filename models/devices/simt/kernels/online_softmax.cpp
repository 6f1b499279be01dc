// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/online_softmax.h"

#include <algorithm>

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
    void shuffle(Op joins) {
        for (std::int64_t threads = row_threads_; threads > 1; threads /= 2)
            for (std::int64_t i = 0; i < rows_; ++i) {
                section_.body.push_back({.op = Op::SharedLoad,
                                         .reads = row(i),
                                         .writes = other(i),
                                         .bytes = threads_ * kSumBytes});
                op(joins, row(i) | other(i), row(i));
            }
    }
    /// Two numbers at a time: to 16 bits.
    void convert() {
        for (std::int64_t i = 0; i < scores_; i += 2)
            op(Op::Fp32, score_group(i) | score_group(i + 1), score_group(i / 2));
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
    writer.convert();
}

void add_normalization(const ScoreBlock& block, Section& section) {
    Writer writer(block, section);
    writer.shuffle(Op::Fp32);
    writer.each_row(Op::Special);
}

}  // namespace systole::simt
