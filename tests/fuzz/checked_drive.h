// SPDX-License-Identifier: Apache-2.0
// Requests played against a memory as `systole dram --check-dram` does.
#pragma once

#include <stdexcept>
#include <vector>

#include "models/memory/dram_system.h"
#include "models/memory/standards/command_checker.h"
#include "models/traffic/traffic_driver.h"

namespace systole::fuzz {

/// Every command is held against the standard's table, where a wrong one ends the program; every clock of
/// every data bus has an owner, or std::logic_error is thrown. Throws what the source throws.
inline DriveResult drive_checked(const DramSpec& spec, RequestSource& source, const DriveOptions& options) {
    DramSystem system(spec);
    std::vector<CommandChecker> checkers(static_cast<std::size_t>(system.channels()), CommandChecker(spec));
    for (int channel = 0; channel < system.channels(); ++channel)
        system.channel(channel).listen(checkers[static_cast<std::size_t>(channel)].listener());
    const DriveResult result = drive(system, source, options);
    for (int bus = 0; bus < system.buses(); ++bus)
        if (system.account(bus, result.cycles).total() != result.cycles.value())
            throw std::logic_error("clocks of a data bus without an owner");
    return result;
}

}  // namespace systole::fuzz
