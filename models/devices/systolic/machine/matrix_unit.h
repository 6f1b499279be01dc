// SPDX-License-Identifier: Apache-2.0
// One matrix unit: its queue of passes, the way tiles take into its array, and an engine that knows the
// array. The unit decides when a pass may start (tokens, stream port, and what the engine says of tile, array
// and accumulators); a started pass is rigid. It pushes back through its queues and, where it has one,
// through its weight FIFO; without one, the pass at the head of the queue brings its tile along.
//
// A run of folds is one command. Nothing else can come between its folds where the tile engine needs no
// witness, every unit has a stream port and nobody else meets it in the banks: the unit then starts them
// ahead of SystemC's time, which catches up at the last one. Otherwise they start one by one, with the same
// result.
#pragma once

#include <deque>
#include <memory>
#include <systemc>

#include "models/devices/systolic/machine/command_queue.h"
#include "models/devices/systolic/machine/edge_ports.h"
#include "models/devices/systolic/machine/matrix_account.h"
#include "models/devices/systolic/machine/operand_values.h"
#include "models/devices/systolic/machine/pattern_loads.h"
#include "models/devices/systolic/machine/pending.h"
#include "models/devices/systolic/machine/run_record.h"
#include "models/devices/systolic/machine/transfer_unit.h"
#include "models/devices/systolic/mxu/witnessed_engine.h"
#include "models/devices/systolic/program/pass_shape.h"
#include "models/devices/systolic/spec/spec.h"
#include "models/memory/scratchpad/scratchpad.h"
#include "sim/base/clock.h"

namespace systole::systolic {

class MatrixUnit : public sc_core::sc_module {
public:
    CommandQueue queue;    ///< of passes
    TransferUnit weights;  ///< fills the weight FIFO

    struct Stats {
        std::int64_t passes = 0, tiles = 0, macs = 0, stream_cycles = 0, port_wait_cycles = 0;
        std::int64_t tile_bytes = 0;  ///< out of the weight FIFO
        std::int64_t edge_bytes = 0;  ///< into the array, out of the scratchpad
        std::int64_t sum_bytes = 0;   ///< out of the array
        std::int64_t ifmap_reads = 0, filter_reads = 0, ofmap_writes = 0;  ///< elements
        std::int64_t dataflow_switches = 0;                                ///< times it was set up anew
    };
    const Stats& stats() const { return stats_; }
    const SlotAccount& account() const { return account_.slots(); }
    /// What each stretch of it was; nothing without a timeline.
    const std::vector<MatrixAccount::Stretch>& stretches() const { return account_.stretches(); }
    /// When tiles left the weight FIFO, in order; nothing without a timeline.
    const std::vector<Ticks>& tiles_left() const { return tiles_left_; }
    /// What passes waited for, overlapping.
    const PendingTime& pending() const { return pending_; }
    /// The PE grid with its values; only on a machine that simulates one.
    const GridEngine& grid() const { return witnessed_->grid(); }
    /// The dataflow that the array is set up for.
    Dataflow set_up_for() const { return dataflow_; }
    /// For waveforms: from now on every fold is simulated in its own time, with the same result.
    void stay_in_time() { runs_ahead_ = false; }
    /// The number in the program of the pass that streams in `cycle`, the present or the last.
    std::optional<std::uint32_t> streaming(Cycles cycle) const {
        if (running_.empty() || stream_ended_.cycle <= cycle) return std::nullopt;
        return running_.back().entry.number;
    }
    /// Passes from their start until their sums can be read; tiles in the FIFO.
    std::size_t passes_running() const { return running_.size() + finished_.size(); }
    std::int64_t tiles_waiting() const {
        return static_cast<std::int64_t>(tiles_arrived_) - fifo_tiles_shifted();
    }
    /// Brings the grid's registers, and nothing else, to the state before `cycle`.
    void look_ahead(Cycles cycle) { witnessed_->look_ahead(cycle); }
    /// Goes on with the program that the record has now: it is the same but for commands not yet issued.
    void go_on();
    /// Charges what is left of the run, which ended with `last`.
    void finish(CausalLog::EventId last) { account_.finish(record_.log(), last); }

    /// The scratchpad's ports for the two edges of the array.
    struct Ports {
        StreamPorts& streams;
        PortTiming& upper;
        BankSeat seat;
    };
    /// `unit`: its number in programs.
    MatrixUnit(sc_core::sc_module_name name, const SystolicSpec& spec, ClockDomain clock, UnitIndex unit,
               Ports ports, RunRecord& record, std::unique_ptr<MatrixEngine> engine);

private:
    using EventId = CausalLog::EventId;

    /// Something that happened at a cycle of the array clock, and its event.
    struct Mark {
        Cycles cycle;
        EventId event = CausalLog::kNone;
    };
    /// The command at work: from when it is at the head until its last fold has started.
    struct Head {
        CommandQueue::Entry entry;
        std::int32_t fold = 0;   ///< to start next
        bool announced = false;  ///< its tile is on its way into the array
    };
    /// A fold on its way, from its start until it has finished.
    struct Running {
        CommandQueue::Entry entry;
        EventId started, streamed;
        PassTimes expected;
        bool last_fold, first_fold;
    };
    /// A command whose last fold has finished, until its sums can be read.
    struct Finished {
        CommandQueue::Entry entry;
        EventId started, streamed;
        Cycles readable;
    };
    /// What is left of a pass when the next one starts.
    struct Before {
        Cycles last_fed;  ///< the cycle of its last vector
        Cycles done;
    };
    /// What the program says beforehand of the passes and tiles of this unit, in order.
    struct Plan {
        /// By tile of the FIFO: the first pass that uses it, as its number in the program, and how often the
        /// array is set up anew before.
        struct FifoTile {
            std::uint32_t first_use;
            std::int64_t switches;
        };
        std::vector<FifoTile> tiles;
        std::vector<bool> last_use;  // by command: the next one brings a new tile
    };
    static Plan plan(const Program& program, const MxuSpec& mxu, UnitIndex unit);
    /// A tile in the FIFO.
    struct HeldTile {
        Operand operand;
        Bytes bytes;
    };
    /// A tile that waits in the FIFO until the array is set up for it.
    struct WaitingTile {
        Mark arrived;
        std::size_t tile;  ///< of the plan
    };

