// SPDX-License-Identifier: Apache-2.0
// How a warp's part of a tile is cut into instructions where operands pass through registers into shared
// memory (staged_program.h): by who multiplies.
#pragma once

#include <cstdint>

#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/spec/spec.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Fragments of an operand that a warp reads for one part of a step's K.
struct FragmentReads {
    std::int64_t count = 0;      ///< instructions
    std::int64_t bytes = 0;      ///< of each, that pass the banks of shared memory
    std::int64_t registers = 0;  ///< of a thread, that all of them fill
};

/// A product of an instruction: which of the part's reads it needs, by number.
struct ProductReads {
    std::int64_t a = 0, b = 0;
};

/// What a warp of `rows` x `cols` results does for a part of K.
struct StagedShape {
    std::int64_t threads = 32;  ///< of a warp
    std::int64_t rows = 0, cols = 0;
    std::int64_t part_bytes = 0;  ///< of K
    FragmentReads a, b;
    Op op = Op::Mma;
    std::int64_t m = 0, n = 0;                 ///< results of a product's instructions
    std::int64_t instructions = 1;             ///< of each product
    std::int64_t macs = 0;                     ///< of each instruction
    bool sums_apart = false;                   ///< each instruction of a product has sums of its own
    std::size_t behind_product = 1;            ///< other instructions that are issued while one multiplies
    int other_registers = 0;                   ///< besides sums, fragments and what is loaded
    std::int64_t thread_bytes = kThreadBytes;  ///< that a thread loads at a time

    std::int64_t load_bytes() const { return threads * thread_bytes; }
    std::int64_t products() const { return rows / m * (cols / n) * instructions; }
    /// Numbers of the reads that bring the operands of the product at row and column `row`, `col` of
    /// products.
    ProductReads reads_of(std::int64_t row, std::int64_t col) const {
        return {row * m * a.count / rows, col * n * b.count / cols};
    }
};

/// Of a warp of the tile; nothing where it has no whole instructions.
std::optional<StagedShape> staged_shape(const CtaTile& tile, DType dtype, TensorIssue issue);

}  // namespace systole::simt
