// SPDX-License-Identifier: Apache-2.0
// Long kernels on small GPUs, some of whose CTAs stand for others, held to the same with all of them.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "models/devices/simt/few_ctas.h"
#include "models/devices/simt/kernels/plan.h"
#include "models/devices/simt/simt_device.h"
#include "sim/workload/trace.h"
#include "tests/support/seeds.h"
#include "tests/unit/simt/gpu_config.h"

namespace systole::test {
namespace {

/// A chip of eight SMs whose caches a few of their CTAs fill.
config::Config small_config(const std::string& name, const std::string& cache_size = "256 KiB") {
    config::Config config = gpu_config("device: Mine\nextends: " + name + "\n");
    const bool dies = name == "mi300x";
    config.set("sm.count", "8");
    if (dies) config.set("chiplets.count", "4");
    for (const std::string cache : {"l2", "memory_side_cache"}) {
        if (cache != "l2" && !dies) continue;
        config.set(cache + ".capacity", cache_size);
        config.set(cache + ".usable", "256 KiB");
        config.set(cache + ".dirty", "128 KiB");
    }
    return config;
}

std::unique_ptr<Device> small_gpu(const std::string& name) {
    config::Config config = small_config(name);
    auto device = simt::make_simt_device(config, "mine");
    config.finish();
    return device;
}

/// Whether CTAs of the trace's layer may be watched at all.
bool may_be_watched(config::Config config, const std::string& trace) {
    const simt::SimtSpec spec = simt::read_simt_spec(config, "mine");
    simt::KernelChooser chooser(spec);
    const simt::ChipPlan plan =
        simt::plan(build_trace(config::parse_yaml(trace, "one.yaml"), {}), spec, Protocol::of_op(), chooser);
    return simt::cta_turns(plan.layers.front(), spec).has_value();
}

DeviceResult run(const Device& device, const std::string& trace, bool reuse,
                 Protocol protocol = Protocol::of_op()) {
    protocol.reuse = reuse ? Protocol::Reuse::On : Protocol::Reuse::Off;
    return device.run(build_trace(config::parse_yaml(trace, "one.yaml"), {}), {protocol}).result;
}

std::string one_layer(const std::string& shape, const std::string& layer, const std::string& dtype = "bf16") {
    return fmt::format("trace: t\ninputs: {{x: {{shape: {}, dtype: {}}}}}\nlayers:\n  - {}\noutputs: [l]\n",
                       shape, dtype, layer);
}

std::int64_t value(const DeviceResult& result, const std::string& name) {
    for (const Stat& stat : result.stats)
        if (stat.name == name) return stat.value;
    FAIL("no counter " << name);
    return 0;
}

double off(double value, double from) {
    return from == 0 ? std::abs(value) : std::abs(value / from - 1);
}

double off(Bytes bytes, Bytes from) {
    return off(static_cast<double>(bytes.value()), static_cast<double>(from.value()));
}

/// What CTAs alone decide is exact; times and the memory's bytes are what a sample tells of them.
void check_alike(const DeviceResult& few, const DeviceResult& all) {
    const ResultRow &row = few.layers.front(), &expected = all.layers.front();
    CHECK_FALSE(expected.reused);
    CHECK(row.macs == expected.macs);
    CHECK(few.total.matrix_macs == all.total.matrix_macs);
    CHECK(row.mapping == expected.mapping);
    CHECK(row.compulsory_dram == expected.compulsory_dram);
    CHECK(value(few, "ctas") == value(all, "ctas"));
    CHECK(value(few, "waves") == value(all, "waves"));
    CHECK(off(static_cast<double>(row.time().value()), static_cast<double>(expected.time().value())) < 0.002);
    CHECK(off(row.dram_read + row.dram_written, expected.dram_read + expected.dram_written) < 0.004);
    for (std::size_t c = 0; c < kSlotClasses; ++c) {
        const auto owner = static_cast<SlotClass>(c);
        CAPTURE(to_string(owner));
        CHECK(row.fraction(owner) == Approx(expected.fraction(owner)).margin(0.005));
    }
    REQUIRE(row.operations.size() == expected.operations.size());
    for (std::size_t i = 0; i < row.operations.size(); ++i) {
        CAPTURE(row.operations[i].name);
        CHECK(row.operations[i].name == expected.operations[i].name);
        CHECK(off(static_cast<double>(row.operations[i].count),
                  static_cast<double>(expected.operations[i].count)) < 1e-4);
    }
    CHECK(off(static_cast<double>(few.energy.total().value()),
              static_cast<double>(all.energy.total().value())) < 0.004);
}

}  // namespace

TEST_CASE("Products of many rows take as long as with all of their CTAs", "[simt]") {
    for (const char* gpu : {"a100", "h100", "mi300x", "b200"}) {
        CAPTURE(gpu);
        const auto device = small_gpu(gpu);
        const std::string trace =
            one_layer("[1048576, 256]", "{name: l, op: matmul, n: 320, bias: true, activation: relu}");
        const DeviceResult few = run(*device, trace, true);
        CHECK(few.layers.front().reused);
        check_alike(few, run(*device, trace, false));
    }
}

TEST_CASE("Long kernels at random take as long as with all of their CTAs", "[simt]") {
    constexpr std::array kGpus{"a100", "h100", "h200", "mi210", "l4", "mi300x"};
    int reused = 0;
    for (std::uint64_t seed = 0; seed < enough(16); ++seed) {
        std::mt19937_64 random(seed);
        const auto between = [&](std::int64_t low, std::int64_t high) {
            return std::uniform_int_distribution<std::int64_t>(low, high)(random);
        };
        const std::string gpu = kGpus[static_cast<std::size_t>(between(0, kGpus.size() - 1))];
        const std::int64_t rows = 1024 * between(64, 160), columns = 64 * between(2, 6);
        std::string layer;
        switch (between(0, 4)) {
            case 0:
                layer = fmt::format("{{name: l, op: matmul, n: {}}}", 64 * between(1, 8));
                break;
            case 1:
                layer = "{name: l, op: activation, function: gelu}";
                break;
            case 2:
                layer = "{name: l, op: softmax}";
                break;
            case 3:
                layer = "{name: l, op: norm, kind: rms}";
                break;
            default:
                layer = "{name: l, op: elementwise, kind: add, in: [x, x]}";
                break;
        }
        const std::string trace = one_layer(fmt::format("[{}, {}]", rows, columns), layer);
        CAPTURE(seed, gpu, trace);
        const auto device = small_gpu(gpu);
        const DeviceResult few = run(*device, trace, true);
        if (!few.layers.front().reused) continue;
        ++reused;
        check_alike(few, run(*device, trace, false));
    }
    CHECK(reused * 4 >= static_cast<int>(enough(16)));
}

TEST_CASE("CTAs whose results stay in the caches stand for no others", "[simt]") {
    // 64 MiB of results: in a larger L2 nothing is written back before the kernel ends.
    const std::string trace = one_layer("[262144, 64]", "{name: l, op: matmul, n: 128}");
    CHECK(may_be_watched(small_config("a100"), trace));
    CHECK(may_be_watched(small_config("a100", "32 MiB"), trace));
    CHECK_FALSE(may_be_watched(small_config("a100", "64 MiB"), trace));
    CHECK(run(*small_gpu("a100"), trace, true).layers.front().reused);
}

TEST_CASE("Tiles of a last panel that is narrower stand for none of those before it, nor these for them",
          "[simt]") {
    // Tiles of 128 columns, eight in a panel: behind the first panel others read all of A again.
    const auto watched = [](int columns, int k) {
        return may_be_watched(small_config("a100"),
                              one_layer(fmt::format("[131072, {}]", k),
                                        fmt::format("{{name: l, op: matmul, n: {}}}", columns)));
    };
    CHECK(watched(1024, 64));
    CHECK(watched(1000, 64));
    CHECK(watched(2048, 64));
    CHECK_FALSE(watched(1152, 64));
    CHECK_FALSE(watched(2304, 64));
    CHECK_FALSE(watched(2000, 64));
}

TEST_CASE("Kernels whose CTAs may meet other data are not watched", "[simt]") {
    CHECK(may_be_watched(small_config("a100"), one_layer("[262144, 128]", "{name: l, op: softmax}")));
    CHECK_FALSE(may_be_watched(small_config("a100"),
                               one_layer("[8192, 4096]", "{name: l, op: transpose, permutation: [1, 0]}")));
}

TEST_CASE("Copies from and to the host stay outside of what CTAs stand for", "[simt]") {
    const auto device = small_gpu("a100");
    const std::string trace = one_layer("[262144, 64]", "{name: l, op: matmul, n: 128}");
    const DeviceResult few = run(*device, trace, true, Protocol::of_run()),
                       all = run(*device, trace, false, Protocol::of_run());
    CHECK(few.layers.front().reused);
    check_alike(few, all);
    CHECK(few.layers.front().fraction(SlotClass::Host) > 0.1);
}

TEST_CASE("All CTAs are simulated where somebody wants to see each, or again", "[simt]") {
    const auto device = small_gpu("a100");
    const std::string trace = one_layer("[262144, 64]", "{name: l, op: matmul, n: 128}");
    const Graph graph = build_trace(config::parse_yaml(trace, "one.yaml"), {});
    Protocol twice = Protocol::of_op();
    twice.repeat = 2;
    CHECK_FALSE(device->run(graph, {twice}).result.layers.front().reused);
    const RunOutcome seen = device->run(graph, {Protocol::of_op(), WantTimeline::Yes});
    CHECK_FALSE(seen.result.layers.front().reused);
    CHECK_FALSE(seen.timeline.spans.empty());
    const RunOutcome if_whole = device->run(graph, {Protocol::of_op(), WantTimeline::IfWhole});
    CHECK(if_whole.result.layers.front().reused);
    CHECK(if_whole.timeline.spans.empty());
}

}  // namespace systole::test
