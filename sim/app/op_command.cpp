// SPDX-License-Identifier: Apache-2.0
// systole op: single operators, from the command line or from a table.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/account/output_files.h"
#include "sim/account/writers.h"
#include "sim/app/commands.h"
#include "sim/app/files.h"
#include "sim/app/op_question.h"
#include "sim/app/op_rows.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"
#include "sim/app/timeline_option.h"

namespace systole::app {
namespace {

constexpr std::size_t kTableLimit = std::size_t{64} << 20;  // bytes: about a million rows

RunOutcome run_question(const LoadedDevice& device, const OpQuestion& question, RunOptions options) {
    WorkDone work_done;
    options.work_done = &work_done;
    const Progress progress(fmt::format("running {} on {}", question.op, device.name), &work_done);
    return run_operator(device, question.op, question.keys, {}, options);
}

std::string answer_of(const RunOutcome& outcome, const OpQuestion& question, const std::string& format,
                      const std::vector<std::string>& counters) {
    if (format == "text") return to_text(outcome.result, answer_style());
    if (format == "json") return to_json({outcome.result});
    std::vector<std::string> header{"op"}, cells{question.op};
    const auto append = [](std::vector<std::string>& list, const std::vector<std::string>& more) {
        list.insert(list.end(), more.begin(), more.end());
    };
    append(header, question.names);
    append(header, answer_columns(counters));
    append(cells, question.values);
    append(cells, answer_cells(outcome.result, counters, {}));
    return csv_line(header) + csv_line(cells);
}

int answer_table(const Arguments& arguments, const LoadedDevice& device, const std::string& file,
                 const std::vector<std::string>& counters, const RunOptions& options) {
    const OpTable table =
        answer_rows(device, parse_csv(read_text(file, kTableLimit), file), file, counters, options);
    if (const auto output = arguments.option("output"))
        write_file(*output, table.text);
    else
        print(table.text);
    if (table.bad_rows > 0)
        note(fmt::format("{} rows could not be answered; see their column 'error'", table.bad_rows));
    return table.bad_rows > 0 ? 2 : 0;
}

/// "ifmap_reads,filter_reads": each once.
std::vector<std::string> read_counters(const Arguments& arguments) {
    std::vector<std::string> names;
    const std::string text = arguments.option("counters").value_or("");
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        names.push_back(text.substr(begin, end - begin));
        if (std::count(names.begin(), names.end(), names.back()) > 1)
            arguments.misused(fmt::format("--counters names '{}' twice", names.back()));
        begin = end + 1;
    }
    return names;
}

int op(const Arguments& arguments) {
    const std::string& reference = arguments.at(0);
    const auto file = arguments.option("csv");
    const auto output = arguments.option("output");
    const std::string format = arguments.choice("format", {"text", "json", "csv"});
    if (file && arguments.count() > 1)
        arguments.misused(fmt::format("--csv and the operator '{}' exclude each other", arguments.at(1)));
    if (file && arguments.has("format") && format != "csv") arguments.misused("--csv answers in CSV only");
    if (output && !file) arguments.misused("--output goes with --csv");
    const std::vector<std::string> counters = read_counters(arguments);
    if (!counters.empty() && !file && format != "csv")
        arguments.misused("--counters goes with --csv or --format csv; JSON has all of them");
    const TimelineFile timeline = read_timeline(arguments);
    if (timeline.path && file) arguments.misused("--timeline is of one operator, not of a table of them");
    if (timeline.path) {
        require_writable_file(*timeline.path);
        refuse_one_place({{{"--timeline", *timeline.path}}, {}, {}, {reference}});
    }
    if (output) require_writable_file(*output);
    if (output && place_of(*output) == place_of(*file))
        arguments.misused(fmt::format("--output {} is the table of questions itself", *output));
    const OpQuestion question = file ? OpQuestion{} : read_op_question(arguments, 1);
    const Settings settings = read_settings(arguments.list("set"), Protocol::of_op(), {reference});
    refuse_workload(settings, "an operator has none");
    const RunOptions options{settings.protocol, timeline.wanted(), arguments.has("check-dram"),
                             read_mapping_file(arguments)};
    if (options.mapping && file) arguments.misused("--mapping maps one operator, not a table of them");
    const LoadedDevice device = load_device(Library::find(), reference, settings);
    if (file) return answer_table(arguments, device, *file, counters, options);
    const RunOutcome outcome = run_question(device, question, options);
    print(answer_of(outcome, question, format, counters));
    timeline.write({{outcome.result, outcome.timeline}});
    return 0;
}

}  // namespace

Command op_command() {
    Command command;
    command.name = "op";
    command.summary = "Simulate single operators: one from the command line, or a table of them.";
    command.arguments = {"DEVICE", "OPERATOR"};
    command.more_arguments = "key=value...";
    command.about =
        "Operators and their keys: matmul (m n k, batch), conv2d (n h w c k r s, stride pad dilation "
        "groups round_up),\n"
        "conv3d (also d t stride_t pad_t dilation_t), conv_transpose (n h w c k r s, stride pad out_pad),\n"
        "pool (kind n h w c r s, stride pad), elementwise (kind elements), activation (function elements),\n"
        "softmax (rows cols), norm (kind rows cols), transpose (rows cols),\n"
        "embedding (vocabulary width lookups), quantize and dequantize (rows cols, scales),\n"
        "attention (q_len kv_len heads head_dim, kv_heads causal cache),\n"
        "collective (kind elements chips), and others: docs/formats.md has them all. All take dtype (bf16\n"
        "where the device has it); matmul and convolutions also weights in other formats (dtype_b, scales\n"
        "group scale_dtype, sparsity), bias and activation. Inputs and outputs lie in device memory.\n"
        "A table has a header with the column op and these keys, in any order; every row runs on a fresh\n"
        "machine. A row that cannot run fills the column error, and the exit code is then 2.\n";
    add_set(command.options);
    add_mapping(command.options);
    add_option(command.options, "csv", "FILE", "answer every row of this table, in place of OPERATOR");
    add_option(command.options, "output,o", "FILE",
               "write the table there instead of to the standard output");
    add_option(command.options, "counters", "NAMES",
               "more columns: these counters, summed over components, such as passes,macs");
    add_option(command.options, "format", "FORMAT", "text (default), json or csv");
    add_check_dram(command.options);
    add_timeline(command.options);
    command.examples = {
        {"systole op tpu_v4 matmul m=512 n=512 k=512 dtype_b=int4 scales=group group=128",
         "a product; without the last three keys, of two bf16 matrices"},
        {"systole op tpu_v1 conv2d n=1 h=56 w=56 c=64 k=64 r=3 s=3 pad=1 dtype=int8", "a convolution"},
        {"systole op tpu_v4 --csv shapes.csv -o answers.csv", "a table of shapes, rows in, rows out"},
        {"systole op tpu_v5e attention q_len=1 kv_len=8192 heads=32 head_dim=128 cache=true --format json",
         "for programs; keys and values lie head by head, as in a cache, not token by token"},
        {"systole op scalesim --set mxu.dataflow=os --csv shapes.csv --counters ifmap_reads,ofmap_writes",
         "what SCALE-Sim would answer"}};
    command.run = op;
    return command;
}

}  // namespace systole::app
