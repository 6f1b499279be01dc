// SPDX-License-Identifier: Apache-2.0
// systole reference: what files and the command line may say, as the program itself reads it. docs/reference
// and docs/man are written by it (tools/reference).
#include <fmt/format.h>

#include <functional>
#include <vector>

#include "models/memory/config/dram_config.h"
#include "sim/app/commands.h"
#include "sim/app/library.h"
#include "sim/app/load_device.h"
#include "sim/app/man_page.h"
#include "sim/app/settings.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/reference/key_pages.h"
#include "sim/reference/key_schema.h"
#include "sim/reference/trace_pages.h"

namespace systole::app {
namespace {

using reference::Key;

constexpr std::string_view kColumns =
    "Written by `tools/reference` from what the program reads; do not edit. A key that is **required** must "
    "be given,\n"
    "here or in what the document extends; an optional one means what its sentence says where it is given. "
    "`shipped`\n"
    "says how many of the shipped documents give it, and one of their values. Units are in\n"
    "[formats](../formats.md#quantities).\n";

std::vector<reference::Shipped> shipped(const Library& library, Shelf shelf) {
    std::vector<reference::Shipped> documents;
    for (const Item& item : library.items(shelf))
        documents.push_back({item.name, config::load_yaml(item.file)});
    return documents;
}

std::vector<Key> keys_of_devices() {
    const Library library = Library::find();
    return reference::catalogue(shipped(library, Shelf::Devices), library.resolver(), read_device_keys);
}

std::vector<Key> keys_of_memories() {
    const Library library = Library::find();
    return reference::catalogue(shipped(library, Shelf::Memories), library.resolver(),
                                [](config::Config& config) { read_dram_spec(config.root()); });
}

std::vector<Key> keys_of_energies() {
    return reference::keys_below(keys_of_devices(), "energy");
}

std::vector<Key> keys_of_costs() {
    return reference::keys_below(keys_of_devices(), "cost");
}

std::vector<Key> keys_of_protocol(const Protocol& defaults) {
    config::YamlNode nothing;
    nothing.kind = config::YamlNode::Kind::Map;
    return reference::catalogue({{"", nothing}}, {},
                                [&](config::Config& config) { read_protocol(config, defaults); });
}

std::string page_of_devices() {
    const std::vector<Key> keys = reference::keys_beside(keys_of_devices(), {"memory", "energy", "cost"});
    return reference::key_page({"Keys of devices",
                                std::string(kColumns) + "\nThe sections `memory`, `energy` and `cost` have "
                                                        "pages of their own: [memory](memory_keys.md),\n"
                                                        "[energy](energy_keys.md), [cost](cost_keys.md).\n",
                                true},
                               keys);
}

std::string page_of_memories() {
    return reference::key_page(
        {"Keys of memories",
         std::string(kColumns) +
             "\nA document of `configs/memory`, or the section `memory` of a device, where the keys are\n"
             "`memory.kind` and so on.\n"},
        keys_of_memories());
}

std::string page_of_energies() {
    return reference::key_page(
        {"Keys of energies",
         std::string(kColumns) +
             "\nA document of `configs/energy`, or the section `energy` of a device, where the keys are\n"
             "`energy.add.int32` and so on. [Formats](../formats.md#energy-of-a-device-yaml) says what is "
             "made of\n"
             "them.\n"},
        keys_of_energies());
}

std::string page_of_costs() {
    return reference::key_page(
        {"Keys of costs", std::string(kColumns) + "\nA document of `configs/cost`, or the section `cost` of "
                                                  "a device, where the keys are `cost.rent` and so\n"
                                                  "on.\n"},
        keys_of_costs());
}

/// What `op` measures differently.
std::string defaults_of_op() {
    const std::vector<Key> run = keys_of_protocol(Protocol::of_run()),
                           op = keys_of_protocol(Protocol::of_op());
    std::string text;
    for (std::size_t i = 0; i < run.size(); ++i)
        if (run[i].asked.fallback != op[i].asked.fallback)
            text += fmt::format("{}`{}`: `{}`", text.empty() ? "" : ", ", op[i].asked.path,
                                op[i].asked.fallback.value_or(""));
    return text;
}

std::string page_of_protocol() {
    return reference::key_page(
        {"Protocol of a measurement",
         "Written by `tools/reference` from what the program reads; do not edit. With `--set`, and in "
         "experiments.\n"
         "Defaults are those of `systole run`, `compare` and `sweep`. `systole op`, `explain` and `dram` "
         "have\n"
         "others: " +
             defaults_of_op() + ". [Formats](../formats.md#protocol-of-a-measurement-run) says more.\n"},
        keys_of_protocol(Protocol::of_run()));
}

/// What a word on the command line stands for, in the forms in which it can be had; null: not in this one.
struct Subject {
    const char* name;
    std::string (*markdown)();
    std::string (*schema)();
    std::string (*man)();
};

const std::vector<Subject>& subjects() {
    static const std::vector<Subject> all = {
        {"devices", page_of_devices,
         [] {
             return reference::key_schema({"A device of Systole", "device", true}, keys_of_devices());
         },
         nullptr},
        {"memories", page_of_memories,
         [] {
             return reference::key_schema({"A memory of Systole", "memory"}, keys_of_memories());
         },
         nullptr},
        {"energies", page_of_energies,
         [] {
             return reference::key_schema({"Energies of a process", "energy", false, true},
                                          keys_of_energies());
         },
         nullptr},
        {"costs", page_of_costs,
         [] {
             return reference::key_schema({"Prices of a device", "cost", false, true}, keys_of_costs());
         },
         nullptr},
        {"protocol", page_of_protocol, nullptr, nullptr},
        {"traces", reference::operator_page, reference::trace_schema, nullptr},
        {"commands", [] { return command_page(commands()); }, nullptr, [] { return man_page(commands()); }}};
    return all;
}

int reference_of(const Arguments& arguments) {
    const std::string format = arguments.choice("format", {"markdown", "json-schema", "man"});
    const std::string& name = arguments.at(0);
    std::vector<std::string> names;
    for (const Subject& subject : subjects()) {
        names.emplace_back(subject.name);
        if (name != subject.name) continue;
        const auto write = format == "markdown" ? subject.markdown
                           : format == "man"    ? subject.man
                                                : subject.schema;
        if (write == nullptr) arguments.misused(fmt::format("there is no {} of {}", format, name));
        print(write());
        return 0;
    }
    arguments.misused(
        fmt::format("'{}' is none of {}{}", name, fmt::join(names, ", "), did_you_mean(name, names)));
}

}  // namespace

Command reference_command() {
    Command command;
    command.name = "reference";
    command.summary = "Write the reference of all keys, operators or commands, or a JSON Schema for editors.";
    command.arguments = {"devices|memories|energies|costs|protocol|traces|commands"};
    command.about =
        "What is written comes from the readers themselves: they read all shipped files, and each again with "
        "every\n"
        "choice that may unlock further keys. docs/reference holds the same pages.\n";
    add_option(command.options, "format", "FORMAT",
               "markdown (default); json-schema, of devices, memories, energies, costs and traces; man, of "
               "commands");
    command.examples = {{"systole reference devices",
                         "every key of every kind of device: what it takes, its default, its meaning"},
                        {"systole reference memories", "the same of memories"},
                        {"systole reference devices --format json-schema",
                         "by which an editor completes and checks a device's file"},
                        {"systole reference traces", "operators of traces and their keys"},
                        {"systole reference commands --format man", "the manual page"}};
    command.run = reference_of;
    return command;
}

}  // namespace systole::app
