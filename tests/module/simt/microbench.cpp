// SPDX-License-Identifier: Apache-2.0
// Microbenchmarks of the shipped GPUs: warp programs on SMs in front of the chip's L2 and memory, held to
// what the same programs measured on chips.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/simt/machine/caches.h"
#include "models/devices/simt/machine/mmu.h"
#include "models/memory/dram.h"
#include "sim/base/csv.h"
#include "tests/module/simt/groups_of_sms.h"
#include "tests/module/simt/sms_in_warps.h"
#include "tests/unit/simt/gpu_config.h"
#include "tests/unit/simt/vector_runs.h"

namespace systole::test {
namespace {

using simt::CtaProgram;
using simt::Instruction;
using simt::Op;
using simt::SimtSpec;
using simt::ThreadAddresses;

/// A row of tests/golden/gpu_microbench.
struct Measured {
    double value = 0, clock_mhz = 0, sms = 0;
    /// Of a bandwidth.
    double bytes_per_cycle_and_sm() const { return value * 1e3 / clock_mhz / sms; }
};

std::optional<Measured> known(const std::string& device, const std::string& quantity) {
    const std::string path = "tests/golden/gpu_microbench/rows.csv";
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const CsvRow& row : parse_csv(text, path))
        if (row.cells.at(0) == device && row.cells.at(1) == quantity)
            return Measured{std::stod(row.cells.at(2)), std::stod(row.cells.at(4)),
                            std::stod(row.cells.at(5))};
    return {};
}

Measured measured(const std::string& device, const std::string& quantity) {
    const std::optional<Measured> row = known(device, quantity);
    if (!row) FAIL("no row of " << device << ", " << quantity);
    return *row;
}

void within_10_percent(const std::string& what, double model, double chip) {
    CAPTURE(what, model, chip);
    CHECK(model == Approx(chip).epsilon(0.1));
}

CtaProgram program_of(int warps, std::vector<Instruction> body, std::int64_t trips) {
    CtaProgram program;
    program.roles = {{warps, {{std::move(body), trips}}}};
    return program;
}

/// SMs, caches and the memory of a chip.
struct Run {
    Run(const SimtSpec& spec, const std::vector<CtaProgram>& programs)
        : dram("dram", spec.memory),
          caches(spec, ledger),
          mmu("mmu", spec.tlb, spec.sm, spec.core_clock),
          sms("sms", spec, programs) {
        sms.out.bind(mmu.in);
        caches.bind(mmu, dram);
        run_to_the_end();
        REQUIRE(sms.finished());
        for (std::size_t i = 0; i < programs.size(); ++i)
            cycles = std::max(cycles, sms.sm(i).trace(0).end - SmsInWarps::kStart);
    }
    FreshKernel kernel;
    ByteLedger ledger{1};
    Dram dram;
    simt::Caches caches;
    simt::Mmu mmu;
    SmsInWarps sms;
    std::int64_t cycles = 0;
};

std::int64_t cycles_of(const SimtSpec& spec, const CtaProgram& program) {
    return Run(spec, {program}).cycles;
}

/// Cycles of one link of a chain of loads through a set. The rounds before the measured ones fill caches.
double chase(const SimtSpec& spec, std::int64_t set, std::int64_t stride, std::int64_t links) {
    const auto of = [&](std::int64_t trips) {
        ThreadAddresses addresses;
        addresses.trip_stride = stride;
        addresses.set = set;
        return cycles_of(
            spec,
            program_of(1, {{.op = Op::GlobalLoad, .reads = 1, .writes = 1, .addresses = addresses}}, trips));
    };
    const std::int64_t before = std::min(links, set / 128);
    return static_cast<double>(of(before + links) - of(before)) / static_cast<double>(links);
}

/// What SMs read, each with 1024 threads of 16 B each: `rounds` rounds through sets of `set` bytes, that each
/// SM has by itself, or that all share and take in turn.
struct Streams {
    std::int64_t sms, set, rounds;
    bool in_turn = false;

    std::int64_t warps = 32;  // of an SM

    static constexpr std::int64_t kThreads = 1024, kUnroll = 2;
    static constexpr std::int64_t kOfTrip = kThreads * simt::kThreadBytes * kUnroll;
    std::int64_t of_warp() const { return kThreads / warps * simt::kThreadBytes; }

