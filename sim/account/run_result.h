// SPDX-License-Identifier: Apache-2.0
// What a run answers, the same for every device kind (docs/formats.md gives the JSON spelling). Plain data:
// devices fill it, writers print it, ratios are made by writers and by the methods here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/account/byte_ledger.h"
#include "sim/account/causal_log.h"
#include "sim/account/classes.h"
#include "sim/account/cost.h"
#include "sim/account/energy_ledger.h"
#include "sim/account/roofline.h"
#include "sim/base/batch_of.h"
#include "sim/base/serving.h"
#include "sim/base/trace_parameter.h"
#include "sim/base/units.h"

namespace systole {

/// So many operations of a kind, in the unit of DeviceEnergySpec::Operation with that name.
struct OperationCount {
    std::string name;
    std::int64_t count = 0;
};

/// A layer's row, or the total.
struct ResultRow {
    std::string name;  ///< empty for the total
    std::string op;    ///< "conv2d"; empty for the total
    Cycles cycles;     ///< of the array clock; rows sum to the total
    Ticks begin, end;
    Macs macs;                     ///< the operator's, wherever they ran
    Macs matrix_macs;              ///< of these, on the matrix units
    std::int64_t lane_cycles = 0;  ///< of the vector unit
    ClassSlots slots{};            ///< slot-ticks by class, over this row's time
    /// What utilization divides by where a preset counts as another simulator does; without: capacity().
    std::optional<std::int64_t> utilization_slots;
    std::vector<Movement> movements;  ///< by layer id, only non-zero cells
    Bytes dram_read, dram_written;    ///< by layer id
    Bytes compulsory_dram;  ///< tensors in DRAM, once: a layer's own; of the total, weights, inputs, outputs
    Roofline roofline;      ///< of this row's work
    std::string bound_by;   ///< what most of the row's critical path consists of
    bool reused = false;    ///< taken over, if only in part, from equal turns, steps or CTAs
    /// Above 1: it was done in so many equal parts of the batch, in turn with the layers beside it that were,
    /// too.
    std::int64_t slices = 1;
    std::string mapping;                          ///< one phrase: where and how it was mapped
    std::vector<OperationCount> operations = {};  ///< of layers, that take energy; none of count 0
    EnergyParts energy{};  ///< where the device has figures for all of it (DeviceResult::energy_is_whole)

