// SPDX-License-Identifier: Apache-2.0
// A simulator of a few lines for tests of sweeps: two devices of a few keys, a trace or two, and points that
// answer, refuse, crash, hang and eat memory when `chip.act` says so.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/config/quantity.h"
#include "sim/config/yaml.h"
#include "sim/sweep/experiment.h"
#include "sim/sweep/folder.h"
#include "sim/sweep/plan.h"
#include "sim/sweep/simulator.h"
#include "tests/support/complaint.h"

namespace systole::sweep::test {

using systole::complaint;

/// What the simulator knows; tests change it.
struct World {
    std::string program = "fake 1.0";
    std::map<std::string, std::map<std::string, std::string>> devices{{"alpha",
                                                                       {{"chip.rows", "4"},
                                                                        {"chip.cols", "8"},
                                                                        {"chip.clock", "1 GHz"},
                                                                        {"chip.mode", "ws"},
                                                                        {"chip.act", "fine"},
                                                                        {"chip.buffer", "16 KiB"},
                                                                        {"kind", "fake"}}},
                                                                      {"beta",
                                                                       {{"chip.rows", "16"},
                                                                        {"chip.cols", "2"},
                                                                        {"chip.clock", "2 GHz"},
                                                                        {"chip.mode", "ws"},
                                                                        {"chip.act", "fine"},
                                                                        {"chip.buffer", "32 KiB"},
                                                                        {"chip.extra", "1"},
                                                                        {"kind", "fake"}}}};
    std::map<std::string, std::map<std::string, std::string>> traces{
        {"net", {{"workload.batch", "1"}, {"workload.seq", "128"}}}, {"other", {{"workload.batch", "2"}}}};
    std::map<std::string, std::string> digests{{"net", "layers of net"}, {"other", "layers of other"}};
    std::map<std::string, std::string> protocol{{"run.launch", "none"}, {"run.repeat", "1"}};
    std::set<std::string> run_once;  ///< devices that refuse every other run.repeat
};

inline bool is_count(const std::string& text, std::int64_t most) {
    return config::parse_integer(text, 1, most).value.has_value();
}

/// What is wrong with a value, as a device would say it; "" if nothing is.
inline std::string wrong(const std::string& path, const std::string& value) {
    if (path == "chip.mode" && value != "ws" && value != "os") return "expected ws or os";
    const bool is_number = path.ends_with(".rows") || path.ends_with(".cols") || path.ends_with(".batch") ||
                           path.ends_with(".repeat");
    if (is_number && !is_count(value, 4096)) return "expected a number from 1 to 4096";
    if (path == "chip.clock" &&
        !config::parse_quantity(value, config::Dimension::Frequency, 1, std::int64_t{1} << 40).value)
        return "expected a frequency";
    if (path == "chip.buffer" &&
        !config::parse_quantity(value, config::Dimension::Size, 1, std::int64_t{1} << 60).value)
        return "expected a size";
    return "";
}

/// `base` with settings in place, or every mistake at its place. Mode os wants as many columns as rows.
inline std::map<std::string, std::string> with(std::map<std::string, std::string> base,
                                               const std::vector<Setting>& settings) {
    std::vector<Diagnostic> mistakes;
    std::set<std::string> seen;
    const Setting* mode = nullptr;
    for (const Setting& setting : settings) {
        const auto complain = [&](const std::string& what) {
            mistakes.push_back({setting.where, fmt::format("{}={}: {}", setting.path, setting.value, what)});
        };
        if (setting.path == "chip.mode") mode = &setting;
        if (!seen.insert(setting.path).second)
            complain("is set twice");
        else if (!base.contains(setting.path))
            complain("there is no such key");
        else if (const std::string what = wrong(setting.path, setting.value); !what.empty())
            complain(what);
        base[setting.path] = setting.value;
    }
    if (mistakes.empty() && mode && mode->value == "os" &&
        std::stoll(base["chip.cols"]) < std::stoll(base["chip.rows"]))
        mistakes.push_back({mode->where, "os wants as many columns as rows"});
    if (!mistakes.empty()) throw UserError(std::move(mistakes));
    return base;
}

/// Does what `chip.act` says, instead of an answer.
inline void act(const std::string& what) {
    for (const int each : {SIGABRT, SIGSEGV}) std::signal(each, SIG_DFL);  // Catch2 has its own
    if (what == "abort") std::abort();
    if (what == "segfault") std::raise(SIGSEGV);
    if (what == "hang") ::sleep(600);
    if (what == "throw") throw std::runtime_error("a wheel came off");
    if (what == "throw a number") throw 42;
    if (what == "starve") throw std::bad_alloc();
    if (what == "exit") ::_exit(3);
    if (what == "chatter")
        for (const std::string much(60'000, 'x');;)
            if (::write(STDERR_FILENO, much.data(), much.size()) < 0) return;
    if (what == "eat") {
        std::vector<std::vector<char>> eaten;
        for (;;) eaten.emplace_back(std::size_t{16} << 20, 'x');
    }
}

inline Values listed(const std::map<std::string, std::string>& values) {
    return {values.begin(), values.end()};
}

/// Mistakes of device, trace and protocol together, or what they refuse of each other.
inline void check(const World& world, const std::string& device, const std::string& trace,
                  const std::vector<Setting>& settings) {
    std::vector<Setting> of_device, of_trace, of_run;
    for (const Setting& each : settings)
        (each.path.starts_with("run.")        ? of_run
         : each.path.starts_with("workload.") ? of_trace
                                              : of_device)
            .push_back(each);
    std::vector<Diagnostic> mistakes;
    const auto attempt = [&](const auto& base, const std::vector<Setting>& own) {
        try {
            with(base, own);
        } catch (const UserError& error) {
            mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    };
    attempt(world.devices.at(device), of_device);
    attempt(world.traces.at(trace), of_trace);
    attempt(world.protocol, of_run);
    for (const Setting& each : of_run)
        if (mistakes.empty() && each.path == "run.repeat" && each.value != "1" &&
            world.run_once.contains(device))
            mistakes.push_back({each.where, device + " runs once"});
    if (!mistakes.empty()) throw UserError(std::move(mistakes));
}

/// `world` must outlive it. time_ns is 1000 x batch / rows, rounded down; area is rows x cols.
inline Simulator simulator(const World& world) {
    Simulator simulator;
    simulator.program = world.program;
    simulator.metrics = {{"time_ns"}, {"area_um"}, {"speed", true, true}, {"bound", false}};
    simulator.device = [&world](const std::string& name, const std::vector<Setting>& settings) {
        if (!world.devices.contains(name)) throw UserError(fmt::format("there is no device '{}'", name));
        return Resolved{listed(with(world.devices.at(name), settings)), ""};
    };
    simulator.trace = [&world](const std::string& name, const std::vector<Setting>& settings) {
        if (!world.traces.contains(name)) throw UserError(fmt::format("there is no trace '{}'", name));
        return Resolved{listed(with(world.traces.at(name), settings)), world.digests.at(name)};
    };
    simulator.protocol = [&world](const std::vector<Setting>& settings) {
        return Resolved{listed(with(world.protocol, settings)), ""};
    };
    simulator.check = [&world](const std::string& device, const std::string& trace,
                               const std::vector<Setting>& settings) {
        check(world, device, trace, settings);
    };
    simulator.run = [&world](const std::string& device, const std::string& trace,
                             const std::vector<Setting>& settings) {
        std::vector<Setting> of_device, of_trace;
        for (const Setting& each : settings)
            if (!each.path.starts_with("run."))
                (each.path.starts_with("workload.") ? of_trace : of_device).push_back(each);
        const auto chip = with(world.devices.at(device), of_device);
        const auto net = with(world.traces.at(trace), of_trace);
        act(chip.at("chip.act"));
        if (chip.at("chip.act") == "refuse") throw UserError("the device, \"it\", does not want\nto");
        const std::int64_t rows = std::stoll(chip.at("chip.rows")), cols = std::stoll(chip.at("chip.cols"));
        const std::int64_t time = 1000 * std::stoll(net.at("workload.batch")) / rows;
        return std::vector<Metric>{{"time_ns", fmt::to_string(time)},
                                   {"area_um", fmt::to_string(rows * cols)},
                                   {"speed", fmt::to_string(rows)},
                                   {"bound", rows > cols ? "memory" : "compute"}};
    };
    return simulator;
}

inline Experiment experiment(const std::string& text) {
    return read_experiment(config::parse_yaml(text, "e.yaml"));
}

inline Plan plan(const std::string& text, const World& world = {}, const PlanOptions& options = {}) {
    return make_plan(experiment(text), simulator(world), options);
}

/// What is wrong with an experiment, while it is read or planned.
inline std::string mistake(const std::string& text, const World& world = {}) {
    return complaint([&] { plan(text, world); });
}

/// A folder that goes when this does.
class TemporaryFolder {
public:
    TemporaryFolder() {
        static std::atomic<int> number = 0;
        path_ =
            std::filesystem::temp_directory_path() / fmt::format("systole-sweep-{}-{}", ::getpid(), number++);
        std::filesystem::create_directories(path_);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

}  // namespace systole::sweep::test
