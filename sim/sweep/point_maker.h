// SPDX-License-Identifier: Apache-2.0
// A combination of an experiment's axes, on one of its devices with one of its traces, as a point: what its
// keys are set to, what is derived from them, and whether it is wanted.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/sweep/experiment.h"
#include "sim/sweep/point_identity.h"

namespace systole::sweep {

struct Draft {
    std::vector<std::string> values;  ///< of columns(); empty where a key is of another device
    std::vector<Setting> settings;    ///< each at its place in the experiment
    bool wanted = true;               ///< every condition of `where` holds
    bool whole = true;                ///< nothing that is to be derived is missing
};

class PointMaker {
public:
    /// Both must outlive this.
    PointMaker(const Experiment& experiment, PointIdentity& identity);

    /// Of the manifest: keys of axes, derived values, keys of `set`.
    const std::vector<std::string>& columns() const { return columns_; }

    /// Formulas of the experiment that mean nothing: what they derive is left out, and they refuse nothing.
    void leave_out(std::set<const Formula*> broken) { broken_ = std::move(broken); }

    /// A combination that is not wanted is known by as little as a condition needs, and not whole.
    Draft make(const std::string& device, const std::string& trace, const std::vector<AxisPlace>& places);
    /// Of one that is not wanted, too, everything is derived if it can be.
    Draft make_whole(const std::string& device, const std::string& trace,
                     const std::vector<AxisPlace>& places);

private:
    /// A device and a trace, and what is known of their point so far.
    struct Making {
        const std::string& device;
        const std::string& trace;
        Draft draft;
    };

    void find_steps();
    void give(Making& making, const std::vector<AxisPlace>& places);
    void set(Making& making, const Column& column, std::size_t place, std::string value,
             const SourceMark& where);
    void derive(Making& making, std::size_t number);
    /// Whether every condition holds that is known once so many values are derived, and not before.
    bool holds(const Making& making, std::size_t derived);
    double evaluate(const Formula& formula, const Making& making);
    /// The number that `name` is: of a column, or a key that nothing moves.
    std::optional<double> number(const std::string& name, const Making& making);

    const Experiment& experiment_;
    PointIdentity& identity_;
    std::vector<std::string> columns_;
    std::size_t first_derived_ = 0;                                               ///< column
    std::map<std::string, std::unordered_map<std::string, std::size_t>> places_;  ///< of names, by device
    std::vector<std::vector<const Condition*>> steps_;                ///< conditions by what they wait for
    std::unordered_map<std::string, std::optional<double>> numbers_;  ///< of texts, read once
    std::set<const Formula*> broken_;
};

}  // namespace systole::sweep
