// SPDX-License-Identifier: Apache-2.0
// The mistakes found in one file so far. Readers go on after a mistake, so that one run shows all of them; a
// file with very many is given up early, because nobody reads the hundredth.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace systole {

class Mistakes {
public:
    static constexpr std::size_t kMost = 100;

    /// Records a mistake; the kMost-th throws all of them as a UserError.
    void add(const SourceMark& where, std::string message);
    std::size_t count() const { return found_.size(); }
    /// Throws a UserError with everything recorded, if anything was.
    void throw_if_any() const;

private:
    std::vector<Diagnostic> found_;
};

/// The text for a message: its first 60 bytes, and "…" if there are more.
std::string excerpt(std::string_view text);

}  // namespace systole
