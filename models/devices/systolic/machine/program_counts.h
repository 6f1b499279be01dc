// SPDX-License-Identifier: Apache-2.0
// What the units of a machine count that follows from the commands alone: descriptors, payloads, bytes,
// bursts, passes, MACs. A unit is ahead of others, so that at no time all of them have counted the same
// layers; the program says what each layer makes them count. Every run is held to it at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/account/run_result.h"
#include "sim/device/device.h"

namespace systole::systolic {

/// Elements and MACs of one fold of a pass.
struct FoldCounts {
    std::int64_t macs = 0, ifmap_reads = 0, filter_reads = 0, ofmap_writes = 0;
};
FoldCounts counts_of_fold(const SystolicSpec& spec, Dataflow dataflow, const MatrixPass& pass, bool first);

/// Of the commands of the first `layers` layers.
class ProgramCounts {
public:
    ProgramCounts(const Program& program, const SystolicSpec& spec, Protocol::Launch launch,
                  std::size_t layers);

    /// `stats`, of a machine of that name, with these counts where there is one of a counter; what follows
    /// from bursts, too.
    std::vector<Stat> put_into(std::vector<Stat> stats, const std::string& machine) const;

    /// Aborts if `stats`, of that machine at its end, has counted anything else.
    void hold(const std::vector<Stat>& stats, const std::string& machine) const;

private:
    struct Count {
        std::string path, name;  ///< the path below the machine
        std::int64_t value = 0;
    };
    struct Transfers {
        std::int64_t descriptors = 0, payloads = 0, bytes = 0;
    };
    struct Passes {
        std::int64_t passes = 0, tiles = 0, switches = 0;
        std::optional<Dataflow> dataflow = {};  ///< of the last pass
        FoldCounts sum;
    };
    /// Of a memory or link: bytes and bursts out of it and into it.
    struct End {
        std::int64_t bytes_out = 0, bytes_in = 0, bursts_out = 0, bursts_in = 0;
    };
    /// Of a unit, whatever its kind; a vector unit's MACs are those of `passes`.
    struct Unit {
        Transfers transfers;
        Passes passes;
        std::int64_t commands = 0;
    };
    using Units = std::vector<Unit>;  ///< by number
    /// Of a core's sequencer.
    struct Issue {
        std::int64_t issued = 0, launches = 0;
        std::int32_t launched = -1;  ///< the last layer
    };
    static void count(const Command& command, Protocol::Launch launch, std::int32_t layers, Issue& core);
    void count(const Transfer& transfer, Transfers& unit);
    std::int64_t bursts(const Transfer& transfer, const Region& region, bool source) const;
    void count(Dataflow dataflow, const MatrixPass& pass, Passes& unit) const;
    void list(int core, const Units& units, const Issue& issue);
    void list_ends();
    void list(const std::string& path, const Transfers& unit);

    const SystolicSpec& spec_;
    End dram_, host_, chips_;
    std::vector<Count> counts_;
};

}  // namespace systole::systolic