    /// SMs are out of step: the first warps of each begin elsewhere in its first 16 KiB, so that their first
    /// requests do not all go to the same channels.
    CtaProgram program(std::int64_t sm) const {
        const auto turned = static_cast<int>(sm % warps);
        CtaProgram program;
        program.roles = {{static_cast<int>(warps) - turned, warps_from(sm, turned)}};
        if (turned > 0) program.roles.push_back({turned, warps_from(sm, 0)});
        return program;
    }
    simt::WarpProgram warps_from(std::int64_t sm, int first) const {
        ThreadAddresses addresses;
        addresses.bytes = addresses.thread_stride = simt::kThreadBytes;
        addresses.warp_stride = of_warp();
        addresses.trip_stride = in_turn ? sms * kOfTrip : kOfTrip;
        addresses.set = in_turn ? sms * set : set;
        std::vector<Instruction> body;
        for (std::int64_t i = 0; i < kUnroll; ++i) {
            addresses.base = sm * (in_turn ? kOfTrip : set) + (i * warps + first) * of_warp();
            const auto group = simt::RegisterGroups{1} << i;
            body.push_back({.op = Op::GlobalLoad, .reads = group, .writes = group, .addresses = addresses});
        }
        const Instruction use{.op = Op::Integer, .reads = (1U << kUnroll) - 1};
        return {{std::move(body), rounds * set / kOfTrip}, {{use}}};
    }
    std::int64_t cycles(const SimtSpec& spec) const {
        std::vector<CtaProgram> programs;
        for (std::int64_t sm = 0; sm < sms; ++sm) programs.push_back(program(sm));
        return Run(spec, programs).cycles;
    }
};

/// GB/s of a stream out of the memory as kernels do it: 16 KiB of every SM at a time, of which 32 are under
/// way.
double stream_of_steps(const SimtSpec& spec) {
    constexpr std::int64_t kOfSm = 16 * 1024, kSteps = 32;
    const std::int64_t sms_of_die = spec.sms_of_chiplet(), bytes = sms_of_die * kOfSm;
    std::vector<GroupsOfSms::Request> requests;
    for (std::int64_t step = 0; step < kSteps; ++step)
        for (std::int64_t die = 0; die < spec.chiplets.count; ++die) {
            GroupsOfSms::Request request;
            const std::int64_t number = step * spec.chiplets.count + die;
            request.tiles.blocks = {{number * bytes, bytes, 1, Operand::Activations, {}}};
            request.tiles.sm = die * sms_of_die;
            request.tiles.sms = sms_of_die;
            request.tiles.bytes_of_sm = kOfSm;
            requests.push_back(request);
        }
    FreshKernel kernel;
    ByteLedger ledger{1};
    Dram dram("dram", spec.memory);
    simt::Caches caches(spec, ledger);
    simt::Mmu mmu("mmu", {}, spec.sm, spec.core_clock);
    GroupsOfSms sms("sms", requests);
    sms.out.bind(mmu.in);
    caches.bind(mmu, dram);
    run_to_the_end();
    const Ticks last = *std::max_element(sms.answered().begin(), sms.answered().end());
    return static_cast<double>(kSteps * spec.chiplets.count * bytes) * 1e3 /
           static_cast<double>(last.value());
}

/// Bytes a cycle of all SMs together, in the second half of the rounds: those who were the last to have their
/// set have caught up.
double bandwidth_again(const SimtSpec& spec, Streams streams) {
    const std::int64_t bytes = streams.sms * streams.set * streams.rounds / 2, all = streams.cycles(spec);
    streams.rounds /= 2;
    return static_cast<double>(bytes) / static_cast<double>(all - streams.cycles(spec));
}

/// Cycles of one of the instructions that each of `warps` warps issues.
double issue(const SimtSpec& spec, std::int64_t macs, int warps, const Instruction& instruction) {
    const auto of = [&](std::int64_t trips) {
        const CtaProgram program = program_of(warps, {instruction}, trips);
        simt::Sm sm(spec.sm, macs, [](Op, std::int64_t, std::int64_t at) { return at; });
        sm.launch(program, 0);
        sm.run();
        return std::max(sm.trace(0).end, sm.trace(0).last_mma_end);
    };
    return static_cast<double>(of(300) - of(100)) / 200;
}

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * 1024;
const std::vector<std::string> kGpus{"v100", "a100", "h100", "h100_pcie", "l40s", "mi210", "mi300x"},
    kWithTlbs{"v100", "a100", "h100", "h100_pcie", "l40s"},
    kWithStreams{"v100", "a100", "h100", "h100_pcie", "h200", "l40s", "mi210", "mi300x"};

}  // namespace

