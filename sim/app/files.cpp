// SPDX-License-Identifier: Apache-2.0
#include "sim/app/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <system_error>

#include "sim/base/error.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const std::string& what, const fs::path& path, const std::string& reason) {
    throw UserError(fmt::format("cannot {} '{}': {}", what, path.string(), reason));
}

std::string system_error() {
    return std::generic_category().message(errno);
}

/// Asks by trying: rights alone do not tell of file systems that take no files.
void require_room_for_files(const fs::path& directory, const fs::path& wanted) {
    std::error_code ignored;
    if (!fs::is_directory(directory, ignored))
        cannot("write", wanted, fmt::format("'{}' is not a directory", directory.string()));
    // -1 where the file system does not say. What is not there yet cannot be tried.
    const long longest = ::pathconf(directory.c_str(), _PC_NAME_MAX);
    for (const fs::path& name : wanted)
        if (longest > 0 && name.native().size() > static_cast<std::size_t>(longest))
            cannot("write", wanted, fmt::format("a name has at most {} bytes there", longest));
    std::string probe = (directory / ".systole.XXXXXX").string();
    const int descriptor = ::mkstemp(probe.data());
    if (descriptor < 0) cannot("write", wanted, system_error());
    ::close(descriptor);
    ::unlink(probe.c_str());
}

void refuse_dash(const fs::path& path) {
    if (path == "-")
        cannot("write", path,
               "a file of that name is './-'; what goes to the standard output needs no option");
}

/// Whether `path` is `place`, or below it.
bool lies_in(const fs::path& path, const fs::path& place) {
    return std::mismatch(place.begin(), place.end(), path.begin(), path.end()).first == place.end();
}

}  // namespace

std::string read_text(const std::string& path, std::size_t limit) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file) cannot("read", path, system_error());
    const std::string too_large = fmt::format("it is larger than {} MiB", limit >> 20);
    std::error_code unknown;  // the size of a pipe
    if (const auto size = fs::file_size(path, unknown); !unknown && size > limit)
        cannot("read", path, too_large);
    std::string text;
    std::array<char, 65536> chunk;
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
        text.append(chunk.data(), got);
        if (text.size() > limit) cannot("read", path, too_large);
    }
    if (std::ferror(file.get())) cannot("read", path, system_error());
    return text;
}

std::string leading_comment(const fs::path& file) {
    std::ifstream in(file);
    std::string text;
    for (std::string line; std::getline(in, line) && line.starts_with('#');) {
        if (line.find("SPDX-License-Identifier") != std::string::npos) continue;
        const std::size_t begin = line.find_first_not_of("# ");
        text += (begin == std::string::npos ? "" : line.substr(line.starts_with("# ") ? 2 : 1)) + '\n';
    }
    return text;
}

bool are_one_file(const fs::path& one, const fs::path& other) {
    std::error_code none;
    return fs::equivalent(one, other, none);
}

void require_writable_file(const fs::path& path) {
    refuse_dash(path);
    std::error_code ignored;  // then the status says that nothing is there
    const fs::file_status status = fs::symlink_status(path, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status)) cannot("write", path, "it is not a plain file");
    if (!path.has_filename()) cannot("write", path, "it names no file");
    require_room_for_files(path.has_parent_path() ? path.parent_path() : fs::path("."), path);
}

void require_writable_directory(const fs::path& path) {
    if (path.empty()) cannot("write", path, "the name is empty");
    refuse_dash(path);
    std::error_code ignored;
    fs::path existing = fs::absolute(path);
    // A link that leads nowhere is there, and is no directory.
    while (!fs::exists(fs::symlink_status(existing, ignored)) && existing.has_relative_path())
        existing = existing.parent_path();
    require_room_for_files(existing, path);
}

fs::path place_of(const fs::path& path) {
    std::error_code error;
    const fs::path whole = fs::absolute(path, error);
    if (error) cannot("find", path, error.message());
    fs::path place = fs::weakly_canonical(whole, error);
    if (error) cannot("find", path, error.message());
    return place;
}

void refuse_one_place(const Places& places) {
    for (const NamedFile& file : places.outputs) {
        const auto refuse = [&file](const std::string& what) {
            throw UserError(fmt::format("{} {} {}", file.option, file.path.string(), what));
        };
        if (!file.path.has_filename()) refuse("names no file");
        const fs::path own = place_of(file.path);
        if (places.directory && own == place_of(*places.directory)) refuse("is the directory of -o");
        for (const std::string& result : places.results) {
            if (!places.directory) break;
            if (lies_in(own, place_of(*places.directory / result)))
                refuse(fmt::format("is where -o writes {}", result));
        }
        for (const NamedFile& other : places.outputs)
            if (&other < &file && own == place_of(other.path))
                refuse(fmt::format("is where {} writes", other.option));
        for (const std::string& input : places.inputs)
            if (are_one_file(file.path, input)) refuse("is a file that is read; it needs another name");
    }
}

bool is_in_new(const std::optional<fs::path>& directory, const fs::path& file) {
    std::error_code ignored;
    return directory && !fs::exists(*directory, ignored) &&
           file.parent_path() == (*directory / "x").parent_path();
}

}  // namespace systole::app
