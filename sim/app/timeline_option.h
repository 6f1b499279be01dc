// SPDX-License-Identifier: Apache-2.0
// --timeline FILE and --timeline-events N: read before the simulation, written after it.
#pragma once

#include <boost/program_options/options_description.hpp>

#include <filesystem>
#include <optional>
#include <vector>

#include "sim/app/command.h"
#include "sim/device/device.h"
#include "sim/timeline/chrome_trace.h"

namespace systole::app {

/// Both options.
void add_timeline(boost::program_options::options_description& options);

/// Where the timeline goes, if one is wanted.
struct TimelineFile {
    std::optional<std::filesystem::path> path;
    std::size_t events = ChromeTrace::kEvents;  ///< at most

    /// `otherwise`: a report takes one, too, if there is one of the whole run.
    WantTimeline wanted(bool otherwise = false) const {
        if (path) return WantTimeline::Yes;
        return otherwise ? WantTimeline::IfWhole : WantTimeline::No;
    }
    /// Writes the file, and a note with what is in it; nothing if none is wanted. Throws UserError when it
    /// cannot.
    void write(const std::vector<TracedRun>& runs) const;
};

/// Throws UserError for a number of events that is none, or without a file. Whether the file can be written
/// is the caller's to find out, who knows which directories come into being meanwhile.
TimelineFile read_timeline(const Arguments& arguments);

/// What was asked for of this network: with a timeline, all turns of repeated blocks are simulated, which is
/// then the protocol (run.reuse), and said.
RunOptions for_timeline(RunOptions options, const Graph& graph);

}  // namespace systole::app
