// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/spec/simt_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/devices/simt/spec/collectives_config.h"
#include "models/devices/simt/spec/simt_energy.h"
#include "models/devices/simt/spec/sm_config.h"
#include "models/link/chip_link_config.h"
#include "models/link/dma_config.h"
#include "models/link/host_link_config.h"
#include "models/memory/config/dram_config.h"
#include "sim/base/text.h"

namespace systole::simt {
namespace {

using config::Section;

// Slower or longer than anything built: values beyond these are slips of the pen, and would simulate for
// ages. Faster ones would leave 64 bits: the widest port at the fastest clock moves less than 2^63 bytes a
// second.
constexpr std::int64_t kMostWays = 1024, kMostChiplets = 64;
constexpr Hertz kFastestClock(100'000'000'000);
constexpr std::int64_t kSmallestL2 = 1 << 16, kLargestL2 = std::int64_t{1} << 40;
constexpr std::int64_t kLargestLine = 1 << 16, kWidestPort = 1 << 24;
constexpr std::int64_t kLongestLatency = 100'000;
constexpr std::int64_t kSmallestPage = 4096, kLargestPage = 1 << 30;
constexpr std::int64_t kMostEntries = 1 << 16;  // of a TLB
constexpr Ticks kLongestWait(kTicksPerSecond);

TlbSpec read_tlb(Section tlb) {
    TlbSpec spec;
    spec.page =
        tlb.bytes("page", "bytes of memory that a TLB's entry translates", {kSmallestPage, kLargestPage});
    spec.reach = tlb.bytes("reach", "bytes that a TLB's entries translate together; 0 B: all there are",
                           {0, kMostEntries * kLargestPage});
    spec.latency =
        Cycles(tlb.count("latency", "cycles that a request takes besides if its TLB does not know the page",
                         {0, kLongestLatency}));
    if (spec.reach.value() % spec.page.value() != 0)
        tlb.fail("reach", fmt::format("{} bytes, expected a multiple of the page of {}", spec.reach.value(),
                                      spec.page.value()));
    if (spec.reach > spec.page * kMostEntries)
        tlb.fail("reach", fmt::format("{} bytes, more than {} pages of {}", spec.reach.value(), kMostEntries,
                                      spec.page.value()));
    return spec;
}

ChipletsSpec read_chiplets(Section chiplets, const SmSpec& sm) {
    ChipletsSpec spec;
    spec.count = static_cast<int>(
        chiplets.count("count", "dies among which SMs are shared out evenly, each with an L2 of its own",
                       {1, kMostChiplets}, 1));
    if (sm.count % spec.count != 0)
        chiplets.fail("count", fmt::format("{} dies, among which {} SMs (sm.count) cannot be shared evenly",
                                           spec.count, sm.count));
    const TensorIssue issue = sm.tensor.issue;
    if (spec.count > 1 && (issue == TensorIssue::WarpGroup || issue == TensorIssue::Thread))
        chiplets.fail("count",
                      "CTAs of a cluster share an L2, and are not dealt to several dies: expected 1, or "
                      "another sm.tensor.issue");
    return spec;
}

void read_lines(Section& l2, L2Spec& spec) {
    spec.line = l2.bytes("line", "bytes that share a tag", {1, kLargestLine});
    spec.sector = l2.bytes("sector", "bytes of a transfer: the parts of a line", {1, kLargestLine});
    const auto power_of_two = [&](const char* key, Bytes size) {
        const bool is_one = std::has_single_bit(static_cast<std::uint64_t>(size.value()));
        if (!is_one) l2.fail(key, fmt::format("{} bytes, expected a power of two", size.value()));
        return is_one;
    };
    const bool line = power_of_two("line", spec.line), sector = power_of_two("sector", spec.sector);
    if (line && sector && spec.line < spec.sector)
        l2.fail("sector", fmt::format("{} bytes, expected a part of the line of {}", spec.sector.value(),
                                      spec.line.value()));
    if (spec.line > spec.sector * kL2PageSectors)
        l2.fail("line", fmt::format("{} bytes, more than {} sectors of {}", spec.line.value(), kL2PageSectors,
                                    spec.sector.value()));
    if (spec.usable >= spec.line && spec.usable < spec.sector * kL2PageSectors)
        l2.fail("usable", fmt::format("{} bytes do not hold {} sectors of {}", spec.usable.value(),
                                      kL2PageSectors, spec.sector.value()));
    if (spec.usable < spec.line)
        l2.fail("usable",
                fmt::format("{} bytes do not hold a line of {}", spec.usable.value(), spec.line.value()));
}

/// How the ports of who asks a cache are called.
struct PortKeys {
    const char *read, *read_meaning, *write, *write_meaning;
};
constexpr PortKeys kPortsOfSms{"sm_read_width", "bytes per cycle into one SM", "sm_write_width",
                               "bytes per cycle out of one SM"};
constexpr PortKeys kPortsOfDies{"chiplet_read_width", "bytes per cycle into the L2 of one die",
                                "chiplet_write_width", "bytes per cycle out of the L2 of one die"};

L2Spec read_cache(Section l2, const PortKeys& ports) {
    L2Spec spec;
    spec.capacity = l2.bytes("capacity", "of the cache, all slices (of an L2: those of one die)",
                             {kSmallestL2, kLargestL2});
    spec.usable =
        l2.bytes("usable", "what one working set can occupy: two partitions may hold the same line twice",
                 {1, kLargestL2});
    spec.dirty = l2.bytes("dirty",
                          "of the working set, what may differ from the memory; beyond, what was written "
                          "longest ago is written back; 0 B: all may",
                          {0, kLargestL2});
    spec.ways =
        static_cast<int>(l2.count("ways", "lines of a set; 0: one set, all of the L2", {0, kMostWays}));
    if (l2.is_nearer("capacity", "usable"))
        l2.fail("capacity",
                fmt::format("its 'usable', {}, stands in another document; expected one beside it",
                            format_bytes(spec.usable)));
    else if (spec.usable > spec.capacity)
        l2.fail("usable", fmt::format("{} bytes, more than the capacity of {}", spec.usable.value(),
                                      spec.capacity.value()));
    read_lines(l2, spec);
    const auto width = [&](const char* key, const char* meaning) {
        return l2.bytes(key, meaning, {1, kWidestPort});
    };
    spec.bytes_per_cycle = width("read_width", "bytes per cycle of all slices together, reads");
    spec.write_bytes_per_cycle = width("write_width", "bytes per cycle of all slices together, writes");
    spec.sm_read_per_cycle = width(ports.read, ports.read_meaning);
    spec.sm_write_per_cycle = width(ports.write, ports.write_meaning);
    spec.latency =
        Cycles(l2.count("latency", "cycles of a hit, from who asks to its data, idle", {1, kLongestLatency}));
    spec.far_latency = Cycles(l2.count(
        "far_latency", "cycles that a hit in the other one of two partitions takes besides; 0: there is one",
        {0, kLongestLatency}, 0));
    spec.memory_per_cycle = l2.bytes("memory_width",
                                     "bytes per cycle to and from the memory, all slices together; 0 B: as "
                                     "many as that gives",
                                     {0, kWidestPort}, Bytes(0));
    spec.memory_latency =
        Cycles(l2.count("memory_latency", "cycles that a miss takes besides, without the DRAM's own time",
                        {0, kLongestLatency}));
    return spec;
}

Ticks read_wait(Section& section, std::string_view key, std::string_view meaning,
                std::optional<Ticks> fallback = {}) {
    const Ticks wait = section.time(key, meaning, fallback);
    if (wait > kLongestWait) section.fail(key, "longer than a second");
    return wait;
}

// Of all CTAs that a chip has at a time, intervals together leave no 64 bits.
constexpr Ticks kLongestHandingOver(kTicksPerSecond / 1'000'000);

LaunchSpec read_launch(Section launch) {
    LaunchSpec spec;
    spec.graph =
        read_wait(launch, "graph",
                  "from the end of a kernel of a graph to the first CTA of the next one, which depends "
                  "on it");
    spec.stream = read_wait(launch, "stream", "the same between kernels of a stream");
    spec.cta = Cycles(launch.count(
        "cta", "cycles from a free place on an SM to the first instruction of the CTA that takes it",
        {0, kLongestLatency}));
    spec.cta_interval =
        read_wait(launch, "cta_interval",
                  "between two CTAs that get places, of the chip, or of each of its dies, at the core clock; "
                  "0: any number get them at once",
                  Ticks(0));
    if (spec.cta_interval > kLongestHandingOver) launch.fail("cta_interval", "longer than a microsecond");
    return spec;
}

PowerSpec read_power(Section power, Section calibrated) {
    PowerSpec spec;
    const Milliwatts none(0);
    const Milliwatts cap = power.power("cap", "what the chip may draw for long; 0: any amount", none);
    const Milliwatts burst = calibrated.power(
        "burst_power", "what the chip may draw until its average has come to power.cap; 0: no more than that",
        none);
    spec.idle = power.power("idle", "what it draws at any time", none);
    spec.tensor = calibrated.power(
        "tensor_power", "besides, what tensor cores and what feeds them draw at full rate and core clock",
        none);
    spec.memory = power.power("memory", "besides, what the memory draws at full bandwidth", none);
    spec.window = read_wait(power, "window", "after which the clock follows what was drawn",
                            Ticks(kTicksPerSecond / 1000));
    spec.rise =
        read_wait(power, "rise", "for which the clock stays what a kernel longer than that was held to",
                  Ticks(kTicksPerSecond / 100));
    spec.l2_follows =
        power.flag("l2_follows", "whether the L2 has the clock that the cap leaves to the SMs", true);
    spec.average = read_wait(power, "average", "time constant of the average that ends a burst",
                             Ticks(kTicksPerSecond / 1000 * 25));
    if (cap == none) return spec;
    spec.cap = cap;
    if (cap <= spec.idle + spec.memory)
        power.fail("cap", "no more than idle and memory draw together: nothing is left for the SMs");
    if (spec.window == Ticks(0)) power.fail("window", "expected more than nothing");
    if (burst == none) return spec;
    spec.burst = burst;
    if (burst < cap) calibrated.fail("burst_power", "less than power.cap, which the chip may draw for long");
    if (spec.average == Ticks(0)) power.fail("average", "expected more than nothing");
    return spec;
}

CalibratedSpec read_calibrated(Section calibrated) {
    CalibratedSpec spec;
    spec.kernel_overhead = read_wait(calibrated, "kernel_overhead",
                                     "time of every kernel besides its launch, where measured", Ticks(0));
    spec.replay_gap =
        read_wait(calibrated, "replay_gap",
                  "time between two turns of a repeated network (run.repeat), where measured", Ticks(0));
    spec.memory_share = calibrated.number(
        "memory_share", "share of the memory's bandwidth that reads of tiles' rows reach, where measured",
        0.05, 1.0, 1.0);
    spec.larger_tiles = calibrated.number("larger_tiles",
                                          "by what share more a library counts the time of CTAs whose tile "
                                          "loads four times the operands a result, where measured",
                                          0.0, 4.0, 0.0);
    spec.l2_loads = calibrated.number("l2_loads",
                                      "share of the time of a kernel's loads at the L2's ports that "
                                      "the library holds against it, where measured",
                                      0.0, 1.0, 0.0);
    return spec;
}

// More than any language model has.
constexpr std::int64_t kMostPositions = std::int64_t{1} << 30;

KernelsSpec read_kernels(Section kernels, const SmSpec& sm) {
    KernelsSpec spec;
    spec.stream_k = static_cast<StreamK>(kernels.choice(
        "stream_k", "whether kernels that share the last tiles along K are offered, or always taken",
        {"never", "offered", "always"}, 0));
    if (spec.stream_k != StreamK::Never && sm.engine == SmEngine::Warps)
        kernels.fail("stream_k", "SMs in warps (sm.engine) run no shared tiles, expected never");
    spec.split_k = static_cast<SplitK>(kernels.choice("split_k",
                                                      "which kernels are offered with parts of K: never = "
                                                      "none, cudnn7 = those of 128 x 128 of convolutions "
                                                      "on Volta's tensor cores, offered = all",
                                                      {"never", "cudnn7", "offered"}, 2));
    spec.winograd =
        kernels.flag("winograd", "whether Winograd's kernels are offered for convolutions in fp32", true);
    spec.layers = static_cast<Library>(
        kernels.choice("layers", "whose kernels layers of language models get, where these differ",
                       {"pytorch", "vllm", "pytorch_2023", "inductor_2023", "tensorrt_llm"}, 0));
    spec.table_positions =
        kernels.count("table_positions",
                      "positions whose cosines and sines tensorrt_llm has in a table, longer sequences' are "
                      "computed; 0: all",
                      {0, kMostPositions}, 0);
    spec.persistent =
        kernels.flag("persistent", "whether CTAs with bulk stores go on with another tile", true);
    spec.neighbours_on_die =
        kernels.flag("neighbours_on_die",
                     "whether products give neighbouring tiles to one of several dies (hipBLASLt's "
                     "WorkGroupMappingXCC), where CTAs are dealt one by one",
                     false);
    return spec;
}

}  // namespace

SimtSpec read_simt_spec(config::Config& config, const std::string& name) {
    Section root = config.root();
    SimtSpec spec;
    spec.name = name;
    spec.core_clock = root.section("core").clock("clock", "of SMs, fabric and L2, where power allows it", {},
                                                 kFastestClock);
    spec.sm = read_sm(root.section("sm"));
    spec.tlb = read_tlb(root.section("tlb"));
    spec.chiplets = read_chiplets(root.section("chiplets"), spec.sm);
    spec.l2 = read_cache(root.section("l2"), kPortsOfSms);
    if (root.has("memory_side_cache"))
        spec.memory_side_cache = read_cache(root.section("memory_side_cache"), kPortsOfDies);
    spec.sm.store_bytes_per_cycle = spec.l2.sm_write_per_cycle;
    spec.kernels = read_kernels(root.section("kernels"), spec.sm);
    if (spec.kernels.stream_k != StreamK::Never && spec.chiplets.count > 1)
        root.section("kernels").fail("stream_k",
                                     "CTAs of several dies (chiplets.count) share no tiles, expected never");
    if (spec.kernels.neighbours_on_die && spec.chiplets.count == 1)
        root.section("kernels").fail("neighbours_on_die",
                                     "one die (chiplets.count) has all tiles, expected false");
    spec.launch = read_launch(root.section("launch"));
    spec.power = read_power(root.section("power"), root.section("calibrated"));
    spec.copy = read_dma_spec(root.section("copy"));
    spec.host = read_host_link_spec(root.section("host"));
    spec.chip_link = read_chip_link_spec(root);
    if (spec.chip_link) spec.collectives = read_collectives(root.section("collectives"));
    spec.memory = read_dram_spec(root.section("memory"));
    spec.calibrated = read_calibrated(root.section("calibrated"));
    (spec.memory_side_cache ? *spec.memory_side_cache : spec.l2).memory_share = spec.calibrated.memory_share;
    spec.energy = read_simt_energy(root, spec);
    if (spec.copy.payload > spec.memory.max_payload)
        root.section("copy").fail("payload",
                                  fmt::format("{} bytes, more than the memory's largest transaction of {}",
                                              spec.copy.payload.value(), spec.memory.max_payload.value()));
    return spec;
}

}  // namespace systole::simt
