// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "models/devices/systolic/spec/calibrated_config.h"
#include "models/devices/systolic/spec/placement_config.h"
#include "models/devices/systolic/spec/rate_config.h"
#include "models/devices/systolic/spec/spec.h"
#include "models/devices/systolic/spec/systolic_energy.h"
#include "models/link/chip_link_config.h"
#include "models/link/dma_config.h"
#include "models/link/host_link_config.h"
#include "models/memory/config/dram_config.h"
#include "models/memory/scratchpad/bank_calendar.h"

namespace systole::systolic {
namespace {

using config::Limits;
using config::Section;

// Slower than anything built: values beyond these are slips of the pen, and would simulate for ages.
constexpr Ticks kLongestWait(kTicksPerSecond);
constexpr std::int64_t kMaxArray =
    4096;  // PEs per side: beyond any machine built, and safe for every product
// What a preset writes for a resource that must never be in the way; safe for every product.
constexpr std::int64_t kPlentyRows = 1 << 30;
constexpr std::int64_t kPlentyBytes = std::int64_t{1} << 40;

int small(Section& section, std::string_view key, std::string_view meaning, Limits limits,
          std::optional<std::int64_t> fallback = {}) {
    return static_cast<int>(section.count(key, meaning, limits, fallback));
}

MxuSpec read_mxu(Section mxu) {
    MxuSpec spec;
    spec.count = small(mxu, "count", "matrix units of a core that share one operator", {1, kMostMxus});
    spec.rows = small(mxu, "rows", "PE rows of one array: K runs along them (os: M)", {1, kMaxArray});
    spec.cols = small(mxu, "cols", "PE columns of one array: N runs along them (is: M)", {1, kMaxArray});
    const std::size_t dataflow =
        mxu.choice("dataflow",
                   "what stays in the PEs: ws = weights, os = outputs, is = inputs; "
                   "auto: arrays take each, and the network runs in whichever is fastest, "
                   "or each layer in one of its own",
                   {"ws", "os", "is", "auto"}, 0);
    spec.choose_dataflow = dataflow == 3;
    if (!spec.choose_dataflow) spec.dataflow = static_cast<Dataflow>(dataflow);
    // A bit in every PE, set by a wave from the corner (mxu/README.md).
    const std::int64_t wave = std::int64_t{spec.rows} + spec.cols - 1;
    spec.dataflow_switch = Cycles(
        mxu.count("dataflow_switch",
                  "dataflow: auto: cycles from when an array has run dry until it takes another dataflow; "
                  "assumed if not said: rows + cols - 1, a bit of every PE that a wave sets; 0 where "
                  "it travels with the operands, ten times that through a chain along each row",
                  {0, 1'000'000}, wave));
    spec.shadow_register =
        mxu.flag("shadow_register", "a second register per PE: tiles (os: results) shift while passes run");
    spec.weight_fifo_tiles =
        small(mxu, "weight_fifo_tiles",
              "weight tiles that wait before a weight-stationary array; 0: tiles are shifted straight out of "
              "the scratchpad, as os and is arrays always do (the key means nothing to them)",
              {0, 1024});
    spec.weight_source =
        mxu.choice("weight_source", "where the weight FIFO (or edge) reads from", {"dram", "scratchpad"}) == 0
            ? Space::Dram
            : Space::Scratchpad;
    spec.accumulator_rows =
        mxu.count("accumulator_rows", "accumulator rows of one array, each as wide as it", {2, kPlentyRows});
    spec.accumulator_latency =
        Cycles(mxu.count("accumulator_latency",
                         "cycles from reading an accumulator row to its sum being readable", {1, 1000}));
    spec.engine = static_cast<EngineKind>(mxu.choice(
        "engine", "how passes are simulated: closed form, or every PE register", {"tile", "grid"}, 0));
    spec.im2col = static_cast<Im2col>(mxu.choice(
        "im2col", "K tiles of a convolution: packed across taps, or one tap each", {"packed", "per_tap"}));
    spec.unpack =
        mxu.count("unpack",
                  "weights a cycle that are converted, scaled or filled up with zeros on their way into each "
                  "array; 0: none can be",
                  {0, kMaxArray * kMaxArray}, 0);
    if (mxu.choice("sparsity", "which weights an array may leave out: none, or half of any 4 along K",
                   {"none", "2:4"}, 0) == 1)
        spec.sparse_kept = 2, spec.sparse_of = 4;
    read_rates(mxu, spec);
    return spec;
}

ScratchpadSpec read_scratchpad(Section pad) {
    ScratchpadSpec spec;
    spec.capacity = pad.bytes("capacity", "size of the scratchpad", {1, std::int64_t{1} << 40});
    spec.banks = small(pad, "banks", "banks that lines are dealt out to", {1, 4096});
    spec.bank_bytes =
        pad.bytes("bank_width", "one line: what a port of a bank serves per cycle", {1, kPlentyBytes});
    spec.bank_map = static_cast<BankMapKind>(
        pad.choice("bank_map",
                   "the bank of line n: interleaved = n mod banks; xor = (n xor n / banks) mod banks, which "
                   "spreads strides of powers of two",
                   {"interleaved", "xor"}, 0));
    spec.bank_access = static_cast<BankAccess>(
        pad.choice("bank_access",
                   "whom a bank's ports serve: private = every client has its own, so that clients never "
                   "meet; split = reads and writes apart; shared = all",
                   {"private", "split", "shared"}, 0));
    spec.bank_ports =
        small(pad, "bank_ports", "lines a bank serves per cycle (split: of reads, and of writes)",
              {1, BankCalendar::kMostPorts}, 1);
    if (spec.bank_map == BankMapKind::Xor && (spec.banks & (spec.banks - 1)) != 0)
        pad.fail("banks", fmt::format("{} banks; bank_map: xor takes a power of two", spec.banks));
    spec.activation_ports = small(pad, "activation_ports", "activation streams at a time", {1, 64});
    spec.weight_port_bytes =
        pad.bytes("weight_port_width", "per cycle, towards each array's weight FIFO, or its upper edge",
                  {1, kPlentyBytes});
    spec.dma_port_bytes =
        pad.bytes("dma_port_width", "per cycle, of each DMA engine's port", {1, kPlentyBytes});
    spec.latency = Cycles(pad.count("latency", "cycles from a request to its first data", {0, 10000}));
    return spec;
}

VectorSpec read_vector(Section vector) {
    VectorSpec spec;
    spec.lanes = vector.count("lanes", "elements per cycle of an operation of cost 1", {1, kPlentyBytes});
    spec.startup = Cycles(vector.count("startup", "pipeline depth", {0, 10000}));
    spec.read_bytes_per_cycle =
        vector.bytes("read_width", "scratchpad bytes read per cycle", {1, kPlentyBytes});
    spec.write_bytes_per_cycle =
        vector.bytes("write_width", "scratchpad bytes written per cycle", {1, kPlentyBytes});
    spec.accumulator_rows_per_cycle =
        vector.count("accumulator_rows_per_cycle", "accumulator rows drained per cycle", {1, kPlentyRows});
    spec.pipelined_drains =
        vector.choice(
            "drains",
            "bias, function and conversion of results on their way out of the accumulators: one after "
            "the other on the same lanes, or stages of a pipeline, which cost as much as the slowest",
            {"sequential", "pipelined"}, 0) == 1;
    Section cost = vector.section("cost");
    spec.cost.simple =
        small(cost, "simple", "lane-cycles of an add, multiply, maximum, ReLU or conversion", {1, 1000});
    spec.cost.transcendental =
        small(cost, "transcendental", "lane-cycles of exp, sigmoid, tanh, GELU, SiLU", {1, 1000});
    spec.cost.reduce =
        small(cost, "reduce", "lane-cycles per element of a sum or maximum along a row", {1, 1000});
    spec.cost.mac = small(cost, "mac", "lane-cycles of a multiply-accumulate", {1, 1000});
    return spec;
}

SequencerSpec read_sequencer(Section sequencer) {
    SequencerSpec spec;
    spec.issue_cycles =
        Cycles(sequencer.count("issue_cycles", "core cycles per command issued", {0, 1000000}));
    spec.queue_depth = small(sequencer, "queue_depth",
                             "commands that wait before each unit; 65536: as many as come, never full",
                             {1, kUnboundedQueue});
    spec.launch_latency =
        sequencer.time("launch_latency", "one launch by the host, where run.launch asks for it");
    spec.whole_tensors = sequencer.choice("sync",
                                          "what a reader of a tensor waits for: the bytes it reads, or all "
                                          "of the tensor (explicit synchronization between layers)",
                                          {"bytes", "tensors"}, 0) == 1;
    if (spec.launch_latency > kLongestWait)
        sequencer.fail("launch_latency", "longer than a second, which no launch is");
    return spec;
}

FaultSpec read_faults(Section faults) {
    FaultSpec spec;
    const auto fault = [&](const char* key, const char* meaning) { return faults.flag(key, meaning, false); };
    spec.os_without_shift_out =
        fault("os_without_shift_out",
              "results leave an output-stationary array in no time: the R cycles that shift them out are "
              "left out");
    spec.utilization_less_one_cycle =
        fault("utilization_less_one_cycle",
              "utilization is MACs / (PEs x (compute cycles - 1)), not useful slots / all slots");
    spec.conv_output_rounded_up =
        fault("conv_output_rounded_up",
              "the output size of a convolution in 'systole op' is rounded up where it says nothing else");
    spec.os_extra_ofmap_writes =
        fault("os_extra_ofmap_writes",
              "the counter ofmap_writes of an output-stationary array has R + C writes too many a fold");
    spec.partial_sums_written =
        fault("partial_sums_written",
              "the counter ofmap_writes of ws and is arrays has every partial sum of every fold");
    return spec;
}

/// What the matrix units cannot be together.
void check_mxu(const Section& root, const SystolicSpec& spec) {
    Section mxu = root.section("mxu");
    if (spec.mxu.engine == EngineKind::Grid && spec.mxu.highest_rate() > MacRate{1})
        mxu.fail("engine", "the PE grid computes one MAC per PE and cycle; it needs rates of at most 1");
    if (spec.mxu.engine == EngineKind::Grid &&
        spec.mxu.accumulator_rows > kMaxGridAccumulators / (std::int64_t{spec.mxus()} * spec.mxu.cols))
        mxu.fail("accumulator_rows",
                 fmt::format("the PE grid holds every accumulator; {} matrix units of {} columns may have {} "
                             "rows each",
                             spec.mxus(), spec.mxu.cols,
                             kMaxGridAccumulators / (std::int64_t{spec.mxus()} * spec.mxu.cols)));
    if (spec.mxu.engine == EngineKind::Grid && spec.mxu.sparse_kept > 0)
        mxu.fail("sparsity", "the PE grid computes with all weights; it needs sparsity: none");
    if (spec.mxu.choose_dataflow && spec.mxu.weight_source == Space::Dram)
        mxu.fail(
            "weight_source",
            "the operands of os and is come from the scratchpad, and dataflow: auto may choose them; write "
            "weight_source: scratchpad");
    else if (spec.mxu.direct() && spec.mxu.weight_source == Space::Dram)
        mxu.fail("weight_source",
                 spec.mxu.dataflow == Dataflow::WeightStationary
                     ? "without a weight FIFO (weight_fifo_tiles: 0) tiles come from the scratchpad; write "
                       "weight_source: scratchpad"
                     : fmt::format("the operands of an array with dataflow {} come from the scratchpad; "
                                   "write weight_source: scratchpad, or --set mxu.weight_source=scratchpad",
                                   to_string(spec.mxu.dataflow)));
}

/// What no single key can get wrong.
void cross_check(const Section& root, const SystolicSpec& spec) {
    const PlacementSpec& place = spec.placement;
    const Bytes used =
        place.activation_bytes + place.input_buffer + place.weight_buffer + place.output_buffer;
    if (used > spec.scratchpad.capacity)
        root.section("scratchpad")
            .fail("capacity",
                  fmt::format("the buffers below 'placement' take {} bytes together, more than the "
                              "scratchpad's {}",
                              used.value(), spec.scratchpad.capacity.value()));
    if (spec.cores > 1 && place.activations == Space::Scratchpad)
        root.section("placement")
            .fail("activations",
                  fmt::format("{} cores have a scratchpad each, and no activation lies in all of them: write "
                              "auto or dram",
                              spec.cores));
    check_mxu(root, spec);
    if (spec.dma.payload > spec.memory.max_payload)
        root.section("dma").fail("payload",
                                 fmt::format("{} bytes, more than the memory's largest transaction of {}",
                                             spec.dma.payload.value(), spec.memory.max_payload.value()));
}

}  // namespace

SystolicSpec read_systolic_spec(config::Config& config, const std::string& name) {
    Section root = config.root();
    SystolicSpec spec;
    spec.name = name;
    Section core = root.section("core");
    spec.core_clock = core.clock("clock", "of matrix units, vector unit, scratchpad and sequencer");
    spec.cores = small(core, "count", "equal cores, which share memory, host and chip_link and nothing else",
                       {1, kMostCores}, 1);
    spec.mxu = read_mxu(root.section("mxu"));
    spec.scratchpad = read_scratchpad(root.section("scratchpad"));
    spec.vector = read_vector(root.section("vector"));
    spec.sequencer = read_sequencer(root.section("sequencer"));
    spec.placement = read_placement(root.section("placement"));
    spec.dma = read_dma_spec(root.section("dma"));
    spec.host = read_host_link_spec(root.section("host"));
    spec.chip_link = read_chip_link_spec(root);
    if (spec.chip_link && spec.chip_link->network == ChipLinkSpec::Network::Switch)
        root.section("chip_link").fail("network", "collectives of this kind go round a ring, expected ring");
    spec.memory = read_dram_spec(root.section("memory"));
    // Each core has a way of its own to a controller, with what waits in it. In the door of one, cores whose
    // operands lie alike filled that of one channel, before all the others, at once.
    spec.memory.door *= spec.cores;
    spec.faults = read_faults(root.section("faults"));
    read_calibrated(root, spec);
    spec.energy = read_systolic_energy(root, spec);
    cross_check(root, spec);
    return spec;
}

}  // namespace systole::systolic
