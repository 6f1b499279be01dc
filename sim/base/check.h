// SPDX-License-Identifier: Apache-2.0
// Checks of our own promises. A failed check is our bug, never the user's: it prints the expression, the
// place and the details given (instance, simulated time), and aborts. Active in release builds too.
#pragma once

#include <fmt/format.h>

#include <string>

namespace systole {

[[noreturn]] void check_failed(const char* expression, const char* file, int line,
                               const std::string& details);

}  // namespace systole

/// SYSTOLE_CHECK(condition, "format", values...): a macro because only a macro can print the expression.
#define SYSTOLE_CHECK(condition, ...)                                                            \
    do {                                                                                         \
        if (!(condition)) [[unlikely]]                                                           \
            ::systole::check_failed(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
    } while (false)
