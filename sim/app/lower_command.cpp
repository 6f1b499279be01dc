// SPDX-License-Identifier: Apache-2.0
// systole lower: what the mapper makes of a trace, as text.
#include "sim/account/output_files.h"
#include "sim/app/commands.h"
#include "sim/app/files.h"
#include "sim/app/import_choices.h"
#include "sim/app/load_device.h"
#include "sim/app/load_trace.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"

namespace systole::app {
namespace {

int lower(const Arguments& arguments) {
    const std::string& reference = arguments.at(0);
    const std::string& trace = arguments.at(1);
    const auto output = arguments.option("output");
    if (output) {
        require_writable_file(*output);
        Places places{{{"--output", *output}}, {}, {}, arguments.from(0)};
        if (const auto mapping = arguments.option("mapping")) places.inputs.push_back(*mapping);
        refuse_one_place(places);
    }
    const Library library = Library::find();
    const Settings settings = read_settings(arguments.list("set"), Protocol::of_run(), {reference});
    const LoadedDevice device = load_device(library, reference, settings);
    const Graph graph = load_trace(library, trace, settings.workload, read_import_choices(arguments));
    const RunOptions options{settings.protocol, WantTimeline::No, false, read_mapping_file(arguments)};
    const std::string program = device.device->lower(graph, options);
    if (output)
        write_file(*output, program);
    else
        print(program);
    return 0;
}

}  // namespace

Command lower_command() {
    Command command;
    command.name = "lower";
    command.summary = "Show the device program that a network becomes.";
    command.arguments = {"DEVICE", "TRACE"};
    command.about =
        "One line per command: its unit, its work, and what it waits for. The text may be edited and run\n"
        "with 'systole run DEVICE --program FILE'.\n";
    add_set(command.options);
    add_import_choices(command.options);
    add_mapping(command.options);
    add_option(command.options, "output,o", "FILE", "write there instead of to the standard output");
    command.examples = {
        {"systole lower teaching_4x4 three_layers", "the program, on the standard output"},
        {"systole lower tpu_v4 resnet50 -o resnet50.program", "into a file, for 'systole run --program'"},
        {"systole lower tpu_v4 resnet50 --set mxu.rows=256", "how another array changes the tiles"}};
    command.run = lower;
    return command;
}

}  // namespace systole::app
