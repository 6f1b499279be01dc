// SPDX-License-Identifier: Apache-2.0
// What --set says, sorted by whom it concerns: a device's configuration, the trace's parameters, the protocol
// of the measurement.
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/device/device.h"
#include "sim/workload/trace.h"

namespace systole::app {

struct Setting {
    std::string device;  ///< as written before the ':'; empty: every device of the command
    std::string path;    ///< "mxu.rows"
    std::string value;
};

struct Settings {
    std::vector<Setting> device;
    std::vector<TraceOverride> workload;  ///< `workload.*`, without the prefix
    Protocol protocol;                    ///< `run.*` over the command's default
};

/// Sorts the values of --set, each `[NAME:]PATH=VALUE`. `devices` are the references of the command's
/// devices. Throws UserError for other forms, a path set twice, a NAME that is none of the devices, and
/// unknown or malformed `run.*`; unknown paths of devices and traces are found by their readers.
Settings read_settings(const std::vector<std::string>& texts, const Protocol& defaults,
                       const std::vector<std::string>& devices);

/// The protocol that `run.*` of a configuration says, over the command's own; mistakes stay in `config`.
Protocol read_protocol(config::Config& config, const Protocol& of_command);

/// Throws UserError if `settings` hold `workload.*`, which mean nothing because of `reason`.
void refuse_workload(const Settings& settings, const std::string& reason);

}  // namespace systole::app
