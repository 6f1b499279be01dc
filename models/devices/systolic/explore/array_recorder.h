// SPDX-License-Identifier: Apache-2.0
// Keeps what a waveform of one matrix unit shows as an ArrayRecording. It is a waveform's writer: it sees the
// same signals as `systole wave`, read out of the same registers, and asks the machine for nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/devices/systolic/explore/array_recording.h"
#include "sim/timeline/wave_writer.h"

namespace systole::systolic {

/// A matrix unit that can be recorded.
struct RecordedUnit {
    std::string path;  ///< of its instance: "teaching_4x4.mxu0"
    int rows = 0, cols = 0;
};

/// Finds the matrix units of a device among its signals.
class UnitFinder final : public SignalSink {
public:
    /// PEs of an array, at most, of which every register fits a page.
    static constexpr int kMostPes = 16 * 16;

    /// Throws UserError for an array above kMostPes.
    std::size_t add(WaveSignal signal, WaveReader read) override;
    const std::vector<RecordedUnit>& units() const { return units_; }

private:
    std::vector<RecordedUnit> units_;
};

class ArrayRecorder final : public WaveWriter {
public:
    /// What a recording keeps at most: clocks, and PEs times frames.
    static constexpr std::int64_t kMostClocks = 1 << 16;
    static constexpr std::int64_t kMostPeFrames = 1 << 20;

    /// `unit` is one of the recorder's signals' scopes. Registers are kept from clock `first` on; PE-cycles
    /// and passes from the window's begin, which should be clock 0.
    ArrayRecorder(RecordedUnit unit, std::int64_t first);
    ArrayRecorder(const ArrayRecorder&) = delete;
    ArrayRecorder& operator=(const ArrayRecorder&) = delete;

    void begin(const std::vector<WaveSignal>& signals, const WaveWindow& window) override;
    void time(Ticks at) override;
    void change(std::size_t signal, std::int64_t value) override { *targets_[signal] = value; }
    void end(Ticks at) override;

    /// Once the recording has ended.
    const ArrayRecording& recording() const { return recording_; }

private:
    using Values = std::vector<std::int64_t>;
    struct Accumulator {
        std::int32_t row, col;
        std::int64_t value = 0;
        bool written = false;  // and not kept since
    };
    /// Of the pass that streams, as its signals say.
    struct Streaming {
        std::int64_t pass = 0, layer = 0, batch = 0, m0 = 0, k0 = 0, n0 = 0, m = 0, k = 0, n = 0,
                     dataflow = 0, new_tile = 1;
    };

    std::int64_t* target(std::string_view name);
    std::int64_t* target_in_pe(std::string_view name);
    std::int64_t* target_in_column(std::string_view name);
    std::int64_t* target_of_block(std::string_view name);
    /// Cycles before `until` are over.
    void finish_cycles(std::int64_t until);
    PeCycles count() const;
    void note_vector();
    void keep_frame();
    void note_writes();
    void keep_accumulators();

    const RecordedUnit unit_;
    ArrayRecording recording_;
    // What the signals say now; by PE, by column.
    Values moving_, stationary_, shadow_, sum_, result_, valid_, real_;
    Values leaving_, leaves_, shifting_;
    Values written_;                        // accumulator rows
    std::vector<std::int32_t> multiplied_;  // vectors, by PE
    std::vector<Accumulator> accumulators_;
    Streaming streaming_;
    std::int64_t unused_ = 0;             // where signals go that are not kept
    std::vector<std::int64_t*> targets_;  // by signal

    std::optional<ClockDomain> clock_;
    std::int64_t cycle_ = 0;                                   // whose changes are being told
    std::int64_t pass_ = -1, vectors_left_ = 0, vectors_ = 0;  // of what enters PE(0,0)
};

}  // namespace systole::systolic
