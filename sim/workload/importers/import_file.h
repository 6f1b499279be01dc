// SPDX-License-Identifier: Apache-2.0
// Files of networks that others write, by what their names end in.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/workload/importers/imported.h"

namespace systole {

/// What names of files end in that can be imported: ".csv", ".json".
const std::vector<std::string>& import_endings();
bool can_import(const std::filesystem::path& file);
/// Bytes that a file of this name may have: what is read of it takes some thirty times as much memory.
std::size_t import_limit(const std::filesystem::path& file);

/// `text`: what the file holds. Throws UserError with every mistake, and for endings that are not known.
Imported import_text(const std::string& text, const std::filesystem::path& file);

}  // namespace systole
