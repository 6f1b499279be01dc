// SPDX-License-Identifier: Apache-2.0
// systole explain: one operator on one device, in words and drawings.
#include <fmt/format.h>

#include "sim/app/commands.h"
#include "sim/app/op_question.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"

namespace systole::app {
namespace {

int explain(const Arguments& arguments) {
    const std::string& reference = arguments.at(0);
    const OpQuestion question = read_op_question(arguments, 1);
    const Settings settings = read_settings(arguments.list("set"), Protocol::of_op(), {reference});
    refuse_workload(settings, "an operator has none");
    const LoadedDevice device = load_device(Library::find(), reference, settings);
    const Graph graph = operator_graph(device, question.op, question.keys, {});
    std::string text;
    {
        const Progress progress(fmt::format("explaining {} on {}", question.op, device.name));
        text = device.explain(graph, settings.protocol);
    }
    print(text);
    return 0;
}

}  // namespace

Command explain_command() {
    Command command;
    command.name = "explain";
    command.summary = "Explain one operator on a device: mapping, formulas, drawings, utilization.";
    command.arguments = {"DEVICE", "OPERATOR"};
    command.more_arguments = "key=value...";
    command.about =
        "What stays in the array and what moves, one pass cycle by cycle, cycles by formula with the numbers "
        "put\n"
        "in, the simulated cycles beside them, and why the utilization is what it is. Operators and their "
        "keys\n"
        "are those of 'systole op', and so is the protocol: inputs and outputs lie in device memory. "
        "Formulas\n"
        "are of the arrays alone and held to the simulated arrays; hints say whether they are computed by "
        "formula\n"
        "or simulated on a changed machine.\n";
    add_set(command.options);
    command.examples = {
        {"systole explain teaching_4x4 matmul m=6 n=5 k=7", "small enough to follow every PE"},
        {"systole explain teaching_4x4 matmul m=6 n=5 k=7 --set mxu.shadow_register=off",
         "what double-buffered tiles are good for"},
        {"systole explain h100 matmul m=1280 n=2048 k=6144",
         "a GPU: kernel, waves, what an SM does, what else was weighed"},
        {"systole explain tpu_v4 matmul m=1 n=4096 k=4096", "a product with one row: bound by memory"},
        {"systole explain tpu_v1 conv2d n=1 h=56 w=56 c=64 k=64 r=3 s=3 pad=1 dtype=int8",
         "a convolution, and the matrix product it becomes"}};
    command.run = explain;
    return command;
}

}  // namespace systole::app
