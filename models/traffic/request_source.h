// SPDX-License-Identifier: Apache-2.0
// A stream of memory requests, one burst each, that is made or read while it is consumed: its length never
// shows in memory use.
#pragma once

#include <cstdint>

#include "models/memory/standards/dram_command.h"
#include "sim/base/units.h"

namespace systole {

/// One burst that may reach the memory at `clock` (command clocks), not before.
struct MemoryRequest {
    Cycles clock;
    std::int64_t address = 0;  ///< of the burst's first byte
    Direction direction = Direction::Read;
    friend bool operator==(const MemoryRequest&, const MemoryRequest&) = default;
};

class RequestSource {
public:
    RequestSource() = default;
    RequestSource(const RequestSource&) = delete;
    RequestSource& operator=(const RequestSource&) = delete;
    virtual ~RequestSource() = default;
    /// Fills `request` with the next one; false if there is none. May throw UserError.
    virtual bool next(MemoryRequest& request) = 0;
};

}  // namespace systole
