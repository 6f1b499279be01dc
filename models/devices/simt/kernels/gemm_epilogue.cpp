// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemm_epilogue.h"

#include <algorithm>
#include <utility>

#include "models/devices/simt/spec/spec.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kPieceSums = 1024;  // of a warp, that a bulk copy takes at a time: 16 x 64
constexpr std::int64_t kPieceRows = 8;  // of a warp's sums, that an instruction of mma leaves in one register
constexpr std::int64_t kSumBytes = 4;
constexpr RegisterGroups kSums = RegisterGroups{0xffffffff} << 32;  // of a warp's products

/// Sums that a warp works on at a time. A thread's values lie in registers of their own, as compilers lay
/// them out: none waits for the one before. Groups of registers are those that fragments had.
class Piece {
public:
    Piece(std::int64_t sums, std::int64_t element)
        : of_thread_(ceil_div(sums, kWarpThreads)), element_(element) {}

    void add(const Instruction& instruction) { section_.body.push_back(instruction); }
    void meet() {
        add({.op = Op::Arrive});
        add({.op = Op::Await});
    }
    /// Sums as they are, two neighbours of each thread at a time. The first wait for the last product.
    void leave_sums() {
        for (std::int64_t i = 0; i < ceil_div(of_thread_, 2); ++i)
            add({.op = Op::SharedStore, .reads = kSums, .bytes = kWarpThreads * 2 * kSumBytes});
    }
    void load_sums() {
        for (std::int64_t i = 0; i < ceil_div(of_thread_ * kSumBytes, kThreadBytes); ++i)
            add({.op = Op::SharedLoad, .writes = loaded(i), .bytes = kRowBytes});
    }
    void scale_and_convert() {
        for (std::int64_t i = 0; i < of_thread_; ++i)  // times alpha
            add({.op = Op::Fp32, .reads = loaded(i * kSumBytes / kThreadBytes), .writes = scaled(i)});
        if (element_ == kSumBytes) return;
        for (std::int64_t i = 0; i < of_thread_; i += 2)  // two at a time
            add({.op = Op::Fp32,
                 .reads = scaled(i) | scaled(i + 1),
                 .writes = packed(i * element_ / kSumBytes)});
    }
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

    static constexpr std::int64_t kRowBytes = kWarpThreads * kThreadBytes;

private:
    static RegisterGroups loaded(std::int64_t i) { return RegisterGroups{1} << (i % 8); }
    static RegisterGroups scaled(std::int64_t i) { return RegisterGroups{1} << (8 + i % 8); }
    static RegisterGroups packed(std::int64_t i) { return RegisterGroups{1} << (16 + i % 16); }

    const std::int64_t of_thread_, element_;
    Section section_;
};

std::int64_t bytes_of(DType dtype) {
    return std::max<std::int64_t>(1, bits_of(dtype).value() / 8);
}

}  // namespace

WarpProgram bulk_epilogue(std::int64_t sums, DType out) {
    const std::int64_t piece_sums = std::min(sums, kPieceSums);
    Piece piece(piece_sums, bytes_of(out));
    piece.scale_and_convert();
    for (std::int64_t row = 0; row < piece.rows(); ++row)
        piece.add({.op = Op::SharedStore, .reads = piece.results(row), .bytes = Piece::kRowBytes});
    piece.add({.op = Op::BulkStore, .bytes = piece_sums * bytes_of(out)});
    return {piece.section(ceil_div(sums, kPieceSums))};
}

WarpProgram warp_epilogue(std::int64_t rows, std::int64_t columns, DType out) {
    Piece piece(kPieceRows * columns, bytes_of(out));
    piece.meet();  // the piece before has been read
    piece.leave_sums();
    piece.meet();
    piece.load_sums();
    piece.add({.op = Op::Integer});
    piece.scale_and_convert();
    for (std::int64_t row = 0; row < piece.rows(); ++row) {
        piece.add({.op = Op::Integer});
        piece.add({.op = Op::GlobalStore, .reads = piece.results(row), .bytes = Piece::kRowBytes});
    }
    return {piece.section(rows / kPieceRows)};
}

}  // namespace systole::simt
