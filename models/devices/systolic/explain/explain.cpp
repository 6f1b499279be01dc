// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/explain/sections.h"
#include "sim/base/check.h"

namespace systole::systolic {
namespace {

std::string machine_line(const SystolicSpec& spec) {
    const std::string cores = spec.cores > 1 ? fmt::format("{} cores of ", spec.cores) : "";
    return fmt::format("{}: {}{} MXU{} of {} x {} PEs, {}, {} MHz", spec.name, cores, spec.mxu.count,
                       spec.mxu.count == 1 ? "" : "s", spec.mxu.rows, spec.mxu.cols,
                       to_string(spec.mxu.dataflow), static_cast<double>(spec.core_clock.value()) / 1e6);
}

std::vector<UnitTime> times_of(const ArrayWork& work) {
    std::vector<UnitTime> times;
    for (const auto& passes : work.units) times.push_back(unit_time(work.array, passes));
    return times;
}

/// Throws UserError for operators of which formulas and drawings say nothing.
void expect_explained(const Graph& graph, const Program& program) {
    for (const Layer& layer : graph.layers)
        if (std::holds_alternative<Attention>(layer.op))
            throw UserError(
                "explain: attention is two products and a softmax between them; ask for each on its own: "
                "matmul "
                "with batch above 1, softmax");
    if (std::holds_alternative<ConvTranspose>(graph.layers.at(0).op))
        throw UserError(
            "explain: a transposed convolution is a convolution for each phase; ask for one of them: conv2d "
            "with stride=1");
    if (graph.layers.size() == 2)
        throw UserError(
            "explain: with fused=false there are two layers; ask for each on its own: dequantize, and matmul "
            "with weights of the input's dtype");
    SYSTOLE_CHECK(graph.layers.size() == 1, "{} layers are explained as one operator", graph.layers.size());
    const bool packed = std::ranges::any_of(program.passes, [](const MatrixPass& pass) {
        return pass.unpacked || pass.masked > 0 || pass.sparsity > 1;
    });
    if (packed)
        throw UserError(
            "explain: weights that are unpacked on their way into the arrays, or sparse, are not explained; "
            "ask for the product with weights of the input's dtype");
}

}  // namespace

std::size_t Explained::slowest_unit() const {
    const auto by_cycles = [](const UnitTime& a, const UnitTime& b) { return a.cycles() < b.cycles(); };
    return static_cast<std::size_t>(std::ranges::max_element(times, by_cycles) - times.begin());
}

std::string Explained::unit_name(std::size_t unit) const {
    const int mxus = spec.mxu.count, index = static_cast<int>(unit);
    return systolic::unit_name(unit_index(UnitKind::Matrix, index % mxus, index / mxus), spec.cores);
}

std::string explain(const Graph& graph, const Program& program, const MappingChoice* choice,
                    const SystolicSpec& spec, const Protocol& protocol, const Simulate& simulate) {
    expect_explained(graph, program);
    const DeviceResult result = simulate(spec, protocol);
    Explained e{graph, program, spec, protocol, choice, result, array_work(program, spec), {}};
    e.times = times_of(e.work);
    const std::string title = fmt::format("{} on {}\n\n", graph.layers[0].name, machine_line(spec));
    if (e.work.passes() == 0) return title + vector_section(e) + '\n' + bound_section(e);
    return title + operator_section(e) + '\n' + layout_section(e) + '\n' + pass_section(e) + '\n' +
           cycles_section(e) + '\n' + utilization_section(e) + '\n' + choice_section(e) + '\n' +
           what_if_section(e, simulate);
}

}  // namespace systole::systolic
