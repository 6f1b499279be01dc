// SPDX-License-Identifier: Apache-2.0
#include "sim/app/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/app/terminal.h"
#include "sim/app/version.h"
#include "sim/base/error.h"

namespace systole::app {
namespace {

constexpr std::string_view kIntroduction =
    R"(Systole simulates systolic-array accelerators and GPUs cycle by cycle and says where every cycle went.

Start here
  systole list devices                            what can be simulated
  systole run tpu_v4 resnet50                     one inference, layer by layer
  systole run tpu_v4 resnet50 --set mxu.rows=256  the same on a changed machine
  systole op tpu_v4 matmul m=512 n=512 k=512      one operator
  systole op h100 matmul m=512 n=512 k=512        the same on a GPU
  systole explain teaching_4x4 matmul m=6 n=5 k=7 what happens to it in the array, and why
  systole explore --lesson dataflows -o l.html    watch an array at work, in the browser
  systole wave teaching_4x4 three_layers -o w.vcd every register, clock by clock, for GTKWave
  systole dram hbm2_tpu_v4 --pattern random       a memory on its own: bandwidth, latency, lost clocks
  systole sweep tpu_v4_array -o out/array         hundreds of machines, and the best of them
  systole report out/array -o array.html          results as a page with charts
  systole trace llm llama3_8b -o step.yaml        a step of a language model, as a trace
  systole show device tpu_v4                      every value of a machine, and its source

Commands
)";

std::string overview() {
    std::string text(kIntroduction);
    for (const Command& command : commands())
        text += fmt::format("  {:<10}{}\n", command.name, command.summary);
    return text +
           "  help      Explain a command: systole help run\n"
           "\nOptions\n  --help     this page, or that of a command\n  --version  the version and the commit "
           "it was built from\n";
}

const Command& find(const std::vector<Command>& all, const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Command& c) { return c.name == name; });
    if (found != all.end()) return *found;
    std::vector<std::string> names;
    for (const Command& command : all) names.push_back(command.name);
    names.insert(names.end(), {"help", "--help", "--version"});
    throw UserError(fmt::format("unknown {} '{}'{}; expected one of {}",
                                name.starts_with('-') ? "option" : "command", name, did_you_mean(name, names),
                                fmt::join(names, ", ")));
}

int help(const std::vector<Command>& all, const std::vector<std::string>& topics) {
    if (topics.size() > 1)
        throw UserError(
            fmt::format("help: unexpected argument '{}'; for example: systole help run", topics[1]));
    print(topics.empty() || topics[0] == "help" ? overview() : find(all, topics[0]).help());
    return 0;
}

}  // namespace

std::vector<Command> commands() {
    return {run_command(),    compare_command(), op_command(),    explain_command(), explore_command(),
            wave_command(),   dram_command(),    lower_command(), list_command(),    show_command(),
            import_command(), trace_command(),   sweep_command(), report_command(),  reference_command()};
}

int dispatch(const std::vector<std::string>& words) {
    if (words.empty())
        throw UserError("missing the command; for example: systole run tpu_v4 resnet50 (systole --help)");
    const std::vector<Command> all = commands();
    const std::string& first = words[0];
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (first == "help" || first == "--help" || first == "-h") return help(all, rest);
    if (first == "--version") {
        print(fmt::format("{} (commit {})\n", version(), commit()));
        return 0;
    }
    const Command& command = find(all, first);
    const Arguments arguments(command, rest);
    if (arguments.has("help")) return help(all, {command.name});
    return command.run(arguments);
}

}  // namespace systole::app
