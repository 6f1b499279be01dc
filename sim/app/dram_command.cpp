// SPDX-License-Identifier: Apache-2.0
// systole dram: requests against a memory on its own, clock by clock, without a device.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "models/memory/dram_system.h"
#include "models/memory/standards/command_checker.h"
#include "models/traffic/request_reader.h"
#include "models/traffic/request_writer.h"
#include "models/traffic/traffic_driver.h"
#include "sim/account/output_files.h"
#include "sim/app/commands.h"
#include "sim/app/dram_report.h"
#include "sim/app/files.h"
#include "sim/app/load_memory.h"
#include "sim/app/pattern_options.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"
#include "sim/base/check.h"
#include "sim/base/clock.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/config/quantity.h"

namespace systole::app {
namespace {

/// A million requests outstanding, or sent at a clock, are as good as any number.
constexpr std::int64_t kMostRequests = 1'000'000;

/// Hands requests on and shows on the terminal how many there were.
class CountedSource : public RequestSource {
public:
    CountedSource(RequestSource& source, Progress& progress) : source_(source), progress_(progress) {}
    bool next(MemoryRequest& request) override {
        constexpr std::int64_t kShowEvery = 1 << 20;
        if (++count_ % kShowEvery == 0)
            progress_.update(fmt::format("played {} requests", with_thousands(count_)));
        return source_.next(request);
    }

private:
    RequestSource& source_;
    Progress& progress_;
    std::int64_t count_ = 0;
};

std::int64_t read_limit(const Arguments& arguments, const char* name) {
    const auto text = arguments.option(name);
    if (!text) return 0;
    const auto parsed = config::parse_integer(*text, 1, kMostRequests);
    if (!parsed.value) arguments.misused(fmt::format("--{}: {}", name, parsed.problem));
    return *parsed.value;
}

DriveOptions read_options(const Arguments& arguments) {
    DriveOptions options;
    options.order = arguments.choice("order", {"fifo", "perch"}) == "fifo" ? DriveOptions::Order::Fifo
                                                                           : DriveOptions::Order::PerBus;
    options.window = read_limit(arguments, "window");
    options.sends_per_clock = read_limit(arguments, "sends-per-clock");
    return options;
}

struct Traffic {
    std::string name;  ///< of the trace, without its folder, or of the pattern
    std::unique_ptr<RequestSource> source;
    SourceMark where = {};  ///< where a trace begins
};

Traffic open_traffic(const Arguments& arguments, const DramSpec& memory) {
    if (arguments.has("pattern") == (arguments.count() > 1))
        arguments.misused(
            arguments.has("pattern")
                ? fmt::format("--pattern and the trace '{}' exclude each other", arguments.at(1))
                : "missing TRACE or --pattern; for example: --pattern stream");
    if (arguments.has("pattern")) {
        const PatternSpec spec = read_pattern(arguments, memory);
        return {pattern_names()[static_cast<std::size_t>(spec.kind)],
                make_pattern(spec, pattern_target(memory))};
    }
    refuse_pattern(arguments);
    const std::string& path = arguments.at(1);
    return {std::filesystem::path(path).filename().string(),
            std::make_unique<RequestReader>(path, memory.burst_bytes, memory.capacity(),
                                            ClockDomain(memory.clock).at_or_before(memory.longest_run())),
            {path, 1, 1}};
}

/// Where the answer, the requests and their latencies go besides the standard output.
struct Outputs {
    std::optional<std::string> answer;
    std::unique_ptr<RequestWriter> trace;
    std::unique_ptr<StagedFile> latencies;
};

/// Every place can be written, and none of them is what is read or another.
void check_places(const Arguments& arguments) {
    namespace fs = std::filesystem;
    std::set<fs::path> taken;
    std::error_code none;
    for (std::size_t i = 0; i < arguments.count(); ++i)  // files of the memory and the trace, if they are
        if (fs::exists(arguments.at(i), none)) taken.insert(place_of(arguments.at(i)));
    for (const char* name : {"output", "save-trace", "latencies"}) {
        const auto file = arguments.option(name);
        if (!file) continue;
        require_writable_file(*file);
        if (!taken.insert(place_of(*file)).second)
            arguments.misused(fmt::format("--{} {} is already the place of something else", name, *file));
    }
}

Outputs open_outputs(const Arguments& arguments) {
    check_places(arguments);
    Outputs outputs{arguments.option("output"), nullptr, nullptr};
    if (const auto file = arguments.option("save-trace"))
        outputs.trace = std::make_unique<RequestWriter>(*file);
    if (const auto file = arguments.option("latencies")) {
        outputs.latencies = std::make_unique<StagedFile>(*file);
        outputs.latencies->write("request,accept_clk,done_clk,latency\n");
    }
    return outputs;
}

Flights::Listener latency_listener(StagedFile* file) {
    if (file == nullptr) return {};
    return [file](const Served& served) {
        file->write(fmt::format("{},{},{},{}\n", served.index, served.accepted.value(), served.done.value(),
                                (served.done - served.accepted).value()));
    };
}

/// Every command of every channel is held against the standard's table; a wrong one ends the program.
std::vector<std::unique_ptr<CommandChecker>> check_commands(DramSystem& system) {
    std::vector<std::unique_ptr<CommandChecker>> checkers;
    for (int channel = 0; channel < system.channels(); ++channel) {
        checkers.push_back(std::make_unique<CommandChecker>(system.spec()));
        system.channel(channel).listen(checkers.back()->listener());
    }
    return checkers;
}

DramReport play(const LoadedMemory& memory, Traffic& traffic, DriveOptions options, const Outputs& outputs,
                bool check) {
    DramSystem system(memory.spec);
    const auto checkers = check ? check_commands(system) : std::vector<std::unique_ptr<CommandChecker>>();
    options.sends_per_clock = sends_per_clock(options, system);
    DramReport report{memory.name, traffic.name, memory.effective_yaml, memory.spec, options, {}, {}};
    Progress progress(fmt::format("playing {} on {}", traffic.name, memory.name));
    CountedSource counted(*traffic.source, progress);
    std::optional<RecordedSource> recorded;
    if (outputs.trace) recorded.emplace(counted, *outputs.trace);
    RequestSource& source = recorded ? static_cast<RequestSource&>(*recorded) : counted;
    report.result = drive(system, source, options, latency_listener(outputs.latencies.get()));
    if (report.result.requests() == 0)
        throw UserError(traffic.where, fmt::format("'{}' holds no requests", traffic.name));
    for (int bus = 0; bus < system.buses(); ++bus)
        report.buses.push_back({system.stats(bus), system.account(bus, report.result.cycles)});
    for (const DramReport::Bus& bus : report.buses)
        SYSTOLE_CHECK(bus.account.total() == report.result.cycles.value(), "{} clocks of {} accounted for",
                      bus.account.total(), report.result.cycles.value());
    return report;
}

std::string text_of(const DramReport& report, const std::string& format) {
    if (format == "json") return dram_json(report);
    return format == "csv" ? dram_csv(report) : dram_text(report);
}

int dram(const Arguments& arguments) {
    const std::string format = arguments.choice("format", {"table", "json", "csv"});
    const DriveOptions options = read_options(arguments);
    const LoadedMemory memory = load_memory(Library::find(), arguments.at(0), arguments.list("set"));
    if (memory.spec.kind == DramSpec::Kind::Ideal)
        throw UserError(fmt::format(
            "'{}' is an ideal memory: it answers at once, there is nothing to simulate", arguments.at(0)));
    if (!memory.spec.is_dram())
        throw UserError(fmt::format("'{}' is SRAM, expected a DRAM: it has no banks and commands to simulate",
                                    arguments.at(0)));
    Traffic traffic = open_traffic(arguments, memory.spec);
    const Outputs outputs = open_outputs(arguments);
    const std::string answer =
        text_of(play(memory, traffic, options, outputs, arguments.has("check-dram")), format);
    if (outputs.trace) outputs.trace->close();
    if (outputs.latencies) outputs.latencies->close();
    if (!outputs.answer) print(answer);
    if (outputs.answer) write_file(*outputs.answer, answer);
    if (outputs.trace) outputs.trace->commit();
    if (outputs.latencies) outputs.latencies->commit();
    return 0;
}

}  // namespace

Command dram_command() {
    Command command;
    command.name = "dram";
    command.summary = "Play a trace or a pattern of requests against a memory on its own.";
    command.arguments = {"MEMORY", "TRACE"};
    command.about =
        "MEMORY is a name of 'systole list memories' or a file. TRACE has a line 'clock R|W hex-address' "
        "for\n"
        "every request of one burst, to be sent at that command clock or later; plain or gzipped, - reads\n"
        "the standard input. Instead of it --pattern makes requests:\n"
        "  stream   one burst after the other:       --pattern stream --writes 33%\n"
        "  stride   every so many bytes:             --pattern stride --stride 1KiB\n"
        "  random   any burst, equally likely:       --pattern random --load 40% --seed 7\n"
        "  tile     tiles of a row-major matrix:     --pattern tile --tile 64x1KiB --width 22KiB\n"
        "  add      C = A + B, two read, one written: --pattern add --chunk 16KiB --skew 4KiB\n"
        "At every clock requests are sent, then the controllers decide, then completions are collected. "
        "Sizes\n"
        "are multiples of the memory's burst. 'systole show memory MEMORY' lists what --set can change.\n";
    add_option(command.options, "format", "FORMAT", "table (default), json or csv");
    add_option(
        command.options, "order", "ORDER",
        "fifo (default): all requests in one queue, the first refusal stops it; perch: a queue for each "
        "pseudo-channel");
    add_option(command.options, "window", "N",
               "at most so many requests outstanding, reads and writes (default: any number)");
    add_option(
        command.options, "sends-per-clock", "N",
        "at most so many requests of a queue at one clock (default: fifo one for each data bus, perch 1)");
    add_pattern(command.options);
    add_option(command.options, "latencies", "FILE",
               "write a row for every request there: request,accept_clk,done_clk,latency");
    add_check_dram(command.options);
    add_option(command.options, "output,o", "FILE",
               "write the answer there instead of to the standard output");
    command.options.add_options()(
        "set",
        boost::program_options::value<std::vector<std::string>>()->composing()->value_name("PATH=VALUE"),
        "change a value of the memory, with or without 'memory.' before it, or run.refresh_phase; may be "
        "repeated");
    command.examples = {
        {"systole dram hbm2_tpu_v4 --pattern stream",
         "what a stream gets of the peak, and where the rest went"},
        {"systole dram hbm2_tpu_v4 --pattern random --writes 33% --set refresh=off",
         "random traffic, a third of it writes, without refresh"},
        {"systole dram hbm2_tpu_v4 requests.trace.gz --format json", "a trace of one's own, for programs"},
        {"systole dram teaching --pattern random --window 1 --requests 1000", "a pointer chase: the latency"},
        {"systole dram teaching --pattern tile --tile 16x256B --width 4KiB --save-trace tiles.trace",
         "tiles of a matrix, and the requests themselves"},
        {"systole dram hbm2_tpu_v4 --pattern stride --stride 4KiB --set 'address_map=ch bg ba co ro'",
         "whether another address map suits a stride better"}};
    command.run = dram;
    return command;
}

}  // namespace systole::app
