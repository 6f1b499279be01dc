// SPDX-License-Identifier: Apache-2.0
// What the program says while and after it works: answers on the standard output, notes and progress on the
// standard error output.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "sim/base/text_style.h"
#include "sim/device/work_done.h"

namespace systole::app {

/// Who reads the standard output has closed it, having seen enough (`| head`): there is nothing to tell.
struct ReaderGone {};

/// Writes an answer to the standard output, completely; throws UserError when it cannot (full disk),
/// ReaderGone when nobody reads it any more.
void print(const std::string& text);

/// How an answer on the standard output may look. Colours and pictures are for terminals; not for one that is
/// called "dumb" (TERM), colours not where NO_COLOR is set (no-color.org), pictures only where the locale is
/// UTF-8. CLICOLOR_FORCE other than 0 colours pipes, too.
TextStyle answer_style();

/// A line on the standard error output.
void note(const std::string& text);

/// Messages, one a line, on the standard error output. They quote what users wrote, so control characters are
/// shown as \xNN: a broken file must not talk to the terminal. On one with colours, "error:" is red.
void complain(std::string_view messages);

/// "what ... 12 s": shown while it lives, only on a terminal, and only once a second has gone by. Of a run
/// that tells how far it is, "what ... 12 s, 45 %", and of one behind others "what ... 12 s, run 3: 45 %".
class Progress {
public:
    /// `work_done` must outlive it.
    explicit Progress(std::string what, const WorkDone* work_done = nullptr);
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
    const WorkDone* const work_done_;
    std::jthread thread_;  // last: it uses the others
};

}  // namespace systole::app
