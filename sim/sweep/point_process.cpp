// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/point_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "sim/base/heap.h"
#include "sim/base/sanitized.h"

namespace systole::sweep {
namespace {

constexpr int kDone = 0, kFailed = 1, kOutOfMemory = 2;
constexpr std::size_t kMostWords = 4096;
constexpr int kMostReads = 64;

void say(std::string_view text) {
    // Nobody is left to tell if it cannot.
    while (!text.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

PointProcess::PointProcess(const std::function<void()>& task, Bytes memory) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    const pid_t parent = ::getpid();
    // What lies in buffers is the parent's to write.
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) {
        const int error = errno;
        ::close(ends[0]), ::close(ends[1]);
        throw std::system_error(error, std::generic_category(), "fork");
    }
    if (pid_ == 0) run(task, memory, ends[1], parent);
    ::close(ends[1]);
    pipe_ = ends[0];
    ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
}

void PointProcess::run(const std::function<void()>& task, Bytes memory, int pipe, pid_t parent) {
    // A parent that is killed takes its points with it: nobody else would hold them to their limits.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kFailed);
    ::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches everyone; the parent decides
    ::signal(SIGTERM, SIG_DFL);
    ::dup2(pipe, STDERR_FILENO);
    // The pipes of its siblings are the parent's; where there are many, a point has none left for its files.
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    if (PointProcess::limits_memory()) {
        const auto most = static_cast<rlim_t>(memory.value());
        const rlimit limit{most, most};
        ::setrlimit(RLIMIT_DATA, &limit);
        keep_free_memory();
    }
    try {
        task();
    } catch (const std::bad_alloc&) {
        ::_exit(kOutOfMemory);
    } catch (const std::exception& error) {
        say(error.what());
        ::_exit(kFailed);
    } catch (...) {
        // Never into what the parent was doing when it forked.
        say("failed with an exception of no known kind");
        ::_exit(kFailed);
    }
    ::_exit(kDone);
}

bool PointProcess::limits_memory() {
    return !kAddressSanitizer;
}

PointProcess::~PointProcess() {
    release();
}

PointProcess::PointProcess(PointProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pipe_(std::exchange(other.pipe_, -1)),
      words_(std::move(other.words_)) {}

PointProcess& PointProcess::operator=(PointProcess&& other) noexcept {
    if (this != &other) {
        release();
        pid_ = std::exchange(other.pid_, -1);
        pipe_ = std::exchange(other.pipe_, -1);
        words_ = std::move(other.words_);
    }
    return *this;
}

void PointProcess::release() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    if (pipe_ >= 0) ::close(pipe_);
    pid_ = pipe_ = -1;
}

void PointProcess::kill() {
    ::kill(pid_, SIGKILL);
}

std::optional<ProcessEnd> PointProcess::look() {
    std::array<char, 4096> buffer{};
    ssize_t got = 0;
    // Not without an end: one that never stops talking has a limit of time, too.
    for (int reads = 0; (got = ::read(pipe_, buffer.data(), buffer.size())) > 0; ++reads) {
        if (reads == kMostReads) return {};
        words_.append(buffer.data(), static_cast<std::size_t>(got));
        if (words_.size() > kMostWords) words_.erase(0, words_.size() - kMostWords);
    }
    if (got < 0) return {};  // nothing to read, and its writer lives
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    release();
    ProcessEnd end;
    end.words = words_;
    const bool starved = words_.find("std::bad_alloc") != std::string::npos;
    if (WIFSIGNALED(status)) {
        end.signal = WTERMSIG(status);
        end.kind = starved ? ProcessEnd::Kind::OutOfMemory : ProcessEnd::Kind::Killed;
    } else if (WEXITSTATUS(status) != kDone) {
        end.kind = WEXITSTATUS(status) == kOutOfMemory || starved ? ProcessEnd::Kind::OutOfMemory
                                                                  : ProcessEnd::Kind::Failed;
    }
    return end;
}

}  // namespace systole::sweep
