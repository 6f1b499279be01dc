// SPDX-License-Identifier: Apache-2.0
// What is wrong with an experiment, collected, so that all of it is told at once.
#pragma once

#include <string>
#include <vector>

#include "sim/base/error.h"

namespace systole::sweep {

class Mistakes {
public:
    void add(const SourceMark& where, std::string message) { all_.push_back({where, std::move(message)}); }
    void add(const UserError& error);

    /// Does `action` and keeps what it throws as UserError; false: it threw.
    template <class Action>
    bool attempt(const Action& action) {
        try {
            action();
            return true;
        } catch (const UserError& error) {
            add(error);
            return false;
        }
    }

    bool empty() const { return all_.empty(); }
    /// Throws UserError with all of them, by their places, if there is any.
    void throw_if_any();

private:
    std::vector<Diagnostic> all_;
};

}  // namespace systole::sweep
