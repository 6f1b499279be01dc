// SPDX-License-Identifier: Apache-2.0
#include "tests/support/knobs.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace systole::test {
namespace {

/// Of both kinds: the memory and the links.
const std::vector<Knob> kShared{{"memory clock x 2", 0.03, {{"memory.clock", 2}}},
                                {"memory clock x 1.1", 0.1, {{"memory.clock", 1.1}}},
                                {"memory channels x 2", 0.1, {{"memory.channels", 2}}},
                                {"host bandwidth x 2", 0.01, {{"host.bandwidth", 2}}},
                                {"host lanes x 2", 0.01, {{"host.lanes", 2}}},
                                {"host latency / 2", 0.01, {{"host.latency", 0.5}}},
                                {"chip link bandwidth x 2", 0.01, {{"chip_link.bandwidth", 2}}},
                                {"chip link latency / 2", 0.01, {{"chip_link.latency", 0.5}}}};

const std::vector<Knob> kSystolic{
    {"core clock x 2", 0.03, {{"core.clock", 2}}},
    {"core clock x 1.1", 0.04, {{"core.clock", 1.1}}},
    {"MXUs x 2", 0.5, {{"mxu.count", 2}}},
    {"rates x 2", 0.1, {{"mxu.rate.*", 2}}},
    {"shadow register", 0.05, {{"mxu.shadow_register", 1, "on"}}},
    {"weight FIFO x 2", 0.02, {{"mxu.weight_fifo_tiles", 2}}},
    {"accumulator rows x 2", 0.08, {{"mxu.accumulator_rows", 2}}},
    {"accumulator latency / 2", 0.02, {{"mxu.accumulator_latency", 0.5}}},
    {"unpack x 2", 0.01, {{"mxu.unpack", 2}}},
    {"buffers x 2",
     0.02,
     {{"scratchpad.capacity", 2},
      {"placement.input_buffer", 2},
      {"placement.weight_buffer", 2},
      {"placement.output_buffer", 2}}},
    {"activation space x 2", 0.08, {{"scratchpad.capacity", 2}, {"placement.activation_space", 2}}},
    {"banks x 2", 0.01, {{"scratchpad.banks", 2}}},
    {"bank ports x 2", 0.01, {{"scratchpad.bank_ports", 2}}},
    {"activation ports x 2", 0.15, {{"scratchpad.activation_ports", 2}}},
    {"weight port width x 2", 0.01, {{"scratchpad.weight_port_width", 2}}},
    {"DMA port width x 2", 0.01, {{"scratchpad.dma_port_width", 2}}},
    {"scratchpad latency / 2", 0.01, {{"scratchpad.latency", 0.5}}},
    {"vector lanes x 2", 0.02, {{"vector.lanes", 2}}},
    {"vector widths x 2",
     0.01,
     {{"vector.read_width", 2}, {"vector.write_width", 2}, {"vector.accumulator_rows_per_cycle", 2}}},
    {"vector startup / 2", 0.01, {{"vector.startup", 0.5}}},
    {"queue depth x 2", 0.25, {{"sequencer.queue_depth", 2}}},
    {"issue cycles / 2", 0.4, {{"sequencer.issue_cycles", 0.5}}},
    {"launch latency / 2", 0.01, {{"sequencer.launch_latency", 0.5}}},
    {"DMA in flight x 2", 0.01, {{"dma.in_flight", 2}}},
    {"DMA setup / 2", 0.06, {{"dma.setup_cycles", 0.5}}}};

const std::vector<Knob> kSimt{
    {"core clock x 2", 0.02, {{"core.clock", 2}}},
    {"core clock x 1.1", 0.02, {{"core.clock", 1.1}}},
    {"SMs x 2", 0.05, {{"sm.count", 2}}},
    {"tensor cores x 2", 0.02, {{"sm.tensor.macs.*", 2}}},
    {"registers x 2", 0.06, {{"sm.registers", 2}}},
    {"warps x 2", 0.01, {{"sm.warps", 2}}},
    {"shared memory width x 2", 0.01, {{"sm.shared.width", 2}}},
    {"shared memory latency / 2", 0.05, {{"sm.shared.latency", 0.5}}},
    {"barrier latency / 2", 0.01, {{"sm.barrier_latency", 0.5}}},
    {"L2 capacity x 2", 0.01, {{"l2.capacity", 2}, {"l2.usable", 2}, {"l2.dirty", 2}}},
    {"L2 read width x 2", 0.02, {{"l2.read_width", 2}, {"l2.sm_read_width", 2}}},
    {"L2 write width x 2", 0.06, {{"l2.write_width", 2}, {"l2.sm_write_width", 2}}},
    {"L2 latency / 2", 0.02, {{"l2.latency", 0.5}}},
    {"L2 to memory latency / 2", 0.02, {{"l2.memory_latency", 0.5}}},
    {"TLB reach x 2", 0.01, {{"tlb.reach", 2}}},
    {"CTA launch / 2", 0.01, {{"launch.cta", 0.5}, {"launch.cta_interval", 0.5}}},
    {"launch / 2", 0.01, {{"launch.graph", 0.5}, {"launch.stream", 0.5}}},
    {"kernel overhead / 2", 0.01, {{"calibrated.kernel_overhead", 0.5}}},
    {"copy setup / 2", 0.01, {{"copy.setup_cycles", 0.5}}}};

std::vector<Knob> with_shared(std::vector<Knob> own) {
    own.insert(own.end(), kShared.begin(), kShared.end());
    return own;
}

/// "1050 MHz" by a factor: numbers of lists each by itself. Nothing where it stays what it is.
std::optional<std::string> scaled(const std::string& value, double factor) {
    // A MAC in so many cycles.
    if (value.starts_with("1/")) {
        const int cycles = std::stoi(value.substr(2)), fewer = static_cast<int>(cycles / factor);
        return fewer <= 1 ? "1" : fmt::format("1/{}", fewer);
    }
    std::string text;
    bool changed = false;
    for (std::size_t at = 0; at < value.size();) {
        const bool digit = value[at] >= '0' && value[at] <= '9';
        if (!digit || value[at] == '.') {
            if (value[at] != '[' && value[at] != ']') text += value[at];
            ++at;
            continue;
        }
        std::size_t digits = 0;
        const double number = std::stod(value.substr(at), &digits);
        const bool whole = value.substr(at, digits).find('.') == std::string::npos;
        double result = number * factor;
        // A time of half a nanosecond can be written; a half of three cycles cannot.
        const bool counts = value.find(' ') == std::string::npos || value.starts_with("[");
        if (whole && counts) result = std::floor(result);
        // What is divided stays something.
        if (factor < 1 && result == 0) result = number;
        changed = changed || result != number;
        text += fmt::format("{:.10g}", result);
        at += digits;
    }
    if (!changed) return std::nullopt;
    return text;
}

}  // namespace

const std::vector<Knob>& knobs_of(Kind kind) {
    static const std::vector<Knob> systolic = with_shared(kSystolic), simt = with_shared(kSimt);
    return kind == Kind::Systolic ? systolic : simt;
}

std::optional<Settings> turned(const Knob& knob, const std::vector<config::Entry>& keys) {
    Settings settings;
    for (const Change& change : knob.changes) {
        const bool many = change.path.ends_with("*");
        const std::string path = change.path.substr(0, change.path.size() - (many ? 1 : 0));
        for (const config::Entry& entry : keys) {
            if (many ? !entry.path.starts_with(path) : entry.path != path) continue;
            const auto value = change.value.empty() ? scaled(entry.value, change.factor)
                                                    : std::optional<std::string>(change.value);
            if (value && *value != entry.value) settings.emplace_back(entry.path, *value);
        }
    }
    if (settings.empty()) return std::nullopt;
    return settings;
}

}  // namespace systole::test
