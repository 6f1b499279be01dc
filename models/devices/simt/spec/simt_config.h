// SPDX-License-Identifier: Apache-2.0
// The keys of a SIMT device's configuration.
#pragma once

#include <string>

#include "models/devices/simt/spec/spec.h"
#include "sim/config/config.h"

namespace systole::simt {

/// Reads and checks every key but `kind` (the caller then calls config.finish()).
SimtSpec read_simt_spec(config::Config& config, const std::string& name);

}  // namespace systole::simt
