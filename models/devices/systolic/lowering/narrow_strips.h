// SPDX-License-Identifier: Apache-2.0
// Columns of an output that are narrower than a packet of the host link: each of their rows would be a packet
// of its own. They wait until those beside them are written, too, and leave with these.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/devices/systolic/lowering/tensor_box.h"
#include "models/devices/systolic/lowering/tokens.h"

namespace systole::systolic {

class NarrowStrips {
public:
    struct Strip {
        TensorBox box;
        Tokens writers;
        int core = 0;  ///< that wrote it
        std::int32_t layer = 0;
    };

    /// Rows of `box` are narrower than `least` bytes, and others lie between them.
    static bool narrow(const TensorBox& box, std::int64_t least) {
        return box.rows > 1 && box.row_bytes < box.stride && box.row_bytes < least;
    }
    /// Takes in a strip that is written. Answers it with those that wait beside it, if they are no longer
    /// narrow together.
    std::optional<Strip> join(Strip strip, std::int64_t least);

    const std::vector<Strip>& waiting() const { return waiting_; }
    std::int64_t bytes_waiting() const;

private:
    std::vector<Strip> waiting_;
};

}  // namespace systole::systolic
