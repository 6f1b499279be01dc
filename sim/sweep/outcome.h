// SPDX-License-Identifier: Apache-2.0
// What has come of a point: its result, or why there is none.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/folder.h"

namespace systole::sweep {

struct Outcome {
    enum class Status { Done, Refused, Failed, Missing };
    Status status = Status::Missing;
    std::string error;            ///< of a refused or a failed one
    std::vector<Metric> figures;  ///< of one that is done
};

/// "done", "refused", "failed", "missing".
std::string_view to_string(Outcome::Status status);

/// By what lies in the folder; `failures`: the folder's. A result that cannot be read is a failure.
Outcome outcome_of(const Folder& folder, const std::map<std::string, std::string>& failures,
                   std::string_view id);

/// How many points ended how.
struct Tally {
    std::size_t points = 0, done = 0, refused = 0, failed = 0, missing = 0;
    std::map<std::string, std::size_t> reasons;  ///< of refused and failed ones

    void add(const Outcome& outcome);
};

}  // namespace systole::sweep
