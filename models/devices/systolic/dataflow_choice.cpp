// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/dataflow_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "models/devices/systolic/lowering/extents.h"
#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/program/program_reader.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

constexpr std::array kDataflows{Dataflow::WeightStationary, Dataflow::OutputStationary,
                                Dataflow::InputStationary};

double real(std::int64_t count) {
    return static_cast<double>(count);
}

/// What is left of a layer for each array, if all share it evenly.
double least_cycles_of(const Extents& e, const MxuSpec& mxu) {
    const std::int64_t deep =
        mxu.highest_rate().macs * (mxu.sparse_kept > 0 ? mxu.sparse_of / mxu.sparse_kept : 1);
    const double items = real(e.items) / mxu.count;
    if (mxu.dataflow == Dataflow::OutputStationary)
        return items * real(ceil_div(e.m, mxu.rows)) * real(ceil_div(e.n, mxu.cols)) *
               real(ceil_div(e.k, deep));
    const bool weights_stay = mxu.dataflow == Dataflow::WeightStationary;
    const double tiles =
        items * real(ceil_div(e.k, mxu.rows * deep)) * real(ceil_div(weights_stay ? e.n : e.m, mxu.cols));
    // Tiles are shifted in behind the stream before, or, without a second register, before their own.
    const std::int64_t streamed = weights_stay ? e.m : e.n;
    return tiles *
           real(mxu.shadow_register ? std::max<std::int64_t>(streamed, mxu.rows) : streamed + mxu.rows);
}

/// One that has been asked.
struct Tried {
    Dataflow dataflow;
    double bound;
    std::optional<std::int64_t> cycles = {};  ///< nothing: it cannot be the fastest
    RunOutcome outcome = {};
    bool refused = false;  ///< it cannot run so
};

class ChoosingDevice final : public Device {
public:
    ChoosingDevice(const SystolicSpec& spec, const MakeDevice& make) : spec_(spec) {
        for (std::size_t i = 0; i < kDataflows.size(); ++i) {
            SystolicSpec own = spec;
            own.mxu.dataflow = kDataflows[i];
            own.mxu.choose_dataflow = false;
            devices_[i] = make(std::move(own));
        }
    }

    bool supports(DType dtype) const override { return devices_[0]->supports(dtype); }
    std::map<std::string, std::string> operator_defaults(const std::string& op) const override {
        return devices_[0]->operator_defaults(op);
    }

    RunOutcome run(const Graph& graph, const RunOptions& options) const override {
        if (const auto named = named_in(graph, options)) return noted(of(*named).run(graph, options), *named);
        std::vector<Tried> tried = tries(graph, options);
        Tried& best = *fastest(tried);
        best.outcome.result.choices.push_back({"mxu.dataflow", to_string(best.dataflow), why(tried)});
        return noted(std::move(best.outcome), best.dataflow);
    }

    std::string lower(const Graph& graph, const RunOptions& options) const override {
        return chosen(graph, options).lower(graph, options);
    }
    std::string explain(const Graph& graph, const Protocol& protocol) const override {
        return chosen(graph, {protocol}).explain(graph, protocol);
    }
    void list_signals(const Graph& graph, const RunOptions& options, SignalSink& signals) const override {
        chosen(graph, options).list_signals(graph, options, signals);
    }
    void trace(const Graph& graph, const RunOptions& options, WaveRecorder& wave) const override {
        chosen(graph, options).trace(graph, options, wave);
    }

    RunOutcome run_program(const std::string& text, const std::string& file,
                           const RunOptions& options) const override {
        // Where it names none, any of them says what is wrong with it.
        const Dataflow named = dataflow_of_program(text).value_or(Dataflow::WeightStationary);
        return of(named).run_program(text, file, options);
    }

private:
    const Device& of(Dataflow dataflow) const { return *devices_[static_cast<std::size_t>(dataflow)]; }

    /// What a mapping by hand says.
    static std::optional<Dataflow> named_in(const Graph& graph, const RunOptions& options) {
        if (!options.mapping) return std::nullopt;
        return read_mapping(*options.mapping, graph).dataflow;
    }

    /// Simulates as many as may be the fastest.
    std::vector<Tried> tries(const Graph& graph, const RunOptions& options) const {
        std::vector<Tried> tried;
        for (const Dataflow dataflow : kDataflows) {
            MxuSpec mxu = spec_.mxu;
            mxu.count = spec_.mxus();
            mxu.dataflow = dataflow;
            tried.push_back({dataflow, least_array_cycles(graph, mxu)});
        }
        std::ranges::stable_sort(tried, {}, &Tried::bound);
        if (total_macs(graph) == Macs(0)) tried.resize(1);  // no array works
        std::optional<std::int64_t> least;
        std::optional<UserError> refusal;  ///< the first
        for (Tried& next : tried) {
            if (least && next.bound > real(*least)) continue;
            try {
                next.outcome = of(next.dataflow).run(graph, options);
            } catch (const UserError& error) {
                if (!refusal) refusal = error;
                next.refused = true;
                continue;
            }
            next.cycles = next.outcome.result.total.cycles.value();
            least = std::min(least.value_or(*next.cycles), *next.cycles);
        }
        if (!least) throw *refusal;
        std::ranges::sort(tried, {}, &Tried::dataflow);
        return tried;
    }

    static std::vector<Tried>::iterator fastest(std::vector<Tried>& tried) {
        const std::int64_t never = std::numeric_limits<std::int64_t>::max();
        return std::ranges::min_element(tried, {},
                                        [&](const Tried& one) { return one.cycles.value_or(never); });
    }

    /// "141,000 cycles in ws, at least 260,000 cycles in os, impossible in is".
    static std::string why(const std::vector<Tried>& tried) {
        std::vector<std::string> all;
        for (const Tried& one : tried) {
            const std::string number = with_thousands(one.cycles.value_or(std::llround(one.bound)));
            const std::string cycles =
                one.refused ? "impossible"
                            : fmt::format("{}{} cycles", one.cycles ? "" : "at least ", number);
            all.push_back(fmt::format("{} in {}", cycles, to_string(one.dataflow)));
        }
        return fmt::format("{}", fmt::join(all, ", "));
    }

    const Device& chosen(const Graph& graph, RunOptions options) const {
        options.timeline = false;
        if (const auto named = named_in(graph, options)) return of(*named);
        std::vector<Tried> tried = tries(graph, options);
        return of(fastest(tried)->dataflow);
    }

    /// A mapping that is read back keeps the dataflow.
    static RunOutcome noted(RunOutcome outcome, Dataflow dataflow) {
        const std::size_t line = outcome.mapping.find('\n') + 1;
        outcome.mapping.insert(line, fmt::format("dataflow: {}\n", to_string(dataflow)));
        return outcome;
    }

    const SystolicSpec spec_;
    std::array<std::unique_ptr<Device>, kDataflows.size()> devices_;
};

}  // namespace

double least_array_cycles(const Graph& graph, const MxuSpec& mxu) {
    double cycles = 0;
    for (const Layer& layer : graph.layers) cycles += least_cycles_of(extents_of(layer.op), mxu);
    return cycles;
}

std::unique_ptr<Device> choose_dataflow(const SystolicSpec& spec, const MakeDevice& make) {
    return std::make_unique<ChoosingDevice>(spec, make);
}

}  // namespace systole::systolic
