// SPDX-License-Identifier: Apache-2.0
// One random run of a device of either kind: a machine, a network and a protocol, all as a user would write
// them, so that a case that fails can be printed and repeated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/device/device.h"
#include "tests/support/device_text.h"

namespace systole::test {

enum class Kind { Systolic, Simt };
std::string to_string(Kind kind);

struct Case {
    Kind kind = Kind::Systolic;
    std::uint64_t seed = 0;
    std::string device;  ///< YAML; its presets are the shipped ones
    Settings settings;   ///< over the device's values
    std::string trace;   ///< YAML
    Protocol protocol;
};

/// Of `Systolic`: three machines in four are drawn key by key (RandomMachine), the others are a shipped one
/// with other values of a few keys. Of `Simt` all are shipped ones with other values (RandomGpu). Networks
/// are products, convolutions with what stands between them, or attention. Equal seeds give equal cases.
Case random_case(Kind kind, std::uint64_t seed);

/// The device with `more` over the case's own settings. Throws UserError where they are refused.
std::unique_ptr<Device> device_of(const Case& drawn, const Settings& more = {});
/// Every key of that device. Throws UserError as device_of().
std::vector<config::Entry> keys_of(const Case& drawn, const Settings& more = {});
Graph graph_of(const Case& drawn);

/// All that a run needs, to be read and to be typed.
std::string to_string(const Case& drawn);

/// A number out of the environment, or else the other: SYSTOLE_SEED and SYSTOLE_CASES widen searches.
std::uint64_t from_environment(const char* name, std::uint64_t otherwise);

}  // namespace systole::test
