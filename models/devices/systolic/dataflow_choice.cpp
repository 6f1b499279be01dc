// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/dataflow_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "models/devices/systolic/lowering/dataflow_costs.h"
#include "models/devices/systolic/lowering/extents.h"
#include "models/devices/systolic/lowering/real.h"
#include "models/devices/systolic/network_run.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

/// How often a change between dataflows is counted where runs say what layers cost, one run for each.
constexpr std::array kTimesCounted{1.0, 4.0};

/// What is left of a layer for each array, if all share it evenly.
double least_cycles_of(const Extents& e, const MxuSpec& mxu, Dataflow dataflow) {
    const std::int64_t deep =
        mxu.highest_rate().macs * (mxu.sparse_kept > 0 ? mxu.sparse_of / mxu.sparse_kept : 1);
    const double items = real(e.items) / mxu.count;
    if (dataflow == Dataflow::OutputStationary)
        return items * real(ceil_div(e.m, mxu.rows)) * real(ceil_div(e.n, mxu.cols)) *
               real(ceil_div(e.k, deep));
    const bool weights_stay = dataflow == Dataflow::WeightStationary;
    const double tiles =
        items * real(ceil_div(e.k, mxu.rows * deep)) * real(ceil_div(weights_stay ? e.n : e.m, mxu.cols));
    // Tiles are shifted in behind the stream before, or, without a second register, before their own.
    const std::int64_t streamed = weights_stay ? e.m : e.n;
    return tiles *
           real(mxu.shadow_register ? std::max<std::int64_t>(streamed, mxu.rows) : streamed + mxu.rows);
}

bool all_alike(const LayerDataflows& dataflows) {
    return std::ranges::all_of(dataflows,
                               [&](const auto& layer) { return layer.second == dataflows.begin()->second; });
}

/// "ws for 40, os for 13 layers".
std::string counts_of(const LayerDataflows& dataflows) {
    std::vector<std::string> counts;
    for (const Dataflow dataflow : kDataflows) {
        const auto layers = std::ranges::count(dataflows, dataflow, &LayerDataflows::value_type::second);
        if (layers > 0) counts.push_back(fmt::format("{} for {}", to_string(dataflow), layers));
    }
    return fmt::format("{} layers", fmt::join(counts, ", "));
}

/// One that has been asked.
struct Tried {
    std::shared_ptr<const Device> device;
    std::optional<Dataflow> dataflow;  ///< of all layers …
    LayerDataflows dataflows;          ///< … or of each
    double bound = 0;
    std::optional<std::int64_t> cycles = {};  ///< nothing: it cannot be the fastest
    RunOutcome outcome = {};
    bool refused = false;  ///< it cannot run so

    std::string value() const { return dataflow ? to_string(*dataflow) : "mixed"; }
    /// "in ws", "with ws for 40, os for 13 layers".
    std::string said() const { return dataflow ? "in " + value() : "with " + counts_of(dataflows); }
};

class ChoosingDevice final : public Device {
public:
    ChoosingDevice(const SystolicSpec& spec, const MakeDevice& make)
        : spec_(spec), make_(make), any_(make(spec, {})) {
        for (std::size_t i = 0; i < kDataflows.size(); ++i) {
            SystolicSpec own = spec;
            own.mxu.dataflow = kDataflows[i];
            own.mxu.choose_dataflow = false;
            devices_[i] = make(std::move(own), {});
        }
    }

    bool supports(DType dtype) const override { return devices_[0]->supports(dtype); }
    std::map<std::string, std::string> operator_defaults(const std::string& op) const override {
        return devices_[0]->operator_defaults(op);
    }

    RunOutcome run(const Graph& graph, const RunOptions& options) const override {
        if (const auto named = named_in(graph, options))
            return noted(named->device->run(graph, options), *named);
        std::vector<Tried> tried = tries(graph, options);
        Tried& best = *fastest(tried);
        best.outcome.result.choices.push_back({"mxu.dataflow", best.value(), why(tried)});
        return noted(std::move(best.outcome), best);
    }

    std::string lower(const Graph& graph, const RunOptions& options) const override {
        return chosen(graph, options)->lower(graph, options);
    }
    std::string explain(const Graph& graph, const Protocol& protocol) const override {
        return chosen(graph, {protocol})->explain(graph, protocol);
    }
    void list_signals(const Graph& graph, const RunOptions& options, SignalSink& signals) const override {
        chosen(graph, options)->list_signals(graph, options, signals);
    }
    void trace(const Graph& graph, const RunOptions& options, WaveRecorder& wave) const override {
        chosen(graph, options)->trace(graph, options, wave);
    }

