// SPDX-License-Identifier: Apache-2.0
// The buses of a DRAM in a waveform, on the memory's own clock: commands of every channel with bank and row,
// and the pseudo-channel where there are two, each shown for the first clock that it takes, and what the data
// buses carry. A memory with separate row and column buses (HBM) shows both. An ideal memory has no buses.
#pragma once

#include "models/memory/dram.h"
#include "sim/timeline/wave_recorder.h"

namespace systole::systolic {

class DramWave {
public:
    /// `dram` must outlive this.
    explicit DramWave(Dram& dram) : dram_(dram) {}

    /// Declares the signals, below the memory's instance path.
    void add_signals(SignalSink& sink);
    /// From now on commands go to `wave`, of which only those that can be seen in its window.
    void follow(WaveRecorder& wave);
    /// Everything before `time` has happened: tells of all commands until then.
    void settle(Ticks time) { dram_.settle(time); }

private:
    struct CommandBus {
        std::size_t command, pseudo_channel, bank, row;  // signals
    };
    struct Channel {
        CommandBus rows, columns;  // the same where there is one bus
        std::vector<std::size_t> data;
    };
    bool any_wanted() const;
    void told(const Channel& channel, const GivenCommand& given, WaveRecorder& wave) const;

    Dram& dram_;
    std::vector<Channel> channels_;
};

}  // namespace systole::systolic