    const MatrixPass& work(const CommandQueue::Entry& entry) const {
        return record_.program().pass(record_.command(entry.number));
    }
    Dataflow dataflow(const CommandQueue::Entry& entry) const {
        return record_.program().dataflow_of(record_.command(entry.number));
    }
    PassShape shape(const CommandQueue::Entry& entry) const {
        return shape_of(dataflow(entry), rate(work(entry)), work(entry));
    }
    MacRate rate(const MatrixPass& pass) const {
        return spec_.mxu.rate_of(pass.dtype, pass.second_dtype).value();
    }
    // As the array is set up.
    bool outputs_stay() const { return dataflow_ == Dataflow::OutputStationary; }
    bool inputs_stay() const { return dataflow_ == Dataflow::InputStationary; }
    bool direct() const { return spec_.mxu.direct(dataflow_); }

    void step();  // SC_METHOD
    void wake_at(Cycles cycle);
    void complete_readable(Cycles cycle);

    // The way in of tiles.
    void tile_arrived(EventId reading, EventId done);
    void let_in(const Mark& arrived, std::uint32_t first_use);
    std::int64_t fifo_tiles_shifted() const;
    void note_place();
    void announce(Cycles cycle);
    void tell_engine(Cycles at, const CommandQueue::Entry& entry, std::int32_t fold);

    // Another dataflow.
    bool set_up(Cycles cycle);
    void change(Dataflow dataflow, Cycles cycle);

    // Starting.
    bool try_start(Cycles cycle);
    bool its_turn();
    bool port_is_free(Cycles cycle);
    Cycles tile_read(Cycles cycle, const MatrixPass& pass);
    Rational rate_in_banks(const Pass& pass, Cycles cycle);
    void start(const Pass& pass, Cycles cycle);
    void run_ahead(Cycles cycle);
    Rational spacing(const MatrixPass& pass, std::int64_t vectors);
    Pass next_pass();
    static Cycles last_fed(const Pass& pass, Cycles start);
    PassTimes expected_times(const Pass& pass, Cycles start) const;
    EventId start_event(const Pass& pass, Cycles cycle, PassTimes& expected);
    EventId tile_in(PassTimes& expected);
    void tile_pending();
    void source_pending(const Mark& arrived, Ticks there);
    void count_pending(const Pass& pass, Cycles cycle);
    EventId results_out(const Pass& pass, const PassTimes& expected);

    // What a finished fold leaves.
    void take_finished();
    void settle(const Running& running, const PassReport& report);
    void charge(const Running& running, const PassTimes& times);
    void enter_bytes(const Running& running);
    void count(const Running& running, const PassTimes& times);

    const SystolicSpec& spec_;
    const ClockDomain clock_;
    const Cycles last_cycle_;  // that can be accounted for
    const int index_;          // in its core
    const Ports ports_;
    RunRecord& record_;
    const UnitIndex unit_;
    Plan plan_;
    EdgePorts edges_;
    std::unique_ptr<MatrixEngine> engine_;
    WitnessedEngine* const witnessed_;  // the engine, if it computes values
    const bool meets_;                  // other clients, in stream ports or banks
    bool runs_ahead_;                   // folds of a run need not wait for SystemC's time
    MatrixAccount account_;
    PendingTime pending_;

    std::optional<Head> head_;
    std::deque<Running> running_;
    std::deque<Finished> finished_;
    Dataflow dataflow_;                // that the array is set up for …
    Mark set_up_;                      // … since, where it was set up anew
    std::deque<Mark> arrived_;         // tiles in the FIFO or on their way in, not yet used by a pass
    std::deque<WaitingTile> waiting_;  // tiles in the FIFO for when the array is set up anew
    std::deque<HeldTile> fifo_;        // tiles arrived whose first pass has not finished
    std::size_t tiles_arrived_ = 0, tiles_started_ = 0, commands_started_ = 0;
    // Before the array was set up as it is: tiles shifted in out of the FIFO, and others.
    std::int64_t fifo_shifted_before_ = 0, other_shifted_before_ = 0;
    Cycles unpacked_;        // the last tile's weights were all unpacked
    Mark register_freed_;    // what last let a tile into the array
    PassTimes tile_in_use_;  // its shift
    Mark stream_ended_;      // of the pass before
    Before before_;          // os: the pass before
    EventId last_started_ = CausalLog::kNone;
    EventId tile_entered_ = CausalLog::kNone;  // the shift of the last tile that a pass has used
    bool fifo_opened_ = false;                 // the loader is yet to be told
    bool asked_ = false, turn_ = false;        // for a turn at ports and banks; and has it
    Cycles port_asked_ = kNever;               // the waiting pass first found every stream port busy
    sc_core::sc_event wake_{"wake"};
    Stats stats_;
    std::vector<Ticks> tiles_left_;
};

}  // namespace systole::systolic
