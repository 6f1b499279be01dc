// SPDX-License-Identifier: Apache-2.0
// Waveforms as a value change dump (VCD, IEEE 1364-2005 clause 18), written as a stream: bytes leave as they
// come, nothing grows with the length of the run. The time unit is 1 ps. No date, so that the same run gives
// the same bytes. Text signals are the type `string`, an extension that GTKWave and Surfer read.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/timeline/wave_writer.h"

namespace systole {

class VcdWriter final : public WaveWriter {
public:
    /// Takes the bytes, a few ten thousand at a time; throws UserError when it cannot.
    using Sink = std::function<void(std::string_view)>;

    explicit VcdWriter(Sink sink) : sink_(std::move(sink)) {}

    void begin(const std::vector<WaveSignal>& signals, const WaveWindow& window) override;
    void time(Ticks at) override;
    void change(std::size_t signal, std::int64_t value) override;
    void end(Ticks at) override;

    /// The most bytes that one change of such a signal can take: an upper bound of the file's growth.
    static std::int64_t largest_change(const WaveSignal& signal);

private:
    struct Variable {
        std::string code;  // the short name of the signal in the file
        WaveSignal::Form form;
        int width;
        std::shared_ptr<const std::vector<std::string>> names;
    };
    void add_bits(std::int64_t value, int width);

    const Sink sink_;
    std::vector<Variable> variables_;
    std::string text_;  // not yet given to the sink
    bool first_ = true;
    bool dumping_ = false;  // the first values, between $dumpvars and $end
};

}  // namespace systole
