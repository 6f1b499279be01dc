// SPDX-License-Identifier: Apache-2.0
// systole import: a network that others wrote, as a trace.
#include <fmt/format.h>

#include "sim/account/output_files.h"
#include "sim/app/commands.h"
#include "sim/app/files.h"
#include "sim/app/import_choices.h"
#include "sim/app/import_file.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"

namespace systole::app {
namespace {

int import(const Arguments& arguments) {
    const auto output = arguments.option("output");
    if (output && are_one_file(*output, arguments.at(0))) arguments.misused("--output is the FILE itself");
    if (output) require_writable_file(*output);
    const Imported imported = import_file(arguments.at(0), read_import_choices(arguments));
    if (output)
        write_file(*output, imported.trace);
    else
        print(imported.trace);
    for (const ImportNote& each : imported.notes) complain(to_string(each));
    if (output) note(fmt::format("wrote {}", *output));
    return 0;
}

}  // namespace

Command import_command() {
    Command command;
    command.name = "import";
    command.summary = "Make a trace of a network from elsewhere.";
    command.arguments = {"FILE"};
    command.about =
        "FILE is an ONNX model (.onnx; --dim gives symbolic dimensions an extent), StableHLO as JAX and "
        "torch-xla\n"
        "print it (.mlir), a topology of SCALE-Sim (.csv: convolutions, or products below 'Layer,M,N,K,'), "
        "or\n"
        "the config.json of a model on Hugging Face: a decoder (llama, mixtral, deepseek_v3 ...), bert, "
        "gpt2, "
        "vit\n"
        "or whisper. Wherever a TRACE is expected such a file may stand, too; as a trace it can be edited. "
        "What\n"
        "was forgiven, left out, or cannot be in a trace is told on the standard error output. Shares and "
        "phases\n"
        "of language models: 'systole help trace'.\n";
    add_import_choices(command.options);
    add_option(command.options, "output,o", "FILE", "write there instead of to the standard output");
    command.examples = {
        {"systole import resnet18.csv -o resnet18.yaml", "a trace to look at and to change"},
        {"systole import detector.onnx --dim batch=1 --dim height=640 -o detector.yaml", "an exported model"},
        {"systole import model.mlir -o model.yaml", "what jax.jit(f).lower(x).as_text() prints"},
        {"systole run scalesim resnet18.csv", "the same, run at once"},
        {"systole run tpu_v7 Mistral-7B/config.json --set workload.batch=8", "a decode step"}};
    command.run = import;
    return command;
}

}  // namespace systole::app
