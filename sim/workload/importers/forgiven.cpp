// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/forgiven.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"

namespace systole {

void Forgiven::add(int line, const std::string& what, const std::string& layer) {
    const auto known = std::ranges::find(kinds_, what, &Kind::what);
    if (known != kinds_.end())
        ++known->rows;
    else
        kinds_.push_back({what, layer, line, 1});
}

std::vector<ImportNote> Forgiven::notes() const {
    std::vector<ImportNote> notes;
    for (const Kind& kind : kinds_)
        notes.push_back(
            {{file_, kind.line, 0},
             fmt::format("{}{}{}", kind.layer.empty() ? "" : fmt::format("'{}' ", excerpt(kind.layer)),
                         kind.what,
                         kind.rows == 1 ? "" : fmt::format(" (and {} more rows)", kind.rows - 1))});
    return notes;
}

}  // namespace systole
