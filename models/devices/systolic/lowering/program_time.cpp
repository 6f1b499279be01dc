// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/program_time.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "models/devices/systolic/lowering/real.h"
#include "models/devices/systolic/program/pass_shape.h"

namespace systole::systolic {
namespace {

/// From a request to its last byte, beside the bytes' own time: row and column of a closed bank, controller
/// and the way there and back. Assumed: 60 to 150 ns are measured of accelerators' HBM.
constexpr double kMemoryLatency = 100e-9;

class Schedule {
public:
    Schedule(const Program& program, const SystolicSpec& spec, int cores)
        : program_(program),
          spec_(spec),
          clock_(real(spec.core_clock.value())),
          units_(unit_numbers(spec.cores, spec.mxu.count)),
          issued_(static_cast<std::size_t>(spec.cores)) {
        const bool ideal = spec.memory.kind != DramSpec::Kind::Dram;
        dram_bytes_ = ideal ? 0 : kMemoryShare * real(spec.memory.peak().value()) / clock_ / cores;
        latency_ = ideal ? 0 : kMemoryLatency * clock_;
    }

    std::vector<double> run() {
        std::vector<double> ends(program_.layers.size());
        for (const Command& command : program_.commands) {
            Unit& unit = units_[command.unit];
            double& issued = issued_[static_cast<std::size_t>(core_of(command.unit))];
            issued += real(spec_.sequencer.issue_cycles.value());
            unit.free = std::max({unit.free, issued, tokens(command)});
            unit.done.push_back(take(command, unit));
            double& end = ends[static_cast<std::size_t>(command.layer)];
            end = std::max(end, unit.done.back());
        }
        return ends;
    }

private:
    struct Unit {
        double free = 0;                        ///< for the next command
        std::vector<double> done;               ///< by command
        std::vector<double> starts;             ///< of passes that took a new tile out of the FIFO
        std::optional<Dataflow> dataflow = {};  ///< of the last pass
    };

    double tokens(const Command& command) const {
        double there = 0;
        for (std::uint32_t i = 0; i < command.token_count; ++i) {
            const Token& token = program_.tokens[command.first_token + i];
            if (token.count > 0) there = std::max(there, units_[token.unit].done[token.count - 1]);
        }
        return there;
    }

    /// When it is done; until when it keeps its unit from the next one stands in the unit.
    double take(const Command& command, Unit& unit) {
        switch (unit_kind(command.unit)) {
            case UnitKind::Matrix:
                return pass(command, unit);
            case UnitKind::Vector:
                unit.free += occupancy(program_.vector(command));
                return unit.free + real(spec_.vector.startup.value());
            default:
                return transfer(command, unit);
        }
    }

    double transfer(const Command& command, Unit& unit) {
        const Transfer& t = program_.transfer(command);
        if (unit_kind(command.unit) == UnitKind::Weights) {  // a place in the FIFO
            const Unit& mxu = units_[static_cast<std::size_t>(command.unit) + 1];
            const auto places = static_cast<std::size_t>(std::max(1, spec_.mxu.weight_fifo_tiles));
            if (unit.done.size() >= places && mxu.starts.size() > unit.done.size() - places)
                unit.free = std::max(unit.free, mxu.starts[unit.done.size() - places]);
        }
        const double source = cycles_per_byte(t.from.place, unit_kind(command.unit));
        const double target = cycles_per_byte(t.to.place, unit_kind(command.unit));
        const bool memory = t.from.place == Place::Dram || t.to.place == Place::Dram;
        unit.free += real(spec_.dma.setup_cycles.value()) + real(t.bytes()) * std::max(source, target);
        // A payload has come as a whole before it goes on.
        const double payload =
            real(std::min(t.bytes(), spec_.dma.payload.value())) * std::min(source, target);
        return unit.free + payload + real(spec_.scratchpad.latency.value()) + (memory ? latency_ : 0);
    }

    double cycles_per_byte(Place place, UnitKind unit) const {
        switch (place) {
            case Place::Dram:
                return dram_bytes_ > 0 ? 1 / dram_bytes_ : 0;
            case Place::Host:
                return clock_ / real(spec_.host.peak().value());
            case Place::ChipLink:
                return clock_ / real(spec_.chip_link->peak().value());
            case Place::Scratchpad:
                return 1 / real((unit == UnitKind::Weights ? spec_.scratchpad.weight_port_bytes
                                                           : spec_.scratchpad.dma_port_bytes)
                                    .value());
            default:
                return 0;
        }
    }

    double pass(const Command& command, Unit& unit) {
        const MatrixPass& pass = program_.pass(command);
        const MacRate rate = spec_.mxu.rate_of(pass.dtype, pass.second_dtype).value_or(MacRate{1});
        const Dataflow dataflow = program_.dataflow_of(command);
        const PassShape shape = shape_of(dataflow, rate, pass);
        const double rows = real(spec_.mxu.rows);
        const double through = rows + real(spec_.mxu.cols + spec_.mxu.accumulator_latency.value());
        if (std::exchange(unit.dataflow, dataflow).value_or(program_.dataflow) != dataflow)
            unit.free += through + real(spec_.mxu.dataflow_switch.value());
        if (pass.new_tile && !spec_.mxu.direct(dataflow)) {
            const Unit& weights = units_[static_cast<std::size_t>(command.unit) - 1];
            unit.free = std::max(unit.free, weights.done[unit.starts.size()] + rows);
            unit.starts.push_back(unit.free);
        }
        const double stream = real(shape.vectors * rate.cycles);
        unit.free += real(pass.folds) * (pass.new_tile ? std::max(stream, rows) : stream);
        return unit.free + through;
    }

    double occupancy(const VectorWork& work) const {
        const VectorSpec& v = spec_.vector;
        return std::max({1.0, real(work.lane_cycles) / real(v.lanes),
                         real(work.scratchpad_read) / real(v.read_bytes_per_cycle.value()),
                         real(work.scratchpad_written) / real(v.write_bytes_per_cycle.value()),
                         real(work.accumulator_rows) / real(v.accumulator_rows_per_cycle)});
    }

    const Program& program_;
    const SystolicSpec& spec_;
    const double clock_;
    std::vector<Unit> units_;
    std::vector<double> issued_;  // by core
    double dram_bytes_ = 0;       // a cycle, for each core
    double latency_ = 0;
};

}  // namespace

std::vector<double> estimated_ends(const Program& program, const SystolicSpec& spec, int cores) {
    return Schedule(program, spec, cores).run();
}

double estimated_cycles(const Program& program, const SystolicSpec& spec, int cores) {
    const std::vector<double> ends = estimated_ends(program, spec, cores);
    return ends.empty() ? 0 : *std::ranges::max_element(ends);
}

}  // namespace systole::systolic
