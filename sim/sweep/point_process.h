// SPDX-License-Identifier: Apache-2.0
// A process of its own for a task: what crashes there, hangs or eats memory takes nothing else with it.
// Forked, not started: what the parent has read is there already.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "sim/base/units.h"

namespace systole::sweep {

/// How a process of a task ended.
struct ProcessEnd {
    enum class Kind {
        Done,         ///< the task came to its end
        OutOfMemory,  ///< it asked for more than its limit
        Failed,       ///< it threw; `words` says what
        Killed        ///< by `signal`
    };
    Kind kind = Kind::Done;
    int signal = 0;
    std::string words;  ///< the end of what it wrote to its standard error output
};

class PointProcess {
public:
    /// Starts `task` with at most `memory` of data. Throws std::system_error where no process can be made.
    PointProcess(const std::function<void()>& task, Bytes memory);
    /// Kills it if it still runs.
    ~PointProcess();
    PointProcess(PointProcess&& other) noexcept;
    PointProcess& operator=(PointProcess&& other) noexcept;

    /// Whether limits of memory hold: not under AddressSanitizer, whose shadow takes more than any limit.
    static bool limits_memory();

    /// To poll() for reading: it is readable while the process writes, and when it has ended.
    int descriptor() const { return pipe_; }
    /// Takes what it has written; how it ended, if it has.
    std::optional<ProcessEnd> look();
    void kill();

private:
    [[noreturn]] static void run(const std::function<void()>& task, Bytes memory, int pipe, pid_t parent);
    void release();

    pid_t pid_ = -1;
    int pipe_ = -1;
    std::string words_;
};

}  // namespace systole::sweep
