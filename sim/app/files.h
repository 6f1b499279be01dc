// SPDX-License-Identifier: Apache-2.0
// Files on the command line: read whole, and looked at before a long run so that it does not end with "cannot
// write".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace systole::app {

/// The content of a file or pipe; throws UserError when it cannot be read or holds more than `limit` bytes.
std::string read_text(const std::string& path, std::size_t limit);

/// The comment lines that a file begins with: what it describes, and what its sources' short names stand for.
std::string leading_comment(const std::filesystem::path& path);
/// Throws UserError if a file cannot be put at `path`: its directory is missing or not writable, or something
/// that is not a plain file is there; a name is longer than they are there; or if it is "-", by which the
/// standard output may be meant.
void require_writable_file(const std::filesystem::path& path);

/// Where `path` leads, links followed, whether or not something is there; throws UserError where the system
/// cannot tell (a name that is too long, links that lead round).
std::filesystem::path place_of(const std::filesystem::path& path);

/// Whether both names are of one file that exists.
bool are_one_file(const std::filesystem::path& one, const std::filesystem::path& other);

/// Whether `file` would lie in a directory that is not there yet, and that -o makes.
bool is_in_new(const std::optional<std::filesystem::path>& directory, const std::filesystem::path& file);

/// A file that an option names.
struct NamedFile {
    std::string option;  ///< "--timeline"
    std::filesystem::path path;
};

/// What a command writes and reads beside each other.
struct Places {
    std::vector<NamedFile> outputs = {};                  ///< that options name
    std::optional<std::filesystem::path> directory = {};  ///< of -o
    std::vector<std::string> results = {};                ///< files and directories that go there
    std::vector<std::string> inputs = {};  ///< as users wrote them; names of what is shipped do no harm
};
/// Throws UserError if two outputs are one, or one is the directory or a result, or lies in one; or is a file
/// that is read, which would be lost.
void refuse_one_place(const Places& places);

/// Throws UserError if no directory is at `path` and none can be made there, or if it is not writable; a name
/// is longer than they are there; or if it is "-".
void require_writable_directory(const std::filesystem::path& path);

}  // namespace systole::app
