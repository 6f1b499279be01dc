// SPDX-License-Identifier: Apache-2.0
// A lesson: runs that are shown side by side in the dataflow explorer, with a question for the class
// (docs/formats.md, "Lessons").
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "sim/app/explore_run.h"
#include "sim/app/warp_tile.h"
#include "sim/base/error.h"

namespace systole::app {

/// One of a lesson's runs, and where its file asks for it.
struct LessonRun {
    SourceMark where;
    std::variant<ExploredRun, WarpTile> run;
};

struct Lesson {
    std::string title;
    std::string summary;          ///< one line
    std::string look_at;          ///< what to watch: paragraphs, parted by empty lines
    std::string question;         ///< for the class
    std::string answer;           ///< hidden until it is asked for
    std::vector<LessonRun> runs;  ///< side by side
};

/// Throws UserError with every mistake of the file.
Lesson read_lesson(const std::filesystem::path& file);

}  // namespace systole::app
