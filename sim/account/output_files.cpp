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