TEST_CASE("A chain of loads takes the latency of the level that holds its set", "[simt]") {
    for (const std::string& gpu : kGpus) {
        const SimtSpec spec = shipped_gpu(gpu);
        const auto expect = [&](const std::string& level, double cycles) {
            within_10_percent(gpu + ", " + level, cycles, measured(gpu, level + "_latency").value);
        };
        expect("shared", issue(spec, 1, 1, {.op = Op::SharedLoad, .reads = 1, .writes = 1, .bytes = 128}));
        expect("l1", chase(spec, 16 * kKiB, 128, 1000));
        // A set that the L1 does not hold, whose second round finds all in the L2.
        expect("l2", chase(spec, 512 * kKiB, 128, 4096));
        // A set that the L2 does not hold, but the H100's TLB: strides of an odd number of lines, so that
        // each is new.
        expect("dram", chase(spec, 128 * kMiB, 128 * 40961, 1000));
        if (!spec.memory_side_cache) continue;
        // A set that is found behind an L2 that does not hold it.
        SimtSpec small = spec;
        small.l2.usable = Bytes(64 * kKiB);
        expect("memory_side_cache", chase(small, 512 * kKiB, 128, 4096));
    }
}

TEST_CASE("A chain through more pages than the TLB knows takes the latency of a miss a link", "[simt]") {
    for (const std::string& gpu : kWithTlbs) {
        SimtSpec spec = shipped_gpu(gpu);
        spec.memory.refresh = RefreshPolicy::Off;
        const std::int64_t page = spec.tlb.page.value(), reach = spec.tlb.reach.value();
        SimtSpec all_known = spec;
        all_known.tlb.reach = Bytes(0);
        const auto of_misses = [&](std::int64_t set) {
            // A page after the other, each at another place of it, round after round.
            const std::int64_t stride = page + 128, links = 3 * set / page;
            return chase(spec, set, stride, links) - chase(all_known, set, stride, links);
        };
        CAPTURE(gpu);
        const auto miss = static_cast<double>(spec.tlb.latency.value());
        CHECK(of_misses(reach + reach / 4) == Approx(miss).margin(0.1 * miss));
        CHECK(of_misses(reach / 2) == Approx(0).margin(0.1 * miss));
    }
}

TEST_CASE("Streams of all SMs reach the bandwidth of the level that holds their sets", "[simt]") {
    for (const std::string& gpu : kWithStreams) {
        SimtSpec spec = shipped_gpu(gpu);
        const double ghz = static_cast<double>(spec.core_clock.value()) / 1e9, sms = spec.sm.count;
        const auto expect = [&](const std::string& level, double bytes_per_cycle) {
            within_10_percent(gpu + ", " + level + ", B a cycle and SM", bytes_per_cycle / sms,
                              measured(gpu, level + "_bandwidth").bytes_per_cycle_and_sm());
        };
        const std::int64_t warps = Streams::kThreads / spec.sm.warp_threads;
        const std::int64_t in_l1 = std::min(64 * kKiB, spec.sm.l1_capacity.value());
        if (known(gpu, "l1_bandwidth"))
            expect("l1", sms * bandwidth_again(spec, {1, in_l1, 12 * 64 * kKiB / in_l1, false, warps}));
        spec.sm.l1_capacity = Bytes(0);  // as ld.global.cg: past the L1
        expect("l2", bandwidth_again(spec, {spec.sm.count, 32 * kKiB, 20, false, warps}));
        const double dram = measured(gpu, "dram_bandwidth").value;
        within_10_percent(gpu + ", dram, GB/s", stream_of_steps(spec), dram);
        // Loads of 512 B of all warps meet in more rows at a time than a short queue of the controller puts
        // in order: with 32 places 1554 GB/s of 1769 on the A100, with its 64 1763.
        const Streams once{spec.sm.count, 256 * kKiB, 1, true, warps};
        const double loads =
            static_cast<double>(once.sms * once.set) / static_cast<double>(once.cycles(spec));
        CAPTURE(gpu, loads * ghz);
        CHECK(loads * ghz == Approx(dram).epsilon(0.10));
    }
}

