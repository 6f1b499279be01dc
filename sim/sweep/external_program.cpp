// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/external_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace systole::sweep {
namespace {

class Pipe {
public:
    Pipe() {
        if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe");
    }
    ~Pipe() { close_reader(), close_writer(); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    int reader() const { return ends_[0]; }
    int writer() const { return ends_[1]; }
    void close_reader() { close(ends_[0]); }
    void close_writer() { close(ends_[1]); }

private:
    static void close(int& end) {
        if (end >= 0) ::close(end);
        end = -1;
    }
    std::array<int, 2> ends_{};
};

/// Both streams at once: a program that fills one while we wait for the other would wait for ever.
void read_both(const Pipe& output, const Pipe& messages, ProgramEnd& end) {
    std::array<pollfd, 2> waiting{{{output.reader(), POLLIN, 0}, {messages.reader(), POLLIN, 0}}};
    std::array<std::string*, 2> texts{&end.output, &end.messages};
    while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
        if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
        for (std::size_t i = 0; i < 2; ++i) {
            if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
            std::array<char, 4096> buffer{};
            const ssize_t got = ::read(waiting[i].fd, buffer.data(), buffer.size());
            if (got > 0)
                texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
            else if (got == 0 || errno != EINTR)
                waiting[i].fd = -1;
        }
    }
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& words, const std::string& input) {
    Pipe in, out, messages;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in.reader(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out.writer(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, messages.writer(), STDERR_FILENO);
    std::vector<std::string> copies = words;
    std::vector<char*> arguments;
    for (std::string& word : copies) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t process = -1;
    const int error = ::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return {error == ENOENT ? 127 : 126, "",
                words.front() + ": " + std::generic_category().message(error)};
    out.close_writer(), messages.close_writer(), in.close_reader();
    ProgramEnd end;
    // A program that does not read its input ends all the same, and says why.
    if (!input.empty() && ::write(in.writer(), input.data(), input.size()) < 0 && errno != EPIPE)
        throw std::system_error(errno, std::generic_category(), words.front());
    in.close_writer();
    read_both(out, messages, end);
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    end.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return end;
}

}  // namespace systole::sweep
