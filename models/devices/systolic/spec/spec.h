// SPDX-License-Identifier: Apache-2.0
// A systolic accelerator as plain values: what the configuration says, checked once. Every part of the
// machine is built from its own piece of this and sees nothing else.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/devices/systolic/mxu/matrix_engine.h"
#include "models/link/link_spec.h"
#include "models/memory/scratchpad/scratchpad_spec.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/account/device_energy.h"
#include "sim/base/mac_rate.h"
#include "sim/base/units.h"
#include "sim/config/config.h"
#include "sim/workload/allocation.h"
#include "sim/workload/dtype.h"

namespace systole::systolic {

enum class EngineKind { Tile, Grid };
/// How a convolution's input window becomes rows of the array.
enum class Im2col {
    Packed,  ///< K runs over kernel_h*kernel_w*in_c without gaps: one vector may gather from several taps
    PerTap   ///< every K tile stays inside one tap: few channels fill few rows
};

/// Mappings of a layer that are tried at most: most layers have fewer that differ.
constexpr int kMostTrials = 64;
/// Matrix units of a core at most, and cores of a chip.
constexpr int kMostMxus = 64, kMostCores = 8;
/// MACs per PE and cycle at most.
constexpr int kHighestRate = 16;
/// Cycles per MAC of a PE at most.
constexpr int kMostMacCycles = 16;
/// A queue_depth of this many commands, the most the key takes, stands for a queue that is never full.
constexpr int kUnboundedQueue = 65536;
/// Accumulators of all matrix units together on the PE grid, which holds each: 512 MiB.
constexpr std::int64_t kMaxGridAccumulators = 1 << 27;

struct MxuSpec {
    int count = 1;           ///< matrix units of a core that share one operator
    int rows = 1, cols = 1;  ///< PEs; mxu/dataflow.h says what lies along them
    Dataflow dataflow = Dataflow::WeightStationary;
    /// Arrays take each dataflow: they are set up for one before a program starts (`dataflow` means nothing
    /// until a program says which), and for others between its layers.
    bool choose_dataflow = false;
    Cycles dataflow_switch;       ///< from when an array has run dry until it takes another dataflow
    bool shadow_register = true;  ///< a second register per PE: shift behind the running pass
    int weight_fifo_tiles = 1;    ///< ws: weight tiles that wait before the array; 0: none can
    Space weight_source = Space::Scratchpad;  ///< where weights come from (TPU v1: DRAM)
    std::int64_t accumulator_rows = 1;        ///< rows of `cols` accumulators, per unit
    Cycles accumulator_latency;  ///< add-and-write of one row; bounds consecutive folds onto the same row
    EngineKind engine = EngineKind::Tile;
    Im2col im2col = Im2col::Packed;
    /// MACs of a PE by format of both operands. A rate above one lengthens K per row of PEs; one below it
    /// keeps a PE on each vector for several cycles. Absent: not supported.
    std::array<std::optional<MacRate>, kDTypes> rate;
    /// Of two formats, the activations' first.
    std::map<std::pair<DType, DType>, MacRate> mixed_rate;

    /// Weights a cycle, on their way into each array, that become numbers of the streamed operand's dtype:
    /// narrow ones, those with scales of groups, and zeros that were not stored. 0: none can.
    std::int64_t unpack = 0;
    /// Of `sparse_of` weights along K, a PE's column holds the `sparse_kept` that are stored, with their
    /// places; 0: arrays take all weights.
    int sparse_kept = 0, sparse_of = 1;

