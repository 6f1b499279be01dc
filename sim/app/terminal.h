// SPDX-License-Identifier: Apache-2.0
// What the program says while and after it works: answers on the standard output, notes and progress on the
// standard error output.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace systole::app {

/// Writes an answer to the standard output, completely; throws UserError when it cannot (closed pipe, full
/// disk).
void print(const std::string& text);

/// A line on the standard error output.
void note(const std::string& text);

/// Messages, one a line, on the standard error output. They quote what users wrote, so control characters are
/// shown as \xNN: a broken file must not talk to the terminal.
void complain(std::string_view messages);

/// "what ... 12 s": shown while it lives, only on a terminal, and only once a second has gone by.
class Progress {
public:
    explicit Progress(std::string what);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Replaces the text ("row 12 of 400").
    void update(std::string what);

private:
    void show(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::string what_;
    std::jthread thread_;  // last: it uses the others
};

}  // namespace systole::app
