// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemm_epilogue.h"

#include <algorithm>
#include <utility>

#include "models/devices/simt/spec/spec.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kPieceSums = 1024;   // of a warp, that a bulk copy takes at a time: 16 x 64
constexpr std::int64_t kPieceBytes = 2048;  // of a warp's results, out of tensor memory, likewise
constexpr std::int64_t kPieceRows = 8;  // of a warp's sums, that an instruction of mma leaves in one register
constexpr std::int64_t kSumBytes = 4;
// What columns have; the last result of a piece follows it there.
constexpr RegisterGroups kColumns = RegisterGroups{1} << 15;
constexpr RegisterGroups kSums = RegisterGroups{0xffffffff} << 32;  // of a warp's products

std::int64_t bytes_of(DType dtype) {
    return std::max<std::int64_t>(1, bits_of(dtype).value() / 8);
}

/// Sums that a warp works on at a time. A thread's values lie in registers of their own, as compilers lay
/// them out: none waits for the one before. Groups of registers are those that fragments had; loaded sums,
/// what is to be joined, and results follow each other in the same ones.
class Piece {
public:
    Piece(std::int64_t sums, const WarpResults& results)
        : threads_(results.threads),
          of_thread_(ceil_div(sums, results.threads)),
          element_(bytes_of(results.out)),
          epilogue_(results.epilogue) {}

    void add(const Instruction& instruction) { section_.body.push_back(instruction); }
    void meet() {
        add({.op = Op::Arrive});
        add({.op = Op::Await});
    }
    /// Sums as they are, two neighbours of each thread at a time. The first wait for the last product.
    void leave_sums() {
        for (std::int64_t i = 0; i < ceil_div(of_thread_, 2); ++i)
            add({.op = Op::SharedStore, .reads = kSums, .bytes = threads_ * 2 * kSumBytes});
    }
    void load_sums() {
        for (std::int64_t i = 0; i < ceil_div(of_thread_ * kSumBytes, kThreadBytes); ++i)
            add({.op = Op::SharedLoad, .writes = loaded(i), .bytes = row_bytes()});
    }
    /// The matrix to join, by loads from memory, or out of shared memory.
    void load_other(Op op) {
        if (!epilogue_.join) return;
        for (std::int64_t row = 0; row < rows(); ++row)
            add({.op = op, .writes = other(row), .bytes = row_bytes()});
    }
    /// From sums to results. Where there is a bias, the multiplication with alpha adds it, or that with a
    /// column's scale (functions). `from_shared`: the sums were loaded; otherwise they are where products
    /// left them.
    void finish(bool from_shared = true) {
        const RegisterGroups columns = epilogue_.columns() > 0 ? kColumns : 0;
        for (std::int64_t i = 0; i < of_thread_; ++i)
            add({.op = Op::Fp32,
                 .reads = (from_shared ? loaded(i * kSumBytes / kThreadBytes) : kSums) | columns,
                 .writes = scaled(i)});
        if (epilogue_.join && element_ < kSumBytes)
            for (std::int64_t i = 0; i < of_thread_; ++i)  // to 32 bits
                add({.op = Op::Integer, .reads = other(i * element_ / kThreadBytes)});
        functions();
        if (element_ == kSumBytes) return;
        for (std::int64_t i = 0; i < of_thread_; i += 2)  // two at a time
            add({.op = Op::Fp32,
                 .reads = scaled(i) | scaled(i + 1),
                 .writes = packed(i * element_ / kSumBytes)});
    }
    /// Of an instruction that loads or stores 16 bytes for each thread.
    std::int64_t row_bytes() const { return threads_ * kThreadBytes; }
    std::int64_t rows() const { return ceil_div(of_thread_ * element_, kThreadBytes); }
    /// What a thread stores as the piece's row `row`: 16 bytes.
    RegisterGroups results(std::int64_t row) const {
        RegisterGroups all = 0;
        for (std::int64_t i = 0; i < kThreadBytes / kSumBytes; ++i) {
            const std::int64_t number = row * kThreadBytes / kSumBytes + i;
            all |= element_ == kSumBytes ? scaled(number) : packed(number);
        }
        return all;
    }
    Section section(std::int64_t trips) {
        section_.trips = trips;
        return std::move(section_);
    }

private:
    static RegisterGroups loaded(std::int64_t i) { return RegisterGroups{1} << (i % 8); }
    static RegisterGroups scaled(std::int64_t i) { return RegisterGroups{1} << (16 + i % 16); }
    static RegisterGroups packed(std::int64_t i) { return RegisterGroups{1} << (i % 16); }
    static RegisterGroups other(std::int64_t row) { return packed(row * kThreadBytes / kSumBytes); }

