// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/spec/sm_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace systole::simt {
namespace {

using config::Limits;
using config::Section;

// Beyond any machine built, and safe for every product of them.
constexpr std::int64_t kMostSms = 1024, kMostSubCores = 16;
constexpr std::int64_t kMostWarps = 1024, kMostCtas = 1024;
constexpr std::int64_t kMostRegisters = 1 << 24, kMostRegistersOfThread = 4096;
constexpr std::int64_t kMostMacs = 1 << 16;
constexpr std::int64_t kMostShared = 1 << 30, kWidestSmPort = 1 << 16;
constexpr std::int64_t kLongestInterval = 1024, kLongestSmLatency = 100'000;
constexpr int kLeastWarpThreads = 32, kMostWarpThreads = 64;
constexpr int kGroupWarps = 4;  // of a warp group: CUDA's wgmma takes no other number

int small(Section& section, std::string_view key, std::string_view meaning, Limits limits,
          std::optional<std::int64_t> fallback = {}) {
    return static_cast<int>(section.count(key, meaning, limits, fallback));
}

Cycles latency(Section& section, std::string_view key, std::string_view meaning, std::int64_t least = 0) {
    return Cycles(section.count(key, meaning, {least, kLongestSmLatency}));
}

PipeSpec read_pipe(Section pipe) {
    PipeSpec spec;
    spec.interval = Cycles(pipe.count(
        "interval",
        "cycles that a warp's instruction keeps the pipeline: its threads over the lanes of a sub-core",
        {1, kLongestInterval}));
    spec.latency = latency(pipe, "latency", "cycles from an instruction's issue to its result", 1);
    if (spec.latency < spec.interval)
        pipe.fail("latency",
                  fmt::format("{} cycles, expected at least the interval of {}: no result is there "
                              "before its last lane was issued",
                              spec.latency.value(), spec.interval.value()));
    return spec;
}

void read_macs(Section& tensor, TensorSpec& spec) {
    Section macs = tensor.section("macs");
    std::int64_t most = 0;
    for (const std::string& key : macs.keys()) {
        const std::int64_t rate = macs.count(key,
                                             "MACs per cycle of one tensor core on dense operands of this "
                                             "format; 0: it takes none, as without "
                                             "the key",
                                             {0, kMostMacs});
        const auto dtype = parse_dtype(key);
        if (!dtype)
            macs.fail(key, fmt::format("unknown number format '{}', expected one of: {}{}", key,
                                       fmt::join(dtype_names(), ", "), did_you_mean(key, dtype_names())));
        else if (rate > 0)
            spec.macs[static_cast<std::size_t>(*dtype)] = rate;
        most = std::max(most, rate);
    }
    if (spec.issue == TensorIssue::Lanes && most > 0)
        tensor.fail("macs", "there are no tensor cores (sm.tensor.issue: none), expected no rates");
    if (spec.issue != TensorIssue::Lanes && most == 0)
        tensor.fail(
            "macs",
            "the tensor cores need a rate for at least one number format, such as 'macs: {bf16: 256}'");
}

TensorMemorySpec read_tensor_memory(Section memory) {
    TensorMemorySpec spec;
    spec.capacity = memory.bytes("capacity", "tensor memory of an SM, which CTAs get by columns of 512 bytes",
                                 {kTensorColumnBytes, kMostShared});
    if (spec.capacity.value() % kTensorColumnBytes != 0)
        memory.fail("capacity", fmt::format("{} bytes, expected whole columns of {}", spec.capacity.value(),
                                            kTensorColumnBytes));
    spec.bytes_per_cycle =
        memory.bytes("width", "bytes per cycle out of it into a sub-core's registers", {1, kWidestSmPort});
    spec.latency = latency(memory, "latency", "cycles from a load's issue to its first register", 1);
    return spec;
}

TensorSpec read_tensor(Section tensor) {
    TensorSpec spec;
    spec.issue = static_cast<TensorIssue>(tensor.choice(
        "issue",
        "how warps reach tensor cores: warp = one warp, operands in registers (mma.sync); "
        "warp_group = four, operands in shared memory, asynchronous (wgmma); "
        "wave = one warp of 64 threads, operands in registers (MFMA); quad_pair = eight threads "
        "of a warp, operands in registers that no asynchronous copy fills (mma.sync.m8n8k4); "
        "thread = one thread, operands in shared memory, sums in tensor memory, asynchronous (tcgen05.mma); "
        "none = there are no tensor cores, FP32 pipelines multiply",
        {"warp", "warp_group", "wave", "quad_pair", "thread", "none"}));
    if (spec.issue != TensorIssue::Lanes || tensor.has("latency"))
        spec.latency = latency(tensor, "latency",
                               "cycles from when an instruction leaves a tensor core free to its sums");
    read_macs(tensor, spec);
    spec.sync_slower =
        tensor.count("sync_slower",
                     "mma.sync takes so many times as long as by these rates, where tensor cores are made "
                     "for other instructions",
                     {1, kLongestInterval}, 1);
    spec.block_scales = tensor.flag("block_scales",
                                    "products of numbers with a scale for each block of K (tcgen05.mma's "
                                    ".block_scale)",
                                    false);
    if (spec.block_scales && spec.issue != TensorIssue::Thread)
        tensor.fail("block_scales",
                    "only a thread's products (sm.tensor.issue: thread) have scales of blocks");
    if (spec.issue == TensorIssue::Thread && !tensor.has("memory"))
        tensor.fail(
            "issue",
            "a thread's products leave their sums in tensor memory: expected sm.tensor.memory, such as "
            "{capacity: 256 KiB, width: 64 B, latency: 30}");
    if (tensor.has("memory")) spec.memory = read_tensor_memory(tensor.section("memory"));
    return spec;
}

SharedMemorySpec read_shared(Section shared) {
    SharedMemorySpec spec;
    spec.capacity = shared.bytes("capacity", "shared memory of an SM, for all CTAs", {1, kMostShared});
    spec.most_of_cta = shared.bytes("most_of_cta", "that one CTA may have", {1, kMostShared});
    spec.reserved_of_cta =
        shared.bytes("reserved_of_cta", "that every CTA takes besides its own", {0, kMostShared});
    spec.bytes_per_cycle = shared.bytes("width", "bytes per cycle of all banks together", {1, kWidestSmPort});
    spec.latency = latency(shared, "latency", "cycles of a load without conflicts, issue to register", 1);
    if (spec.most_of_cta + spec.reserved_of_cta > spec.capacity)
        shared.fail(
            "most_of_cta",
            fmt::format("{} bytes and the {} that are reserved for every CTA are more than the SM's {}",
                        spec.most_of_cta.value(), spec.reserved_of_cta.value(), spec.capacity.value()));
    return spec;
}

/// What no SM could hold a single warp with, or could not divide among its sub-cores.
void check_residence(Section& sm, const SmSpec& spec) {
    const auto divides = [&](const char* key, int value) {
        if (value % spec.sub_cores != 0)
            sm.fail(key, fmt::format("{}, expected a multiple of sub_cores ({}), which have equal shares",
                                     value, spec.sub_cores));
    };
    divides("warps", spec.warps);
    divides("registers", spec.registers);
    const std::int64_t of_warp =
        round_up(std::int64_t{spec.warp_threads} * spec.registers_of_thread, spec.register_unit);
    if (of_warp > spec.registers / spec.sub_cores)
        sm.fail(
            "registers_of_thread",
            fmt::format("a warp of {} threads with {} registers takes {} in units of {}, a sub-core has {}: "
                        "it could never be resident",
                        spec.warp_threads, spec.registers_of_thread, of_warp, spec.register_unit,
                        spec.registers / spec.sub_cores));
    const int issuing = spec.tensor.issue == TensorIssue::Wave ? kMostWarpThreads : kLeastWarpThreads;
    const bool known = spec.warp_threads == kLeastWarpThreads || spec.warp_threads == kMostWarpThreads;
    if (known && spec.warp_threads != issuing)
        sm.section("tensor").fail(
            "issue", fmt::format("tensor cores that take operands from warps of {} threads, and those of the "
                                 "SM have {}: expected sm.warp_threads: {}",
                                 issuing, spec.warp_threads, issuing));
    const bool thread = spec.tensor.issue == TensorIssue::Thread;
    if ((spec.tensor.issue == TensorIssue::WarpGroup || thread) && spec.sub_cores != kGroupWarps)
        sm.section("tensor").fail(
            "issue", fmt::format("the four warps {} lie on four sub-cores, and the SM has {}: expected "
                                 "sub_cores: 4, or issue: warp",
                                 thread ? "that tensor memory's lanes are shared out among" : "of a group",
                                 spec.sub_cores));
}

/// GPCs that all SMs are in: their sizes are taken in turn, and what is too much of the last is cut off.
std::vector<int> read_gpcs(Section& sm, int count) {
    const std::vector<std::string> sizes = sm.list(
        "gpcs",
        "SMs of each GPC, taken in turn until all of sm.count are in one: a cluster's CTAs share one");
    if (sizes.empty()) sm.fail("gpcs", "expected the SMs of at least one GPC, such as [18, 16]");
    std::vector<int> in_turn;
    for (const std::string& size : sizes) {
        const auto sms = config::parse_integer(size, 1, kMostSms);
        if (!sms.value) sm.fail("gpcs", fmt::format("SMs of a GPC: {}", sms.problem));
        in_turn.push_back(static_cast<int>(sms.value.value_or(1)));
    }
    std::vector<int> gpcs;
    for (int left = count; left > 0 && !in_turn.empty(); left -= gpcs.back())
        gpcs.push_back(std::min(left, in_turn[gpcs.size() % in_turn.size()]));
    return gpcs;
}

void read_residence(Section& sm, SmSpec& spec) {
    spec.count = small(sm, "count", "SMs of the chip, all alike", {1, kMostSms});
    spec.gpcs = read_gpcs(sm, spec.count);
    spec.cluster_latency = latency(
        sm, "cluster_latency", "cycles until what a CTA of a cluster signals is seen by CTAs of other SMs");
    spec.sub_cores =
        small(sm, "sub_cores", "of an SM, each with a warp scheduler, pipelines and a tensor core",
              {1, kMostSubCores});
    spec.warp_threads = small(sm, "warp_threads", "threads of a warp: 32, or 64 (CDNA's wavefronts)",
                              {kLeastWarpThreads, kMostWarpThreads}, kLeastWarpThreads);
    if (spec.warp_threads != kLeastWarpThreads && spec.warp_threads != kMostWarpThreads)
        sm.fail("warp_threads", fmt::format("{} threads, expected 32 or 64", spec.warp_threads));
    spec.warps = small(sm, "warps", "that may be resident on an SM", {1, kMostWarps});
    spec.ctas = small(sm, "ctas", "that may be resident on an SM", {1, kMostCtas});
    spec.registers = small(sm, "registers", "of 32 bits, of an SM", {spec.warp_threads, kMostRegisters});
    spec.register_unit = small(sm, "register_unit", "registers are given to warps in multiples of so many",
                               {1, kMostRegisters});
    spec.registers_of_thread =
        small(sm, "registers_of_thread", "registers that a thread may have", {1, kMostRegistersOfThread});
    spec.scheduling = static_cast<WarpScheduling>(
        sm.choice("scheduling",
                  "which ready warp issues: gto = the one that issued last, otherwise the oldest; lrr = the "
                  "next one after it",
                  {"gto", "lrr"}));
    spec.issue_interval =
        Cycles(sm.count("issue_interval", "cycles from an instruction of a warp to its next, at least",
                        {1, kLongestInterval}, 1));
    spec.engine = static_cast<SmEngine>(sm.choice(
        "engine",
        "how SMs are simulated: steps = CTAs step by step, SMs that do the same as one; warps = every "
        "SM, warp instruction by warp instruction",
        {"steps", "warps"}, 0));
}

}  // namespace

