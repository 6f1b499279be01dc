// SPDX-License-Identifier: Apache-2.0
// A simulation that stands still: no event is left, yet work is. Not the user's fault in a lowered program;
// in one written by hand it usually is. main prints who waits for whom and exits with 3.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace systole {

class Stuck : public std::runtime_error {
public:
    /// `waits`: one line per waiting unit: "mxu0: pass #12 (conv1) waits for load #7".
    explicit Stuck(const std::vector<std::string>& waits);
};

}  // namespace systole
