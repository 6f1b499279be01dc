// SPDX-License-Identifier: Apache-2.0
#include "sim/account/output_files.h"

#include <fmt/format.h>

#include <deque>
#include <system_error>

#include "sim/account/staged_place.h"
#include "sim/base/check.h"
#include "sim/base/error.h"

namespace systole {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
    throw UserError(fmt::format("cannot write '{}': {}", path.string(), reason));
}

/// A directory that is there while files are made in it; what was made of it and above it goes, if keep() was
/// not called and nothing lies in there.
class Directory {
public:
    explicit Directory(const fs::path& path) {
        std::error_code error;
        // A link that leads nowhere is there, too, and stays.
        for (fs::path each = path; !each.empty() && !fs::exists(fs::symlink_status(each, error));
             each = each.parent_path())
            new_.push_back(each);
        fs::create_directories(path, error);
        if (!error) return;
        remove();
        fail(path, error.message());
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory() { remove(); }

    void keep() { new_.clear(); }

private:
    void remove() {
        std::error_code ignored;
        for (const fs::path& each : new_) fs::remove(each, ignored);
    }

    std::vector<fs::path> new_;  // the deepest first
};

void write_into(const fs::path& directory, const std::vector<OutputFile>& files) {
    std::deque<StagedFile> staged;
    for (const OutputFile& file : files) {
        SYSTOLE_CHECK(fs::path(file.name).filename() == file.name, "an output file named '{}'", file.name);
        staged.emplace_back(directory / file.name);
        staged.back().write(file.content);
        staged.back().close();
    }
    for (StagedFile& file : staged) file.commit();
}

}  // namespace

void write_files(const fs::path& directory, const std::vector<OutputFile>& files) {
    Directory made(directory);
    write_into(directory, files);
    made.keep();
}

void write_file(const fs::path& path, const std::string& content) {
    if (!path.has_filename()) fail(path, "it names a directory");
    write_into(path.parent_path(), {{path.filename().string(), content}});
}

}  // namespace systole
