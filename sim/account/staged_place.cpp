// SPDX-License-Identifier: Apache-2.0
#include "sim/account/staged_place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>
#include <utility>

#include "sim/base/error.h"

namespace systole {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& target, const std::string& reason) {
    throw UserError(fmt::format("cannot write '{}': {}", target.string(), reason));
}

}  // namespace

StagedPlace::StagedPlace(fs::path target) : target_(std::move(target)) {
    if (!target_.has_filename()) cannot_write(target_, "it names a directory");
    // A rename would put a plain file in the place of a device or a link (/dev/stdout), too.
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(target_, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status))
        cannot_write(target_, "it exists and is not a regular file");
    // Machines that share a disk have processes of equal numbers. A name that is as long as names may be has
    // a shorter one until then.
    constexpr std::size_t kMostOfName = 200;
    temporary_ = target_.parent_path() / fmt::format(".{}.{}-{:08x}.tmp",
                                                     target_.filename().string().substr(0, kMostOfName),
                                                     ::getpid(), std::random_device()());
}

StagedPlace::StagedPlace(StagedPlace&& other) noexcept
    : target_(std::move(other.target_)), temporary_(std::exchange(other.temporary_, fs::path())) {}

StagedPlace::~StagedPlace() {
    std::error_code ignored;  // already on the way out with the fault that matters
    if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

void StagedPlace::commit() {
    std::error_code error;
    fs::rename(temporary_, target_, error);
    if (error) cannot_write(target_, error.message());
    temporary_.clear();
}

void StagedPlace::fail(int error) const {
    cannot_write(target_, std::generic_category().message(error));
}

StagedFile::StagedFile(fs::path target)
    : place_(std::move(target)), stream_(std::fopen(place_.temporary().c_str(), "wb")) {
    if (stream_ == nullptr) place_.fail(errno);
}

StagedFile::~StagedFile() {
    if (stream_ != nullptr) std::fclose(stream_);
}

void StagedFile::write(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) place_.fail(errno);
}

void StagedFile::close() {
    if (std::fclose(std::exchange(stream_, nullptr)) != 0) place_.fail(errno);
}

}  // namespace systole
