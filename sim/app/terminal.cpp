// SPDX-License-Identifier: Apache-2.0
#include "sim/app/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>

#include "sim/base/error.h"
#include "sim/base/utf8.h"

namespace systole::app {

void print(const std::string& text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (written && std::fflush(stdout) == 0) return;
    throw UserError("cannot write to the standard output: " + std::generic_category().message(errno));
}

void note(const std::string& text) {
    std::fprintf(stderr, "systole: %s\n", text.c_str());
}

void complain(std::string_view messages) {
    std::string shown;
    for (std::size_t at = 0; at <= messages.size();) {
        const std::size_t end = std::min(messages.find('\n', at), messages.size());
        shown += printable(messages.substr(at, end - at)) + '\n';
        at = end + 1;
    }
    std::fputs(shown.c_str(), stderr);
}

Progress::Progress(std::string what) : what_(std::move(what)) {
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
        std::fprintf(stderr, "%s%s ... %lld s", kClearLine, what_.c_str(),
                     static_cast<long long>(seconds.count()));
        std::fflush(stderr);
        shown = true;
    }
    if (shown) std::fputs(kClearLine, stderr);
}

}  // namespace systole::app