    /// One step of all of a thread's values behind the other; special ones stand evenly between them, and so
    /// early that nobody waits for their results.
    void functions() {
        const FunctionCost cost = cost_of(epilogue_);
        const std::int64_t fp32 = cost.fp32 * of_thread_, special = cost.special * of_thread_;
        const std::int64_t all = fp32 + special;
        for (std::int64_t i = 0, number = 0; i < all; ++i) {
            if (special * (i + 1) / all > special * i / all)
                add({.op = Op::Special});
            else
                add({.op = Op::Fp32, .reads = scaled(number), .writes = scaled(number)}), ++number;
        }
    }

    const std::int64_t threads_, of_thread_, element_;
    const Epilogue epilogue_;
    Section section_;
};

/// Scales and bias of a warp's columns: each thread keeps those of its own.
void load_columns(const WarpResults& results, WarpProgram& program) {
    const auto load = [&](std::int64_t value_bytes) {
        if (value_bytes == 0) return;
        const std::int64_t bytes = std::min(results.columns * value_bytes, results.threads * kThreadBytes);
        program.push_back({{{.op = Op::GlobalLoad, .writes = kColumns, .bytes = bytes}}});
    };
    load(results.epilogue.scale_bits / 8);
    load(results.epilogue.bias ? kBiasBytes : 0);
}

}  // namespace

WarpProgram bulk_epilogue(const WarpResults& results, int barrier) {
    const std::int64_t sums = results.rows * results.columns, piece_sums = std::min(sums, kPieceSums);
    WarpProgram program;
    load_columns(results, program);
    if (results.epilogue.join) program.push_back({{{.op = Op::Await, .barrier = barrier}}});
    Piece piece(piece_sums, results);
    piece.load_other(Op::SharedLoad);
    piece.finish();
    for (std::int64_t row = 0; row < piece.rows(); ++row)
        piece.add({.op = Op::SharedStore, .reads = piece.results(row), .bytes = piece.row_bytes()});
    piece.add({.op = Op::BulkStore, .bytes = piece_sums * bytes_of(results.out)});
    program.push_back(piece.section(ceil_div(sums, kPieceSums)));
    return program;
}

WarpProgram tensor_epilogue(const WarpResults& results, int barrier) {
    const std::int64_t sums = results.rows * results.columns;
    const std::int64_t piece_sums = std::min(sums, kPieceBytes / bytes_of(results.out));
    WarpProgram program;
    load_columns(results, program);
    if (results.epilogue.join) program.push_back({{{.op = Op::Await, .barrier = barrier}}});
    Piece piece(piece_sums, results);
    piece.add({.op = Op::TensorLoad, .writes = kSums, .bytes = piece_sums * kSumBytes});
    piece.load_other(Op::SharedLoad);
    piece.finish(false);
    piece.add({.op = Op::WaitReads});
    for (std::int64_t row = 0; row < piece.rows(); ++row)
        piece.add({.op = Op::SharedStore, .reads = piece.results(row), .bytes = piece.row_bytes()});
    piece.add({.op = Op::BulkStore, .bytes = piece_sums * bytes_of(results.out)});
    program.push_back(piece.section(ceil_div(sums, piece_sums)));
    return program;
}

WarpProgram warp_epilogue(const WarpResults& results) {
    WarpProgram program;
    load_columns(results, program);
    Piece piece(kPieceRows * results.columns, results);
    piece.load_other(Op::GlobalLoad);
    piece.meet();  // the piece before has been read
    piece.leave_sums();
    piece.meet();
    piece.load_sums();
    piece.add({.op = Op::Integer});
    piece.finish();
    for (std::int64_t row = 0; row < piece.rows(); ++row) {
        piece.add({.op = Op::Integer});
        piece.add({.op = Op::GlobalStore, .reads = piece.results(row), .bytes = piece.row_bytes()});
    }
    program.push_back(piece.section(results.rows / kPieceRows));
    return program;
}

WarpProgram wave_epilogue(const WarpResults& results) {
    constexpr std::int64_t kSumsOfThread = 16, kNeighbours = 4;
    const std::int64_t sums = results.rows * results.columns;
    const std::int64_t piece_sums = std::min(sums, kSumsOfThread * results.threads);
    WarpProgram program;
    load_columns(results, program);
    Piece piece(piece_sums, results);
    piece.load_other(Op::GlobalLoad);
    piece.add({.op = Op::Integer});
    piece.finish(false);
    const std::int64_t stores = ceil_div(piece_sums, results.threads * kNeighbours);
    for (std::int64_t i = 0; i < stores; ++i) {
        piece.add({.op = Op::Integer});
        piece.add({.op = Op::GlobalStore,
                   .reads = piece.results(i * piece.rows() / stores),
                   .bytes = results.threads * kNeighbours * bytes_of(results.out)});
    }
    program.push_back(piece.section(ceil_div(sums, piece_sums)));
    return program;
}

}  // namespace systole::simt