    RunOutcome run_program(const std::string& text, const std::string& file,
                           const RunOptions& options) const override {
        return any_->run_program(text, file, options);
    }

private:
    /// Arrays shared by all cores, for bounds.
    MxuSpec arrays() const {
        MxuSpec mxu = spec_.mxu;
        mxu.count = spec_.mxus();
        return mxu;
    }

    Tried all_in(Dataflow dataflow, const Graph& graph) const {
        MxuSpec mxu = arrays();
        mxu.dataflow = dataflow;
        return {devices_[static_cast<std::size_t>(dataflow)], dataflow, {}, least_array_cycles(graph, mxu)};
    }
    Tried each_in(LayerDataflows dataflows, const Graph& graph) const {
        const double bound = least_array_cycles(graph, arrays(), dataflows);
        return {make_(spec_, dataflows), {}, std::move(dataflows), bound};
    }

    /// What a mapping by hand says: a dataflow for all layers, or for some, of which the others may have any.
    std::optional<Tried> named_in(const Graph& asked, const RunOptions& options) const {
        if (!options.mapping) return std::nullopt;
        const Mapping mapping = read_mapping(*options.mapping, asked);
        if (mapping.dataflows.empty() && !mapping.dataflow) return std::nullopt;
        if (mapping.dataflows.empty()) return all_in(*mapping.dataflow, asked);
        const Graph graph = prepared(asked, spec_, options.protocol, &mapping);
        LayerCosts costs = estimated_costs(graph, spec_, options.protocol, &mapping);
        expect_turns_alike(mapping, costs);
        keep_to(mapping, costs);
        LayerDataflows dataflows = dataflows_of(costs, change_cycles(spec_.mxu));
        if (dataflows.empty())
            throw UserError(
                mapping.dataflow_marks.begin()->second,
                "in the dataflows that the mapping names, some layer cannot run; without them the "
                "machine says why");
        return each_in(std::move(dataflows), asked);
    }

    static std::optional<Mapping> mapping_of(const Graph& asked, const RunOptions& options) {
        return options.mapping ? std::optional(read_mapping(*options.mapping, asked)) : std::nullopt;
    }

    /// Of least cost by estimate, where they differ. With tilings by hand, which are for one dataflow, none.
    std::optional<Tried> by_estimate(const Graph& asked, const RunOptions& options) const {
        const std::optional<Mapping> given = mapping_of(asked, options);
        if (given && !given->layers.empty()) return std::nullopt;
        const Mapping* const mapping = given ? &*given : nullptr;
        const Graph graph = prepared(asked, spec_, options.protocol, mapping);
        return worth_trying(estimated_costs(graph, spec_, options.protocol, mapping),
                            change_cycles(spec_.mxu), asked);
    }

    /// Of least cost by what layers took in runs in one dataflow, with each change counted so many times: a
    /// layer behind a change also lacks what would have run ahead of the layer before.
    std::optional<Tried> by_runs(const std::vector<Tried>& tried, double times, const Graph& asked,
                                 const RunOptions& options) const {
        const std::optional<Mapping> given = mapping_of(asked, options);
        if (given && !given->layers.empty()) return std::nullopt;
        LayerCosts costs = layer_runs(prepared(asked, spec_, options.protocol, given ? &*given : nullptr));
        for (std::size_t d = 0; d < kDataflows.size(); ++d) {
            const auto run = std::ranges::find(tried, std::optional(kDataflows[d]), &Tried::dataflow);
            enter_cycles(run->cycles ? &run->outcome.result : nullptr, d, costs);
        }
        std::optional<Tried> next = worth_trying(costs, times * change_cycles(spec_.mxu), asked);
        for (const Tried& one : tried)
            if (next && one.dataflows == next->dataflows) return std::nullopt;
        return next;
    }

    std::optional<Tried> worth_trying(const LayerCosts& costs, double change, const Graph& asked) const {
        LayerDataflows dataflows = dataflows_of(costs, change);
        if (all_alike(dataflows)) return std::nullopt;
        return each_in(std::move(dataflows), asked);
    }

