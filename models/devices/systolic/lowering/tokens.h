// SPDX-License-Identifier: Apache-2.0
// What a command waits for: at most one (unit, count) pair a unit, because units complete their commands in
// order and a greater count implies every smaller one.
#pragma once

#include <vector>

#include "models/devices/systolic/program/program.h"

namespace systole::systolic {

class Tokens {
public:
    Tokens() = default;
    /// A single token is a set of one, wherever one is asked for.
    Tokens(Token token) : items_{token} {}  // NOLINT(google-explicit-constructor)

    std::vector<Token>::const_iterator begin() const { return items_.begin(); }
    std::vector<Token>::const_iterator end() const { return items_.end(); }
    bool empty() const { return items_.empty(); }

    void add(Token token) {
        for (Token& item : items_) {
            if (item.unit != token.unit) continue;
            if (item.count < token.count) item.count = token.count;
            return;
        }
        items_.push_back(token);
    }
    void add(const Tokens& others) {
        for (const Token token : others) add(token);
    }

private:
    std::vector<Token> items_;
};

}  // namespace systole::systolic
