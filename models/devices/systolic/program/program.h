// SPDX-License-Identifier: Apache-2.0
// The device program of a systolic accelerator: commands in issue order, each for one unit, each waiting for
// tokens. A unit executes and completes its commands in order, so "the first n commands of unit u are
// complete" says everything a token must: a dependency is a (unit, n) pair, and one per unit suffices. Units
// are those of all cores; each core issues its own commands in the order of the program.
//
// This is the seam between mapper, engines and explorer: `systole lower` writes it as text, `--program` runs
// it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/systolic/mxu/dataflow.h"
#include "models/devices/systolic/mxu/port_schedule.h"
#include "models/devices/systolic/spec/spec.h"
#include "models/link/transfer.h"
#include "sim/base/units.h"
#include "sim/workload/allocation.h"
#include "sim/workload/dtype.h"

namespace systole::systolic {

/// A unit with a command queue. Weights and Matrix exist once per matrix unit.
enum class UnitKind : std::uint8_t { HostIn, HostOut, Load, Store, Vector, LinkIn, LinkOut, Weights, Matrix };

/// Numbering of the units of a chip, core by core. Of a core: 7 that its matrix units share (those of a chip
/// link also where there is none), then weights0, matrix0, ... The numbers of cores lie kUnitsOfCore apart.
using UnitIndex = std::uint16_t;
constexpr UnitIndex kSharedUnits = 7;
constexpr UnitIndex kUnitsOfCore = kSharedUnits + 2 * kMostMxus;
constexpr UnitIndex unit_index(UnitKind kind, int mxu = 0, int core = 0) {
    const int first = core * kUnitsOfCore;
    if (kind < UnitKind::Weights) return static_cast<UnitIndex>(first + static_cast<int>(kind));
    return static_cast<UnitIndex>(first + kSharedUnits + 2 * mxu + (kind == UnitKind::Matrix));
}
constexpr int core_of(UnitIndex unit) {
    return unit / kUnitsOfCore;
}
constexpr UnitKind unit_kind(UnitIndex unit) {
    const int own = unit % kUnitsOfCore;
    if (own < kSharedUnits) return static_cast<UnitKind>(own);
    return (own - kSharedUnits) % 2 ? UnitKind::Matrix : UnitKind::Weights;
}
/// Which of its core's.
constexpr int mxu_of(UnitIndex unit) {
    return (unit % kUnitsOfCore - kSharedUnits) / 2;
}
/// Numbers up to that of the last unit of so many cores, of `mxus` matrix units each.
constexpr std::size_t unit_numbers(int cores, int mxus) {
    return static_cast<std::size_t>((cores - 1) * kUnitsOfCore + kSharedUnits + 2 * mxus);
}
/// "host_in", "load", "weights0", "mxu0", ...; of a chip of several cores "core1.load", ...
std::string unit_name(UnitIndex unit, int cores = 1);

/// Wait until `unit` has completed its first `count` commands.
struct Token {
    UnitIndex unit = 0;
    std::uint32_t count = 0;
    friend bool operator==(const Token&, const Token&) = default;
};

/// Where the operands of a pass lie in their operator, for value checks and the explorer: the pass computes
/// out[m0 + t, n0 + j] (+)= sum over k of a[m0 + t, k0 + k] * w[k0 + k, n0 + j] of batch item `batch`.
struct PassOrigin {
    std::int64_t batch = 0, m0 = 0, k0 = 0, n0 = 0;
    friend bool operator==(const PassOrigin&, const PassOrigin&) = default;
};

/// What one edge of the array reads from the scratchpad during a pass, or the vector unit reads or writes:
/// `vectors` vectors of a pattern, from vector `first` on. Which way round they lie (along K or across it) is
/// the edge's to turn: what counts is the port's time.
struct EdgeRead {
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::uint32_t stream = kNone;  ///< index into Program::streams: the pattern; kNone: reads nothing
    std::int64_t address = 0;      ///< of the pattern's first vector
    std::int64_t first = 0;        ///< vector of the pattern
    std::int64_t vectors = 0;      ///< to read
    std::int64_t fold_step = 0;    ///< the next fold of a run reads this many bytes further
    bool none() const { return stream == kNone; }
    friend bool operator==(const EdgeRead&, const EdgeRead&) = default;
};

/// One fold of the operator, m x k x n, or a run of folds along K. How the extents lie on the array is the
/// dataflow's: T is m (ws), k (os) or n (is).
struct MatrixPass {
    EdgeRead left;  ///< streams in: activations (ws, os) or weights (is)
    EdgeRead top;   ///< shifted in (ws weights, is activations) or streams in (os weights); nothing: the tile
                    ///< comes from the weight FIFO, or stays
    std::int64_t m = 0, n = 0;
    std::int64_t k = 0;  ///< of one fold; may exceed the array's rows at a rate above 1
    std::int32_t folds =
        1;  ///< of a run: passes one behind the other, each with a tile of its own, k elements
            ///< further along K, onto the same accumulator rows; all but the first add
    std::int32_t accumulator_row = 0;   ///< first row written: of m rows (ws), n rows (is), m rows (os)
    bool accumulate = false;            ///< add to what the rows hold, instead of replacing it
    bool new_tile = true;               ///< otherwise the tile of the pass before stays (ws, is)
    DType dtype = DType::Bf16;          ///< of the activations: sets the rate …
    std::optional<DType> second_dtype;  ///< … with that of the second operand, where it is another
    Operand second = Operand::Weights;  ///< what w is, where an edge reads it
    PassOrigin origin;
    /// Products that are done, but padding: a mask throws them away afterwards (attention), or their weight
    /// is a zero that was not stored. Of one fold.
    std::int64_t masked = 0;
    /// Its weights become numbers of `dtype` on their way into the array (mxu.unpack).
    bool unpacked = false;
    /// The array holds only the weights that are kept (mxu.sparsity): so many elements of K share a place in
    /// it.
    std::int32_t sparsity = 1;
    Macs macs() const { return Macs((m * k * n - masked) * folds); }  ///< useful ones
    friend bool operator==(const MatrixPass&, const MatrixPass&) = default;
};

/// Work on the vector unit: drains of accumulators and everything that is not a matrix product.
struct VectorWork {
    enum class Source : std::uint8_t { Scratchpad, Accumulator };
    Source source = Source::Scratchpad;
    std::int64_t elements = 0;         ///< results
    std::int64_t lane_cycles = 0;      ///< elements weighted by cost: work in units of one lane for one cycle
    std::int64_t scratchpad_read = 0;  ///< bytes
    std::int64_t scratchpad_written = 0;
    std::vector<EdgeRead> reads;  ///< where, pattern by pattern; what is not named meets nobody in the banks
    EdgeRead write;
    std::int64_t macs = 0;  ///< of these operations, multiply-accumulates of the operator
    std::int32_t mxu = 0;   ///< Accumulator: whose, of the same core
    std::int32_t accumulator_row = 0, accumulator_rows = 0, cols = 0;  ///< Accumulator: the block drained;
                                                                       ///< its rows are M (ws, os) or N (is)
    PassOrigin origin;                   ///< Accumulator: of the block (k0 unused)
    Operand operand = Operand::Outputs;  ///< of what is written
    friend bool operator==(const VectorWork&, const VectorWork&) = default;
};

/// Accumulators are 32 bits wide on every machine modelled (int32 or fp32).
constexpr std::int64_t kAccumulatorBytes = 4;

struct Command {
    UnitIndex unit = 0;
    std::uint8_t token_count = 0;
    std::int32_t layer = 0;
    std::uint32_t work = 0;         ///< index into the pool of the unit's kind of work
    std::uint32_t first_token = 0;  ///< index into Program::tokens
    friend bool operator==(const Command&, const Command&) = default;
};

/// What the accounts and reports need to know of a layer.
struct LayerInfo {
    std::string name, op, mapping;
    std::int64_t macs = 0;
    std::int64_t compulsory_dram = 0;        ///< bytes: each of its tensors that lives in DRAM, once
    DType dtype = DType::Bf16;               ///< of the activations: sets the rate of capacity …
    std::optional<DType> second_dtype = {};  ///< … with that of the second operand, where it is another
    std::optional<Dataflow> dataflow = {};   ///< of its passes, where it is another than the program's
    std::int64_t slices =
        1;  ///< it is one of so many equal parts of a layer's batch, done in turn with others'
    friend bool operator==(const LayerInfo&, const LayerInfo&) = default;
};

struct Program {
    std::string trace;
    std::string inputs_at, outputs_to;  ///< of the protocol it was lowered for; empty: not stated
    Dataflow dataflow = Dataflow::WeightStationary;  ///< that arrays are set up for before it starts
    int cores = 1;                                   ///< of the chip it was lowered for
    std::int64_t compulsory_dram = 0;  ///< bytes: weights, inputs and outputs that live in DRAM, once
    std::vector<LayerInfo> layers;
    std::vector<AddressStream> streams;  ///< scratchpad read patterns, without duplicates
    std::vector<Command> commands;
    std::vector<Token> tokens;
    std::vector<Transfer> transfers;      ///< HostIn, HostOut, LinkIn, LinkOut, Load, Store, Weights
    std::vector<MatrixPass> passes;       ///< Matrix
    std::vector<VectorWork> vector_work;  ///< Vector

    /// Of a command of the matrix units, or of a drain of theirs.
    Dataflow dataflow_of(const Command& c) const {
        return layers[static_cast<std::size_t>(c.layer)].dataflow.value_or(dataflow);
    }
    /// Arrays are set up anew on the way.
    bool mixes_dataflows() const {
        return std::ranges::any_of(layers, [](const LayerInfo& layer) { return layer.dataflow.has_value(); });
    }
    const Transfer& transfer(const Command& c) const { return transfers[c.work]; }
    const MatrixPass& pass(const Command& c) const { return passes[c.work]; }
    const VectorWork& vector(const Command& c) const { return vector_work[c.work]; }
};

/// One line per layer, stream and command (README.md describes them); reads back to an equal program.
std::string to_text(const Program& program);

}  // namespace systole::systolic
