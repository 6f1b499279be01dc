// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/outcome.h"

#include <array>

#include "sim/base/error.h"

namespace systole::sweep {

std::string_view to_string(Outcome::Status status) {
    constexpr std::array<std::string_view, 4> kNames{"done", "refused", "failed", "missing"};
    return kNames[static_cast<std::size_t>(status)];
}

Outcome outcome_of(const Folder& folder, const std::map<std::string, std::string>& failures,
                   std::string_view id) {
    using Status = Outcome::Status;
    try {
        if (auto result = folder.result(id))
            return {result->refused ? Status::Refused : Status::Done, std::move(result->error),
                    std::move(result->figures)};
    } catch (const UserError& unreadable) {
        return {Status::Failed, unreadable.diagnostics().front().message, {}};
    }
    const auto failure = failures.find(std::string(id));
    if (failure == failures.end()) return {};
    return {Status::Failed, failure->second, {}};
}

void Tally::add(const Outcome& outcome) {
    using Status = Outcome::Status;
    ++points;
    ++(outcome.status == Status::Done      ? done
       : outcome.status == Status::Refused ? refused
       : outcome.status == Status::Failed  ? failed
                                           : missing);
    if (!outcome.error.empty()) ++reasons[outcome.error];
}

}  // namespace systole::sweep
