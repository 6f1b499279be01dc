// SPDX-License-Identifier: Apache-2.0
// What may be made faster, wider or larger in a device, one thing at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.h"
#include "tests/support/device_text.h"
#include "tests/support/random_case.h"

namespace systole::test {

/// One key, and the factor on its value (whole numbers stay whole, rounded down), or a value in its place.
struct Change {
    std::string path;  ///< ends in '*': all keys that begin so
    double factor = 1;
    std::string value = {};  ///< if not empty, instead of a factor
};

/// A way to make a machine no worse.
struct Knob {
    std::string name;
    double slower = 0;            ///< at most by this share (docs/validation.md)
    std::vector<Change> changes;  ///< made together
};

/// The knobs of a device kind.
const std::vector<Knob>& knobs_of(Kind kind);

/// The settings that turn the knob of a device with these keys. Nothing where the device lacks a key, or has
/// a value of none that stays as it is.
std::optional<Settings> turned(const Knob& knob, const std::vector<config::Entry>& keys);

}  // namespace systole::test
