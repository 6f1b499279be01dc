// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemm_epilogue.h"

#include <algorithm>

#include "models/devices/simt/spec/spec.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kPieceSums = 1024;  // that go through shared memory at a time: 16 x 64

Section piece(std::int64_t sums, std::int64_t element, bool bulk) {
    Section section;
    const auto add = [&](std::int64_t times, const Instruction& instruction) {
        for (std::int64_t i = 0; i < times; ++i) section.body.push_back(instruction);
    };
    const std::int64_t each = ceil_div(sums, kWarpThreads);  // sums of a thread
    const std::int64_t bytes = sums * element;
    add(each, {.op = Op::Fp32, .writes = 1});                                            // times alpha
    if (element < 4) add(ceil_div(each, 2), {.op = Op::Fp32, .reads = 1, .writes = 2});  // two to a register
    // mma leaves two neighbours in a thread; stmatrix moves four times as much.
    const std::int64_t store = bulk ? kWarpThreads * kThreadBytes : kWarpThreads * 2 * element;
    add(ceil_div(bytes, store), {.op = Op::SharedStore, .reads = 3, .bytes = store});
    if (bulk) {
        add(1, {.op = Op::BulkStore, .bytes = bytes});
        return section;
    }
    const std::int64_t row = kWarpThreads * kThreadBytes;
    for (std::int64_t i = 0; i < ceil_div(bytes, row); ++i) {
        add(1, {.op = Op::Integer});
        add(1, {.op = Op::SharedLoad, .writes = 4, .bytes = row});
        add(1, {.op = Op::GlobalStore, .reads = 4, .bytes = row});
    }
    return section;
}

}  // namespace

WarpProgram gemm_epilogue(std::int64_t sums, DType out, bool bulk) {
    const std::int64_t element = std::max<std::int64_t>(1, bits_of(out).value() / 8);
    Section pieces = piece(std::min(sums, kPieceSums), element, bulk);
    pieces.trips = ceil_div(sums, kPieceSums);
    return {pieces};
}

}  // namespace systole::simt
