// SPDX-License-Identifier: Apache-2.0
// A combination of an experiment's axes, on one of its devices with one of its traces, as a point: what its
// keys are set to, what is derived from them, and whether it is wanted.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/sweep/experiment.h"
#include "sim/sweep/point_identity.h"

namespace systole::sweep {

struct Draft {
    std::vector<std::string> values;  ///< of columns(); empty where a key is of another device
    std::vector<Setting> settings;    ///< each at its place in the experiment
};

class PointMaker {
public:
    /// Both must outlive this.
    PointMaker(const Experiment& experiment, PointIdentity& identity);

    /// Of the manifest: keys of axes, derived values, keys of `set`.
    const std::vector<std::string>& columns() const { return columns_; }

    /// Throws UserError with every name of `derive` and `where` that no device or trace has.
    void check_names();

    Draft make(const std::string& device, const std::string& trace, const std::vector<AxisPlace>& places);
    /// Whether every condition of `where` holds.
    bool is_wanted(const std::string& device, const std::string& trace, const Draft& draft);

private:
    /// The number that `name` is: of a column, or a key that nothing moves.
    std::optional<double> number(const std::string& name, const std::string& device, const std::string& trace,
                                 const Draft& draft);
    void add(Draft& draft, const Column& column, std::string value, const SourceMark& where,
             const std::string& device);
    void derive(Draft& draft, const Derived& derived, const std::string& device, const std::string& trace);

    const Experiment& experiment_;
    PointIdentity& identity_;
    std::vector<std::string> columns_;
    std::vector<std::string> paths_, owners_;  ///< of columns: without the device; the device
    std::unordered_map<std::string, std::optional<double>> numbers_;  ///< of texts, read once
};

}  // namespace systole::sweep
