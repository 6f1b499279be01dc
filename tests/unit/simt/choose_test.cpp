// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/choose.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "models/devices/simt/kernels/fit.h"
#include "tests/unit/simt/gpu_config.h"

using namespace systole;
using namespace systole::simt;
using systole::test::gpu_spec;
using systole::test::shipped_gpu;

namespace {

GemmShape shape_of(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {.m = m, .n = n, .k = k};
}

/// Cycles below which no kernel can be: of the tensor cores, and of what must come out of memory.
double floor_of(const GemmShape& shape, const SimtSpec& spec) {
    const double products = static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                            static_cast<double>(shape.k) /
                            static_cast<double>(spec.macs_per_cycle(shape.dtype));
    const double bytes = 2.0 * (static_cast<double>(shape.m) * static_cast<double>(shape.k) +
                                static_cast<double>(shape.n) * static_cast<double>(shape.k));
    return std::max(products, bytes * static_cast<double>(spec.core_clock.value()) /
                                  static_cast<double>(spec.memory.peak().value()));
}

}  // namespace

TEST_CASE("A kernel's parts and tiles cover the product, and none is empty") {
    const unsigned seed = GENERATE(range(1U, 31U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto extent = [&] {
        return std::int64_t{1} << std::uniform_int_distribution<int>(0, 14)(random) |
               std::uniform_int_distribution<int>(0, 100)(random);
    };
    const GemmShape shape = shape_of(extent(), extent(), extent());
    CAPTURE(shape.m, shape.n, shape.k);
    const SimtSpec spec = shipped_gpu(seed % 2 == 0 ? "a100" : "h100");
    KernelChooser chooser(spec);
    const std::vector<TimedKernel> all = chooser.weigh(shape);
    REQUIRE_FALSE(all.empty());
    CHECK(std::is_sorted(all.begin(), all.end(),
                         [](const TimedKernel& a, const TimedKernel& b) { return a.weight < b.weight; }));
    for (const TimedKernel& one : all) {
        const GemmKernel& kernel = one.kernel;
        CHECK((kernel.swapped ? kernel.shape.n : kernel.shape.m) == shape.m);
        CHECK((kernel.swapped ? kernel.shape.m : kernel.shape.n) == shape.n);
        CHECK(kernel.steps_of_part() * kernel.split_k >= kernel.steps());
        CHECK(kernel.steps_of_part() * (kernel.split_k - 1) < kernel.steps());
        // A library that prefers larger tiles holds smaller ones to be dearer, never cheaper.
        CHECK(one.weight >= one.estimate);
        // What an estimate promises no chip can beat.
        CHECK(one.estimate >= floor_of(shape, spec));
    }
}

TEST_CASE("A library that prefers larger tiles counts what the others load more for a result") {
    // By hand, beside 256x128 (1/256 + 1/128): 128x128 loads 4/3 of that, 64x64 8/3, whose roots are 1.1547
    // and 1.6330; 0.6 of what is more counts.
    SimtSpec spec = shipped_gpu("a100");
    spec.calibrated.larger_tiles = 0.6;
    KernelChooser chooser(spec);
    std::map<std::pair<std::int64_t, std::int64_t>, double> factors;
    for (const TimedKernel& one : chooser.weigh(shape_of(4096, 4096, 4096)))
        if (one.kernel.split_k == 1)
            factors[{one.kernel.tile.m, one.kernel.tile.n}] = one.weight / one.estimate;
    CHECK(factors.at({256, 128}) == Approx(1.0));
    CHECK(factors.at({128, 256}) == Approx(1.0));
    CHECK(factors.at({128, 128}) == Approx(1.09282));
    CHECK(factors.at({64, 64}) == Approx(1.37980));
}

TEST_CASE("Libraries of 2023 go by what they expect, whatever later ones prefer") {
    SimtSpec spec = shipped_gpu("a100");
    REQUIRE(spec.calibrated.larger_tiles > 0);
    const auto weighs_more = [&](Library library) {
        spec.kernels.layers = library;
        KernelChooser chooser(spec);
        return std::ranges::count_if(chooser.weigh(shape_of(4096, 4096, 4096)),
                                     [](const TimedKernel& one) { return one.weight > one.estimate; });
    };
    CHECK(weighs_more(Library::PyTorch) > 4);
    CHECK(weighs_more(Library::TensorRtLlm) > 4);
    for (const Library library : {Library::Vllm, Library::PyTorch2023, Library::Inductor2023})
        CHECK(weighs_more(library) == 0);
}

TEST_CASE("A library that counts loads from the L2 holds a share of their time against every kernel") {
    // By hand: each CTA of a tile of m x n loads (m + n) x K numbers of 2 bytes, at 6816 B a cycle.
    SimtSpec spec = shipped_gpu("b200");
    spec.calibrated.l2_loads = 0.5;
    KernelChooser chooser(spec);
    int met = 0;
    for (const TimedKernel& one : chooser.weigh(shape_of(4096, 4096, 4096))) {
        const CtaTile& tile = one.kernel.tile;
        if (one.kernel.split_k > 1 || tile.cluster() > 1 || 4096 % tile.m != 0 || 4096 % tile.n != 0)
            continue;
        const double bytes = 4096.0 * 4096.0 / static_cast<double>(tile.m * tile.n) *
                             static_cast<double>(tile.m + tile.n) * 4096.0 * 2.0;
        CHECK(one.weight - one.estimate == Approx(0.5 * bytes / 6816));
        ++met;
    }
    CHECK(met > 4);
}

TEST_CASE("Kernels that share their last tiles are held to load what they would tile by tile") {
    // By hand: each tile of m x n loads (m + n) x K numbers of 2 bytes, whoever has its steps.
    SimtSpec spec = shipped_gpu("a100");
    spec.kernels.stream_k = StreamK::Offered;
    spec.calibrated.larger_tiles = 0;
    spec.calibrated.l2_loads = 0.5;
    KernelChooser chooser(spec);
    int met = 0;
    for (const TimedKernel& one : chooser.weigh(shape_of(1792, 2304, 4096))) {
        const CtaTile& tile = one.kernel.tile;
        if (one.kernel.streams == 0 || 1792 % tile.m != 0 || 2304 % tile.n != 0) continue;
        const double bytes = 1792.0 * 2304.0 / static_cast<double>(tile.m * tile.n) *
                             static_cast<double>(tile.m + tile.n) * 4096.0 * 2.0;
        CHECK(one.weight - one.estimate ==
              Approx(0.5 * bytes / static_cast<double>(spec.l2.bytes_per_cycle.value())));
        ++met;
    }
    CHECK(met > 4);
}

TEST_CASE("A kernel takes as long as the CTA that loads most, not as long as the average") {
    // 128 columns by tiles of 112: CTAs of the first bring 64 + 112 columns of 64 x 2 B a step through an
    // SM's 64 B a cycle (352 cycles, 112 times), those of the second 64 + 16. Tiles of 64 bring 256 cycles'
    // worth.
    KernelChooser chooser(shipped_gpu("h100"));
    std::map<std::int64_t, double> least;
    for (const TimedKernel& one : chooser.weigh(shape_of(2560, 128, 7168))) {
        if (one.kernel.swapped || one.kernel.split_k > 1 || one.kernel.tile.m != 64) continue;
        const auto [at, added] = least.try_emplace(one.kernel.tile.n, one.estimate);
        if (!added) at->second = std::min(at->second, one.estimate);
    }
    CHECK(least.at(112) >= 112 * 352);
    CHECK(least.at(64) < 112 * 300);
}

TEST_CASE("Large products are given large tiles, and come near the peak") {
    for (const char* const name : {"a100", "h100", "l40s"}) {
        const SimtSpec spec = shipped_gpu(name);
        KernelChooser chooser(spec);
        const TimedKernel best = chooser.weigh(shape_of(8192, 8192, 8192)).front();
        INFO(name << ": " << to_string(best.kernel));
        CHECK(best.kernel.tile.m * best.kernel.tile.n >= 128 * 128);
        CHECK(best.kernel.split_k == 1);
        CHECK(best.estimate < 1.15 * floor_of(best.kernel.shape, spec));
    }
}

TEST_CASE("A product that leaves most SMs without work is split along K") {
    for (const char* const name : {"a100", "h100", "l40s"}) {
        KernelChooser chooser(shipped_gpu(name));
        const TimedKernel best = chooser.weigh(shape_of(64, 64, 16384)).front();
        INFO(name << ": " << to_string(best.kernel));
        CHECK(best.kernel.split_k >= 4);
        CHECK(chooser.weigh(shape_of(4096, 4096, 4096)).front().kernel.split_k == 1);
    }
}

TEST_CASE("Parts of K have as many steps as their tile has stages, and no fewer") {
    KernelChooser chooser(shipped_gpu("h100"));
    std::int64_t most = 0;  // parts, of 128 steps by tiles with 16 stages
    for (const TimedKernel& one : chooser.weigh(shape_of(16, 64, 8192))) {
        const GemmKernel& kernel = one.kernel;
        if (kernel.split_k == 1) continue;
        INFO(to_string(kernel));
        CHECK(kernel.steps() >= kernel.split_k * kernel.tile.stages);
        if (kernel.tile.stages == 16) most = std::max(most, kernel.split_k);
    }
    CHECK(most == 8);
}

TEST_CASE("A product of one row, or one column, of an Ampere chip is done on FP32 pipes") {
    const SimtSpec spec = shipped_gpu("a100");
    KernelChooser chooser(spec);
    for (const bool column : {false, true}) {
        const GemmShape shape = column ? shape_of(4096, 1, 4096) : shape_of(1, 4096, 4096);
        const TimedKernel best = chooser.weigh(shape).front();
        CHECK_FALSE(best.kernel.on_tensor_cores());
        CHECK(best.kernel.swapped == column);
        CHECK(best.kernel.shape.m == 1);
        CHECK(best.kernel.ctas() == 512);  // eight columns each
        CHECK(best.kernel.steps() == 8);   // four loads of 128 elements each
        CHECK(best.estimate < 1.3 * floor_of(shape, spec) / spec.l2.memory_share);
    }
    // Few and long: one step behind the other, each of which waits for its data, takes longer than parts do.
    CHECK(chooser.weigh(shape_of(1, 64, 65536)).front().kernel.split_k > 1);
    CHECK(chooser.weigh(shape_of(1, 64, 1024)).front().kernel.split_k == 1);
}

TEST_CASE("Steps of one row wait for their data one after the other") {
    SimtSpec spec = shipped_gpu("a100");
    KernelChooser chooser(spec);
    const CtaTile tile = gemv_catalogue(TensorIssue::Warp, DType::Bf16).at(0);
    const CtaTiming timing = *chooser.timing(tile, {});
    const auto cycles = [&](std::int64_t steps) {
        return estimate({shape_of(1, tile.n, tile.k * steps), tile, 1, {}, false}, timing, spec);
    };
    const double step = cycles(11) - cycles(10);
    spec.l2.latency += Cycles(100);
    CHECK(cycles(11) - cycles(10) == Approx(step + 100).epsilon(1e-9));
    CHECK(cycles(1) < 3 * step);
}

TEST_CASE("FP32 pipes are given nothing but one product of one row in a format that they convert") {
    const auto offered = [](const std::string& gpu, const GemmShape& shape, const std::string& more = "") {
        KernelChooser chooser(gpu_spec("device: Mine\nextends: " + gpu + "\n" + more));
        const std::vector<TimedKernel> all = chooser.weigh(shape);
        return std::any_of(all.begin(), all.end(),
                           [](const TimedKernel& one) { return !one.kernel.on_tensor_cores(); });
    };
    const GemmShape row = shape_of(1, 1000, 1000);
    CHECK(offered("a100", row));
    CHECK_FALSE(offered("a100", shape_of(2, 1000, 1000)));
    GemmShape other = row;
    other.batch = 2;
    CHECK_FALSE(offered("a100", other));
    other = row;
    other.dtype = DType::Int8;
    CHECK_FALSE(offered("a100", other));
    // Hopper's library has tiles of eight columns for it.
    CHECK_FALSE(offered("h100", row));
    // What FP32 pipes multiply is counted in what tensor cores can: 32 lanes a cycle, and 16 a cycle at half
    // rate.
    CHECK_FALSE(offered("a100", row, "sm: {tensor: {macs: {bf16: 15}}}\n"));
    CHECK(offered("a100", row, "sm: {tensor: {macs: {bf16: 16}}}\n"));
}

TEST_CASE("Few rows are weighed as columns, too, where the tensor core has 64 rows at least") {
    KernelChooser chooser(shipped_gpu("h100"));
    const GemmShape few = shape_of(8, 8192, 8192);
    const std::vector<TimedKernel> all = chooser.weigh(few);
    CHECK(all.front().kernel.tile.m * all.front().kernel.tile.n <= 64 * 64);
    const auto swapped =
        std::find_if(all.begin(), all.end(), [](const TimedKernel& one) { return one.kernel.swapped; });
    REQUIRE(swapped != all.end());
    // Nothing of 64 x 8 is computed in vain.
    CHECK(swapped->kernel.tile.n == 8);
    // Items with a second operand each are turned as one is: rows of experts are few.
    GemmShape items = few;
    items.batch = 4;
    items.shared_b = false;
    CHECK(chooser.weigh(items).front().kernel.swapped);
    // Rows that fill tiles stay what they are, and gathered ones, too.
    items.m = items.n;
    for (const TimedKernel& one : chooser.weigh(items)) CHECK_FALSE(one.kernel.swapped);
}

TEST_CASE("Estimates know waves: one CTA more than places costs another round") {
    // Ends of CTAs, which do not double, are counted in cycles: fewer of a slower clock.
    SimtSpec spec = shipped_gpu("h100");
    spec.core_clock = Hertz(1'830'000'000);
    // Neither the L2 nor the memory holds CTAs up: one by itself takes as long as one among many.
    spec.l2.bytes_per_cycle = Bytes(8192);
    spec.memory.kind = DramSpec::Kind::Ideal;
    KernelChooser chooser(spec);
    const CtaTile tile{128, 256, 64, 4, 2, 1};
    const CtaTiming timing = *chooser.timing(tile, {});
    REQUIRE(timing.resident == 1);
    const auto cycles = [&](std::int64_t tiles) {
        return estimate({shape_of(128 * tiles, 256, 4096), tile, 1, {}, false}, timing, spec);
    };
    CHECK(cycles(132) == Approx(cycles(131)).epsilon(0.02));
    CHECK(cycles(133) > 1.8 * cycles(132));
    CHECK(cycles(264) == Approx(2 * cycles(132)).epsilon(0.05));
}

TEST_CASE("Waves of clusters are of the SMs that can take them") {
    SimtSpec spec = shipped_gpu("h100");
    spec.l2.bytes_per_cycle = Bytes(8192);
    spec.memory.kind = DramSpec::Kind::Ideal;
    KernelChooser chooser(spec);
    CtaTile tile{128, 256, 64, 4, 2, 1};
    tile.cluster_m = 4;
    const CtaTiming timing = *chooser.timing(tile, {});
    const auto cycles = [&](std::int64_t tiles) {
        return estimate({shape_of(128 * tiles, 256, 4096), tile, 1, {}, false}, timing, spec);
    };
    CHECK(cycles(124) < 1.05 * cycles(120));
    CHECK(cycles(128) > 1.8 * cycles(124));
    CHECK(cycles(125) == Approx(cycles(128)).epsilon(0.02));  // clusters are whole
    // Where no GPC has SMs for two, nothing in clusters is weighed.
    spec.sm.gpcs.assign(132, 1);
    KernelChooser apart(spec);
    for (const TimedKernel& one : apart.weigh(shape_of(4096, 4096, 4096)))
        CHECK(one.kernel.tile.cluster() == 1);
}

TEST_CASE("Shares at other depths of K read again what the L2 does not hold") {
    SimtSpec spec = shipped_gpu("a100");
    KernelChooser chooser(spec);
    const CtaTile tile{128, 256, 64, 3, 2, 4, 1, 1};
    GemmKernel kernel{shape_of(768, 2560, 8192), tile, 1, {}, false};
    const auto timing = chooser.timing(tile, {DType::Bf16, DType::Bf16, {}});
    REQUIRE(timing);
    kernel.streams = 108;
    kernel.shared_tiles = 60;
    // A and B, 54,525,952 bytes, five times at 0.81 of 2039 bytes a ns: 165.1 us of 1.41 cycles a ns.
    CHECK(spec.l2.usable == Bytes(28'000'000));
    CHECK(spec.l2.memory_share == 0.81);
    const double cycles = 5 * 54'525'952 / (0.81 * 2039.0) * 1.41;
    // Two CTAs' ends: epilogues of 65,536 bytes through shared memory and out at 16 a cycle (5,900),
    // stores as long again as the last ones leave (4,096), starts (2,000); and a tile's sums, out at 16 bytes
    // a cycle (8,192) and, of two, in at 64 (4,096).
    const double ends = 2 * (5'900 + 4'096 + 2'000) + 8'192 + 4'096;
    CHECK(estimate(kernel, *timing, spec) > cycles + 0.8 * ends);
    CHECK(estimate(kernel, *timing, spec) < cycles + 1.2 * ends);
    spec.l2.usable = Bytes(54'525'952);
    // 60 tiles of 128 steps: 72 each, of 2,048 cycles and what warps cannot hide.
    CHECK(estimate(kernel, *timing, spec) < 72 * 2'080 + 1.2 * ends);
    CHECK(estimate(kernel, *timing, spec) > 72 * 2'048 + 0.8 * ends);
}

TEST_CASE("Faster memory or a faster L2 never makes an estimate worse") {
    const GemmShape shape = shape_of(16, 8192, 8192);
    const auto best = [&](const std::string& more) {
        KernelChooser chooser(gpu_spec("device: Mine\nextends: a100\n" + more));
        return chooser.weigh(shape).front().estimate;
    };
    const double own = best("");
    CHECK(best("memory: {clock: 2400 MHz}\n") < own);
    CHECK(best("l2: {sm_read_width: 128 B}\n") <= own);
    CHECK(best("l2: {latency: 400}\n") >= own);
}

TEST_CASE("Of an SM that no kernel fits, what is too small is named") {
    const auto too_small = [](const std::string& preset, const std::string& sm) {
        const SimtSpec spec = gpu_spec("device: Mine\nextends: " + preset + "\nsm: {" + sm + "}\n");
        KernelChooser chooser(spec);
        CHECK(chooser.weigh(shape_of(128, 128, 128)).empty());
        return what_is_too_small(spec.sm, {});
    };
    CHECK(too_small("h100", "registers_of_thread: 38") == "sm.registers_of_thread is 38");
    CHECK(too_small("a100", "shared: {most_of_cta: 4 KiB}") == "sm.shared.most_of_cta is 4.096 kB");
    // Four warps that multiply and four as wide as the group that copies.
    CHECK(too_small("h100", "warps: 4") == "sm.warps is 4");
    CHECK(too_small("h100", "warps: 4, registers: 2048, registers_of_thread: 16") ==
          "sm.warps is 4 and sm.registers is 2048 and sm.registers_of_thread is 16");
}
