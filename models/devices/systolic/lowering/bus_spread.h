// SPDX-License-Identifier: Apache-2.0
// How evenly rows of a matrix fall on the data buses of a memory. Pieces of rows that lie a power of two
// apart can all fall on the same few buses, while the others stand idle.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/standards/dram_spec.h"

namespace systole::systolic {

class BusSpread {
public:
    explicit BusSpread(const DramSpec& spec);

    /// Of so many bytes of each row, rows `pitch` bytes apart: their bursts, over those that there would be
    /// if all buses had as many as the busiest one; 1 is even, 1 / buses all on one. A memory that is ideal,
    /// or says no map, is even.
    double of(std::int64_t pitch, std::int64_t bytes);

private:
    double measure(std::int64_t pitch, std::int64_t bytes) const;

    const int buses_;
    std::optional<AddressMap> map_;
    std::map<std::pair<std::int64_t, std::int64_t>, double> known_;  // by pitch and bytes
};

}  // namespace systole::systolic
