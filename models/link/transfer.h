// SPDX-License-Identifier: Apache-2.0
// A strided copy between two places, as a DMA descriptor gives it.
#pragma once

#include <cstdint>

#include "sim/account/byte_ledger.h"

namespace systole {

/// One end of a transfer: rows of contiguous bytes, `stride` apart.
struct Region {
    Place place = Place::Dram;  ///< Host, Dram, Scratchpad or WeightFifo
    std::int64_t address = 0;
    std::int64_t stride = 0;  ///< between rows; unused for one row
    friend bool operator==(const Region&, const Region&) = default;
};

/// Copies `rows` rows of `row_bytes` each.
struct Transfer {
    Region from, to;
    std::int64_t rows = 1;
    std::int64_t row_bytes = 0;
    Operand operand = Operand::Activations;
    std::int64_t bytes() const { return rows * row_bytes; }
    friend bool operator==(const Transfer&, const Transfer&) = default;
};

}  // namespace systole