    std::int64_t capacity() const;  ///< sum of slots
    /// useful / capacity, or useful / utilization_slots, which may be fewer than useful; 0 if that is 0.
    double utilization() const;
    double fraction(SlotClass slot_class) const;
    Ticks time() const { return end - begin; }
    /// Capacity share of useful, padding and ramp, times cycles: for one unit, the cycles in which it worked.
    /// Exact where it is a whole number below 2^53.
    double compute_cycles() const;
};

/// One counter of one component. Path = SystemC name = timeline track.
struct Stat {
    std::string path, name, unit, meaning;
    std::int64_t value = 0;
};

/// One step of the critical path.
struct CriticalStep {
    SlotClass owner;
    Ticks time;
};

/// Clocks of the memory's data buses that one owner had: data on the bus, or what kept data away.
struct BusClocks {
    std::string owner;  ///< "transfer", "refresh", "row_conflict", ...
    std::int64_t clocks = 0;
};

/// Where a tensor lies.
struct TensorPlace {
    std::string tensor, space, layout;
    std::int64_t address = 0;
    Bytes bytes;
};

/// A setting that was left open (`auto`), as it was chosen for this run.
struct ChosenSetting {
    std::string key, value;
    std::string why;  ///< one phrase
};

/// How well the time of a run is known of which some turns, steps or CTAs stand for others.
struct KnownTime {
    Ticks off;               ///< as far may it be from that of a run that simulates all of them, …
    bool by_chance = false;  ///< … in 19 of 20 cases; else if those left out differ as those simulated do
};

/// The matrix units' peak for one format of operands, or for two ("int16xint8", activations first).
struct DtypePeak {
    std::string dtype;
    MacRate macs;
};

/// How far what is published of a chip carries: a preset says so, and every result repeats it.
enum class Fidelity {
    Detailed,
    Outline  ///< published facts do not carry a detailed model
};
/// "detailed", "outline": as files and results have it.
std::string_view to_string(Fidelity fidelity);

struct DeviceResult {
    std::string device, trace;
    Fidelity fidelity = Fidelity::Detailed;
    std::string memory = "dram";  ///< what Place::Dram is here: "dram", "sram" (on the chip), "ideal"
    std::vector<std::pair<std::string, std::string>> protocol;  ///< run.* keys and values
    Hertz clock;                                                ///< the clock that cycles count
    Peaks peaks;                                                ///< what the total is held to
    std::vector<DtypePeak> dtypes;                              ///< that the matrix units take
    ResultRow total;
    std::vector<ResultRow> layers;
    std::vector<CriticalStep> critical_path;  ///< by class, longest first; sums to the run's time
    std::vector<Stat> stats;
    std::vector<BusClocks> memory_bus;  ///< of all data buses; sums to buses x clocks. Empty: none known
    EnergyLedger energy;                ///< as far as the preset gives figures
    /// It has them for everything (key `energy` of the device), and layers have their shares; else those of
    /// the memory at most.
    bool energy_is_whole = false;
    std::vector<TensorPlace> tensors;
    std::vector<ChosenSetting> choices;
    std::string effective_config;                 ///< YAML
    std::optional<ServingStep> serving = {};      ///< which step of a language model the trace is
    std::optional<BatchOf> batch_of = {};         ///< what the trace is a batch of
    std::vector<TraceParameter> parameters = {};  ///< of the trace, all that it has
    std::optional<std::int64_t> step_chips = {};  ///< it is a step of training, on so many chips together
    std::optional<RunCost> cost = {};             ///< where it was asked for
    std::optional<KnownTime> reuse = {};          ///< where rows are `reused`
};

/// A place of the device's ledger, as results print it: the memory by what it is ("sram").
std::string_view place_name(const DeviceResult& result, Place place);

/// By class, longest first (of equals, the first class); classes without time are left out.
std::vector<CriticalStep> critical_path(const std::vector<CausalLog::Piece>& pieces);

/// What most of a critical path consists of: "compute" (useful, padding and ramp together) or the key of
/// another class; of equals the first in this order; "none" for an empty path. "host" is "chips" where, by
/// the roofline, the links to other chips had more to do than the host's.
std::string bound_by(const std::vector<CriticalStep>& path, const Roofline& roofline);

/// What readers of a device's figures must know: one sentence, which names `device` unless that is empty.
/// Empty for a detailed device.
std::string fidelity_sentence(Fidelity fidelity, std::string_view device = {});

/// "The critical path is 71 % memory, 20 % compute, ...": one sentence. Useful, padding and ramp are compute.
std::string critical_path_sentence(const DeviceResult& result);

/// "Ceilings: 137.6 TOPS in bf16, ...; memory 1.229 TB/s (ridge at 56 MACs a byte), ...": the roofs of the
/// device, two operations a MAC; ridges at the rate of the run's fastest formats, which it names.
std::string ceilings_sentence(const DeviceResult& result);

/// "Roofline by level, in cycles: compute 94,080, vector 12, ...": of the total; levels without work are left
/// out.
std::string roofline_sentence(const DeviceResult& result);

/// "Chosen: mxu.dataflow=os (141,000 cycles in ws, ...).": empty if nothing was.
std::string choices_sentence(const DeviceResult& result);

/// "the time is known to about 0.06 %", "... to about 0.15 % in 19 of 20 cases": of a run with reused rows,
/// else empty.
std::string known_time_phrase(const DeviceResult& result);

/// "The memory's data buses: 41.2 % transfer, 30.1 % empty_queue, ...": where the bandwidth went; transfers
/// first, then what took most. Empty if nothing is known.
std::string memory_bus_sentence(const DeviceResult& result);

}  // namespace systole
