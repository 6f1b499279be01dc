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

class Piece {
public:
    Piece(std::int64_t sums, std::int64_t element) : sums_(sums), element_(element) {}

    void add(std::int64_t times, const Instruction& instruction) {
        for (std::int64_t i = 0; i < times; ++i) section_.body.push_back(instruction);
    }
    void scale_and_convert() {
        const std::int64_t each = ceil_div(sums_, kWarpThreads);  // sums of a thread
        add(each, {.op = Op::Fp32, .writes = 1});                 // times alpha
        if (element_ < kSumBytes)
            add(ceil_div(each, 2), {.op = Op::Fp32, .reads = 1, .writes = 2});  // two to a register
    }
    void meet() {
        add(1, {.op = Op::Arrive});
        add(1, {.op = Op::Await});
    }
    void store_shared(std::int64_t element, std::int64_t bytes) {
        add(ceil_div(sums_ * element, bytes), {.op = Op::SharedStore, .reads = 3, .bytes = bytes});
    }
    Section section(std::int64_t trips) {
        section_.trips = trips;
        return std::move(section_);
    }

private:
    const std::int64_t sums_, element_;
    Section section_;
};

}  // namespace

WarpProgram bulk_epilogue(std::int64_t sums, DType out) {
    const std::int64_t element = std::max<std::int64_t>(1, bits_of(out).value() / 8);
    const std::int64_t piece_sums = std::min(sums, kPieceSums);
    Piece piece(piece_sums, element);
    piece.scale_and_convert();
    piece.store_shared(element, kWarpThreads * kThreadBytes);
    piece.add(1, {.op = Op::BulkStore, .bytes = piece_sums * element});
    return {piece.section(ceil_div(sums, kPieceSums))};
}

WarpProgram warp_epilogue(std::int64_t rows, std::int64_t columns, DType out) {
    const std::int64_t element = std::max<std::int64_t>(1, bits_of(out).value() / 8);
    const std::int64_t sums = kPieceRows * columns, row = kWarpThreads * kThreadBytes;
    Piece piece(sums, element);
    piece.meet();                                                 // the piece before has been read
    piece.store_shared(kSumBytes, kWarpThreads * 2 * kSumBytes);  // two neighbours of each thread
    piece.meet();
    piece.add(ceil_div(sums * kSumBytes, row), {.op = Op::SharedLoad, .writes = 1, .bytes = row});
    piece.add(1, {.op = Op::Integer, .reads = 1});
    piece.scale_and_convert();
    for (std::int64_t i = 0; i < ceil_div(sums * element, row); ++i) {
        piece.add(1, {.op = Op::Integer});
        piece.add(1, {.op = Op::GlobalStore, .reads = 2, .bytes = row});
    }
    return {piece.section(rows / kPieceRows)};
}

}  // namespace systole::simt
