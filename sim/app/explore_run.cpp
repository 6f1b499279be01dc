// SPDX-License-Identifier: Apache-2.0
#include "sim/app/explore_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/devices/systolic/explore/array_recorder.h"
#include "sim/app/explore_json.h"
#include "sim/app/load_device.h"
#include "sim/app/load_trace.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/timeline/wave_recorder.h"

namespace systole::app {
namespace {

using Json = nlohmann::ordered_json;
using systolic::ArrayRecorder;
using systolic::RecordedUnit;
using systolic::UnitFinder;

/// What there is to run.
struct Prepared {
    LoadedDevice device;
    Graph graph;
    RunOptions options;
};

/// Only devices of one kind have systolic arrays. Looked at before settings of arrays are.
void require_systolic(const Library& library, const std::string& reference) {
    const LoadedDevice device = load_device(library, reference, {});
    for (const config::Entry& entry : device.entries)
        if (entry.path == "kind" && entry.value != "systolic")
            throw UserError(
                fmt::format("{} is of kind {} and has no systolic array; expected a device of kind systolic, "
                            "such as teaching_4x4 "
                            "(what a GPU's warp does instead: --lesson tensor_core)",
                            device.name, entry.value));
}

Prepared prepare(const Library& library, const ExploredRun& run) {
    const bool is_operator = run.trace.empty();
    require_systolic(library, run.device);
    const Settings settings =
        read_settings(run.settings, is_operator ? Protocol::of_op() : Protocol::of_run(), {run.device});
    LoadedDevice device = load_device(library, run.device, settings);
    RunOptions options{settings.protocol};
    options.protocol.reuse = Protocol::Reuse::Off;  // every turn is to be seen
    options.timeline = WantTimeline::Yes;
    if (is_operator) {
        refuse_workload(settings, "an operator has none");
        Graph graph = operator_graph(device, run.question.op, run.question.keys, {});
        return {std::move(device), std::move(graph), options};
    }
    Graph graph = load_trace(library, run.trace, settings.workload, run.choices);
    return {std::move(device), std::move(graph), options};
}

std::vector<RecordedUnit> units_of(const Prepared& run) {
    UnitFinder finder;
    run.device.device->list_signals(run.graph, run.options, finder);
    if (finder.units().empty())
        throw UserError(fmt::format("{} has no systolic array to look into", run.device.name));
    return finder.units();
}

/// The window, from clock 0 on, and the clock from which registers are kept.
struct Clocks {
    WaveWindow window;
    std::int64_t first = 0;
};

Clocks clocks_of(const CycleRange& range, const DeviceResult& result) {
    const std::int64_t length = result.total.cycles.value();
    const std::int64_t first = range.from.value_or(0), end = range.to.value_or(length);
    if (first >= length || end > length)
        throw UserError({"--cycles"},
                        fmt::format("the run takes {0} cycles: at most 0:{0} can be shown", length));
    if (end > ArrayRecorder::kMostClocks)
        throw UserError(fmt::format(
            "this run takes {} cycles, and a page shows the first {} at most; write --cycles 0:{}, or ask "
            "about a "
            "smaller operator",
            with_thousands(length), with_thousands(ArrayRecorder::kMostClocks), ArrayRecorder::kMostClocks));
    return {{ClockDomain(result.clock), Cycles(0), Cycles(end)}, first};
}

Json result_as_json(const ResultRow& total) {
    Json classes = Json::object();
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const auto slot_class = static_cast<SlotClass>(i);
        classes[std::string(to_string(slot_class))] = total.fraction(slot_class);
    }
    return {{"cycles", total.cycles.value()},
            {"time_ns", static_cast<double>(total.time().value()) / 1000},
            {"macs", total.macs.value()},
            {"utilization", total.utilization()},
            {"classes", std::move(classes)}};
}

Json layers_as_json(const DeviceResult& result) {
    Json layers = Json::array();
    for (const ResultRow& row : result.layers) layers.push_back({{"name", row.name}, {"op", row.op}});
    return layers;
}

/// Fused attention is two products; its passes number them in turn (lowering/attention_work.cpp). Says of its
/// layer's passes which of them, of which input and head of keys.
void name_products(Json& passes, const Graph& graph, const DeviceResult& result) {
    for (Json& pass : passes) {
        const ResultRow& row = result.layers.at(pass["layer"].get<std::size_t>());
        const auto layer = std::ranges::find(graph.layers, row.name, &Layer::name);
        if (layer == graph.layers.end()) continue;
        const auto* attention = std::get_if<Attention>(&layer->op);
        if (!attention || attention->part != Attention::Part::Whole) continue;
        const std::int64_t number = pass["batch"], turn = number / 2;
        const std::int64_t item = turn % attention->items();
        pass["batch"] = item / attention->kv_heads;
        pass["product"] = number % 2 == 0 ? "scores" : "context";
        pass["head"] = item % attention->kv_heads;
        pass["block"] = turn / attention->items();
    }
}

/// What stays in the array where no pass says it: as the device is set.
std::string dataflow_of(const LoadedDevice& device) {
    for (const config::Entry& entry : device.entries)
        if (entry.path == "mxu.dataflow") return entry.value;
    return "ws";
}

/// Whose the unit's time was, stretch by stretch, up to the window's end; ends in clocks.
Json account_as_json(const Timeline& timeline, const std::string& unit, Hertz clock,
                     const WaveWindow& window) {
    Json stretches = Json::array();
    for (const Span& span : timeline.spans) {
        if (span.track != unit || !span.owner || span.begin >= window.end_time()) continue;
        const std::string owner(to_string(*span.owner));
        const std::string prefix = owner + ": ";
        stretches.push_back(
            {{"end", static_cast<double>(span.end.value()) * static_cast<double>(clock.value()) /
                         static_cast<double>(kTicksPerSecond)},
             {"class", owner},
             {"what", span.name.starts_with(prefix) ? span.name.substr(prefix.size()) : span.name}});
    }
    return stretches;
}

/// "matmul m=6 n=4 k=4", as it was asked.
std::string called(const ExploredRun& run) {
    if (!run.trace.empty()) return run.trace;
    std::string text = run.question.op;
    for (std::size_t i = 0; i < run.question.names.size(); ++i)
        text += fmt::format(" {}={}", run.question.names[i], run.question.values[i]);
    return text;
}

}  // namespace

