// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/systolic_device.h"

#include <fmt/format.h>

#include <optional>

#include "models/devices/systolic/dataflow_choice.h"
#include "models/devices/systolic/explain/explain.h"
#include "models/devices/systolic/lowering/batch_slices.h"
#include "models/devices/systolic/lowering/fusion.h"
#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/lowering/placement.h"
#include "models/devices/systolic/machine/machine.h"
#include "models/devices/systolic/network_run.h"
#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/program/program_reader.h"
#include "models/devices/systolic/spec/spec.h"
#include "models/devices/systolic/transposing_device.h"
#include "models/devices/systolic/wave/traced_machine.h"
#include "models/devices/systolic/wave/wave_probe.h"
#include "sim/base/check.h"
#include "sim/device/fusion_joins.h"
#include "sim/device/merged_parts.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {
namespace {

std::vector<TensorPlace> places(const Graph& graph, const std::vector<Placement>& placements) {
    std::vector<TensorPlace> result;
    for (std::size_t i = 0; i < placements.size(); ++i) {
        const Placement& p = placements[i];
        const std::string layout =
            p.layout == Layout::Tiled
                ? fmt::format("tiled {}x{}", p.tile_rows, p.tile_cols)
                : std::string(p.layout == Layout::ColumnMajor ? "column-major" : "row-major");
        result.push_back(
            {graph.tensors[i].name, std::string(to_string(p.space)), layout, p.address, p.bytes});
    }
    return result;
}

class SystolicDevice final : public Device {
public:
    /// `dataflows`: of layers, on a machine whose arrays take each; empty: all have the machine's own.
    explicit SystolicDevice(SystolicSpec spec, LayerDataflows dataflows = {})
        : spec_(std::move(spec)), dataflows_(std::move(dataflows)) {}

    bool supports(DType dtype) const override { return spec_.mxu.rate_of(dtype).has_value(); }

    std::map<std::string, std::string> operator_defaults(const std::string& op) const override {
        if (op == "conv2d" && spec_.faults.conv_output_rounded_up) return {{"round_up", "true"}};
        return {};
    }

    std::string lower(const Graph& asked, const RunOptions& options) const override {
        const std::optional<Mapping> mapping = mapping_of(asked, options);
        const Graph graph = prepared(asked, spec_, options.protocol, get(mapping));
        return to_text(lowered_as_run(graph, options, get(mapping)).program);
    }

    RunOutcome run(const Graph& asked, const RunOptions& options) const override {
        const std::optional<Mapping> mapping = mapping_of(asked, options);
        const Graph graph = prepared(asked, spec_, options.protocol, get(mapping));
        const PlacedNetwork network =
            place_network(graph, spec_, options.protocol, get(mapping), dataflows());
        NetworkRun run = most_trials(graph, spec_.placement) > 1 ? try_network(network, options).fastest
                                                                 : run_network(network, options, {}, 1);
        RunOutcome outcome = std::move(run.outcome);
        Mapping& used = run.used;
        outcome.result.tensors = places(graph, network.placements);
        if (used.resident) used.resident = residents(graph, network.placements);
        if (spec_.placement.fuse) used.fused = joined_layers(graph);
        if (spec_.placement.slice) used.slices = slices_of(graph);
        merge_parts(graph, outcome.result, outcome.timeline);
        if (spec_.energy) account_energy(outcome.result, *spec_.energy);
        outcome.mapping = to_yaml(used, graph, spec_.name);
        outcome.joins = fusion_joins(asked);
        return outcome;
    }

    RunOutcome run_program(const std::string& text, const std::string& file,
                           const RunOptions& options) const override {
        const Program program = parse_program(text, file, spec_);
        check_protocol(program, file, options.protocol);
        std::optional<std::string> fault;
        RunOutcome outcome = execute(program, spec_, options, fault);
        if (fault) throw UserError({file}, *fault + "; a token or a pass is missing, or a row is used twice");
        if (spec_.energy) account_energy(outcome.result, *spec_.energy);
        return outcome;
    }

