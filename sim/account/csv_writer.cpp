// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/account/device_energy.h"
#include "sim/account/writers.h"
#include "sim/base/csv.h"

namespace systole {
namespace {

std::string line(const ResultRow& row, const std::string& name, const DeviceResult& result) {
    std::vector<std::string> cells{name, row.op, fmt::to_string(row.cycles.value()),
                                   fmt::to_string(static_cast<double>(row.time().value()) / 1000),
                                   fmt::to_string(row.utilization())};
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        cells.push_back(fmt::to_string(row.fraction(static_cast<SlotClass>(i))));
    for (const std::int64_t count :
         {row.dram_read.value(), row.dram_written.value(), row.roofline.floor().value()})
        cells.push_back(fmt::to_string(count));
    cells.emplace_back(row.roofline.bound());
    for (const Cycles cycles : row.roofline.cycles) cells.push_back(fmt::to_string(cycles.value()));
    const auto picojoules = [&](Femtojoules energy) {
        return result.energy_is_whole ? fmt::to_string(static_cast<double>(energy.value()) / 1000) : "";
    };
    cells.push_back(picojoules(energy_of(row)));
    for (const Femtojoules part : row.energy) cells.push_back(picojoules(part));
    cells.insert(cells.end(), {row.bound_by, row.mapping, std::string(to_string(result.fidelity))});
    return csv_line(cells);
}

}  // namespace

std::string to_csv(const DeviceResult& result) {
    std::string text = "name,op,cycles,time_ns,utilization";
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        text += fmt::format(",{}", to_string(static_cast<SlotClass>(i)));
    text += ",dram_read,dram_written,roofline_cycles,roofline_bound";
    for (std::size_t i = 0; i < kLevels; ++i)
        text += fmt::format(",roofline_{}", to_string(static_cast<Level>(i)));
    text += ",energy_pj";
    for (std::size_t i = 0; i < kEnergyParts; ++i)
        text += fmt::format(",energy_{}_pj", to_string(static_cast<EnergyPart>(i)));
    text += ",bound_by,mapping,fidelity\n";
    for (const ResultRow& row : result.layers) text += line(row, row.name, result);
    return text + line(result.total, "total", result);
}

}  // namespace systole
