// SPDX-License-Identifier: Apache-2.0
// Random GPUs with random networks. A run checks its own invariants and aborts on a violation; what is
// impossible is refused with a reason.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/devices/simt/simt_device.h"
#include "sim/workload/trace.h"
#include "tests/support/random_gpu.h"
#include "tests/unit/simt/gpu_config.h"

namespace systole {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

std::vector<config::Entry> entries_of(const std::string& preset) {
    config::Config config = test::gpu_config("device: Mine\nextends: " + preset + "\n");
    simt::read_simt_spec(config, "mine");
    config.finish();
    return config.effective();
}

/// Nothing where it is refused.
std::unique_ptr<Device> make(const std::string& preset, const Settings& settings) {
    try {
        config::Config config = test::gpu_config("device: Mine\nextends: " + preset + "\n");
        for (const auto& [path, value] : settings) config.set(path, value);
        auto device = simt::make_simt_device(config, "mine");
        config.finish();
        return device;
    } catch (const UserError&) {
        return nullptr;
    }
}

std::string text_of(const Settings& settings) {
    std::string text;
    for (const auto& [path, value] : settings) text += fmt::format("--set '{}={}' ", path, value);
    return text;
}

}  // namespace

TEST_CASE("random GPUs keep every invariant, or are refused", "[machines][simt]") {
    const std::string presets[] = {"a100", "h100", "l40s", "h200", "v100", "mi300x"};
    std::vector<std::vector<config::Entry>> entries;
    for (const std::string& preset : presets) entries.push_back(entries_of(preset));
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= 228; ++seed) {
        test::RandomGpu random(seed);
        const std::string& preset = presets[seed % 6];
        const Settings settings = random.settings(entries[seed % 6]);
        const std::string network = random.network();
        const Protocol protocol = random.protocol();
        INFO(fmt::format("seed {}: {} {}\n{}", seed, preset, text_of(settings), network));
        const auto device = make(preset, settings);
        if (!device) continue;
        const Graph graph = build_trace(config::parse_yaml(network, "network.yaml"), {});
        try {
            // A timeline is held to the result that it is of.
            const WantTimeline timeline = seed % 2 == 0 ? WantTimeline::Yes : WantTimeline::No;
            WorkDone work_done;
            RunOptions options{protocol, timeline, true};
            options.work_done = &work_done;
            const DeviceResult result = device->run(graph, options).result;
            CHECK(work_done.runs() == 1);
            CHECK(work_done.share() == 1);
            ++ran;
            CHECK(result.total.macs == total_macs(graph));
            CHECK(result.total.utilization() <= 1.0);
            CHECK(result.total.cycles >= result.total.roofline.floor());
        } catch (const UserError& error) {
            CHECK_THAT(error.what(), Catch::Contains("error: "));
        }
    }
    // Of two draws one is refused, for two keys that do not go together or a format that the chip lacks.
    CHECK(ran > 30);
}

}  // namespace systole
