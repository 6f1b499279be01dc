// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "sim/base/error.h"

namespace systole::app {

SweepLock::SweepLock(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "lock";
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0)
        throw UserError(
            fmt::format("cannot write '{}': {}", path.string(), std::generic_category().message(errno)));
    // A file system without locks has none to respect.
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(file_);
        throw UserError(
            fmt::format("another 'systole sweep' is working in '{}'; 'systole sweep status {}' shows how "
                        "far it is",
                        folder.string(), folder.string()));
    }
}

SweepLock::~SweepLock() {
    ::close(file_);
}

}  // namespace systole::app