Json explore(const Library& library, const ExploredRun& run, const CycleRange& range) {
    const Prepared prepared = prepare(library, run);
    const std::vector<RecordedUnit> units = units_of(prepared);
    // How long it takes decides what can be shown, before anything slow begins.
    const RunOutcome outcome = prepared.device.run(prepared.graph, prepared.options);
    const DeviceResult& result = outcome.result;
    const Clocks clocks = clocks_of(range, result);
    ArrayRecorder writer(units.front(), clocks.first);
    WaveRecorder recorder(SignalFilter({units.front().path + ".*"}), clocks.window, writer);
    prepared.device.device->trace(prepared.graph, prepared.options, recorder);
    const std::string& path = units.front().path;
    Json json = {{"kind", "array"},
                 {"title", run.title},
                 {"device", prepared.device.name},
                 {"unit", path.substr(path.find('.') + 1)},
                 {"units", units.size()},
                 {"asked", called(run)},
                 {"settings", run.settings},
                 {"dataflow", dataflow_of(prepared.device)},
                 {"clock_hz", result.clock.value()},
                 {"cycles", result.total.cycles.value()},
                 {"result", result_as_json(result.total)},
                 {"account", account_as_json(outcome.timeline, path, result.clock, clocks.window)},
                 {"layers", layers_as_json(result)}};
    json.update(to_json(writer.recording()));
    name_products(json["passes"], prepared.graph, result);
    return json;
}

}  // namespace systole::app
