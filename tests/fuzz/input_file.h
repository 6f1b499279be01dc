// SPDX-License-Identifier: Apache-2.0
// An input as a file, for readers that open one themselves. It lies in memory and goes with the object.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace systole::fuzz {

class InputFile {
public:
    /// Throws std::system_error where there is no memory for it.
    explicit InputFile(const std::string& content) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
        for (std::size_t done = 0; descriptor_ >= 0 && done < content.size();) {
            const ssize_t wrote = write(descriptor_, content.data() + done, content.size() - done);
            if (wrote < 0) throw std::system_error(errno, std::generic_category(), "an input as a file");
            done += static_cast<std::size_t>(wrote);
        }
        if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "an input as a file");
    }
    ~InputFile() { close(descriptor_); }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    /// Whoever opens it reads from its beginning.
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

}  // namespace systole::fuzz
