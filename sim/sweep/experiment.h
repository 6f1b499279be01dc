// SPDX-License-Identifier: Apache-2.0
// An experiment file: base devices and traces, axes, derived values, constraints, samples, objectives.
// docs/formats.md has its grammar.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/config/yaml.h"
#include "sim/sweep/axis.h"
#include "sim/sweep/formula.h"
#include "sim/sweep/sampling.h"

namespace systole::sweep {

/// A device or a trace as the experiment names it.
struct Reference {
    std::string name;
    SourceMark where;
};

/// A value computed from others before a point runs. With a '.', its name is a key and sets it; without, it
/// is a column of its own.
struct Derived {
    std::string name;
    std::string device;  ///< the only device that has it, by its reference; empty: all
    SourceMark where;
    std::string unit;  ///< behind the number, for keys that take one: "KiB"
    Formula formula;
    bool is_setting() const { return name.find('.') != std::string::npos; }
};

/// What a point must fulfil to be wanted.
struct Condition {
    std::string device;  ///< the only device it concerns, by its reference; empty: all
    Formula formula;
};

/// What makes one point better than another.
struct Objective {
    std::string name;              ///< a figure's, or the formula's text
    std::optional<bool> maximize;  ///< nothing: as the figure means it
    Formula formula;               ///< over figures and columns
};

/// What one point may take.
struct Limits {
    Ticks time;                   ///< of the wall clock
    std::optional<Bytes> memory;  ///< nothing: the machine's, shared by points that run at once
};

struct Experiment {
    std::string title;
    std::vector<Reference> devices, traces;
    std::vector<Column> fixed;  ///< `set:`, each of one value
    std::vector<Axis> axes;
    std::vector<Derived> derived;
    std::vector<Condition> where;
    Sample sample;
    std::vector<Objective> objectives;
    Limits limits;
};

/// Throws UserError with everything that is wrong.
Experiment read_experiment(const config::YamlNode& document);

}  // namespace systole::sweep
