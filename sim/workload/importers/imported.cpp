// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/imported.h"

#include <fmt/format.h>

namespace systole {

std::string to_string(const ImportNote& note) {
    std::string place = note.where.file;
    if (note.where.line > 0) place += fmt::format(":{}", note.where.line);
    return fmt::format("{}: note: {}", place, note.text);
}

}  // namespace systole
