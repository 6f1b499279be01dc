// SPDX-License-Identifier: Apache-2.0
// A SIMT GPU as plain values: what the configuration says, checked once. Every part of the machine is built
// from its own piece of this and sees nothing else. Cycles are those of the core clock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/simt/spec/collectives_spec.h"
#include "models/link/link_spec.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/account/device_energy.h"
#include "sim/base/units.h"
#include "sim/workload/dtype.h"

namespace systole::simt {

/// What one instruction of a thread copies from memory into shared memory, or loads of it, at most.
constexpr std::int64_t kThreadBytes = 16;

/// Sectors of a page of the L2, of which it keeps which was used last; a line has at most as many.
constexpr int kL2PageSectors = 64;

/// How warps reach what multiplies for them.
enum class TensorIssue {
    Warp,       ///< mma.sync (Turing to Ada): operands in registers, one warp
    WarpGroup,  ///< wgmma (Hopper): operands in shared memory, four warps, asynchronous
    Wave,       ///< MFMA (CDNA): operands in registers, one warp of 64 threads
    QuadPair,   ///< mma.sync.m8n8k4 (Volta): operands in registers, eight threads a product, four in a warp
    /// tcgen05.mma (Blackwell): operands in shared memory, sums in tensor memory; one thread, asynchronous
    Thread,
    Lanes  ///< fma: no tensor core takes the format, FP32 pipelines multiply, each thread its own
};

/// Which of a sub-core's ready warps issues.
enum class WarpScheduling {
    GreedyThenOldest,  ///< the one that issued last, otherwise the oldest
    LooseRoundRobin    ///< the next one after it
};

/// How SMs are simulated.
enum class SmEngine {
    Steps,  ///< CTAs step by step, SMs that do the same as one
    Warps   ///< every SM, warp instruction by warp instruction
};

/// A pipeline of a sub-core: a warp instruction keeps it for `interval`, and its result is there after
/// `latency`.
struct PipeSpec {
    Cycles interval, latency;
};

/// Memory of an SM in which tensor cores leave sums (TensorIssue::Thread): kTensorLanes rows of columns of 32
/// bits, given to CTAs by columns. Warps move what they need into registers.
struct TensorMemorySpec {
    Bytes capacity;         ///< 0: sums lie in registers
    Bytes bytes_per_cycle;  ///< into a sub-core's registers
    Cycles latency;         ///< of a load, from issue to its first register
};
constexpr std::int64_t kTensorLanes = 128;
constexpr std::int64_t kTensorColumnBytes = 4 * kTensorLanes;

struct TensorSpec {
    TensorIssue issue = TensorIssue::Warp;
    /// Multiply-accumulates a cycle of one tensor core, by format of the operands; nothing: not supported.
    std::array<std::optional<std::int64_t>, kDTypes> macs;
    /// From the end of an instruction's interval to its sums: those of a dependent instruction's operands.
    Cycles latency;
    TensorMemorySpec memory;
    std::int64_t sync_slower = 1;  ///< mma.sync takes so many times as long as by these rates
    /// Products of numbers with a scale for each block of K, which tensor cores multiply in
    /// (TensorIssue::Thread).
    bool block_scales = false;
};

struct SharedMemorySpec {
    Bytes capacity;         ///< of an SM, for all CTAs together
    Bytes most_of_cta;      ///< that one CTA may have
    Bytes reserved_of_cta;  ///< that every CTA takes besides its own
    Bytes bytes_per_cycle;  ///< of all banks together
    Cycles latency;         ///< of a load without conflicts, from issue to the register
};

struct SmSpec {
    int count = 1;                  ///< SMs of the chip
    int warp_threads = 32;          ///< threads of a warp, which issue together: 64 on CDNA (a wavefront)
    int sub_cores = 4;              ///< each with a warp scheduler, pipelines and a tensor core
    int warps = 64;                 ///< that may be resident on an SM
    int ctas = 32;                  ///< likewise
    int registers = 65536;          ///< of 32 bits, of an SM
    int register_unit = 256;        ///< registers are given to warps in multiples of so many
    int registers_of_thread = 255;  ///< at most
    WarpScheduling scheduling = WarpScheduling::GreedyThenOldest;
    Cycles issue_interval = Cycles(1);  ///< from an instruction of a warp to its next, at least
    SmEngine engine = SmEngine::Steps;
    PipeSpec fp32, integer, special;
    bool fp16_on_lanes = false;  ///< the FP32 pipelines take fp16, too, an FMA a lane and cycle
    /// These three are one pipeline, which an instruction of any keeps for its own interval (CDNA's VALU).
    bool one_pipe = false;
    TensorSpec tensor;
    SharedMemorySpec shared;
    Cycles lsu_interval;  ///< of one memory instruction of a warp in the load/store unit that an SM shares
    /// From a sub-core's memory instruction to its next, whose addresses it computes by itself; 0: no more
    /// than the unit that all share.
    Cycles lsu_interval_of_sub_core;
    Cycles lsu_queue;        ///< work of shared memory that may wait before warps that add to it stall
    Cycles barrier_latency;  ///< from the last arrival at a barrier until those who wait go on
    Cycles bulk_copy_issue;  ///< from a bulk tensor copy's instruction until its requests leave the SM
    /// What the unit that makes bulk copies' requests gets through: whole boxes, zeros outside the tensor,
    /// too. 0: any.
    Bytes bulk_copy_bytes_per_cycle;
    /// Of L1 and shared memory together: what CTAs leave of it is L1. Apart: of the L1 alone.
    Bytes l1_capacity;
    bool l1_apart = false;
    Cycles l1_latency;  ///< of a load that hits
    Bytes l1_bytes_per_cycle;
    Bytes store_bytes_per_cycle;  ///< of threads' stores: L2Spec::sm_write_per_cycle
    /// SMs of each GPC (graphics processing cluster), `count` together; empty: all are in one. CTAs of a
    /// cluster run on SMs of one GPC.
    std::vector<int> gpcs;
    Cycles cluster_latency;  ///< from an SM to another of its GPC: what one CTA of a cluster tells the others

