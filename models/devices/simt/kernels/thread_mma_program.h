// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA that multiplies with tcgen05.mma: a warp copies, a thread of another one issues
// all products, whose sums stay in tensor memory, and four warps bring them out while the next tile is
// multiplied.
//
//   memory ─ BulkCopy ─► shared memory ─ TensorMma ─► tensor memory ─ TensorLoad ─► registers ─► shared
//   memory ─ BulkStore ─► memory
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Whether it is made of whole instructions (of 64 or 128 rows of an SM and up to 256 columns), and its sums
/// fit the tensor memory that chips have.
bool thread_mma_divides(const CtaTile& tile, const GemmFormats& formats);

/// Columns of tensor memory that one tile's sums take, and for how many tiles there is room: two, of which
/// one is brought out while the other is added to, or one.
std::int64_t tensor_columns(const CtaTile& tile);
int accumulators_of(const CtaTile& tile);

/// Bytes of shared memory that a step's scales take: of whole 128s of rows and columns, of all columns of a
/// pair.
std::int64_t scale_bytes(const CtaTile& tile, BlockScales blocks);

/// For tiles of so many steps along K, one behind the other; without its shared memory. The tile must divide.
CtaProgram thread_mma_program(const CtaTile& tile, const GemmFormats& formats,
                              const std::vector<std::int64_t>& tiles);

}  // namespace systole::simt
