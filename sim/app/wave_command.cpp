// SPDX-License-Identifier: Apache-2.0
// systole wave: the registers, queues and buses of a run, clock by clock, for waveform viewers.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "sim/account/output_files.h"
#include "sim/app/commands.h"
#include "sim/app/cycle_range.h"
#include "sim/app/files.h"
#include "sim/app/fst_converter.h"
#include "sim/app/import_choices.h"
#include "sim/app/load_device.h"
#include "sim/app/load_trace.h"
#include "sim/app/op_question.h"
#include "sim/app/shared_options.h"
#include "sim/app/signal_list.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/timeline/gtkwave_save.h"
#include "sim/timeline/vcd_writer.h"
#include "sim/timeline/wave_recorder.h"
#include "sim/timeline/wavedrom_writer.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;

enum class Format { Vcd, Fst, WaveDrom };

/// What to simulate, and how it is called in messages.
struct Run {
    LoadedDevice device;
    Graph graph;
    RunOptions options;
};

Format format_of(const Arguments& arguments, const fs::path& output) {
    const std::string extension = output.extension();
    if (extension == ".vcd") return Format::Vcd;
    if (extension == ".fst") return Format::Fst;
    if (extension == ".json") return Format::WaveDrom;
    arguments.misused(fmt::format("'{}' does not say the format; end it with .vcd, .fst or .json (WaveDrom)",
                                  output.string()));
}

fs::path save_file_of(const fs::path& output) {
    return fs::path(output).replace_extension(".gtkw");
}

/// Each value of --signals may hold several patterns, with commas between them.
std::vector<std::string> read_patterns(const Arguments& arguments) {
    std::vector<std::string> patterns;
    for (const std::string& value : arguments.list("signals"))
        for (std::size_t begin = 0; begin <= value.size();) {
            const std::size_t comma = std::min(value.find(',', begin), value.size());
            patterns.push_back(value.substr(begin, comma - begin));
            if (patterns.back().empty())
                arguments.misused(fmt::format("--signals '{}' holds an empty pattern", value));
            begin = comma + 1;
        }
    return patterns;
}

/// `length`: of the run, in cycles.
WaveWindow window_of(const CycleRange& range, Cycles length, Hertz clock) {
    const Cycles from(range.from.value_or(0)), to = range.to ? Cycles(*range.to) : length;
    if (from >= length || to > length)
        throw UserError({"--cycles"},
                        fmt::format("the run takes {0} cycles: at most 0:{0} can be shown", length.value()));
    return {ClockDomain(clock), from, to};
}

/// A trace, or an operator where key=value words follow.
Run read_run(const Arguments& arguments) {
    const std::string& reference = arguments.at(0);
    const std::string& what = arguments.at(1);
    const bool is_operator = arguments.count() > 2;
    const Settings settings = read_settings(
        arguments.list("set"), is_operator ? Protocol::of_op() : Protocol::of_run(), {reference});
    const Library library = Library::find();
    LoadedDevice device = load_device(library, reference, settings);
    if (!is_operator) {
        Graph graph = load_trace(library, what, settings.workload, read_import_choices(arguments));
        return {std::move(device), std::move(graph), {settings.protocol}};
    }
    refuse_workload(settings, "an operator has none");
    refuse_import_choices(arguments, "an operator is none");
    const OpQuestion question = read_op_question(arguments, 1);
    Graph graph = operator_graph(device, question.op, question.keys, {});
    return {std::move(device), std::move(graph), {settings.protocol}};
}

/// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
    constexpr std::string_view kHarmless =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:=@%";
    if (!text.empty() && text.find_first_not_of(kHarmless) == std::string::npos) return text;
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

/// Records into a File, a StagedFile or a FstConverter, and then puts it and the save file in their places.
/// Answers what it has done.
template <class File>
std::string record_dump(const Run& run, const SignalFilter& filter, const WaveWindow& window,
                        const fs::path& output) {
    File file(output);
    VcdWriter writer([&](std::string_view bytes) { file.write(bytes); });
    WaveRecorder recorder(filter, window, writer);
    run.device.device->trace(run.graph, run.options, recorder);
    file.close();
    StagedFile save(save_file_of(output));
    save.write(gtkwave_save(recorder, output.filename()));
    save.close();
    file.commit();
    save.commit();
    return fmt::format("wrote {} ({} signals, {} cycles) and {}; open them with: gtkwave {}", output.string(),
                       with_thousands(std::ssize(recorder.signals())), with_thousands(window.cycles()),
                       save_file_of(output).string(), shell_word(save_file_of(output).string()));
}

