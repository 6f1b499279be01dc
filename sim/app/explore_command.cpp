// SPDX-License-Identifier: Apache-2.0
// systole explore: a page that shows an array at work, clock by clock, with the numbers in every PE.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "sim/account/output_files.h"
#include "sim/app/commands.h"
#include "sim/app/cycle_range.h"
#include "sim/app/explore_run.h"
#include "sim/app/files.h"
#include "sim/app/import_choices.h"
#include "sim/app/lesson.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/report/page.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kDataflowKey = "mxu.dataflow=";

struct DataflowChoice {
    const char* key;
    const char* title;
};
constexpr DataflowChoice kDataflows[] = {
    {"ws", "Weight stationary"}, {"os", "Output stationary"}, {"is", "Input stationary"}};

/// Those of --dataflow, or all; none where --set says the dataflow.
std::vector<DataflowChoice> read_dataflows(const Arguments& arguments) {
    const std::vector<std::string> settings = arguments.list("set");
    const bool set = std::ranges::any_of(
        settings, [](const std::string& text) { return text.find(kDataflowKey) != std::string::npos; });
    const auto text = arguments.option("dataflow");
    if (set && text) arguments.misused("--dataflow and --set mxu.dataflow=… say the same; leave one out");
    if (set) return {};
    if (!text) return {std::begin(kDataflows), std::end(kDataflows)};
    std::vector<std::string> names;
    for (const DataflowChoice& known : kDataflows) names.emplace_back(known.key);
    std::vector<DataflowChoice> chosen;
    for (std::size_t begin = 0; begin <= text->size();) {
        const std::size_t comma = std::min(text->find(',', begin), text->size());
        const std::string word = text->substr(begin, comma - begin);
        const auto known = std::ranges::find(names, word);
        if (known == names.end())
            arguments.misused(
                fmt::format("--dataflow takes ws, os and is, with commas between them, not '{}'{}", word,
                            did_you_mean(word, names)));
        const DataflowChoice& choice = kDataflows[known - names.begin()];
        if (std::ranges::any_of(chosen, [&](const DataflowChoice& other) { return other.key == choice.key; }))
            arguments.misused(fmt::format("--dataflow names '{}' twice", word));
        chosen.push_back(choice);
        begin = comma + 1;
    }
    return chosen;
}

/// A trace, or an operator where key=value words follow.
ExploredRun read_run(const Arguments& arguments) {
    ExploredRun run;
    run.device = arguments.at(0);
    run.settings = arguments.list("set");
    if (arguments.count() > 2) {
        refuse_import_choices(arguments, "an operator is none");
        run.question = read_op_question(arguments, 1);
    } else {
        run.trace = arguments.at(1);
        run.choices = read_import_choices(arguments);
    }
    return run;
}

struct Page {
    std::string title;
    Json json;
};

/// What is shown side by side, and why other dataflows are not.
struct Panels {
    Json shown = Json::array();
    Json left_out = Json::array();
};

/// Whether the arrays have a product to compute; in a window, perhaps outside it.
bool multiplies(const Json& panel) {
    const Json& classes = panel["result"]["classes"];
    return classes["useful"] > 0 || classes["padding"] > 0;
}

/// The run in each of the dataflows that the device can have.
Panels explore_dataflows(const Library& library, const Arguments& arguments, const CycleRange& range) {
    const ExploredRun asked = read_run(arguments);
    const std::vector<DataflowChoice> dataflows = read_dataflows(arguments);
    Progress progress(fmt::format("recording {}", asked.device));
    if (dataflows.empty()) {
        ExploredRun run = asked;
        run.title = "As it is set";
        return {Json::array({explore(library, run, range)})};
    }
    Panels panels;
    const bool all = !arguments.has("dataflow");
    for (const DataflowChoice& dataflow : dataflows) {
        ExploredRun run = asked;
        run.title = dataflow.title;
        run.settings.push_back(std::string(kDataflowKey) + dataflow.key);
        progress.update(fmt::format("recording {} in {}", asked.device, dataflow.key));
        try {
            panels.shown.push_back(explore(library, run, range));
            if (all && !multiplies(panels.shown.back())) {
                panels.shown.back()["title"] = "Without a product";
                panels.left_out.push_back(
                    "other dataflows: nothing is multiplied on the arrays, so all look alike");
                break;
            }
        } catch (const UserError& error) {
            // What no dataflow can is no matter of dataflows: the first one's complaint is everybody's.
            if (!all || panels.shown.empty()) throw;
            panels.left_out.push_back(
                fmt::format("{} ({})", dataflow.key, error.diagnostics().front().message));
            note("not shown: " + panels.left_out.back().get<std::string>());
        }
    }
    return panels;
}

