// SPDX-License-Identifier: Apache-2.0
// What a command line asks of `systole sweep`: its verb, and its options, all checked before anything is
// read, planned or written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/command.h"
#include "sim/base/units.h"

namespace systole::app {

struct SweepOrder {
    enum class Verb { Start, Status, Resume, Merge, Chunk };
    Verb verb = Verb::Start;
    std::string subject;  ///< the experiment, or the folder
    std::string chunk;    ///< the number, as written
    std::string output;   ///< of Start: the folder
    std::optional<int> jobs;
    std::optional<Ticks> time;
    std::optional<Bytes> memory;
    std::optional<std::size_t> chunk_points;
    bool on_slurm = false;
    std::vector<std::string> sbatch;
    bool plan_only = false, many = false, any_build = false;
    bool json = false;
};

/// Declares the options that read_order() reads.
void add_order(boost::program_options::options_description& options);

/// Throws UserError for what is missing or too much, options of other verbs, and values that do not fit.
SweepOrder read_order(const Arguments& arguments);

}  // namespace systole::app
