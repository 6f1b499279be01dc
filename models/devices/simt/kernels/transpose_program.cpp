// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/transpose_program.h"

#include <bit>

#include "models/devices/simt/kernels/program_writer.h"

namespace systole::simt {
namespace {

// Instructions: place in the tile and the matrix, pointers; of each dimension of the batch a division of 32
// bits (CUDA programming guide: at most 20) and two multiply-adds; of each load or store, whether it lies in
// the matrix, and where.
constexpr int kSetUp = 16, kOfDimension = 20 + 2, kOfWord = 2;
constexpr int kBarrier = 0;

/// Words of one row each become words of one column each: halves change places, then quarters.
void permute(const VectorKernel& kernel, SectionWriter& writer) {
    const std::int64_t word = kernel.turn.word;
    for (std::int64_t half = word; half > 1; half /= 2)
        for (std::int64_t i = 0; i < word; ++i)
            writer.op(Op::Integer, loaded(i) | loaded(i ^ (half / 2)), value(i));
}

}  // namespace

Bytes shared_by_tile(const VectorKernel& kernel) {
    const Turn& turn = kernel.turn;
    return Bytes(ceil_div(turn.tile_rows * (turn.tile_cols + turn.word) * bits_of(kernel.in).value(), 8));
}

WarpProgram transpose_program(const VectorKernel& kernel) {
    const std::int64_t words = kernel.turn.words_of_thread(), word = kernel.turn.word;
    const std::int64_t bytes = bytes_of_warp(kernel, word, kernel.in);
    Section set_up, rows, columns;
    SectionWriter(set_up).op(Op::Integer, kAddress, kAddress,
                             kSetUp + kOfDimension * static_cast<int>(kernel.turn.batch.size()));
    rows.steps = true;
    SectionWriter loads(rows), stores(columns);
    for (std::int64_t i = 0; i < words; ++i) {
        loads.op(Op::Integer, kAddress, kAddress, kOfWord);
        loads.load(i, bytes);
    }
    for (std::int64_t i = 0; i < words; ++i) loads.leave(loaded(i), bytes);
    loads.wait(kBarrier);
    for (std::int64_t first = 0; first < words; first += word) {
        for (std::int64_t i = 0; i < word; ++i) stores.load_again(i, bytes);
        if (word > 1) permute(kernel, stores);
        if (kernel.in != kernel.out) {
            stores.convert(word * word, 0, word, kernel.in);
            stores.each(word * word, conversion_to(kernel.out));
        }
        for (std::int64_t i = 0; i < word; ++i) {
            stores.op(Op::Integer, kAddress, kAddress, kOfWord);
            stores.store(word > 1 || kernel.in != kernel.out ? value(i) : loaded(i),
                         bytes_of_warp(kernel, word, kernel.out));
        }
    }
    return {std::move(set_up), std::move(rows), std::move(columns)};
}

}  // namespace systole::simt
