// SPDX-License-Identifier: Apache-2.0
// Looks at a running machine at the end of every core cycle of a window and hands what it sees to a
// WaveRecorder. It stands outside the simulation: it lets SystemC run up to the next edge and reads while
// nothing moves, so that a run with it is the same run, event for event.
#pragma once

#include <optional>

#include "models/devices/systolic/machine/machine.h"
#include "models/devices/systolic/wave/dram_wave.h"
#include "sim/timeline/wave_recorder.h"

namespace systole::systolic {

class WaveProbe {
public:
    /// Declares every signal of the machine to `sink`. Registers of the arrays can be read only where the
    /// machine simulates the PE grid.
    WaveProbe(Machine& machine, const SystolicSpec& spec, SignalSink& sink);

    /// Runs the machine, which has not begun, to the end of the recorder's window. The recorder is the sink.
    void record(WaveRecorder& wave);

private:
    void add_core(Core& core, SignalSink& sink);
    void add_sequencer(const Sequencer& sequencer, int core, SignalSink& sink);
    void add_transfer_unit(const TransferUnit& unit, SignalSink& sink);
    void add_matrix_unit(const MatrixUnit& unit, UnitIndex index, SignalSink& sink);
    void add_block(const MatrixUnit& unit, SignalSink& sink);
    void add_level(const std::string& path, const char* meaning, SignalSink& sink, WaveReader read);
    void add_bit(const std::string& path, const char* meaning, SignalSink& sink, WaveReader read);
    void find_first_pass(WaveRecorder& wave);

    Machine& machine_;
    const SystolicSpec& spec_;
    DramWave dram_;
    Cycles cycle_;  // that is sampled
    /// The first pass that starts inside the window, for the viewer.
    struct FirstPass {
        std::size_t mxu;  // of all cores
        Cycles start;
    };
    std::vector<std::int64_t> passes_before_;  // by matrix unit
    std::optional<FirstPass> first_pass_;
    bool focused_ = false;
};

}  // namespace systole::systolic
