// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/mistakes.h"

#include <algorithm>
#include <tuple>

namespace systole::sweep {

void Mistakes::add(const UserError& error) {
    all_.insert(all_.end(), error.diagnostics().begin(), error.diagnostics().end());
}

void Mistakes::throw_if_any() {
    if (all_.empty()) return;
    std::stable_sort(all_.begin(), all_.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
    });
    throw UserError(std::move(all_));
}

}  // namespace systole::sweep
