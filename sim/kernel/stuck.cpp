// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/stuck.h"

namespace systole {
namespace {

std::string list(const std::vector<std::string>& waits) {
    std::string text = "the simulation stands still; who waits for whom:";
    for (const std::string& wait : waits) text += "\n  " + wait;
    return text;
}

}  // namespace

Stuck::Stuck(const std::vector<std::string>& waits) : std::runtime_error(list(waits)) {}

}  // namespace systole
