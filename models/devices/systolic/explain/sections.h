// SPDX-License-Identifier: Apache-2.0
// The sections of an explanation: each a text of its own about the same operator, machine and run.
#pragma once

#include <string>
#include <vector>

#include "models/devices/systolic/explain/array_time.h"
#include "models/devices/systolic/explain/array_work.h"
#include "models/devices/systolic/explain/explain.h"

namespace systole::systolic {

/// What is explained, and what is known of it.
struct Explained {
    const Graph& graph;  ///< of one layer
    const Program& program;
    const SystolicSpec& spec;
    const Protocol& protocol;
    const MappingChoice* choice;  ///< what the mapper weighed; nothing for the vector unit
    const DeviceResult& result;   ///< of the run on the whole machine
    ArrayWork work;               ///< of an operator of the vector unit: without passes
    std::vector<UnitTime> times;  ///< by matrix unit, core by core: the arrays alone

    const Layer& layer() const { return graph.layers[0]; }
    /// The unit that is through last, of the arrays alone.
    std::size_t slowest_unit() const;
    /// "mxu0", or of several cores "core0.mxu0".
    std::string unit_name(std::size_t unit) const;
};

/// The operator as a matrix product; MACs, bytes, intensity and the ridge of the roofline.
std::string operator_section(const Explained& e);
/// The same in the words of the vector unit, for operators that no array works on.
std::string vector_section(const Explained& e);
/// How it is laid on the array.
std::string layout_section(const Explained& e);
/// One pass, and passes behind each other.
std::string pass_section(const Explained& e);
/// Formulas with their numbers, the run beside them, and the difference by class.
std::string cycles_section(const Explained& e);
/// What bounds the run.
std::string bound_section(const Explained& e);
/// Utilization as a product of factors.
std::string utilization_section(const Explained& e);
/// What else the mapper has weighed.
std::string choice_section(const Explained& e);
/// What would change it: by the formula, or simulated on a changed machine, and said which.
std::string what_if_section(const Explained& e, const Simulate& simulate);

}  // namespace systole::systolic
