// SPDX-License-Identifier: Apache-2.0
#include "sim/account/output_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "sim/base/check.h"
#include "sim/base/error.h"

namespace systole {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
    throw UserError(fmt::format("cannot write '{}': {}", path.string(), reason));
}

/// Temporary files that disappear unless they have been moved to their places.
class Staging {
public:
    explicit Staging(fs::path directory) : directory_(std::move(directory)) {}
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    ~Staging() {
        std::error_code ignored;  // already on the way out with the fault that matters
        for (const Staged& staged : staged_) fs::remove(staged.temporary, ignored);
    }

    void write(const OutputFile& file) {
        const fs::path target = directory_ / file.name;
        check_replaceable(target);
        // Hidden, and of this process: two runs into one directory do not meet.
        staged_.push_back({directory_ / fmt::format(".{}.{}.tmp", file.name, ::getpid()), target});
        std::FILE* stream = std::fopen(staged_.back().temporary.c_str(), "wb");
        if (!stream) fail(target, std::generic_category().message(errno));
        const bool written =
            std::fwrite(file.content.data(), 1, file.content.size(), stream) == file.content.size();
        const int write_error = errno;
        const bool closed = std::fclose(stream) == 0;
        if (!written || !closed) fail(target, std::generic_category().message(written ? errno : write_error));
    }

    void move_all() {
        for (const Staged& staged : staged_) {
            std::error_code error;
            fs::rename(staged.temporary, staged.target, error);
            if (error) fail(staged.target, error.message());
        }
        staged_.clear();
    }

private:
    struct Staged {
        fs::path temporary, target;
    };

    /// A rename would put a plain file in the place of a device or a link (/dev/stdout), too.
    static void check_replaceable(const fs::path& target) {
        std::error_code error;
        const fs::file_status status = fs::symlink_status(target, error);
        if (fs::exists(status) && !fs::is_regular_file(status))
            fail(target, "it exists and is not a regular file");
    }

    fs::path directory_;
    std::vector<Staged> staged_;
};

void write_into(const fs::path& directory, const std::vector<OutputFile>& files) {
    Staging staging(directory);
    for (const OutputFile& file : files) {
        SYSTOLE_CHECK(fs::path(file.name).filename() == file.name, "an output file named '{}'", file.name);
        staging.write(file);
    }
    staging.move_all();
}

}  // namespace

void write_files(const fs::path& directory, const std::vector<OutputFile>& files) {
    std::error_code error;
    fs::create_directories(directory, error);
    if (error) fail(directory, error.message());
    write_into(directory, files);
}

void write_file(const fs::path& path, const std::string& content) {
    if (!path.has_filename()) fail(path, "it names a directory");
    write_into(path.parent_path(), {{path.filename().string(), content}});
}

}  // namespace systole
