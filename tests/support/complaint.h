// SPDX-License-Identifier: Apache-2.0
// What a user is told of a mistake.
#pragma once

#include <string>

#include "sim/base/error.h"

namespace systole {

/// The text of the UserError that `action` throws, or "fine".
template <class Action>
std::string complaint(Action action) {
    try {
        action();
    } catch (const UserError& error) {
        return error.what();
    }
    return "fine";
}

}  // namespace systole
