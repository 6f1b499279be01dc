// SPDX-License-Identifier: Apache-2.0
// The mistakes found in one file so far. Readers go on after a mistake, so that one run shows all of them; a
// file with very many is given up early, because nobody reads the hundredth.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/error.h"

namespace systole {

class Mistakes {
public:
    static constexpr std::size_t kMost = 100;

    /// Records a mistake; the kMost-th throws all of them as a UserError.
    void add(const SourceMark& where, std::string message);
    /// Records those of `error`, however many.
    void add(const UserError& error);

    /// Does `action` and records what it throws as UserError; false: it threw. What add() gives up with goes
    /// through.
    template <class Action>
    bool attempt(const Action& action) {
        try {
            action();
            return true;
        } catch (const UserError& error) {
            if (count() >= kMost) throw;
            add(error);
            return false;
        }
    }

    std::size_t count() const { return found_.size(); }
    bool empty() const { return found_.empty(); }
    /// Throws a UserError with everything recorded, by its place, if anything was.
    void throw_if_any() const;

private:
    std::vector<Diagnostic> found_;
};

}  // namespace systole
