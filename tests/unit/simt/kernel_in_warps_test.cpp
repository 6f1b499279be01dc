// SPDX-License-Identifier: Apache-2.0
// Kernels in warps in front of an L2 that answers everything after a fixed time: which bytes they take, and
// what their time is accounted to.
#include "models/devices/simt/machine/kernel_in_warps.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/simt/kernels/time_cta.h"
#include "tests/unit/simt/gpu_config.h"
#include "tests/unit/simt/kernels_at_hand.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::IdealRun;

namespace {

constexpr std::int64_t kA = 0, kB = 1 << 20, kC = 2 << 20;  // addresses
constexpr Ticks kLatency(400'000);

SimtSpec gpu_of(const std::string& name, int sms) {
    SimtSpec spec = systole::test::shipped_gpu(name);
    spec.sm.count = sms;
    spec.sm.gpcs.clear();
    return spec;
}

GemmPlan plan_of(const GemmShape& shape, const CtaTile& tile, std::int64_t split, const SimtSpec& spec) {
    GemmPlan plan;
    plan.kernel.shape = shape;
    plan.kernel.tile = tile;
    plan.kernel.split_k = split;
    plan.timing =
        time_cta(tile, {shape.dtype, split > 1 ? DType::Fp32 : shape.output, plan.kernel.epilogue()}, spec.sm)
            .value();
    plan.a = {kA, Operand::Activations, Bytes(shape.batch * shape.m * shape.k * 2), Bytes(0)};
    plan.b = {kB, Operand::Weights, Bytes(shape.n * shape.k * 2), Bytes(0)};
    MatrixPlace& result = split > 1 ? plan.sums : plan.c;
    const std::int64_t bytes = split * shape.batch * shape.m * shape.n * (split > 1 ? 4 : 2);
    result = MatrixPlace{kC, Operand::Outputs, Bytes(bytes), Bytes(0)};
    return plan;
}

/// How often each byte of a matrix passes.
class Passes {
public:
    Passes(const MatrixPlace& matrix, bool write)
        : matrix_(matrix), write_(write), times_(static_cast<std::size_t>(matrix.bytes.value())) {}
    void add(bool write, const TileAccess::Block& block) {
        if (write != write_ || block.matrix.begin != matrix_.range().begin) return;
        for (std::int64_t i = 0; i < block.bytes; ++i)
            ++times_.at(static_cast<std::size_t>(block.address - matrix_.address + i));
    }
    bool all(int times) const {
        return std::all_of(times_.begin(), times_.end(), [&](int own) { return own == times; });
    }
    std::int64_t sum() const { return std::accumulate(times_.begin(), times_.end(), std::int64_t{0}); }

private:
    const MatrixPlace matrix_;
    const bool write_;
    std::vector<int> times_;
};

struct Took {
    KernelAccount account;
    Ticks end;
    bool a = false, b = false, c = false;  ///< every byte passed as often as tiles need it
};

Took run(const SimtSpec& spec, const GemmPlan& gemm, int times_a, int times_b) {
    const KernelPlan plan(gemm);
    const auto work = work_of(plan);
    Passes a(gemm.a, false), b(gemm.b, false), c(gemm.kernel.split_k > 1 ? gemm.sums : gemm.c, true);
    KernelInWarps kernel(plan, *work, spec, spec.core_clock, Ticks(0));
    const IdealRun ideal(kernel, kLatency, [&](bool write, const TileAccess::Block& block) {
        for (Passes* matrix : {&a, &b, &c}) matrix->add(write, block);
    });
    return {ideal.account, ideal.end, a.all(times_a), b.all(times_b), c.all(1)};
}

}  // namespace

TEST_CASE("Warps bring every byte of A and B once for each tile, and store each of C once", "[simt]") {
    const GemmShape odd{2, 131, 97, 203, DType::Bf16, DType::Bf16, true};  // 3 x 2 tiles of 64 x 64
    for (const std::int64_t split : {1, 3, 5}) {
        CAPTURE(split);
        const SimtSpec ampere = gpu_of("a100", 3), hopper = gpu_of("h100", 3);
        const Took warps = run(ampere, plan_of(odd, {64, 64, 32, 4, 2, 2, 1, 1}, split, ampere), 2, 2 * 3);
        CHECK((warps.a && warps.b && warps.c));
        const Took groups = run(hopper, plan_of(odd, {64, 64, 64, 4, 1, 1, 1, 1}, split, hopper), 2, 2 * 3);
        CHECK((groups.a && groups.b && groups.c));
        for (const Took& took : {warps, groups}) {
            CHECK(took.account.macs == 2 * 131 * 97 * 203);
            CHECK(took.account.ctas == 2 * 6 * split);
        }
    }
}

TEST_CASE("CTAs of a cluster bring each of its blocks once", "[simt]") {
    const SimtSpec hopper = gpu_of("h100", 4);
    const GemmShape shape{1, 300, 128, 100, DType::Bf16, DType::Bf16, true};  // 5 x 2 tiles, 3 x 2 clusters
    const Took took = run(hopper, plan_of(shape, {64, 64, 64, 4, 1, 1, 2, 1}, 1, hopper), 2, 3);
    CHECK((took.a && took.b && took.c));
}

TEST_CASE("Persistent CTAs in warps bring and store what as many CTAs would", "[simt]") {
    const SimtSpec hopper = gpu_of("h100", 3);
    const GemmShape odd{2, 331, 197, 203, DType::Bf16, DType::Bf16, true};  // 6 x 4 tiles of 64 x 64
    for (const std::int64_t split : {1, 3}) {
        CtaTile tile{64, 64, 64, 4, 1, 1, 1, 1};
        const Took apart = run(hopper, plan_of(odd, tile, split, hopper), 4, 2 * 6);
        tile.persistent = true;
        const Took took = run(hopper, plan_of(odd, tile, split, hopper), 4, 2 * 6);
        CHECK((took.a && took.b && took.c));
        CHECK(took.account.macs == apart.account.macs);
        CHECK(took.account.ctas == 2 * 24 * split);
        CHECK(took.end < apart.end);
    }
}

TEST_CASE("Warps bring what an epilogue reads once for each tile", "[simt]") {
    GemmShape odd{2, 131, 97, 203, DType::Bf16, DType::Bf16, true};  // 3 x 2 tiles of 64 x 64
    odd.epilogue.post = Function::Gelu;
    for (const std::string gpu : {"a100", "h100"})
        for (const bool bias : {false, true})
            for (const bool join : {false, true})
                for (const bool swapped : {false, true}) {
                    CAPTURE(gpu, bias, join, swapped);
                    odd.epilogue.bias = bias;
                    odd.epilogue.join = join ? std::optional(Elementwise::Kind::Add) : std::nullopt;
                    const SimtSpec spec = gpu_of(gpu, 3);
                    const CtaTile tile = gpu == "a100" ? CtaTile{64, 64, 32, 4, 2, 2, 1, 1}
                                                       : CtaTile{64, 64, 64, 4, 1, 1, 1, 1};
                    GemmPlan gemm = plan_of(odd, tile, 1, spec);
                    gemm.kernel.swapped = swapped;
                    const std::int64_t along = swapped ? odd.m : odd.n;
                    gemm.columns = {{"bias", {3 << 20, Operand::Weights, Bytes(4 * along), Bytes(0)}, 4}};
                    gemm.other = {4 << 20, Operand::Activations, Bytes(2 * 2 * 131 * 97), Bytes(0)};
                    Passes values(gemm.columns.at(0).place, false), others(gemm.other, false);
                    const KernelPlan plan(gemm);
                    const auto work = work_of(plan);
                    KernelInWarps kernel(plan, *work, spec, spec.core_clock, Ticks(0));
                    IdealRun ideal(kernel, kLatency, [&](bool write, const TileAccess::Block& block) {
                        values.add(write, block);
                        others.add(write, block);
                    });
                    // A value meets all tiles along the other side, of both items.
                    CHECK(values.all(bias ? 2 * (swapped ? 2 : 3) : 0));
                    CHECK(others.all(join ? 1 : 0));
                }
}

TEST_CASE("Steps wait for what epilogues read as the warps that load it do", "[simt]") {
    GemmShape shape{1, 128, 128, 256, DType::Bf16, DType::Bf16, true};
    const auto source = [&](const std::string& gpu) {
        const SimtSpec spec = gpu_of(gpu, 3);
        const CtaTile tile =
            gpu == "a100" ? CtaTile{64, 64, 32, 4, 2, 2, 1, 1} : CtaTile{64, 64, 64, 4, 1, 1, 1, 1};
        return times_of(plan_of(shape, tile, 1, spec), spec, spec.core_clock).source;
    };
    CHECK(source("a100") == CtaTimes::Source::None);
    CHECK(source("h100") == CtaTimes::Source::None);
    shape.epilogue.bias = true;
    CHECK(source("a100") == CtaTimes::Source::AtEnd);
    CHECK(source("h100") == CtaTimes::Source::AtEnd);
    shape.epilogue.join = Elementwise::Kind::Add;
    CHECK(source("a100") == CtaTimes::Source::AtEnd);
    CHECK(source("h100") == CtaTimes::Source::Both);
    shape.epilogue.bias = false;
    CHECK(source("h100") == CtaTimes::Source::Ahead);
}

TEST_CASE("Warps that add parts of K read every sum once, and of a bias what their results meet", "[simt]") {
    const SimtSpec spec = gpu_of("a100", 3);
    const std::int64_t elements = 75 * 100;
    for (const std::int64_t run : {std::int64_t{1}, std::int64_t{100}}) {
        StreamPlan sum;
        sum.ctas = 8;
        sum.resident = 2;
        sum.elements = elements;
        sum.finish = {true, Function::Gelu, Elementwise::Kind::Add, Function::None};
        sum.from = {kA, Operand::PartialSums, Bytes(3 * 4 * elements), Bytes(0)};
        sum.to = {kC, Operand::Outputs, Bytes(2 * elements), Bytes(0)};
        sum.other = {kB, Operand::Activations, Bytes(2 * elements), Bytes(0)};
        sum.column_run = run;
        const std::int64_t values = run == 1 ? 100 : 75;
        sum.columns = {{"bias", {3 << 20, Operand::Weights, Bytes(4 * values), Bytes(0)}, 4}};
        Passes from(sum.from, false), other(sum.other, false), to(sum.to, true),
            bias(sum.columns.at(0).place, false);
        const KernelPlan plan(sum);
        const auto work = work_of(plan);
        KernelInWarps kernel(plan, *work, spec, spec.core_clock, Ticks(0));
        IdealRun ideal(kernel, kLatency, [&](bool write, const TileAccess::Block& block) {
            for (Passes* matrix : {&from, &other, &to, &bias}) matrix->add(write, block);
        });
        CHECK((from.all(1) && other.all(1) && to.all(1)));
        // CTAs of 937 or 938 results: each meets all 100 columns; or the rows that they lie in.
        if (run == 1) CHECK(bias.all(8));
        if (run == 100) CHECK(bias.sum() == 4 * (75 + 7));  // shared by two: rows where CTAs meet
    }
}

TEST_CASE("A part of K without steps stores its sums, and multiplies nothing", "[simt]") {
    for (const std::string gpu : {"a100", "h100"}) {
        const SimtSpec spec = gpu_of(gpu, 2);
        const GemmShape shape{1, 64, 64, 64 * 4, DType::Bf16, DType::Bf16, true};
        // Four steps in three parts of two.
        const Took took =
            run(spec, plan_of(shape, {64, 64, 64, 4, gpu == "a100" ? 2 : 1, 1, 1, 1}, 3, spec), 1, 1);
        CHECK(took.c);
        CHECK(took.account.macs == 64 * 64 * 256);
    }
}

TEST_CASE("Warps that multiply one row bring every byte of B once, and the row once for each CTA", "[simt]") {
    const SimtSpec spec = gpu_of("a100", 3);
    const CtaTile tile{1, 4, 1024, 4, 1, 4, 1, 1, Pipes::Fp32};
    // 25 columns of 7 CTAs, the last of which has one; 3,001 elements are three steps.
    GemmShape row{1, 1, 25, 3001, DType::Bf16, DType::Bf16, true};
    for (const std::int64_t split : {1, 2}) {
        CAPTURE(split);
        const Took took = run(spec, plan_of(row, tile, split, spec), 7, 1);
        CHECK((took.a && took.b && took.c));
        CHECK(took.account.macs == 25 * 3001);
        CHECK(took.account.ctas == 7 * split);
    }
    row.epilogue = {true, Function::Gelu, Elementwise::Kind::Add, Function::None};
    GemmPlan gemm = plan_of(row, tile, 1, spec);
    CHECK(times_of(gemm, spec, spec.core_clock).source == CtaTimes::Source::AtEnd);
    gemm.columns = {{"bias", {3 << 20, Operand::Weights, Bytes(4 * 25), Bytes(0)}, 4}};
    gemm.other = {4 << 20, Operand::Activations, Bytes(2 * 25), Bytes(0)};
    Passes b(gemm.b, false), bias(gemm.columns.at(0).place, false), other(gemm.other, false), c(gemm.c, true);
    const KernelPlan plan(gemm);
    const auto work = work_of(plan);
    KernelInWarps kernel(plan, *work, spec, spec.core_clock, Ticks(0));
    IdealRun ideal(kernel, kLatency, [&](bool write, const TileAccess::Block& block) {
        for (Passes* matrix : {&b, &bias, &other, &c}) matrix->add(write, block);
    });
    CHECK((b.all(1) && bias.all(1) && other.all(1) && c.all(1)));
}

TEST_CASE(
    "What FP32 pipes multiply is useful by what tensor cores would take, the rest vector's and memory's",
    "[simt]") {
    const SimtSpec spec = gpu_of("a100", 2);
    const GemmShape row{1, 1, 16, 4096, DType::Bf16, DType::Bf16, true};
    const GemmPlan gemm = plan_of(row, {1, 4, 1024, 4, 1, 4, 1, 1, Pipes::Fp32}, 1, spec);
    const KernelPlan plan(gemm);
    const auto work = work_of(plan);
    KernelInWarps warps(plan, *work, spec, spec.core_clock, Ticks(0));
    const IdealRun by_warps(warps, kLatency, {});
    const IdealRun by_steps(*work, times_of(gemm, spec, spec.core_clock), 2, kLatency, 2);
    const double cycle = 65536.0 * 1e12 / static_cast<double>(spec.core_clock.value());
    for (const IdealRun* run : {&by_warps, &by_steps}) {
        const auto of = [&](SlotClass owner) {
            return static_cast<double>(run->account.times[static_cast<std::size_t>(owner)]) / cycle;
        };
        // 16 x 4,096 products at 1,024 a cycle.
        CHECK(of(SlotClass::Useful) == Approx(64).epsilon(1e-6));
        // Of two SMs, each waits four times for 564 cycles (400 ns).
        CHECK(of(SlotClass::Memory) > 2 * 4 * 560);
        CHECK(of(SlotClass::Memory) < 2 * 5.5 * 564);
        CHECK(of(SlotClass::Vector) > 0);
        CHECK(of(SlotClass::OnChip) == 0);
        Int128 sum = 0;
        for (const Int128 time : run->account.times) sum += time;
        CHECK(sum == Int128{to_fine(run->end).value()} * 2);
    }
    // This L2 has no ports, which would hold up data for as long as the loads of the warps take to leave.
    CHECK(by_steps.end <= by_warps.end);
    CHECK(static_cast<double>(by_steps.end.value()) ==
          Approx(static_cast<double>(by_warps.end.value())).epsilon(0.15));
}

TEST_CASE("In warps, too, places are given one after the other, and kept until stores are answered",
          "[simt]") {
    SimtSpec spec = gpu_of("a100", 2);
    spec.core_clock = Hertz(1'000'000'000);
    const auto end_of = [&](std::int64_t ctas, Ticks interval) {
        spec.launch.cta_interval = interval;
        const GemmShape shape{1, 128 * ctas, 128, 64, DType::Bf16, DType::Bf16, false};
        GemmPlan product = plan_of(shape, {128, 128, 64, 4, 2, 2, 1, 1}, 1, spec);
        product.timing.resident = 1;
        const KernelPlan plan(product);
        const auto work = work_of(plan);
        REQUIRE(work->ctas() == ctas);
        KernelInWarps warps(plan, *work, spec, spec.core_clock, Ticks(0));
        const IdealRun run(warps, kLatency, {});
        Int128 sum = 0;
        for (const Int128 time : run.account.times) sum += time;
        CHECK(sum == Int128{to_fine(run.end).value()} * 2);
        return run.end;
    };
    const Ticks cta = end_of(1, Ticks(0));
    CHECK(end_of(1, Ticks(7'000)) == cta + Ticks(7'000));
    CHECK(end_of(4, Ticks(50'000'000)) == cta + Ticks(4 * 50'000'000));
    // After two and a half cycles in the third, the second one after five.
    CHECK(end_of(1, Ticks(2'500)) == cta + Ticks(3'000));
    CHECK(end_of(2, Ticks(2'500)) == cta + Ticks(5'000));
    // The third CTA on two SMs begins when what the first ones stored is answered.
    CHECK(end_of(3, Ticks(0)) == cta * 2);
}

TEST_CASE("Steps of one row ask so late that ports bring the last load's data when it would have them",
          "[simt]") {
    SimtSpec spec = gpu_of("a100", 1);
    spec.l2.bytes_per_cycle = Bytes(4096);
    GemmPlan gemm = plan_of({1, 1, 4, 4096, DType::Bf16, DType::Bf16, true},
                            {1, 4, 1024, 4, 1, 4, 1, 1, Pipes::Fp32}, 1, spec);
    gemm.timing.prologue = Cycles(80);
    gemm.timing.spread = Cycles(100);
    gemm.timing.interval_alone = 50;
    const auto takes = [&](Fine time, double cycles) { CHECK(time == fine_cycles(cycles, spec.core_clock)); };
    // A step is four columns and the row, 2,048 bytes of each: ten cycles of a port, 90 after the first load.
    spec.l2.sm_read_per_cycle = Bytes(1024);
    takes(times_of(gemm, spec, spec.core_clock).alone, 50 + 90);
    takes(times_of(gemm, spec, spec.core_clock).prologue - fine_cycles(90, spec.core_clock), 80);
    // A port that takes 160 must begin with the first.
    spec.l2.sm_read_per_cycle = Bytes(64);
    takes(times_of(gemm, spec, spec.core_clock).alone, 50);
    takes(times_of(gemm, spec, spec.core_clock).prologue, 80);
}

TEST_CASE("All time of all SMs has an owner", "[simt]") {
    const SimtSpec spec = gpu_of("a100", 5);
    const GemmShape shape{1, 200, 256, 320, DType::Bf16, DType::Bf16, true};
    const Took took = run(spec, plan_of(shape, {64, 64, 32, 4, 2, 2, 1, 1}, 1, spec), 4, 4);
    Int128 sum = 0;
    for (const Int128 time : took.account.times) sum += time;
    CHECK(sum == Int128{to_fine(took.end).value()} * 5);
    std::int64_t last = 0;
    for (const std::int64_t time : took.account.last) last += time;
    CHECK(last == to_fine(took.end).value());
    // 16 CTAs of 10 steps keep an SM's tensor cores for 64 x 64 x 32 / 1024 cycles a step.
    const auto useful = static_cast<double>(took.account.times[static_cast<std::size_t>(SlotClass::Useful)]);
    const double cycle = 65536.0 * 1e12 / static_cast<double>(spec.core_clock.value());
    CHECK(useful / cycle == Approx(16 * 10 * 128).epsilon(1e-6));
    CHECK(took.account.sms == 5);
    const auto launch = static_cast<double>(took.account.times[static_cast<std::size_t>(SlotClass::Launch)]);
    CHECK(launch / cycle > 4.99 * static_cast<double>(spec.launch.cta.value()));  // each SM's first CTA
    CHECK(took.account.times[static_cast<std::size_t>(SlotClass::Memory)] > 0);
}

TEST_CASE(
    "A CTA of Hopper waits for its bulk stores before the next one gets its place, and that is memory's",
    "[simt]") {
    SimtSpec spec = gpu_of("h100", 1);
    spec.l2.sm_write_per_cycle = Bytes(1);  // 32 KiB of results leave in 32,768 cycles, as steps take
    const auto took = [&](std::int64_t n) {
        const GemmShape shape{1, 128, n, 64 * 64, DType::Bf16, DType::Bf16, true};
        return run(spec, plan_of(shape, {128, 128, 64, 4, 2, 1, 1, 1}, 1, spec), static_cast<int>(n / 128),
                   1);
    };
    const Took one = took(128), two = took(256);
    CHECK(static_cast<double>(two.end.value()) ==
          Approx(2 * static_cast<double>(one.end.value())).epsilon(0.01));
    const double cycle = 65536.0 * 1e12 / static_cast<double>(spec.core_clock.value());
    CHECK(static_cast<double>(two.account.times[static_cast<std::size_t>(SlotClass::Memory)]) / cycle >
          2 * 0.95 * 32'768);
}

TEST_CASE("Bulk copies leave in pieces, one copy behind the other, at the rate of the SM's port", "[simt]") {
    SimtSpec spec = gpu_of("h100", 1);
    spec.l2.sm_read_per_cycle = Bytes(64);
    SmsInWarps sms(spec, 1, 512, [](std::size_t, const Sm::Access& access) {
        TileAccess tiles;
        tiles.blocks = {{access.number * access.bytes, access.bytes, 1, Operand::Activations, {}}};
        tiles.bytes_of_sm = access.bytes;
        return tiles;
    });
    CtaProgram program;
    program.barriers = {{1, false}};
    program.roles = {{1, {{{{.op = Op::BulkCopy, .bytes = 1200}}, 2}}}};
    sms.sm(0).launch(program, 0);
    std::vector<SmsInWarps::Leaving> leaving;
    sms.advance(10'000, leaving);
    std::vector<std::int64_t> at, bytes;
    for (const SmsInWarps::Leaving& piece : leaving) {
        at.push_back(piece.at - leaving.front().at);
        bytes.push_back(piece.tiles.bytes_of_sm);
    }
    CHECK(bytes == std::vector<std::int64_t>{512, 512, 176, 512, 512, 176});
    CHECK(at == std::vector<std::int64_t>{0, 8, 16, 19, 27, 35});  // 1200 bytes pass in 19 cycles
    CHECK_FALSE(sms.quiet());
    for (const SmsInWarps::Leaving& piece : leaving) sms.answered(piece.number, 20'000);
    CHECK(sms.quiet());
}
