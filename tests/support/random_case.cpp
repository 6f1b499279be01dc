// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_case.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "models/devices/simt/simt_device.h"
#include "models/devices/systolic/systolic_device.h"
#include "sim/workload/trace.h"
#include "tests/support/dice.h"
#include "tests/support/random_gpu.h"
#include "tests/support/random_machine.h"
#include "tests/unit/simt/gpu_config.h"

namespace systole::test {
namespace {

/// Queries, keys and values that come from outside, and a product behind them.
std::string attention_network(Dice& dice) {
    const std::int64_t batch = between(dice, 1, 2), kv_heads = between(dice, 1, 3),
                       heads = kv_heads * between(dice, 1, 2), dim = 8 * between(dice, 1, 8),
                       keys = between(dice, 1, 160), queries = between(dice, 1, keys);
    const bool causal = between(dice, 0, 1) == 1;
    return fmt::format(
        "trace: attention\ninputs:\n"
        "  q: {{shape: [{0}, {1}, {2}], dtype: bf16}}\n"
        "  k: {{shape: [{0}, {3}, {4}], dtype: bf16}}\n"
        "  v: {{shape: [{0}, {3}, {4}], dtype: bf16}}\n"
        "layers:\n"
        "  - {{name: context, op: attention, in: [q, k, v], heads: {5}, kv_heads: {6}, causal: {7}}}\n"
        "  - {{name: projection, op: matmul, n: {8}}}\n"
        "outputs: [projection]\n",
        batch, queries, heads * dim, keys, kv_heads * dim, heads, kv_heads, causal, between(dice, 1, 90));
}

std::string random_network(Dice& dice) {
    const std::uint64_t seed = dice();
    switch (between(dice, 0, 4)) {
        case 0:
            return attention_network(dice);
        case 1:
        case 2:
            return RandomGpu(seed).network();
        default:
            return RandomMachine(seed).trace();
    }
}

config::Config config_of(const Case& drawn, const Settings& more) {
    config::Config config = gpu_config(drawn.device);  // nothing in it is of GPUs
    for (const Settings* settings : {&drawn.settings, &more})
        for (const auto& [path, value] : *settings) config.set(path, value);
    return config;
}

Settings settings_of(const std::string& preset, std::uint64_t seed) {
    Case shipped;
    shipped.kind = preset.starts_with("t") ? Kind::Systolic : Kind::Simt;
    shipped.device = "device: Mine\nextends: " + preset + "\n";
    return RandomGpu(seed).settings(keys_of(shipped));
}

}  // namespace

std::string to_string(Kind kind) {
    return kind == Kind::Systolic ? "systolic" : "simt";
}

Case random_case(Kind kind, std::uint64_t seed) {
    Dice dice(seed);
    Case drawn;
    drawn.kind = kind, drawn.seed = seed;
    const std::uint64_t inner = dice();
    constexpr std::array kGpus{"a100", "h100", "l40s", "v100", "mi300x", "b200"};
    constexpr std::array kArrays{"tpu_v4", "tpu_v1", "teaching_4x4", "trainium1"};
    std::string preset;
    if (kind == Kind::Simt) preset = kGpus[seed % kGpus.size()];
    if (kind == Kind::Systolic && seed % 4 == 0) preset = kArrays[seed / 4 % kArrays.size()];
    drawn.device = preset.empty() ? RandomMachine(inner).device() : "device: Mine\nextends: " + preset + "\n";
    // Half of the shipped ones have other values. GPUs have few SMs, so that little work takes several waves.
    if (!preset.empty() && dice() % 2 == 0) drawn.settings = settings_of(preset, inner);
    if (kind == Kind::Simt) drawn.settings.emplace_back("sm.count", std::to_string(between(dice, 2, 16)));
    drawn.trace = random_network(dice);
    drawn.protocol = dice() % 2 == 0 ? Protocol::of_run() : Protocol::of_op();
    drawn.protocol.launch = static_cast<Protocol::Launch>(dice() % 3);
    drawn.protocol.refresh_phase = Ticks(between(dice, 0, 3'000'000));
    drawn.protocol.reuse = Protocol::Reuse::Off;
    return drawn;
}

std::unique_ptr<Device> device_of(const Case& drawn, const Settings& more) {
    config::Config config = config_of(drawn, more);
    auto device = drawn.kind == Kind::Systolic ? systolic::make_systolic_device(config, "mine")
                                               : simt::make_simt_device(config, "mine");
    config.finish();
    return device;
}

std::vector<config::Entry> keys_of(const Case& drawn, const Settings& more) {
    config::Config config = config_of(drawn, more);
    if (drawn.kind == Kind::Systolic)
        systolic::read_systolic_spec(config, "mine");
    else
        simt::read_simt_spec(config, "mine");
    config.finish();
    return config.effective();
}

Graph graph_of(const Case& drawn) {
    return build_trace(config::parse_yaml(drawn.trace, "network.yaml"), {});
}

std::string to_string(const Case& drawn) {
    std::string text =
        fmt::format("{} seed {}\n# machine.yaml\n{}", to_string(drawn.kind), drawn.seed, drawn.device);
    text += "# network.yaml\n" + drawn.trace + "systole run machine.yaml network.yaml";
    for (const auto& [key, value] : describe(drawn.protocol))
        text += fmt::format(" --set 'run.{}={}'", key, value);
    for (const auto& [path, value] : drawn.settings) text += fmt::format(" --set '{}={}'", path, value);
    return text + "\n";
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace systole::test
