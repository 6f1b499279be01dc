// SPDX-License-Identifier: Apache-2.0
#include "sim/app/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "sim/base/error.h"
#include "sim/base/utf8.h"

namespace systole::app {
namespace {

/// The value of an environment variable; "" without.
std::string_view variable(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

/// Whether the locale's characters are UTF-8: the first of these variables that is set says so.
bool has_utf8() {
    for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value(variable(name));
        std::transform(value.begin(), value.end(), value.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        if (!value.empty())
            return value.find("UTF-8") != std::string::npos || value.find("UTF8") != std::string::npos;
    }
    return false;
}

bool is_terminal(int stream) {
    return ::isatty(stream) != 0 && variable("TERM") != "dumb";
}

bool has_colour(int stream) {
    if (!variable("NO_COLOR").empty()) return false;
    const std::string_view forced = variable("CLICOLOR_FORCE");
    return is_terminal(stream) || (!forced.empty() && forced != "0");
}

/// Of the terminal's lines, in characters; no limit where it is not known.
std::size_t width_of(int stream) {
    winsize size{};
    if (::ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return std::string::npos;
}

constexpr Ink kErrorInk{Ink::Weight::Strong, 160};

/// ", run 3: 45 %"; nothing of what has not begun.
std::string share_text(const WorkDone* work_done) {
    if (work_done == nullptr || work_done->runs() == 0) return "";
    const std::string share = fmt::format("{:.0f} %", 100 * work_done->share());
    return work_done->runs() == 1 ? ", " + share : fmt::format(", run {}: {}", work_done->runs(), share);
}

}  // namespace

TextStyle answer_style() {
    TextStyle style;
    style.colour = has_colour(STDOUT_FILENO);
    if (is_terminal(STDOUT_FILENO)) {
        style.pictures = has_utf8();
        style.width = width_of(STDOUT_FILENO);
    }
    return style;
}

void print(const std::string& text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (written && std::fflush(stdout) == 0) return;
    if (errno == EPIPE) throw ReaderGone{};
    throw UserError("cannot write to the standard output: " + std::generic_category().message(errno));
}

void note(const std::string& text) {
    std::fprintf(stderr, "systole: %s\n", text.c_str());
}

void complain(std::string_view messages) {
    constexpr std::string_view kError = "error:";
    const TextStyle style{has_colour(STDERR_FILENO)};
    std::string shown;
    for (std::size_t at = 0; at <= messages.size();) {
        const std::size_t end = std::min(messages.find('\n', at), messages.size());
        std::string line = printable(messages.substr(at, end - at));
        if (const std::size_t word = line.find(kError); word != std::string::npos)
            line.replace(word, kError.size(), painted(kError, kErrorInk, style));
        shown += line + '\n';
        at = end + 1;
    }
    std::fputs(shown.c_str(), stderr);
}

Progress::Progress(std::string what, const WorkDone* work_done)
    : what_(std::move(what)), work_done_(work_done) {
    if (::isatty(STDERR_FILENO)) thread_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
}

Progress::~Progress() = default;

void Progress::update(std::string what) {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
}

void Progress::show(const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kPeriod = std::chrono::seconds(1);
    constexpr const char* kClearLine = "\r\033[K";
    const auto begin = Clock::now();
    std::unique_lock lock(mutex_);
    bool shown = false;
    while (!wake_.wait_for(lock, stop, kPeriod, [&] { return stop.stop_requested(); })) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin);
        std::fprintf(stderr, "%s%s ... %lld s%s", kClearLine, what_.c_str(),
                     static_cast<long long>(seconds.count()), share_text(work_done_).c_str());
        std::fflush(stderr);
        shown = true;
    }
    if (shown) std::fputs(kClearLine, stderr);
}

}  // namespace systole::app
