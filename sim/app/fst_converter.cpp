// SPDX-License-Identifier: Apache-2.0
#include "sim/app/fst_converter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "sim/base/error.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;

fs::path find_converter() {
    const char* path = std::getenv("PATH");
    std::istringstream directories(path ? path : "");
    for (std::string directory; std::getline(directories, directory, ':');) {
        fs::path program = fs::path(directory) / "vcd2fst";
        if (::access(program.c_str(), X_OK) == 0) return program;
    }
    throw UserError(
        "a .fst needs the program vcd2fst, which is not on the PATH; install Debian's package gtkwave, or "
        "write a "
        ".vcd");
}

/// Whether the blocks of the file (a kind, then a length of eight bytes, big-endian) fill it to its end and
/// geometry and hierarchy, which come last, are among them: vcd2fst does not tell of a full disk.
bool is_whole_fst(const fs::path& path) {
    constexpr int kGeometry = 3, kHierarchyFirst = 4, kHierarchyLast = 7;
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (error || !file) return false;
    bool geometry = false, hierarchy = false;
    std::uintmax_t at = 0;
    while (at < size) {
        std::array<unsigned char, 9> head{};
        if (std::fseek(file.get(), static_cast<long>(at), SEEK_SET) != 0 ||
            std::fread(head.data(), 1, head.size(), file.get()) != head.size())
            return false;
        geometry = geometry || head[0] == kGeometry;
        hierarchy = hierarchy || (head[0] >= kHierarchyFirst && head[0] <= kHierarchyLast && head[0] != 5);
        std::uintmax_t length = 0;
        for (std::size_t i = 1; i < head.size(); ++i) length = length << 8 | head[i];
        if (length == 0 || length > size) return false;
        at += 1 + length;
    }
    return at == size && geometry && hierarchy;
}

/// Its messages are of no use to our users: silence. A file too large for its limit kills it, as usual.
int spawn(const fs::path& program, const fs::path& output, int input) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    std::array<std::string, 3> words{"vcd2fst", "-", output.string()};
    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
    pid_t process = -1;
    const int error =
        posix_spawn(&process, program.c_str(), &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    errno = error;
    return error == 0 ? process : -1;
}

}  // namespace

void FstConverter::require() {
    find_converter();
}

FstConverter::FstConverter(fs::path target) : place_(std::move(target)) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) place_.fail(errno);
    process_ = spawn(find_converter(), place_.temporary(), ends[0]);
    const int error = errno;
    ::close(ends[0]);
    pipe_ = ends[1];
    if (process_ < 0) {
        close_pipe();
        place_.fail(error);
    }
}

FstConverter::~FstConverter() {
    close_pipe();
    if (process_ >= 0) {
        ::kill(process_, SIGTERM);
        ::waitpid(process_, nullptr, 0);
    }
    std::error_code ignored;  // what vcd2fst leaves beside its output when it is stopped
    fs::remove(place_.temporary().string() + ".hier", ignored);
}

void FstConverter::close_pipe() {
    if (pipe_ >= 0) ::close(std::exchange(pipe_, -1));
}

void FstConverter::fail(const std::string& what) const {
    throw UserError(fmt::format("cannot write '{}': vcd2fst {}", place_.target().string(), what));
}

void FstConverter::write(std::string_view vcd) {
    while (!vcd.empty()) {
        const ssize_t written = ::write(pipe_, vcd.data(), vcd.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("stopped reading; is the disk full?");
        vcd.remove_prefix(static_cast<std::size_t>(written));
    }
}

void FstConverter::close() {
    close_pipe();
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    if (WIFSIGNALED(status)) fail(fmt::format("was ended by signal {}; is the disk full?", WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0) fail(fmt::format("ended with exit status {}", WEXITSTATUS(status)));
    if (!is_whole_fst(place_.temporary())) fail("left an incomplete file; is the disk full?");
}

}  // namespace systole::app
