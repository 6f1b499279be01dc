// SPDX-License-Identifier: Apache-2.0
// What every device kind answers, and nothing of how. A device is built from its configuration once and may
// run many workloads; every run starts with a fresh kernel and a fresh machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/account/joined_rows.h"
#include "sim/account/run_result.h"
#include "sim/base/units.h"
#include "sim/config/yaml.h"
#include "sim/device/work_done.h"
#include "sim/timeline/timeline.h"
#include "sim/timeline/wave_recorder.h"
#include "sim/workload/graph.h"

namespace systole {

/// Where data lie when time starts and where they must be when it ends; what starting costs.
struct Protocol {
    enum class Where { Host, Dram, OnChip };
    enum class Launch { None, Graph, Stream };
    /// Whether equal turns of blocks, steps of a layer and CTAs need not all be simulated (reuse.h); Rough:
    /// where turns of a network differ, a few of them tell the mean to 1 %.
    enum class Reuse { Off, On, Rough };
    Where inputs_at = Where::Host;
    Where outputs_to = Where::Host;
    Launch launch = Launch::None;
    Ticks refresh_phase;  ///< since the last refresh of every DRAM channel
    Reuse reuse = Reuse::Off;
    int repeat = 1;  ///< times that everything is run, caches staying as they are; the last is reported
    /// Of a turn of `repeat`, times that the network is run, each with its own copy of the weights; the last
    /// is reported. kEnoughCopies: as many as a cache needs to have lost the first copy when it comes again.
    int weight_copies = 1;

    /// Turns that were timed where a network was repeated, and those before them: what limits of power leave
    /// depends on how long it went on. None timed: for long.
    int warm_turns = 0, timed_turns = 0;

    static constexpr int kEnoughCopies = 0;
    static constexpr int kMostCopies = 5;   ///< that kEnoughCopies makes
    static constexpr int kMostRuns = 1000;  ///< of `repeat` and of `weight_copies`, each
    static constexpr int kMostTurns = 1'000'000;
    /// Whether the network runs once, and what is reported is the first run.
    bool runs_once() const { return repeat == 1 && weight_copies == 1; }
    bool reuses() const { return reuse != Reuse::Off; }

    /// The protocol of `systole run` and of `systole op`.
    static Protocol of_run() { return {Where::Host, Where::Host, Launch::None, Ticks(0), Reuse::On}; }
    static Protocol of_op() { return {Where::Dram, Where::Dram, Launch::None, Ticks(0), Reuse::On}; }
};

/// "host", "dram", "onchip".
std::string to_string(Protocol::Where where);

/// Keys and values as results print them: {"inputs_at", "host"}, ...; those of replays only where there are
/// any.
std::vector<std::pair<std::string, std::string>> describe(const Protocol& protocol);

/// Whether a run tells what happened when.
enum class WantTimeline {
    No,
    IfWhole,  ///< unless equal turns stand for others (Protocol::reuse)
    Yes       ///< all turns are simulated then
};

struct RunOptions {
    Protocol protocol;
    WantTimeline timeline = WantTimeline::No;
    bool check_dram = false;                       ///< hold every command of the memory against its standard
    std::optional<config::YamlNode> mapping = {};  ///< by hand, in the words of the device kind
    WorkDone* work_done = nullptr;                 ///< kept up to date, if there is one
};

struct RunOutcome {
    DeviceResult result;
    Timeline timeline = {};    ///< where it was wanted
    std::string mapping = {};  ///< that was used: YAML that RunOptions::mapping takes
    Joins joins = {};          ///< layers of the graph, and rows for parts of them, that share rows or may
};

class Device {
public:
    virtual ~Device() = default;

    /// Whether the matrix units take operands of this type.
    virtual bool supports(DType dtype) const = 0;
    /// Whether it can run a network again with caches as they were left (Protocol::repeat, weight_copies).
    virtual bool replays() const { return false; }
    /// What a question of `systole op` about this operator means here where it does not say so: keys and
    /// values.
    virtual std::map<std::string, std::string> operator_defaults(const std::string& op) const = 0;
    /// The device program as text (`systole lower`), of all that `options` says only by its protocol and
    /// mapping. Throws UserError when the graph cannot be mapped.
    virtual std::string lower(const Graph& graph, const RunOptions& options) const = 0;
    /// Lowers and runs. Throws UserError for a graph that cannot run here, Stuck for a standstill.
    virtual RunOutcome run(const Graph& graph, const RunOptions& options) const = 0;
    /// Runs a program written by lower(), perhaps edited since; `file` names it in messages.
    virtual RunOutcome run_program(const std::string& text, const std::string& file,
                                   const RunOptions& options) const = 0;
    /// The only layer of `graph` on this device in words and drawings (`systole explain`): how it is mapped,
    /// what its time should be by formula, what it is when simulated, and why. Throws UserError for a graph
    /// that cannot run here, and, unless overridden, because devices of this kind have no explanation.
    virtual std::string explain(const Graph& graph, const Protocol& protocol) const;

    /// Declares to `signals` everything that trace() could record of this run.
    virtual void list_signals(const Graph& graph, const RunOptions& options, SignalSink& signals) const = 0;
    /// Runs as run() would up to the end of the recorder's window, whose clock is the one results count, and
    /// records it. Throws UserError where the recorder or the device cannot.
    virtual void trace(const Graph& graph, const RunOptions& options, WaveRecorder& wave) const = 0;
};

}  // namespace systole
