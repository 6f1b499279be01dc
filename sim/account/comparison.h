// SPDX-License-Identifier: Apache-2.0
// Several devices side by side on one trace: who is fastest on each layer, by how much, and what the next one
// spends its time on instead. Everything follows from the devices' accounts.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/account/classes.h"
#include "sim/account/joined_rows.h"
#include "sim/account/run_result.h"
#include "sim/base/units.h"

namespace systole {

/// Of a layer or of all: the devices by their places in the list that was compared.
struct Standing {
    std::string name, op;      ///< "total" and "" for all
    std::vector<Ticks> times;  ///< by device
    std::size_t winner = 0;    ///< the fastest; of equals the first
    std::size_t next = 0;      ///< the second fastest; the winner if it is alone
    double factor = 1;         ///< time of the next over the winner's; 0 if the winner takes none
    /// By class, how much longer the next one spends (negative: less long), in ticks: sums to the difference
    /// of the two times but for rounding.
    std::array<double, kSlotClasses> longer{};
    std::string why;  ///< a sentence
};

struct Comparison {
    std::string trace;
    std::vector<DeviceResult> devices;         ///< of one trace, with the names they go by
    std::vector<std::vector<ResultRow>> rows;  ///< by device, by layer: what is compared (joined_rows.h)
    Standing total;
    std::vector<Standing> layers;  ///< in the order of the trace
};

/// `devices`: at least one, all of the same trace, with the same layers but for those of `joins`
/// (rows_alike()).
Comparison compare(std::vector<DeviceResult> devices, const Joins& joins = {});

}  // namespace systole
