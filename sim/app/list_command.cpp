// SPDX-License-Identifier: Apache-2.0
// systole list: what can be named on the command line.
#include <fmt/format.h>

#include "sim/app/commands.h"
#include "sim/app/files.h"
#include "sim/app/library.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/base/text_table.h"
#include "sim/workload/importers/huggingface_config.h"
#include "sim/workload/importers/json_object.h"

namespace systole::app {
namespace {

using config::YamlNode;

/// The text of a key, written plainly or with its origin; "" if there is none.
std::string text_of(const YamlNode& document, std::string_view key) {
    const YamlNode* value = document.find(key);
    if (value && value->kind == YamlNode::Kind::Map) value = value->find("value");
    return value && value->kind == YamlNode::Kind::Scalar ? value->scalar : "";
}

/// "batch=1 dtype=int8".
std::string parameters(const YamlNode& document) {
    std::string text;
    const YamlNode* const params = document.find("params");
    if (!params) return text;
    for (const config::YamlEntry& entry : params->entries)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", entry.key, entry.value.scalar);
    return text;
}

std::string list_traces(const Library& library) {
    TextTable table;
    table.column("trace", TextTable::Align::Left);
    table.column("kind", TextTable::Align::Left);
    table.column("parameters (--set workload.NAME=VALUE)", TextTable::Align::Left);
    for (const Item& item : library.items(Shelf::Traces))
        table.row({item.name, item.group, parameters(config::load_yaml(item.file))});
    return table.str(answer_style());
}

/// The text of a key, here or in what the document extends; "" where neither says it.
std::string inherited(const Library& library, const YamlNode& document, std::string_view key) {
    YamlNode level = document;
    // A circle is told when the document is used; a chain is short.
    for (int depth = 0; depth < 16; ++depth) {
        std::string text = text_of(level, key);
        const YamlNode* const base = level.find("extends");
        if (!text.empty() || !base || base->kind != YamlNode::Kind::Scalar) return text;
        level = library.resolver()(base->scalar, base->where);
    }
    return "";
}

/// Devices and memories: name, kind, of devices how far facts carry, and the title under the key `word`.
std::string list_titles(const Library& library, Shelf shelf, const std::string& word) {
    TextTable table;
    table.column(word, TextTable::Align::Left);
    table.column("kind", TextTable::Align::Left);
    if (shelf == Shelf::Devices) table.column("fidelity", TextTable::Align::Left);
    table.column("title", TextTable::Align::Left);
    for (const Item& item : library.items(shelf)) {
        const YamlNode document = config::load_yaml(item.file);
        std::vector<std::string> cells{item.name, inherited(library, document, "kind")};
        if (shelf == Shelf::Devices) {
            const std::string fidelity = inherited(library, document, "fidelity");
            cells.push_back(fidelity.empty() ? "detailed" : fidelity);
        }
        cells.push_back(text_of(document, word));
        table.row(cells);
    }
    return table.str(answer_style());
}

/// Models: name, architecture, and where their sizes are published.
std::string list_models(const Library& library) {
    TextTable table;
    for (const char* const column : {"model", "kind", "source"}) table.column(column, TextTable::Align::Left);
    for (const Item& item : library.items(Shelf::Models)) {
        const std::string file = item.file.string();
        JsonObject model(read_text(file, kLargestConfig), file);
        table.row({item.name, model.text("model_type", ""), model.text("source", "")});
        model.throw_if_any();
    }
    return table.str(answer_style());
}

/// Experiments: name, folder, devices and traces, title.
std::string list_experiments(const Library& library) {
    TextTable table;
    for (const char* const column : {"experiment", "kind", "devices", "traces", "title"})
        table.column(column, TextTable::Align::Left);
    const auto names = [](const YamlNode* node) {
        std::string text = node ? node->scalar : "";
        if (node)
            for (const YamlNode& item : node->items) text += (text.empty() ? "" : " ") + item.scalar;
        return text;
    };
    for (const Item& item : library.items(Shelf::Experiments)) {
        const YamlNode document = config::load_yaml(item.file);
        table.row({item.name, item.group, names(document.find("device")), names(document.find("trace")),
                   text_of(document, "experiment")});
    }
    return table.str(answer_style());
}

/// Lessons of the dataflow explorer.
std::string list_lessons(const Library& library) {
    TextTable table;
    for (const char* const column : {"lesson", "what it shows"}) table.column(column, TextTable::Align::Left);
    for (const Item& item : library.items(Shelf::Lessons))
        table.row({item.name, text_of(config::load_yaml(item.file), "summary")});
    return table.str(answer_style());
}

int list(const Arguments& arguments) {
    const std::string what = arguments.count() > 0 ? arguments.at(0) : "all";
    const Library library = Library::find();
    std::string text;
    const auto add = [&](const char* shelf, auto&& table) {
        if (what != shelf && what != "all") return;
        text += (text.empty() ? "" : "\n") + table();
    };
    add("devices", [&] { return list_titles(library, Shelf::Devices, "device"); });
    add("traces", [&] { return list_traces(library); });
    add("models", [&] { return list_models(library); });
    add("memories", [&] { return list_titles(library, Shelf::Memories, "memory"); });
    add("energies", [&] { return list_titles(library, Shelf::Energies, "energy"); });
    add("experiments", [&] { return list_experiments(library); });
    add("lessons", [&] { return list_lessons(library); });
    if (text.empty())
        arguments.misused(fmt::format(
            "'{}' is not devices, traces, models, memories, energies, experiments or lessons{}", what,
            did_you_mean(what, std::vector<std::string>{"devices", "traces", "models", "memories", "energies",
                                                        "experiments", "lessons"})));
    print(text);
    return 0;
}

}  // namespace

Command list_command() {
    Command command;
    command.name = "list";
    command.summary = "List the shipped devices, traces, models, memories, energies, experiments or lessons.";
    command.arguments = {"devices|traces|models|memories|energies|experiments|lessons"};
    command.about =
        "They lie below the data directory: $SYSTOLE_HOME, or where Systole was installed or built.\n";
    command.examples = {{"systole list devices", "machines for 'systole run' and 'systole op'"},
                        {"systole list traces", "networks, with their parameters and defaults"},
                        {"systole list models", "language models for 'systole trace llm'"},
                        {"systole list experiments", "for 'systole sweep'"},
                        {"systole list lessons", "for 'systole explore --lesson'"}};
    command.run = list;
    return command;
}

}  // namespace systole::app