/// What is wrong with it without a place of its own has the run's in the lesson's file.
Json explore_lesson_run(const Library& library, const LessonRun& lesson_run) {
    const auto explored = [&](const auto& run) {
        if constexpr (std::is_same_v<std::decay_t<decltype(run)>, WarpTile>)
            return explore(library, run);
        else
            return explore(library, run, {});
    };
    try {
        return std::visit(explored, lesson_run.run);
    } catch (const UserError& error) {
        const std::string title = std::visit([](const auto& run) { return run.title; }, lesson_run.run);
        std::vector<Diagnostic> placed = error.diagnostics();
        for (Diagnostic& mistake : placed) {
            if (mistake.where.line > 0) continue;
            const std::string& place = mistake.where.file;
            mistake.message = fmt::format("run '{}': {}{}{}", excerpt(title), place,
                                          place.empty() ? "" : ": ", mistake.message);
            mistake.where = lesson_run.where;
        }
        throw UserError(std::move(placed));
    }
}

Page explore_lesson(const Library& library, const Arguments& arguments) {
    for (const char* const option : {"dataflow", "cycles", "set"})
        if (arguments.has(option))
            arguments.misused(fmt::format(
                "--{} goes with a device and an operator or trace; a lesson says it itself", option));
    if (arguments.count() > 0)
        arguments.misused(fmt::format("a lesson brings its devices along; leave '{}' out", arguments.at(0)));
    refuse_import_choices(arguments, "a lesson names its traces");
    const Lesson lesson = read_lesson(library.resolve(Shelf::Lessons, *arguments.option("lesson")));
    Progress progress(fmt::format("recording {}", lesson.title));
    Json panels = Json::array();
    for (const LessonRun& run : lesson.runs) panels.push_back(explore_lesson_run(library, run));
    return {lesson.title,
            {{"lesson",
              {{"title", lesson.title},
               {"summary", lesson.summary},
               {"look_at", lesson.look_at},
               {"question", lesson.question},
               {"answer", lesson.answer}}},
             {"panels", std::move(panels)}}};
}

Page explore_run(const Library& library, const Arguments& arguments) {
    Panels panels = explore_dataflows(library, arguments, read_cycle_range(arguments, "cycles"));
    const Json& first = panels.shown.front();
    std::string title =
        fmt::format("{} on {}", first["asked"].get<std::string>(), first["device"].get<std::string>());
    return {
        std::move(title),
        {{"lesson", nullptr}, {"panels", std::move(panels.shown)}, {"left_out", std::move(panels.left_out)}}};
}

int explore_page(const Arguments& arguments) {
    const auto output = arguments.option("output");
    if (!output) arguments.misused("missing -o FILE; for example: -o explorer.html");
    if (fs::path(*output).extension() != ".html")
        arguments.misused(fmt::format("'{}' is a page's place; end it with .html", *output));
    require_writable_file(*output);
    const Library library = Library::find();
    Page page =
        arguments.has("lesson") ? explore_lesson(library, arguments) : explore_run(library, arguments);
    const std::string title = page.title + " — Systole dataflow explorer";
    Json json = {{"schema", "systole-explorer 1"},
                 {"title", page.title},
                 {"command", arguments.line_without({"output"}) + " -o explorer.html"}};
    json.update(page.json);
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::string html = report::fill_page(library.page("explorer"), title, text);
    write_file(*output, html);
    note(fmt::format("wrote {} ({}); open it in a browser", *output,
                     format_bytes(Bytes(static_cast<std::int64_t>(html.size())))));
    return 0;
}

}  // namespace

Command explore_command() {
    Command command;
    command.name = "explore";
    command.summary = "Show an array at work, clock by clock, as a page for the browser.";
    command.arguments = {"DEVICE", "TRACE_OR_OPERATOR"};
    command.more_arguments = "key=value...";
    command.about =
        "The page shows every PE of one matrix unit with the numbers in its registers as the PE grid "
        "computes\n"
        "them: operands, sums, tiles that shift in, what leaves; and counts PE-cycles (useful, padding, "
        "ramp,\n"
        "waiting) up to the run's utilization. A product is shown weight, output and input stationary beside "
        "each\n"
        "other. Arrays have at most 16 x 16 PEs. Operators and their keys are those of 'systole op'.\n"
        "\n"
        "Lessons ('systole list lessons') are such pages with a question for the class; a file of your own "
        "will\n"
        "do, too (docs/formats.md).\n";
    add_option(command.options, "output,o", "FILE", "where the page goes: one file, which needs no network");
    add_option(command.options, "dataflow", "LIST",
               "only these, of ws, os and is (default: all that the device can)");
    add_option(command.options, "cycles", "FROM:TO",
               "show registers in these cycles only, TO excluded; either may be missing (default: all)");
    add_option(command.options, "lesson", "NAME", "a lesson, instead of DEVICE and operator or trace");
    add_set(command.options);
    add_import_choices(command.options);
    command.examples = {
        {"systole explore teaching_4x4 matmul m=6 n=4 k=4 -o explorer.html",
         "one product in three dataflows"},
        {"systole explore teaching_4x4 three_layers -o explorer.html --dataflow ws", "a small network"},
        {"systole explore teaching_4x4 matmul m=20 n=12 k=12 --set mxu.rows=8 --set mxu.cols=8 -o "
         "explorer.html",
         "a larger array, and tiles that do not fill it"},
        {"systole explore --lesson double_buffering -o explorer.html", "a lesson"},
        {"systole list lessons", "which lessons there are"}};
    command.run = explore_page;
    return command;
}

}  // namespace systole::app
