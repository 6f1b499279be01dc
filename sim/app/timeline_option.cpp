// SPDX-License-Identifier: Apache-2.0
#include "sim/app/timeline_option.h"

#include <fmt/format.h>

#include "sim/account/output_files.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"
#include "sim/config/quantity.h"
#include "sim/device/reuse.h"

namespace systole::app {

void add_timeline(boost::program_options::options_description& options) {
    add_option(options, "timeline", "FILE", "write the Chrome trace of the run, for ui.perfetto.dev");
    add_option(options, "timeline-events", "N",
               "events that it has at most (100000): what is too much is merged, the shortest first");
}

TimelineFile read_timeline(const Arguments& arguments) {
    TimelineFile file;
    if (const auto path = arguments.option("timeline")) file.path = *path;
    const auto events = arguments.option("timeline-events");
    if (!events) return file;
    if (!file.path) arguments.misused("--timeline-events goes with --timeline");
    const auto parsed = config::parse_integer(*events, ChromeTrace::kFewest, ChromeTrace::kMost);
    if (!parsed.value) arguments.misused(fmt::format("--timeline-events: {}", parsed.problem));
    file.events = static_cast<std::size_t>(*parsed.value);
    return file;
}

void TimelineFile::write(const std::vector<TracedRun>& runs) const {
    if (!path) return;
    const ChromeTrace trace = chrome_trace(runs, events);
    write_file(*path, trace.text);
    note(fmt::format("wrote {} ({}); open it in ui.perfetto.dev", path->string(), trace.summary()));
}

RunOptions for_timeline(RunOptions options, const Graph& graph) {
    Protocol& protocol = options.protocol;
    if (options.timeline != WantTimeline::Yes || !protocol.reuses() || !may_reuse(graph)) return options;
    note(fmt::format("all turns of {} are simulated for the timeline (run.reuse=off)", graph.name));
    protocol.reuse = Protocol::Reuse::Off;
    return options;
}

}  // namespace systole::app
