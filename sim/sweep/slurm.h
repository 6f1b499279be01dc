// SPDX-License-Identifier: Apache-2.0
// A sweep on a cluster under Slurm: arrays of tasks, each a chunk of the manifest, and a job behind them that
// merges. What is finished is told by results alone; the queue is asked only what waits in it now, so that
// nothing is submitted twice, and whatever Slurm has forgotten is submitted again.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sim/sweep/external_program.h"

namespace systole::sweep {

/// What a task runs.
struct SlurmJob {
    std::string name;                         ///< of the sweep's jobs in the queue: no other sweep's
    std::string program;                      ///< absolute path of ours
    std::string folder;                       ///< of the sweep, absolute
    std::vector<std::string> options;         ///< of `sweep chunk`: {"--jobs=1"}
    std::vector<std::string> merge_options;   ///< of `sweep merge`
    std::vector<std::string> sbatch_options;  ///< the user's: {"--partition=long"}
    std::vector<std::pair<std::string, std::string>> environment;  ///< what tasks need besides the user's
    std::size_t minutes = 0;    ///< after which Slurm may end a task; 0: as the cluster has it
    std::size_t megabytes = 0;  ///< (of 2^20 bytes) that a task needs; 0: as the cluster has it
};

using ProgramRunner =
    std::function<ProgramEnd(const std::vector<std::string>& words, const std::string& input)>;

class Slurm {
public:
    explicit Slurm(SlurmJob job, ProgramRunner run = run_program);

    struct Queued {
        std::set<std::size_t> chunks;
        std::set<std::string> arrays;  ///< ids of their jobs
    };
    /// What of this sweep waits or runs in the queue. Throws UserError if Slurm does not answer.
    Queued queued() const;

    struct Submitted {
        std::vector<std::string> arrays;  ///< ids of their jobs
        std::string merge;
    };
    /// Submits `chunks` (sorted), and a merge behind them and behind `others`. Throws UserError, with Slurm's
    /// words, where it refuses.
    Submitted submit(const std::vector<std::size_t>& chunks, const std::set<std::string>& others) const;

    /// "0-3,7,9-10".
    static std::string ranges(const std::vector<std::size_t>& numbers);

private:
    std::size_t largest_array() const;
    std::string sbatch(std::vector<std::string> options, const std::string& script) const;
    std::string script(const std::string& command, const std::vector<std::string>& options) const;

    SlurmJob job_;
    ProgramRunner run_;
};

}  // namespace systole::sweep