    std::string explain(const Graph& graph, const Protocol& protocol) const override {
        const auto simulate = [&](const SystolicSpec& spec, const Protocol& asked) {
            return SystolicDevice(spec).run(graph, {asked}).result;
        };
        const Lowered lowered = lowered_as_run(graph, {protocol}, nullptr);
        const Lowered weighed = systolic::lower(graph, spec_, protocol, {.choices = true});
        const MappingChoice* const choice = weighed.choices.empty() ? nullptr : &weighed.choices.front();
        return systolic::explain(graph, lowered.program, choice, spec_, protocol, simulate);
    }

    void list_signals(const Graph& graph, const RunOptions& options, SignalSink& signals) const override {
        refuse_large_array(spec_);
        const Lowered lowered =
            lowered_as_run(prepared(graph, spec_, options.protocol, nullptr), options, nullptr);
        const FreshKernel kernel;
        Machine machine(instance_name(spec_.name).c_str(), spec_, lowered.program, options);
        const WaveProbe probe(machine, spec_, signals);
    }

    void trace(const Graph& graph, const RunOptions& options, WaveRecorder& wave) const override {
        const Lowered lowered =
            lowered_as_run(prepared(graph, spec_, options.protocol, nullptr), options, nullptr);
        const std::string root = instance_name(spec_.name);
        const SystolicSpec spec = traced_machine(spec_, lowered.program, root, wave);
        const FreshKernel kernel;
        Machine machine(root.c_str(), spec, lowered.program, options);
        WaveProbe probe(machine, spec, wave);
        probe.record(wave);
        SYSTOLE_CHECK(!machine.value_fault, "{}", machine.value_fault.value_or(""));
    }

private:
    static void check_protocol(const Program& program, const std::string& file, const Protocol& protocol) {
        const auto compare = [&](const char* key, const std::string& own, const std::string& asked) {
            if (!own.empty() && own != asked)
                throw UserError({file},
                                fmt::format("the program was lowered for {0}={1}, not {2}; run it with --set "
                                            "run.{0}={1}",
                                            key, own, asked));
        };
        compare("inputs_at", program.inputs_at, to_string(protocol.inputs_at));
        compare("outputs_to", program.outputs_to, to_string(protocol.outputs_to));
    }

    /// With the mappings with which run() finds the network fastest.
    Lowered lowered_as_run(const Graph& graph, const RunOptions& options, const Mapping* mapping) const {
        LayerMappings tried;
        if (most_trials(graph, spec_.placement) > 1)
            tried = try_network(place_network(graph, spec_, options.protocol, mapping, dataflows()), options)
                        .mappings;
        return systolic::lower(graph, spec_, options.protocol,
                               {.mapping = mapping, .tried = &tried, .dataflows = dataflows()});
    }

    std::optional<Mapping> mapping_of(const Graph& graph, const RunOptions& options) const {
        if (!options.mapping) return std::nullopt;
        Mapping mapping = read_mapping(*options.mapping, graph);
        if (spec_.mxu.choose_dataflow) return mapping;
        const Dataflow own = spec_.mxu.dataflow;
        for (const auto& [layer, dataflow] : mapping.dataflows)
            if (dataflow != own)
                throw UserError(
                    mapping.dataflow_marks.at(layer),
                    fmt::format("'{}' is mapped for arrays of dataflow {}, and this machine's are {} "
                                "(mxu.dataflow: auto takes each)",
                                layer, to_string(dataflow), to_string(own)));
        if (mapping.dataflow.value_or(own) != own)
            throw UserError(mapping.dataflow_where,
                            fmt::format("the mapping is for arrays of dataflow {}, and this machine's are {}",
                                        to_string(*mapping.dataflow), to_string(own)));
        return mapping;
    }
    static const Mapping* get(const std::optional<Mapping>& mapping) { return mapping ? &*mapping : nullptr; }
    const LayerDataflows* dataflows() const { return dataflows_.empty() ? nullptr : &dataflows_; }

    const SystolicSpec spec_;
    const LayerDataflows dataflows_;
};

}  // namespace

std::unique_ptr<Device> make_systolic_device(config::Config& config, const std::string& name) {
    const SystolicSpec spec = read_systolic_spec(config, name);
    const MakeDevice make = [](SystolicSpec own, LayerDataflows dataflows) {
        return std::make_unique<SystolicDevice>(std::move(own), std::move(dataflows));
    };
    return with_transposes(spec.mxu.choose_dataflow ? choose_dataflow(spec, make) : make(spec, {}));
}

}  // namespace systole::systolic
