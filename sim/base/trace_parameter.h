// SPDX-License-Identifier: Apache-2.0
// A parameter of a trace with the value that a run gave it, so that a result says which network it is of.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace systole {

struct TraceParameter {
    std::string name;
    std::variant<std::int64_t, std::string> value;  ///< a number, or a number format ("bf16")
    friend bool operator==(const TraceParameter&, const TraceParameter&) = default;
};

}  // namespace systole
