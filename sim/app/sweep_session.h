// SPDX-License-Identifier: Apache-2.0
// What each verb of `systole sweep` does; all answer the exit code.
#pragma once

#include <string>

#include "sim/app/command.h"

namespace systole::app {

constexpr int kSomePointsFailed = 4;
constexpr int kInterrupted = 130;

int sweep_experiment(const Arguments& arguments, const std::string& reference);
int sweep_resume(const Arguments& arguments, const std::string& folder);
int sweep_chunk(const Arguments& arguments, const std::string& folder, const std::string& chunk);
int sweep_merge(const std::string& folder);
int sweep_status(const Arguments& arguments, const std::string& folder);

}  // namespace systole::app
