// SPDX-License-Identifier: Apache-2.0
// Recordings of the dataflow explorer as JSON (docs/formats.md, "systole explore"): numbers of one kind as
// one base64 text of little-endian integers, of the smallest type that holds them all.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "models/devices/systolic/explore/array_recording.h"

namespace systole::app {

/// RFC 4648, section 4.
std::string base64(std::string_view bytes);

/// {"type": "i8", "data": "..."}: i8, i16 or i32.
nlohmann::ordered_json packed(const std::vector<std::int32_t>& values);

/// The keys of a recording.
nlohmann::ordered_json to_json(const systolic::ArrayRecording& recording);

}  // namespace systole::app
