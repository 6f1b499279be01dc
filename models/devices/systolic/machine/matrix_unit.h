// SPDX-License-Identifier: Apache-2.0
// One matrix unit: its weight loader and FIFO, its queue of passes, and an engine that knows the array. The
// unit decides when a pass may start (tokens, stream port, and what the engine says of weights, array and
// accumulators); a started pass is rigid. It pushes back through its queues and through the FIFO.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <systemc>

#include "models/devices/systolic/machine/command_queue.h"
#include "models/devices/systolic/machine/matrix_account.h"
#include "models/devices/systolic/machine/operand_values.h"
#include "models/devices/systolic/machine/run_record.h"
#include "models/devices/systolic/machine/transfer_unit.h"
#include "models/devices/systolic/mxu/witnessed_engine.h"
#include "models/devices/systolic/spec/spec.h"
#include "models/memory/scratchpad.h"
#include "sim/base/clock.h"

namespace systole::systolic {

class MatrixUnit : public sc_core::sc_module {
public:
    CommandQueue queue;    ///< of passes
    TransferUnit weights;  ///< fills the weight FIFO

    struct Stats {
        std::int64_t passes = 0, tiles = 0, tile_bytes = 0, macs = 0, stream_cycles = 0, port_wait_cycles = 0;
    };
    const Stats& stats() const { return stats_; }
    const SlotAccount& account() const { return account_.slots(); }
    /// The PE grid with its values; only on a machine that simulates one.
    const GridEngine& grid() const { return witnessed_->grid(); }
    /// For waveforms. The number in the program of the pass that streams in `cycle`, the present or the last.
    std::optional<std::uint32_t> streaming(Cycles cycle) const {
        if (running_.empty() || stream_ended_.cycle <= cycle) return std::nullopt;
        return running_.back().entry.number;
    }
    /// Passes from their start until their sums can be read; tiles that wait to be shifted in.
    std::size_t passes_running() const { return running_.size(); }
    std::int64_t tiles_waiting() const {
        return static_cast<std::int64_t>(tiles_arrived_) - engine_->tiles_shifted();
    }
    /// Brings the grid's registers, and nothing else, to the state before `cycle`.
    void look_ahead(Cycles cycle) { witnessed_->look_ahead(cycle); }
    /// Charges what is left of the run, which ended with `last`.
    void finish(CausalLog::EventId last) { account_.finish(record_.log(), last); }

    /// `name` is also the name of its queue in programs: "mxu0". `ports`: the scratchpad's stream ports.
    MatrixUnit(sc_core::sc_module_name name, const SystolicSpec& spec, ClockDomain clock, StreamPorts& ports,
               RunRecord& record, std::unique_ptr<MatrixEngine> engine);

private:
    using EventId = CausalLog::EventId;

    /// Something that happened at a cycle of the array clock, and its event.
    struct Mark {
        Cycles cycle;
        EventId event = CausalLog::kNone;
    };
    /// A pass on its way: from its start until its sums can be read.
    struct Running {
        CommandQueue::Entry entry;
        EventId started, streamed;
        PassTimes expected;  // `done` is the engine's to tell
        Cycles readable = kNever;
    };
    /// What the program says beforehand of the passes and tiles of this unit, in order.
    struct Plan {
        std::vector<const Command*> tiles;  // by tile: the first pass that uses it
        std::vector<bool> last_use;         // by pass: the next one brings new weights
    };
    static Plan plan(const Program& program, UnitIndex unit);

    void step();  // SC_METHOD
    void tile_arrived(EventId done);
    void take_finished();
    void settle(Running& running, const PassReport& report);
    void complete_readable(Cycles cycle);
    bool try_start(Cycles cycle);
    bool port_is_ours(Cycles cycle);
    void start(const Pass& pass, Cycles cycle);
    Pass next_pass();
    /// The event of the start of `pass`, now, with the whole chain of what held it back.
    EventId start_event(const Pass& pass, PassTimes& expected);
    EventId shifted_in(PassTimes& expected);
    Rational port_rate(const MatrixPass& pass);
    void wake_at(Cycles cycle);

    const SystolicSpec& spec_;
    const ClockDomain clock_;
    const int index_;
    StreamPorts& ports_;
    RunRecord& record_;
    const Plan plan_;
    std::unique_ptr<MatrixEngine> engine_;
    WitnessedEngine* const witnessed_;  // the engine, if it computes values
    MatrixAccount account_;

    std::deque<Running> running_;
    std::deque<Mark> arrived_;          // tiles in the FIFO or shifted in, not yet used by a pass
    std::deque<const Transfer*> fifo_;  // tiles arrived whose first pass has not finished
    std::size_t tiles_arrived_ = 0, tiles_started_ = 0;
    Mark register_freed_;                   // what last let a tile into the array
    PassTimes tile_in_use_;                 // its shift
    Mark stream_ended_;                     // of the pass before
    EventId left_fifo_ = CausalLog::kNone;  // the shift of the last tile that a pass has used
    bool wished_ = false;                   // for a stream port, in an earlier delta cycle
    Cycles port_asked_ = kNever;            // the waiting pass first found every stream port busy
    std::map<std::pair<std::uint32_t, std::int64_t>, Rational> rates_;
    sc_core::sc_event wake_{"wake"};
    Stats stats_;
};

}  // namespace systole::systolic
