// SPDX-License-Identifier: Apache-2.0
#include "sim/base/mistakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace systole {

void Mistakes::add(const SourceMark& where, std::string message) {
    found_.push_back({where, std::move(message)});
    if (count() < kMost) return;
    found_.push_back({where, fmt::format("{} mistakes; the rest was not read", kMost)});
    throw_if_any();
}

void Mistakes::add(const UserError& error) {
    found_.insert(found_.end(), error.diagnostics().begin(), error.diagnostics().end());
}

void Mistakes::throw_if_any() const {
    if (empty()) return;
    std::vector<Diagnostic> sorted = found_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
    });
    throw UserError(std::move(sorted));
}

}  // namespace systole
