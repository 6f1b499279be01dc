// SPDX-License-Identifier: Apache-2.0
// Lessons of the explorer; runs that are small are recorded.
#include "sim/app/lesson.h"

#include <nlohmann/json.hpp>

#include "sim/app/load_device.h"
#include "sim/app/op_rows.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/small_work.h"

namespace systole::fuzz {
namespace {

/// Names on shelves, and no other files of whoever runs this.
bool is_name(const std::string& text) {
    return text.find('/') == std::string::npos && text.find('.') == std::string::npos;
}

void record(const app::Library& library, const app::ExploredRun& run) {
    if (!run.trace.empty() || !is_name(run.device)) return;
    const app::LoadedDevice device = app::load_device(
        library, run.device, app::read_settings(run.settings, Protocol::of_op(), {run.device}));
    const Graph graph = app::operator_graph(device, run.question.op, run.question.keys, {});
    if (work_of(graph) < kMostWork) app::explore(library, run, {});
}

void record(const app::Library& library, const app::WarpTile& tile) {
    if (is_name(tile.device)) app::explore(library, tile);
}

}  // namespace

void read_input(const std::string& input) {
    setenv("SYSTOLE_HOME", ".", 1);
    static const app::Library library = app::Library::find();
    const InputFile file(input);
    try {
        const app::Lesson lesson = app::read_lesson(file.path());
        for (const app::LessonRun& each : lesson.runs) {
            try {
                std::visit([](const auto& run) { record(library, run); }, each.run);
            } catch (const UserError&) {
            }
        }
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"lesson: x\n",
                                                      "summary: s\n",
                                                      "look_at: l\n",
                                                      "question: q\n",
                                                      "answer: a\n",
                                                      "runs:\n",
                                                      "\n  - {title: t, device: ",
                                                      "teaching_4x4, ",
                                                      "h100, ",
                                                      "operator: {op: matmul, m: 4, n: 4, k: 4, dtype: int8}",
                                                      "op: conv2d",
                                                      "trace: three_layers",
                                                      "warp_tile: {m: 16, n: 8, k: 16, dtype: fp16}",
                                                      "fragments: registers",
                                                      "set: {mxu.rows: 8}",
                                                      "set: {mxu.dataflow: os}",
                                                      "set: {workload.batch: 2}",
                                                      "\"\"",
                                                      "4096",
                                                      "0",
                                                      "&a",
                                                      "\xff",
                                                      "}\n"};
    return pieces;
}

}  // namespace systole::fuzz