SmSpec read_sm(Section sm) {
    SmSpec spec;
    read_residence(sm, spec);
    spec.fp32 = read_pipe(sm.section("fp32"));
    spec.fp16_on_lanes = sm.section("fp32").flag(
        "fp16", "whether these pipelines take products in fp16, too, as fast, where no tensor core does",
        false);
    spec.integer = read_pipe(sm.section("integer"));
    spec.special = read_pipe(sm.section("special"));
    spec.one_pipe = sm.flag("one_pipe",
                            "whether fp32, integer and special instructions keep one pipeline of a sub-core, "
                            "each for its own interval",
                            false);
    spec.tensor = read_tensor(sm.section("tensor"));
    spec.shared = read_shared(sm.section("shared"));
    spec.lsu_interval =
        Cycles(sm.count("lsu_interval", "cycles that a warp's memory instruction keeps the load/store unit",
                        {1, kLongestInterval}));
    spec.lsu_interval_of_sub_core = Cycles(
        sm.count("sub_core_lsu_interval",
                 "cycles from a sub-core's memory instruction to its next; 0: the load/store unit decides",
                 {0, kLongestInterval}, 0));
    spec.lsu_queue = Cycles(sm.count(
        "lsu_queue", "cycles of work that may wait before shared memory until warps that add to it stall",
        {1, kLongestInterval}));
    spec.barrier_latency =
        latency(sm, "barrier_latency", "cycles from the last arrival at a barrier until warps go on");
    spec.bulk_copy_issue =
        latency(sm, "bulk_copy_issue",
                "cycles from a bulk tensor copy's instruction until its requests leave the SM");
    spec.bulk_copy_bytes_per_cycle = sm.bytes("bulk_copy_width",
                                              "bytes per cycle into shared memory by bulk tensor copies: "
                                              "whole boxes, zeros outside the tensor too; 0: as fast as "
                                              "they come",
                                              {0, kWidestSmPort}, Bytes(0));
    Section l1 = sm.section("l1");
    spec.l1_capacity =
        l1.bytes("capacity", "of an SM, for L1 and the shared memory of CTAs together", {1, kMostShared});
    spec.l1_apart = l1.flag("apart", "whether the capacity is the L1's alone, beside shared memory", false);
    if (!spec.l1_apart && spec.l1_capacity < spec.shared.capacity)
        l1.fail("capacity",
                fmt::format("{} bytes for L1 and shared memory, of which sm.shared.capacity is {}",
                            spec.l1_capacity.value(), spec.shared.capacity.value()));
    spec.l1_latency = latency(l1, "latency", "cycles of a load that hits the L1", 1);
    spec.l1_bytes_per_cycle = l1.bytes("width", "bytes per cycle out of the L1", {1, kWidestSmPort});
    check_residence(sm, spec);
    return spec;
}

}  // namespace systole::simt
