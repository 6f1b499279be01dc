// SPDX-License-Identifier: Apache-2.0
#include "sim/app/lesson.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/mistakes.h"
#include "sim/config/quantity.h"
#include "sim/config/schema.h"
#include "sim/config/yaml.h"

namespace systole::app {
namespace {

using config::YamlEntry;
using config::YamlNode;

/// Panels that fit beside each other and keep a page small.
constexpr std::size_t kMostRuns = 4;

class LessonReader {
public:
    explicit LessonReader(const YamlNode& document) : document_(document) {}

    Lesson read() {
        refuse_unknown(document_, {"lesson", "schema", "summary", "look_at", "question", "answer", "runs"},
                       "a lesson");
        Lesson lesson;
        lesson.title = text(document_, "lesson", "the lesson's title");
        lesson.summary = text(document_, "summary", "one line for 'systole list lessons'");
        lesson.look_at = text(document_, "look_at", "what to watch");
        lesson.question = text(document_, "question", "a question for the class");
        lesson.answer = text(document_, "answer", "its answer");
        const YamlNode* const runs = document_.find("runs");
        if (!runs || runs->kind != YamlNode::Kind::Sequence || runs->items.empty() ||
            runs->items.size() > kMostRuns)
            mistakes_.add(runs ? runs->where : document_.where,
                          fmt::format("expected runs: a list of 1 to {} runs", kMostRuns));
        else
            for (const YamlNode& run : runs->items) read_run(run, lesson);
        mistakes_.throw_if_any();
        return lesson;
    }

private:
    void read_run(const YamlNode& node, Lesson& lesson) {
        if (node.kind != YamlNode::Kind::Map)
            return mistakes_.add(node.where,
                                 fmt::format("expected a run, a map, not {}", config::to_string(node.kind)));
        refuse_unknown(node, {"title", "device", "operator", "trace", "warp_tile", "set"}, "a run");
        const YamlNode* const op = node.find("operator");
        const YamlNode* const trace = node.find("trace");
        const YamlNode* const tile = node.find("warp_tile");
        if ((op != nullptr) + (trace != nullptr) + (tile != nullptr) != 1)
            return mistakes_.add(node.where, "a run has one of operator, trace and warp_tile");
        const std::string title = text(node, "title", "what the run shows");
        const std::string device = text(node, "device", "the device that runs it");
        const std::vector<std::string> settings = read_settings_of(node);
        if (tile) {
            lesson.runs.push_back({node.where, WarpTile{title, device, read_tile(*tile), settings}});
            return;
        }
        ExploredRun run{title, device, trace ? text(node, "trace", "a trace") : "", {}, settings, {}};
        if (op) run.question = read_question(*op);
        lesson.runs.push_back({node.where, std::move(run)});
    }

    OpQuestion read_question(const YamlNode& node) {
        OpQuestion question;
        if (node.kind != YamlNode::Kind::Map || !node.find("op")) {
            mistakes_.add(node.where,
                          "expected an operator and its keys, such as {op: matmul, m: 6, n: 4, k: 4}");
            return question;
        }
        question.op = text(node, "op", "an operator");
        for (const YamlEntry& entry : node.entries) {
            if (entry.key == "op") continue;
            question.names.push_back(entry.key);
            question.values.push_back(text(node, entry.key, "a value"));
            question.keys.emplace(entry.key, question.values.back());
        }
        return question;
    }

    /// As --set takes them.
    std::vector<std::string> read_settings_of(const YamlNode& node) {
        std::vector<std::string> settings;
        const YamlNode* const set = node.find("set");
        if (!set) return settings;
        if (set->kind != YamlNode::Kind::Map)
            mistakes_.add(set->where, "expected paths and values, such as {mxu.rows: 8}");
        for (const YamlEntry& entry : set->entries)
            settings.push_back(fmt::format("{}={}", entry.key, text(*set, entry.key, "a value")));
        return settings;
    }

    simt::WarpTileShape read_tile(const YamlNode& node) {
        simt::WarpTileShape shape;
        if (node.kind != YamlNode::Kind::Map) {
            mistakes_.add(node.where, "expected a tile, such as {m: 16, n: 8, k: 64, dtype: fp16}");
            return shape;
        }
        refuse_unknown(node, {"m", "n", "k", "dtype", "fragments"}, "a warp's tile");
        shape.m = extent(node, "m");
        shape.n = extent(node, "n");
        shape.k = extent(node, "k");
        const std::string dtype = text(node, "dtype", "a number format");
        if (const auto known = parse_dtype(dtype))
            shape.dtype = *known;
        else
            mistakes_.add(node.where, fmt::format("there is no number format '{}'", excerpt(dtype)));
        if (const YamlNode* const fragments = node.find("fragments")) {
            const bool registers = fragments->scalar == "registers";
            if (registers) shape.fragments = simt::Fragments::Registers;
            if (!registers && fragments->scalar != "shared")
                mistakes_.add(fragments->where,
                              fmt::format("fragments are in 'registers' or 'shared' memory, not '{}'",
                                          excerpt(fragments->scalar)));
        }
        return shape;
    }

    std::int64_t extent(const YamlNode& node, const char* key) {
        constexpr std::int64_t kMost = 4096;
        const std::string digits = text(node, key, "a whole number");
        const auto value = config::parse_integer(digits, 1, kMost);
        if (value.value) return *value.value;
        mistakes_.add(node.where, fmt::format("{}: {}", key, value.problem));
        return 1;
    }

    std::string text(const YamlNode& node, const std::string& key, const char* what) {
        const YamlNode* const value = node.find(key);
        if (value && value->kind == YamlNode::Kind::Scalar && !value->scalar.empty()) return value->scalar;
        if (!value)
            mistakes_.add(node.where, fmt::format("{} is missing: {}", key, what));
        else
            mistakes_.add(value->where, fmt::format("{}: expected text ({}), not {}", key, what,
                                                    value->kind == YamlNode::Kind::Scalar
                                                        ? "nothing"
                                                        : config::to_string(value->kind)));
        return "";
    }

    void refuse_unknown(const YamlNode& node, const std::vector<std::string>& known, const char* of) {
        for (const YamlEntry& entry : node.entries)
            if (std::find(known.begin(), known.end(), entry.key) == known.end())
                mistakes_.add(entry.where, fmt::format("{} has no key '{}'{}", of, excerpt(entry.key),
                                                       did_you_mean(entry.key, known)));
    }

    const YamlNode& document_;
    Mistakes mistakes_;
};

}  // namespace

Lesson read_lesson(const std::filesystem::path& file) {
    const YamlNode document = config::load_yaml(file);
    if (document.kind != YamlNode::Kind::Map || !document.find("lesson"))
        throw UserError({file.string()}, "this is no lesson: expected 'lesson: TITLE' and its runs");
    return LessonReader(config::of_schema(document, kLessonSchema)).read();
}

}  // namespace systole::app
