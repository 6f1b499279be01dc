// SPDX-License-Identifier: Apache-2.0
// What a tensor core does for one warp, clock by clock: the warp multiplies a tile of its own alone on an SM
// whose data are there at once, so that what is seen is the tensor core, its latency and the way of its
// operands. The dataflow explorer shows it beside a systolic array.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/simt/spec/spec.h"
#include "sim/workload/dtype.h"

namespace systole::simt {

/// Where the tile's operands are when the first instruction of the tensor core begins.
enum class Fragments : std::uint8_t {
    Shared,    ///< in shared memory, of which each step of the kernel (kernels/gemm_program) loads its own
    Registers  ///< in the warp's registers, all of them: nothing but mma.sync is issued
};

/// The warp's tile of the product: m x n results over k.
struct WarpTileShape {
    std::int64_t m = 16, n = 8, k = 64;
    DType dtype = DType::Fp16;
    Fragments fragments = Fragments::Shared;
};

/// What a clock of the warp's tensor core goes to: work, or what the warp's next instruction waits for.
enum class WarpClock : std::uint8_t {
    Works,
    Sums,              ///< of the instruction before, to which the next adds
    Fragments,         ///< operands on their way out of shared memory
    FragmentsAndSums,  ///< both; the fragments come last
    Barrier,           ///< bar.sync behind the copies of a step
    Copies,            ///< data on their way into shared memory
    Issue              ///< the warp issues, or waits to issue, what stands before the next product
};

struct WarpTileRecording {
    WarpTileShape shape;
    std::int64_t mma_m = 16, mma_n = 8, mma_k = 16;  ///< of one instruction
    std::int64_t instructions = 0;                   ///< mma.sync, in all
    std::int64_t macs_per_cycle = 0;                 ///< of the warp's tensor core
    std::int64_t cycles_of_mma = 0;                  ///< for which one keeps the tensor core
    std::int64_t latency = 0;                        ///< from its end until its sums can be read
    std::vector<WarpClock> clocks;  ///< from the first instruction's begin to the last one's end
    std::int64_t busy = 0;          ///< of these, at work
};

/// Whether a tile can be cut into instructions, and the SM's tensor cores take mma.sync of the type;
/// otherwise why not, as half a sentence.
const char* problem_of(const WarpTileShape& shape, const SmSpec& sm);

/// `problem_of` has nothing against it.
WarpTileRecording record_warp_tile(const WarpTileShape& shape, const SmSpec& sm);

}  // namespace systole::simt