std::string record_drawing(const Run& run, const SignalFilter& filter, const WaveWindow& window,
                           const fs::path& output) {
    WaveDromWriter writer;
    WaveRecorder recorder(filter, window, writer);
    run.device.device->trace(run.graph, run.options, recorder);
    write_file(output, writer.text());
    return fmt::format("wrote {}; draw it at wavedrom.com/editor.html", output.string());
}

/// Runs twice: how long the run is decides whether the window lies in it, before anything slow begins.
std::string record(const Run& run, const SignalFilter& filter, const CycleRange& range, Format format,
                   const fs::path& output) {
    Progress progress(fmt::format("running {} on {}", run.graph.name, run.device.name));
    const DeviceResult result = run.device.run(run.graph, run.options).result;
    const WaveWindow window = window_of(range, result.total.cycles, result.clock);
    progress.update(fmt::format("recording {} on {}", run.graph.name, run.device.name));
    if (format == Format::WaveDrom) return record_drawing(run, filter, window, output);
    if (format == Format::Fst) return record_dump<FstConverter>(run, filter, window, output);
    return record_dump<StagedFile>(run, filter, window, output);
}

int list_signals(const Run& run, const SignalFilter& filter) {
    SignalList list(filter);
    run.device.device->list_signals(run.graph, run.options, list);
    print(list.text());
    return 0;
}

int wave(const Arguments& arguments) {
    const auto output = arguments.option("output");
    const SignalFilter filter(read_patterns(arguments));
    if (arguments.has("list-signals")) {
        if (output || arguments.has("cycles"))
            arguments.misused("--list-signals records nothing: it goes without -o and --cycles");
        return list_signals(read_run(arguments), filter);
    }
    if (!output) arguments.misused("missing -o FILE; for example: -o wave.vcd (or --list-signals)");
    const Format format = format_of(arguments, *output);
    const CycleRange range = read_cycle_range(arguments, "cycles");
    require_writable_file(*output);
    refuse_one_place({{{"--output", *output}}, {}, {}, arguments.from(0)});
    if (format != Format::WaveDrom) require_writable_file(save_file_of(*output));
    if (format == Format::Fst) FstConverter::require();
    note(record(read_run(arguments), filter, range, format, *output));
    return 0;
}

}  // namespace

Command wave_command() {
    Command command;
    command.name = "wave";
    command.summary = "Record registers, queues and buses of a run as a waveform, clock by clock.";
    command.arguments = {"DEVICE", "TRACE_OR_OPERATOR"};
    command.more_arguments = "key=value...";
    command.about =
        "The extension of FILE says the format: .vcd (any viewer; GTKWave's save file .gtkw is written "
        "beside\n"
        "it: open that), .fst (the same, compressed, by the program vcd2fst), .json (WaveDrom, for slides: "
        "at\n"
        "most 40 signals over 64 cycles). Operators and their keys are those of 'systole op'.\n"
        "\n"
        "What one sees: cycle n is drawn from edge n of the core clock to edge n + 1 and shows the "
        "registers\n"
        "as edge n set them, so PE(i,j) shows 'valid' in the very cycle in which it multiplies; queues and\n"
        "states are those at the end of the cycle. Operands are small integers made for the purpose (-4 to "
        "3):\n"
        "the run computes with them, and every sum that is drained is checked.\n";
    add_option(command.options, "output,o", "FILE", "where the waveform goes");
    command.options.add_options()(
        "signals", boost::program_options::value<std::vector<std::string>>()->composing()->value_name("GLOB"),
        "only signals whose whole path matches: * any characters, ? one; may be repeated or a list with "
        "commas (default: all)");
    add_option(command.options, "cycles", "FROM:TO",
               "only these cycles of the core clock, TO excluded; either may be missing (default: all)");
    command.options.add_options()("list-signals", "list what can be recorded, and record nothing");
    add_set(command.options);
    add_import_choices(command.options);
    command.examples = {
        {"systole wave teaching_4x4 three_layers -o wave.vcd", "everything; then: gtkwave wave.gtkw"},
        {"systole wave teaching_4x4 matmul m=8 n=4 k=4 -o wave.vcd --set mxu.shadow_register=off",
         "one operator; see what the second weight register is good for"},
        {"systole wave teaching_4x4 three_layers --list-signals", "what there is to see"},
        {"systole wave tpu_v4 resnet50 -o start.fst --cycles 30000:30500 --signals "
         "'*.mxu0.left.*,*.mxu?.queue'",
         "a window of a large run, and the signals that matter"},
        {"systole wave teaching_4x4 matmul m=4 n=4 k=4 -o slide.json --signals '*.clock,*.left.*,*.bottom.*'",
         "a drawing for a slide"},
        {"systole wave tpu_v4 matmul m=64 n=128 k=128 -o dram.vcd --signals '*.dram.clock,*.channel_0.*'",
         "commands and data on the buses of a memory"}};
    command.run = wave;
    return command;
}

}  // namespace systole::app
