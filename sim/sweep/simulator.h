// SPDX-License-Identifier: Apache-2.0
// What a sweep asks of the simulator it drives: what configurations are, and what a point answers. A sweep
// knows nothing else of devices and traces; the program and the tests each give it theirs.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.h"

namespace systole::sweep {

/// A key and its value, as --set has them.
struct Setting {
    std::string path, value;
    SourceMark where;  ///< where the experiment says so
    friend bool operator==(const Setting& a, const Setting& b) {
        return a.path == b.path && a.value == b.value;
    }
};

using Values = std::vector<std::pair<std::string, std::string>>;

/// What one of the experiment's devices is with some settings, or one of its traces.
struct Resolved {
    Values values;       ///< by path, as written; of traces "workload.batch"
    std::string digest;  ///< of what is in no value: of a trace's layers
};

/// One figure of a result.
struct Metric {
    std::string name;   ///< of kMetrics or the like: "time_ns"
    std::string value;  ///< a number, or a word ("memory"); empty: none for this point
};

/// What a figure is.
struct MetricKind {
    std::string name;
    bool is_number = true;
    bool more_is_better = false;  ///< what an objective looks for that does not say
};

struct Simulator {
    /// What results depend on besides configuration and trace: "systole 0.1.0".
    std::string program;
    std::vector<MetricKind> metrics;  ///< in the order of their columns

    /// A device with settings of its keys; each throws UserError with every mistake, that of a setting at its
    /// place.
    std::function<Resolved(const std::string& device, const std::vector<Setting>& settings)> device;
    /// A trace with settings of `workload.*`.
    std::function<Resolved(const std::string& trace, const std::vector<Setting>& settings)> trace;
    /// The way of measuring (`run.*`).
    std::function<Resolved(const std::vector<Setting>& settings)> protocol;
    /// Everything of a point that can be known without running it. Throws UserError with every mistake, that
    /// of a setting at its place.
    std::function<void(const std::string& device, const std::string& trace,
                       const std::vector<Setting>& settings)>
        check;
    /// Why no run with these settings, which are sound, has a figure, and what to do about it; "" if one may
    /// have it. Without this, all may.
    std::function<std::string(const std::string& device, const std::string& trace,
                              const std::vector<Setting>& settings, const std::string& figure)>
        lacks;
    /// Runs one point; answers a figure for each of `metrics`. Throws UserError for what cannot run.
    std::function<std::vector<Metric>(const std::string& device, const std::string& trace,
                                      const std::vector<Setting>& settings)>
        run;
};

}  // namespace systole::sweep
