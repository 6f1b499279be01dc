// SPDX-License-Identifier: Apache-2.0
// What the chip is to run: layers as kernels one behind the other, with where their operands lie.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "models/devices/simt/kernels/attention_kernel.h"
#include "models/devices/simt/kernels/collective_cost.h"
#include "models/devices/simt/kernels/cta_timing.h"
#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/kernels/operand_map.h"
#include "models/devices/simt/kernels/vector_kernel.h"
#include "models/devices/simt/memory/l2_blocks.h"
#include "models/link/transfer.h"
#include "sim/account/byte_ledger.h"
#include "sim/account/run_result.h"
#include "sim/base/units.h"

namespace systole::simt {

/// A matrix in memory. Steps along K lie one behind the other, in each the rows of A (columns of B) with the
/// step's K: a CTA's share of a step is one contiguous block, and CTAs of neighbouring tiles have
/// neighbouring blocks. Real kernels read 64 to 256 bytes of each row, a leading dimension apart; how these
/// fall into pages of the memory is not kept.
struct MatrixPlace {
    std::int64_t address = 0;
    Operand operand = Operand::Activations;
    Bytes bytes;
    Bytes padding;  ///< behind it, that passes to and from the memory with its end

    MatrixRange range() const {
        const std::int64_t end = address + bytes.value();
        return {address, end, end + padding.value()};
    }
};

/// What an epilogue reads of each column, one behind the other: scales, or a bias.
struct ColumnValues {
    std::string name;
    MatrixPlace place;
    std::int64_t value_bytes = 4;
};

struct GemmPlan {
    GemmKernel kernel;
    CtaTiming timing;
    double estimate = 0;  ///< core cycles, as the chooser expects
    MatrixPlace a, b, c;
    /// Sums of parts of K in fp32, [part][batch][m][n], where there are several; C otherwise.
    MatrixPlace sums;
    /// What the epilogue reads, where it does: of columns, in the order in which it loads them, and a matrix
    /// like C.
    std::vector<ColumnValues> columns;
    MatrixPlace other;

    /// A warp of its own copies: behind the last step it goes on with what is joined. Warps load a bias only
    /// when they are through with their products.
    bool joins_ahead() const {
        return kernel.epilogue().join && !timing.meet && kernel.on_tensor_cores() && kernel.streams == 0;
    }
};

/// A kernel that streams: CTAs read their shares of what lies at `from` and `other`, and write theirs to `to`
/// (the sums of a split product's parts).
struct StreamPlan {
    std::int64_t ctas = 1;
    int warps = 8;  ///< of a CTA
    int warp_threads = 32;
    int resident = 1;  ///< CTAs that an SM holds at a time
    Cycles prologue,
        epilogue;  ///< before a CTA's first load leaves, and from its last data to its last store
    MatrixPlace from, to;
    MatrixPlace other;                  ///< of the same shape as what is written; no bytes: none
    std::vector<ColumnValues> columns;  ///< met again and again
    std::int64_t column_run = 1;    ///< elements behind each other that have one of their values in common
    std::int64_t column_items = 1;  ///< equal parts of the elements, each with its own part of these
    std::int64_t elements = 0;      ///< that are written
    Epilogue finish;                ///< what is done to each of them; in `epilogue`, too
    /// No kernel by itself: what the last CTAs of the one before do when they have counted all others. It has
    /// no launch.
    bool of_last_ctas = false;
};

/// A tensor of which a kernel needs (or makes) an element for each result, or for some of them.
struct VectorOperand {
    MatrixPlace place;
    std::int64_t elements = 1;  ///< that it has
    OperandMap map = {};
    Bytes touched = place.bytes;  ///< that are read (or written) at all
};

/// A kernel that no tensor core works in.
struct VectorPlan {
    VectorKernel kernel;
    CtaTiming timing;
    /// Elementwise: as results need; of rows and windows: one; lookup: indices, table; rotary: queries, keys
    /// if it turns any, and the table.
    std::vector<VectorOperand> in;
    /// Of norms, a value of each column: read behind the last step. Of depthwise convolutions, weights and
    /// biases.
    std::vector<MatrixPlace> columns;
    VectorOperand to;
    std::vector<OperandMap> stores;  ///< where a result's values go; none: one behind the other
    MatrixPlace beside;  ///< as many other results: of a top-k, where its values stood; Qkv: turned keys; no
                         ///< bytes: none
    /// Qkv: where rows of keys and of values go, [batch, heads, length, dim].
    std::vector<MatrixPlace> caches;
    MatrixPlace sums;      ///< where CTAs that share windows leave theirs in fp32, one behind the other
    std::int64_t sms = 1;  ///< of the chip: their first CTAs bring `columns` into the L1
    /// Of kernels that multiply: MACs of an SM's tensor cores at the layer's format; 0: it does not.
    std::int64_t macs_per_cycle = 0;
};

/// Attention whose scores never leave the SMs.
struct AttentionPlan {
    AttentionKernel kernel;
    CtaTiming timing;     ///< masks of the longest CTA's steps are in `fill`
    double estimate = 0;  ///< core cycles
    /// Head by head: rows of a head one behind the other. No bytes of `v`: rows of keys have them.
    MatrixPlace q, k, v, out;
    /// Of parts of the keys, in fp32: results [part][item][row][dim], and of each row its largest score and
    /// sum, as one number.
    MatrixPlace sums;
};

/// What chips do together, by their links. The library's own time has the launch in it.
struct CollectivePlan {
    CollectiveTime time;
    std::int64_t ctas = 1;
    MatrixPlace from, to;  ///< this chip's
};

using KernelPlan = std::variant<GemmPlan, StreamPlan, VectorPlan, AttentionPlan, CollectivePlan>;

/// "108 of 108 SMs, 1.2 waves": of so many CTAs on SMs, `sms` of which can take some, that hold `resident`.
std::string waves_text(std::int64_t ctas, std::int64_t sms, int resident, const SmSpec& sm);

/// A layer of the network.
struct LayerPlan {
    std::string name, op;
    std::string mapping;  ///< one phrase: "128x256x64, 4 stages, 132 of 132 SMs, 3.9 waves"
    DType dtype = DType::Bf16;
    Macs macs;
    Bytes compulsory_dram;  ///< its tensors in DRAM, each once
    std::vector<KernelPlan> kernels;
    Bytes stored = {};  ///< of what stays in the memory (weights, caches), what no layer before it has met
};

/// Of a network that is repeated, turns that were timed and those before them; none timed: so many that no
/// burst of power is left. Two are simulated all the same: caches are then as they stay.
struct Turns {
    int before = 0, timed = 0;
};

struct ChipPlan {
    std::string trace;
    std::vector<LayerPlan> layers;  ///< of all runs of the network (Protocol::repeat, weight_copies)
    std::size_t turn = 0;           ///< layers of a turn (Protocol::repeat): all copies
    std::int64_t copies = 1;        ///< runs of the network in a turn
    Turns turns;
    std::size_t first_reported = 0;  ///< layer: the first one of the last run
    Bytes compulsory_dram;           ///< weights, inputs and outputs of the network, once
    std::vector<Transfer> inputs,
        outputs;  ///< between host and DRAM, before the first and after the last layer
    std::vector<TensorPlace> tensors;
};

}  // namespace systole::simt
