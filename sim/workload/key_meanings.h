// SPDX-License-Identifier: Apache-2.0
// What the keys of operators mean, a sentence each: beside the readers, for the reference and for editors.
#pragma once

#include <span>
#include <string_view>

namespace systole {

struct KeyMeaning {
    std::string_view ops;   ///< whose key it is, separated by spaces; empty: of all that no other row names
    std::string_view key;   ///< "filters"
    std::string_view text;  ///< without a full stop
};

/// Rows that name their operators stand before the one for all others.
std::span<const KeyMeaning> key_meanings();

/// Of the key of an operator of a trace; null if nothing is written about it.
const KeyMeaning* find_key_meaning(std::string_view op, std::string_view key);

}  // namespace systole