    /// Of activations and a second operand; without a rate of the pair's own, that of the slower of the two.
    std::optional<MacRate> rate_of(DType activations, std::optional<DType> second = {}) const;
    /// Of all formats; 0 where none is given.
    MacRate highest_rate() const;
    /// Accumulator rows for each of two blocks: one drains while the next runs.
    std::int64_t accumulator_room() const { return std::max<std::int64_t>(1, accumulator_rows / 2); }
    /// Both operands come straight out of the scratchpad through the edges of the array: no weight FIFO.
    bool direct() const { return direct(dataflow); }
    /// The same while arrays are set up for that dataflow.
    bool direct(Dataflow now) const { return now != Dataflow::WeightStationary || weight_fifo_tiles == 0; }
};

struct VectorSpec {
    std::int64_t lanes = 1;      ///< elements per cycle for an operation of cost 1
    Cycles startup;              ///< pipeline depth, paid once per command
    Bytes read_bytes_per_cycle;  ///< scratchpad port
    Bytes write_bytes_per_cycle;
    std::int64_t accumulator_rows_per_cycle =
        1;  ///< rows of results taken from one matrix unit's accumulators
    /// Lane-cycles per element, by what is done.
    struct Cost {
        int simple = 1;  ///< add, sub, mul, max, min, compare, select, relu, clip and the like, convert
        int transcendental = 1;  ///< exp, sigmoid, tanh, gelu, silu: each
        int reduce = 1;          ///< one element of a sum or maximum along a row
        int mac = 1;             ///< a multiply-accumulate (depthwise convolution, pooling by average)
    } cost;
    /// Bias, function and conversion of a drain are stages behind each other: an element costs as much as the
    /// slowest of them, not their sum.
    bool pipelined_drains = false;
};

struct SequencerSpec {
    Cycles issue_cycles;   ///< of the core clock, per command
    int queue_depth = 1;   ///< commands that wait before each unit; kUnboundedQueue: as many as come
    Ticks launch_latency;  ///< one launch, when run.launch asks for it
    /// Explicit synchronization between layers: whoever reads a tensor, an output on its way to the outside
    /// included, waits until all of it is written. Otherwise only for the bytes that it reads.
    bool whole_tensors = false;
};

struct PlacementSpec {
    Space activations = Space::Dram;  ///< where activations live between layers (TPU v1: the unified buffer)
    bool choose = false;              ///< those that save most traffic live in the scratchpad instead of DRAM
    Bytes activation_bytes;           ///< scratchpad set aside for those that live there
    Bytes input_buffer;               ///< scratchpad for staged input tiles, when activations live in DRAM
    Bytes weight_buffer;  ///< scratchpad for staged weights: tiles, when the FIFO reads from there; biases
    Bytes output_buffer;  ///< scratchpad for tiles on their way out
    bool fuse = false;   ///< elementwise work joins the matrix product before it (sim/workload/fused_graph.h)
    bool slice = false;  ///< layers may run part by part of the batch (sim/workload/sliced_graph.h)
    /// Mappings of a matrix layer that are simulated at most (mapping_trials.h); 0: a few of an operator by
    /// itself that does not take long (network_run.h), otherwise 1.
    int trials = 1;
};

/// Known faults of simulators that we can reproduce, to be compared with them number by number. All off on a
/// machine that means itself.
struct FaultSpec {
    bool os_without_shift_out = false;
    bool utilization_less_one_cycle = false;
    bool conv_output_rounded_up = false;
    bool os_extra_ofmap_writes = false;
    bool partial_sums_written = false;
};

struct SystolicSpec {
    std::string name;  ///< the preset's name: the root of all instance paths
    Hertz core_clock;  ///< matrix units, vector unit, scratchpad, sequencer
    int cores = 1;     ///< of the chip, all alike; they share memory, host link and chip link
    MxuSpec mxu;
    VectorSpec vector;
    SequencerSpec sequencer;
    PlacementSpec placement;
    ScratchpadSpec scratchpad;
    DmaSpec dma;
    HostLinkSpec host;
    std::optional<ChipLinkSpec> chip_link;  ///< to the neighbours on a ring of such chips
    DramSpec memory;
    FaultSpec faults;
    std::optional<DeviceEnergySpec> energy;  ///< without: it has no figures

    /// A matrix unit, as its engines are built.
    ArraySpec array() const {
        return {.rows = mxu.rows,
                .cols = mxu.cols,
                .dataflow = mxu.dataflow,
                .shadow_register = mxu.shadow_register,
                .result_shift = !faults.os_without_shift_out,
                .accumulator_latency = mxu.accumulator_latency,
                .accumulator_rows = mxu.accumulator_rows,
                .dataflow_switch = mxu.dataflow_switch};
    }
    /// Matrix units of all cores.
    int mxus() const { return cores * mxu.count; }
    /// PEs of all matrix units.
    std::int64_t pes() const { return std::int64_t{mxus()} * mxu.rows * mxu.cols; }
    /// The longest run that can be accounted for: the slot-ticks of the whole machine must fit 64 bits, and
    /// so must its memory's energy.
    Ticks longest_run() const {
        return std::min(Ticks(Ticks::max().value() / (pes() * kHighestRate)), memory.longest_run());
    }
};

/// Reads and checks every key of a systolic device (the caller then calls config.finish()).
SystolicSpec read_systolic_spec(config::Config& config, const std::string& name);

}  // namespace systole::systolic