    /// SMs that clusters of so many CTAs can take, each CTA another one: of every GPC, whole clusters.
    std::int64_t for_clusters(std::int64_t ctas) const {
        if (gpcs.empty()) return count / ctas * ctas;
        std::int64_t sms = 0;
        for (const int gpc : gpcs) sms += gpc / ctas * ctas;
        return sms;
    }
    /// Multiply-accumulates a cycle of one sub-core at the format of the operands: of its tensor core, or of
    /// its FP32 pipeline where that takes the format and no tensor core does. 0: nothing takes it. CDNA's
    /// matrix cores take fp32, which is not modelled.
    std::int64_t macs(DType dtype) const {
        if (const auto rate = tensor.macs[static_cast<std::size_t>(dtype)]) return *rate;
        const bool taken = dtype == DType::Fp32 || (dtype == DType::Fp16 && fp16_on_lanes);
        const bool lanes = taken && tensor.issue != TensorIssue::Wave;
        const std::int64_t interval = std::max<std::int64_t>(1, fp32.interval.value());
        return lanes ? std::max<std::int64_t>(1, warp_threads / interval) : 0;
    }
    /// How warps reach what multiplies operands of the format.
    TensorIssue issue_of(DType dtype) const {
        return tensor.macs[static_cast<std::size_t>(dtype)] ? tensor.issue : TensorIssue::Lanes;
    }
    /// What CTAs of such a cluster wait for each other's signals.
    Cycles signal_latency(std::int64_t ctas) const { return ctas > 1 ? cluster_latency : Cycles(0); }
};

/// Translation of addresses on the way from SMs to the L2; SMs of a GPC share a TLB.
struct TlbSpec {
    Bytes page;      ///< bytes of an entry
    Bytes reach;     ///< pages of all entries together, whole ones; 0: addresses are always known
    Cycles latency;  ///< of a miss, on top of what a request takes with a hit
};

/// Between the SMs and the L2, and the L2 itself.
struct L2Spec {
    Bytes capacity;
    Bytes usable;                 ///< that one working set can occupy: partitions may hold lines twice
    Bytes dirty;                  ///< of it, that may differ from the memory; 0: all
    int ways = 0;                 ///< lines of a set, over which addresses are hashed; 0: one set
    Bytes line, sector;           ///< tags are of lines, transfers of sectors
    Bytes bytes_per_cycle;        ///< of all slices together, reads
    Bytes write_bytes_per_cycle;  ///< likewise, writes
    Bytes sm_read_per_cycle;      ///< into one SM
    Bytes sm_write_per_cycle;     ///< out of one SM
    Cycles latency;               ///< of a hit, from the SM's request to its data, idle
    Cycles far_latency;           ///< besides, of a hit in the other one of two partitions; 0: there is one
    double memory_share = 1;      ///< of the memory's bandwidth that reads of short rows reach (calibrated)
    Bytes memory_per_cycle;       ///< to and from the memory; 0: as much as that gives
    Cycles memory_latency;        ///< what a miss takes besides the DRAM's own time: fabric and controllers
};

/// Dies of SMs side by side (CDNA's XCDs). Each has as many SMs as the others, and an L2 of its own, as
/// SimtSpec::l2 says; lines that one of them writes back are dropped by the others.
struct ChipletsSpec {
    int count = 1;
};

/// Between the L2s and the memory, if there is one (AMD's Infinity Cache): the same values as of an L2, whose
/// SMs are the chip's dies.
using MemorySideCacheSpec = std::optional<L2Spec>;

struct LaunchSpec {
    Ticks graph;   ///< from the end of a kernel of a graph to the first CTA of the next that depends on it
    Ticks stream;  ///< the same between kernels of a stream
    Cycles cta;    ///< from a free place on an SM to the first instruction of the CTA that takes it
    /// Between two CTAs that get places, of the chip, or of each of its dies, at the core clock; 0: any
    /// number get them at once.
    Ticks cta_interval;
};

/// What the chip draws, as far as it decides on the clock.
struct PowerSpec {
    std::optional<Milliwatts> cap;    ///< for long; none: never too much
    std::optional<Milliwatts> burst;  ///< until the average has come to the cap; none: the cap (calibrated)
    Milliwatts idle;                  ///< at any time
    Milliwatts tensor;                ///< besides, by tensor cores at full rate and core clock (calibrated)
    Milliwatts memory;                ///< besides, at full bandwidth
    Ticks window;                     ///< after which the clock follows what is drawn
    Ticks rise;                       ///< after which it is as before a kernel that the cap held
    bool l2_follows = true;           ///< L2s and their ports go by the SMs' clock, whatever it is
    Ticks average;                    ///< time constant of that average, where there is a burst
};

/// Constants found by looking at measured times (but `replay_gap`, the benchmark's), beside two of the power
/// (`PowerSpec::burst`, `tensor`): at most four together, counted by a test. What each is without calibration
/// is its data-sheet value: nothing withheld, nothing added.
struct CalibratedSpec {
    Ticks kernel_overhead;    ///< of every kernel, besides its launch: 0 by data sheet
    Ticks replay_gap;         ///< between two turns of a network that is repeated: 0 by data sheet
    double memory_share = 1;  ///< of the memory's bandwidth, that reads of tiles' rows reach: 1 by data sheet
    /// A library counts the time of CTAs by this share more if their tile loads four times as many operands
    /// for a result as the catalogue's tile that loads fewest; in general by this x (root of the ratio - 1).
    /// 0 for one that goes by its expectation.
    double larger_tiles = 0;
    /// A library holds a kernel to be longer than its estimate by this share of the time that its loads take
    /// at the L2's ports, also where these are not what bounds it: 0 for one that goes by its expectation.
    double l2_loads = 0;
};

/// Whether kernels share the last tiles along K (stream-K).
enum class StreamK {
    Never,    ///< the library has no such kernels
    Offered,  ///< it has, and takes one where that is expected to take the least time
    Always    ///< it takes one wherever tiles leave places of a wave empty
};

/// Which kernels take K in parts, by CTAs of their own, whose sums a second kernel adds.
enum class SplitK {
    Never,
    Cudnn7,  ///< of convolutions on Volta's tensor cores, those of 128 x 128
    Offered  ///< all, where that is expected to take the least time
};

/// Whose kernels layers without tensor cores get, where these differ.
enum class Library {
    PyTorch,       ///< ATen's of 2.7
    Vllm,          ///< vLLM's of 0.2: norms and gates of language models element by element; else PyTorch2023
    PyTorch2023,   ///< ATen's of 2.0 and 2.1: softmax of long rows and lookups
    Inductor2023,  ///< torch.compile's of 2.0: norms and elementwise kernels; else PyTorch2023
    /// TensorRT-LLM's of 1.0: one kernel turns queries and keys and writes keys and values into their caches
    /// (kernels/qkv_kernel.h); other layers are PyTorch's
    TensorRtLlm
};

/// Its kernels besides its own are ATen's of 2.0 and 2.1.
constexpr bool of_2023(Library library) {
    return library == Library::Vllm || library == Library::PyTorch2023 || library == Library::Inductor2023;
}

/// What the library of kernels has, besides its tiles.
struct KernelsSpec {
    Library layers = Library::PyTorch;
    /// TensorRtLlm: positions whose cosines and sines the library has in a table; those of longer sequences
    /// are computed. 0: all.
    std::int64_t table_positions = 0;
    StreamK stream_k = StreamK::Never;
    SplitK split_k = SplitK::Offered;
    bool winograd = true;    ///< convolutions in fp32 by fewer multiplications (kernels/winograd.h)
    bool persistent = true;  ///< Hopper's: CTAs that go on with another tile
    /// Of chips of several dies, among which CTAs are dealt one by one: products number theirs anew, so that
    /// each die has neighbouring tiles (hipBLASLt's WorkGroupMappingXCC).
    bool neighbours_on_die = false;
};

struct SimtSpec {
    std::string name;  ///< the preset's name: the root of all instance paths
    Hertz core_clock;  ///< of SMs, fabric and L2, where power allows it
    SmSpec sm;
    TlbSpec tlb;
    ChipletsSpec chiplets;
    L2Spec l2;  ///< of each die
    MemorySideCacheSpec memory_side_cache;
    KernelsSpec kernels;
    LaunchSpec launch;
    PowerSpec power;
    HostLinkSpec host;
    DmaSpec copy;                           ///< the engine that copies between host and memory
    std::optional<ChipLinkSpec> chip_link;  ///< to other chips
    CollectivesSpec collectives;            ///< of chips with such a link
    DramSpec memory;
    CalibratedSpec calibrated;
    std::optional<DeviceEnergySpec> energy;  ///< without: it has no figures

