// SPDX-License-Identifier: Apache-2.0
// Puts results on disk so that a reader never sees half a file: every file is written beside its place under
// a temporary name, and moved there only when all of them are complete.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace systole {

struct OutputFile {
    std::string name;  ///< within the directory, without separators
    std::string content;
};

/// Writes `files` into `directory`, which is created if need be; files of these names are replaced, anything
/// else there stays. Throws UserError with path and reason, and then leaves no temporary file and no new
/// directory behind; what was there before is then untouched unless the fault came with the final renames.
void write_files(const std::filesystem::path& directory, const std::vector<OutputFile>& files);

/// The same for a single file, of which the directory must exist.
void write_file(const std::filesystem::path& path, const std::string& content);

}  // namespace systole
