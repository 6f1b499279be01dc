// SPDX-License-Identifier: Apache-2.0
// What a waveform shows: signals with a path, a form and a value at every time. All values are 64-bit
// integers; what they mean is the signal's form. Devices declare signals to a SignalSink and say how to read
// them, and never know who looks.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/clock.h"

namespace systole {

/// An integer signal that has nothing to say (no command on the bus): high impedance in a VCD.
constexpr std::int64_t kNoWaveValue = std::numeric_limits<std::int64_t>::min();

/// What a signal carries, for the eye: viewers give each its own colour.
enum class WaveTint : std::uint8_t { Control, Level, Moving, Stationary, Sum, Bus };

struct WaveSignal {
    enum class Form : std::uint8_t { Clock, Bit, Unsigned, Signed, Text };

    std::string path;  ///< "tpu_v4.mxu0.pe_2_3.sum": the instance, then the signal
    Form form = Form::Bit;
    int width = 1;  ///< bits; Text: unused
    WaveTint tint = WaveTint::Control;
    std::string_view meaning;  ///< one sentence that outlives the signal; it says the unit of levels
    /// Text: values count into these, printable and without spaces.
    std::shared_ptr<const std::vector<std::string>> names;
    Hertz frequency;  ///< Clock

    /// The path without its last part: the scope.
    std::string_view scope() const { return std::string_view(path).substr(0, path.rfind('.')); }
    /// The last part of the path.
    std::string_view name() const { return std::string_view(path).substr(path.rfind('.') + 1); }
};

/// The value at the end of the current cycle.
using WaveReader = std::function<std::int64_t()>;

/// Who is told of every signal that there is.
class SignalSink {
public:
    static constexpr std::size_t kUnwanted = std::numeric_limits<std::size_t>::max();

    virtual ~SignalSink() = default;
    /// A signal that is read once a cycle, or, without `read`, one whose changes will be told. Answers its
    /// number, or kUnwanted.
    virtual std::size_t add(WaveSignal signal, WaveReader read) = 0;
};

}  // namespace systole