    /// SMs of a die; those of die n have the numbers from n times as many on.
    std::int64_t sms_of_chiplet() const { return sm.count / chiplets.count; }
    /// Bytes a cycle of the L2s of all dies together.
    Bytes l2_bytes_per_cycle() const { return l2.bytes_per_cycle * chiplets.count; }
    Bytes l2_write_bytes_per_cycle() const { return l2.write_bytes_per_cycle * chiplets.count; }
    /// From a hit of the L2 to data that come from the memory, without the DRAM's own time.
    Cycles miss_latency() const {
        if (!memory_side_cache) return l2.memory_latency;
        return l2.memory_latency + memory_side_cache->latency + memory_side_cache->memory_latency;
    }
    /// The cache that all SMs share: what one kernel leaves there, the next one finds.
    const L2Spec& shared_cache() const { return memory_side_cache ? *memory_side_cache : l2; }

    /// MACs a cycle of all SMs; 0 for a format that nothing takes.
    std::int64_t macs_per_cycle(DType dtype) const {
        return std::int64_t{sm.count} * sm.sub_cores * sm.macs(dtype);
    }
    /// The longest run that can be accounted for: the slot-ticks of all tensor cores must fit 64 bits, and so
    /// must the memory's energy.
    Ticks longest_run() const {
        std::int64_t most = 1;
        for (std::size_t i = 0; i < kDTypes; ++i) most = std::max(most, sm.macs(static_cast<DType>(i)));
        return std::min(Ticks(Ticks::max().value() / (std::int64_t{sm.count} * sm.sub_cores * most)),
                        memory.longest_run());
    }
};

}  // namespace systole::simt
