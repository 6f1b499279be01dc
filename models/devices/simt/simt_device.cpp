// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/simt_device.h"

#include <utility>

#include "models/devices/simt/explain.h"
#include "models/devices/simt/few_ctas.h"
#include "models/devices/simt/few_turns.h"
#include "models/devices/simt/kernels/plan.h"
#include "models/devices/simt/kernels/plan_rows.h"
#include "models/devices/simt/machine/chip.h"
#include "models/devices/simt/machine/chip_timeline.h"
#include "models/devices/simt/machine/results.h"
#include "models/devices/simt/spec/simt_config.h"
#include "sim/base/error.h"
#include "sim/kernel/kernel.h"

namespace systole::simt {
namespace {

class SimtDevice final : public Device {
public:
    explicit SimtDevice(SimtSpec spec) : spec_(std::move(spec)), chooser_(spec_) {}

    bool supports(DType dtype) const override { return spec_.macs_per_cycle(dtype) > 0; }
    bool replays() const override { return true; }
    std::map<std::string, std::string> operator_defaults(const std::string&) const override { return {}; }

    std::string lower(const Graph& graph, const RunOptions& options) const override {
        return to_text(planned(graph, options), spec_);
    }

    RunOutcome run(const Graph& graph, const RunOptions& options) const override {
        check(options);
        const Graph fused = fused_network(graph, spec_);
        const PlacedTensors placed = place_tensors(fused, spec_);
        RunOutcome outcome;
        if (auto of_turns = run_few_turns(fused, placed, spec_, options, chooser_)) {
            outcome.result = std::move(*of_turns);
        } else {
            const ChipPlan plan = plan_at(placed, fused, spec_, options.protocol, chooser_);
            if (auto of_ctas = run_few_ctas(plan, spec_, options))
                outcome.result = std::move(*of_ctas);
            else
                outcome = run_whole(plan, options);
        }
        if (spec_.energy) account_energy(outcome.result, *spec_.energy);
        outcome.result.serving = graph.serving;
        outcome.joins = joins_of(graph, fused, spec_.kernels);
        return outcome;
    }

    std::string explain(const Graph& graph, const Protocol& protocol) const override {
        const RunOptions options{protocol, WantTimeline::No, false, std::nullopt};
        return simt::explain(planned(graph, options), spec_, run(graph, options).result, chooser_);
    }

    RunOutcome run_program(const std::string&, const std::string& file, const RunOptions&) const override {
        throw UserError({file}, "devices of kind simt run no program text yet; 'systole run' runs a network");
    }
    void list_signals(const Graph&, const RunOptions&, SignalSink&) const override { refuse_waveforms(); }
    void trace(const Graph&, const RunOptions&, WaveRecorder&) const override { refuse_waveforms(); }

private:
    RunOutcome run_whole(const ChipPlan& plan, const RunOptions& options) const {
        const FreshKernel kernel;
        Chip chip(instance_name(spec_.name).c_str(), spec_, plan, options);
        chip.run();
        RunOutcome outcome{result_of(chip, spec_, plan, options.protocol), {}};
        if (options.timeline != WantTimeline::No)
            outcome.timeline = timeline_of(chip, spec_, plan, outcome.result);
        return outcome;
    }

    [[noreturn]] static void refuse_waveforms() {
        throw UserError(
            "devices of kind simt have no waveforms yet; 'systole run' has a timeline (--timeline)");
    }

    /// Throws UserError for what this kind does not do.
    static void check(const RunOptions& options) {
        if (options.mapping)
            throw UserError("devices of kind simt take no mapping yet; their kernels are chosen by shape");
        const Protocol& protocol = options.protocol;
        if (protocol.inputs_at == Protocol::Where::OnChip || protocol.outputs_to == Protocol::Where::OnChip)
            throw UserError(
                "devices of kind simt keep inputs and outputs in memory: run.inputs_at and run.outputs_to "
                "are "
                "host or dram");
    }

    ChipPlan planned(const Graph& graph, const RunOptions& options) const {
        check(options);
        return plan(graph, spec_, options.protocol, chooser_);
    }

    const SimtSpec spec_;
    mutable KernelChooser chooser_;  // what it knows of tiles serves all rows of a table
};

}  // namespace

std::unique_ptr<Device> make_simt_device(config::Config& config, const std::string& name) {
    return std::make_unique<SimtDevice>(read_simt_spec(config, name));
}

}  // namespace systole::simt
