// SPDX-License-Identifier: Apache-2.0
// Observes a failed check: runs an action in a child process and answers whether it aborted. The child prints
// nothing.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace systole::test {

template <class Action>
bool aborts(Action action) {
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);  // Catch2's handler would report a failed test
        if (!std::freopen("/dev/null", "w", stderr)) ::_exit(1);
        action();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

}  // namespace systole::test
