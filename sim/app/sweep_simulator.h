// SPDX-License-Identifier: Apache-2.0
// Devices, traces and runs as a sweep asks for them. Files are read once: processes of points are forked, and
// find them read.
#pragma once

#include <filesystem>

#include "sim/app/library.h"
#include "sim/sweep/simulator.h"

namespace systole::app {

/// `directory`: that relative files of devices and traces are relative to.
sweep::Simulator sweep_simulator(const Library& library, const std::filesystem::path& directory);

}  // namespace systole::app
