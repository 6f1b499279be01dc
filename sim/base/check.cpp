// SPDX-License-Identifier: Apache-2.0
#include "sim/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace systole {

void check_failed(const char* expression, const char* file, int line, const std::string& details) {
    std::fprintf(
        stderr,
        "systole: internal error: check failed: %s\n  at %s:%d\n  %s\n"
        "  This is a bug in Systole, not in your input; please report it with the command you ran.\n",
        expression, file, line, details.c_str());
    std::abort();
}

}  // namespace systole
