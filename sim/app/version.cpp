// SPDX-License-Identifier: Apache-2.0
#include "sim/app/version.h"

namespace systole::app {

std::string_view version() {
    return "systole " SYSTOLE_VERSION;
}

}  // namespace systole::app
