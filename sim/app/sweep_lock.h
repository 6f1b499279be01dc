// SPDX-License-Identifier: Apache-2.0
// One local sweep at a time in a folder. Results would survive two (each is written whole), but every point
// would run twice.
#pragma once

#include <filesystem>

namespace systole::app {

class SweepLock {
public:
    /// Throws UserError if another process holds it, or nothing can be written there.
    explicit SweepLock(const std::filesystem::path& folder);
    ~SweepLock();
    SweepLock(const SweepLock&) = delete;
    SweepLock& operator=(const SweepLock&) = delete;

private:
    int file_ = -1;
};

}  // namespace systole::app