    /// Simulates as many as may be the fastest.
    std::vector<Tried> tries(const Graph& graph, const RunOptions& options) const {
        std::vector<Tried> tried;
        for (const Dataflow dataflow : kDataflows) tried.push_back(all_in(dataflow, graph));
        std::ranges::stable_sort(tried, {}, &Tried::bound);
        const bool works = total_macs(graph) != Macs(0);
        if (!works) tried.resize(1);
        std::optional<UserError> refusal;  ///< the first
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        if (auto mixed = works ? by_estimate(graph, options) : std::nullopt) {
            simulate(*mixed, graph, options, least, refusal);
            tried.push_back(std::move(*mixed));
        }
        for (Tried& next : tried)
            if (next.dataflow) simulate(next, graph, options, least, refusal);
        for (const double times : kTimesCounted)
            if (auto mixed = works ? by_runs(tried, times, graph, options) : std::nullopt) {
                simulate(*mixed, graph, options, least, refusal);
                tried.push_back(std::move(*mixed));
            }
        if (least == std::numeric_limits<std::int64_t>::max()) throw *refusal;
        // Of equals the first of ws, os, is, then dataflows of layers.
        std::ranges::stable_sort(tried, {}, [](const Tried& one) {
            return one.dataflow ? static_cast<std::size_t>(*one.dataflow) : kDataflows.size();
        });
        return tried;
    }

    static void simulate(Tried& next, const Graph& graph, const RunOptions& options, std::int64_t& least,
                         std::optional<UserError>& refusal) {
        if (next.bound > real(least)) return;
        try {
            next.outcome = next.device->run(graph, options);
        } catch (const UserError& error) {
            if (!refusal) refusal = error;
            next.refused = true;
            return;
        }
        next.cycles = next.outcome.result.total.cycles.value();
        least = std::min(least, *next.cycles);
    }

    /// What layers took in a run in one dataflow; nothing where there was none.
    static void enter_cycles(const DeviceResult* result, std::size_t dataflow, LayerCosts& costs) {
        std::map<std::string, double, std::less<>> cycles;
        for (std::size_t i = 0; result && i < result->layers.size(); ++i)
            cycles[result->layers[i].name] += real(result->layers[i].cycles.value());
        auto alike = costs.alike.begin();
        for (LayerRun& run : costs.runs)
            for (DataflowCycles& layer : run.layers) {
                layer[dataflow] = result ? 0 : std::numeric_limits<double>::infinity();
                std::vector<std::string> names = *alike++;
                names.erase(std::unique(names.begin(), names.end()), names.end());  // parts are one row
                for (const std::string& name : names) layer[dataflow] += cycles[name];
            }
    }

    static std::vector<Tried>::iterator fastest(std::vector<Tried>& tried) {
        const std::int64_t never = std::numeric_limits<std::int64_t>::max();
        return std::ranges::min_element(tried, {},
                                        [&](const Tried& one) { return one.cycles.value_or(never); });
    }

    /// "141,000 cycles in ws, at least 260,000 cycles in os, impossible in is, 139,000 cycles with ws for 40,
    /// os for 13 layers".
    static std::string why(const std::vector<Tried>& tried) {
        std::vector<std::string> all;
        for (const Tried& one : tried) {
            const std::string number = with_thousands(one.cycles.value_or(std::llround(one.bound)));
            const std::string cycles =
                one.refused ? "impossible"
                            : fmt::format("{}{} cycles", one.cycles ? "" : "at least ", number);
            all.push_back(fmt::format("{} {}", cycles, one.said()));
        }
        return fmt::format("{}", fmt::join(all, ", "));
    }

    std::shared_ptr<const Device> chosen(const Graph& graph, RunOptions options) const {
        options.timeline = WantTimeline::No;
        if (const auto named = named_in(graph, options)) return named->device;
        std::vector<Tried> tried = tries(graph, options);
        return fastest(tried)->device;
    }

    /// A mapping that is read back keeps the dataflow.
    static RunOutcome noted(RunOutcome outcome, const Tried& of) {
        if (!of.dataflow) return outcome;  // its layers say theirs
        const std::size_t line = outcome.mapping.find('\n') + 1;
        outcome.mapping.insert(line, fmt::format("dataflow: {}\n", to_string(*of.dataflow)));
        return outcome;
    }

    const SystolicSpec spec_;
    const MakeDevice make_;
    std::array<std::shared_ptr<const Device>, kDataflows.size()> devices_;
    const std::unique_ptr<Device> any_;  ///< whose programs say what arrays are set up for, and when
};

}  // namespace

double least_array_cycles(const Graph& graph, const MxuSpec& mxu, const LayerDataflows& dataflows) {
    double cycles = 0;
    for (const Layer& layer : graph.layers) {
        const auto own = dataflows.find(whole_name(layer));
        cycles +=
            least_cycles_of(extents_of(layer.op), mxu, own == dataflows.end() ? mxu.dataflow : own->second);
    }
    return cycles;
}

std::unique_ptr<Device> choose_dataflow(const SystolicSpec& spec, const MakeDevice& make) {
    return std::make_unique<ChoosingDevice>(spec, make);
}

}  // namespace systole::systolic
