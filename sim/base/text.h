// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: thousands separators and SI units.
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/units.h"

namespace systole {

/// 1234567 -> "1,234,567".
std::string with_thousands(std::int64_t value);
/// A time with a fitting unit and four significant digits: "81.32 us".
std::string format_time(Ticks time);
/// A byte count with a decimal unit and four significant digits: "51.28 MB"; below 1000: "812 B".
std::string format_bytes(Bytes bytes);
/// An energy with a fitting unit and four significant digits: "12.30 mJ".
std::string format_energy(Femtojoules energy);
/// 0.4567 -> "45.7" (percent, one decimal).
std::string format_percent(double fraction);

}  // namespace systole