TEST_CASE("CTAs that do next to nothing begin as fast as measured, in both engines", "[simt]") {
    for (const std::string gpu : {"a100", "h200", "l40s", "mi210"}) {
        const SimtSpec spec = shipped_gpu(gpu);
        const auto end_of = [&](std::int64_t ctas, bool in_warps) {
            simt::VectorKernel kernel =
                simt::elementwise_kernel(ctas * spec.sm.warp_threads, 1, {}, DType::Fp32, DType::Fp32);
            kernel.warp_threads = spec.sm.warp_threads;
            kernel.warps = 1;
            kernel.vector = 1;
            const simt::KernelPlan plan(simt::test::plan_of(kernel, spec));
            const auto work = simt::work_of(plan);
            REQUIRE(work->ctas() == ctas);
            if (!in_warps)
                return simt::test::IdealRun(*work, simt::times_of(plan, spec, spec.core_clock), spec.sm.count,
                                            simt::test::kLatency, spec.sm.count)
                    .end;
            simt::KernelInWarps warps(plan, *work, spec, spec.core_clock, Ticks(0));
            return simt::test::IdealRun(warps, simt::test::kLatency, {}).end;
        };
        constexpr std::int64_t kCtas = 2000;
        for (const bool in_warps : {false, true}) {
            const auto more =
                static_cast<double>((end_of(2 * kCtas, in_warps) - end_of(kCtas, in_warps)).value());
            within_10_percent(gpu + (in_warps ? ", in warps" : ", by steps") + ", CTAs a ns",
                              kCtas / more * 1e3, measured(gpu, "cta_rate").value);
        }
    }
}

TEST_CASE("Arithmetic issues as often, and depends as long, as measured", "[simt]") {
    const SimtSpec a100 = shipped_gpu("a100"), h100 = shipped_gpu("h100");
    const auto fp16 = [](const SimtSpec& spec) {
        return *spec.sm.tensor.macs[static_cast<std::size_t>(DType::Fp16)];
    };
    const auto expect = [](const std::string& gpu, const std::string& what, double cycles) {
        within_10_percent(gpu + ", " + what, cycles, measured(gpu, what).value);
    };
    expect("a100", "fma_dependent", issue(a100, 1, 1, {.op = Op::Fp32, .reads = 1, .writes = 1}));
    expect("a100", "fma_independent", issue(a100, 1, 1, {.op = Op::Fp32}));
    // mma.m16n8k16, of one warp on each sub-core.
    const Instruction mma{.op = Op::Mma, .amount = 16 * 8 * 16},
        chain{.op = Op::Mma, .reads = 1, .writes = 1, .amount = 16 * 8 * 16};
    expect("a100", "mma_interval", issue(a100, fp16(a100), 4, mma));
    expect("a100", "mma_latency", issue(a100, fp16(a100), 4, chain));
    // A V100's set of four steps (HMMA.884): 1024 MACs of a warp.
    const SimtSpec v100 = shipped_gpu("v100");
    expect("v100", "fma_dependent", issue(v100, 1, 1, {.op = Op::Fp32, .reads = 1, .writes = 1}));
    expect("v100", "fma_independent", issue(v100, 1, 1, {.op = Op::Fp32}));
    expect("v100", "mma_interval", 4 * issue(v100, fp16(v100), 8, {.op = Op::Mma, .amount = 256}) / 2);
    // wgmma.m64n256k16, of four warps: each does its quarter, and reads a quarter of both operands.
    const Instruction wgmma{.op = Op::GroupMma, .amount = 16 * 256 * 16, .bytes = (16 + 256 / 4) * 32};
    expect("h100", "wgmma_interval", issue(h100, fp16(h100), 4, wgmma));
}

}  // namespace systole::test
