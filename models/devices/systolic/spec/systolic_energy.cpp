// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/spec/systolic_energy.h"

#include <fmt/format.h>

#include <vector>

#include "models/energy/energy_config.h"

namespace systole::systolic {
namespace {

std::vector<DType> formats_of(const MxuSpec& mxu) {
    std::vector<DType> formats;
    for (std::size_t i = 0; i < kDTypes; ++i) {
        const auto dtype = static_cast<DType>(i);
        bool taken = mxu.rate[i].has_value();
        for (const auto& [both, rate] : mxu.mixed_rate)
            taken = taken || both.first == dtype || both.second == dtype;
        if (taken) formats.push_back(dtype);
    }
    return formats;
}

std::optional<PlaceEnergy> sram(Femtojoules read, Femtojoules written) {
    return PlaceEnergy{EnergyPart::OnChip, read, written};
}

void enter_places(const DeviceEnergy& energy, const SystolicSpec& spec, DeviceEnergySpec& all) {
    const auto place = [&](Place of) -> auto& {
        return all.places[static_cast<std::size_t>(of)];
    };
    const Femtojoules wires = energy.table.wire_byte(energy.wire_mm);
    const ScratchpadSpec& pad = spec.scratchpad;
    const Femtojoules line = energy.table.sram_byte(Bytes(pad.capacity.value() / pad.banks)) + wires;
    place(Place::Scratchpad) = sram(line, line);
    // A FIFO of an array holds whole tiles, next to its edge; weights from the memory come a long way.
    const Femtojoules tile = energy.table.sram_byte(Bytes(std::int64_t{spec.mxu.rows} * spec.mxu.cols));
    place(Place::WeightFifo) = sram(tile, spec.mxu.weight_source == Space::Dram ? tile + wires : tile);
    // A column has a bank of its own. A sum is read and written again with each product that joins it.
    constexpr std::int64_t kSumBytes = 4;
    const Femtojoules sum = energy.table.sram_byte(Bytes(kSumBytes * spec.mxu.accumulator_rows));
    place(Place::Accumulator) = sram(sum, 2 * sum);
    if (spec.memory.kind == DramSpec::Kind::Sram) {
        const Femtojoules byte = energy.table.sram_byte(spec.memory.capacity()) + wires;
        place(Place::Dram) = sram(byte, byte);
    }
}

}  // namespace

std::string mac_name(DType first, std::optional<DType> second) {
    return second && *second != first ? fmt::format("{}x{} mac", to_string(first), to_string(*second))
                                      : fmt::format("{} mac", to_string(first));
}

std::optional<DeviceEnergySpec> read_systolic_energy(const config::Section& root, const SystolicSpec& spec) {
    const std::vector<DType> formats = formats_of(spec.mxu);
    const std::optional<DeviceEnergy> energy = read_device_energy(root, formats, spec.chip_link.has_value());
    if (!energy) return std::nullopt;
    DeviceEnergySpec all;
    for (const DType first : formats)
        for (const DType second : formats)
            if (energy->table.multiply[static_cast<std::size_t>(first)] &&
                energy->table.multiply[static_cast<std::size_t>(second)])
                all.operations.push_back({mac_name(first, second), "mxu", "MACs", EnergyPart::Matrix,
                                          energy->table.mac(first, second)});
    // At most: a lane multiplies and adds in one cycle.
    all.operations.push_back(
        {kLaneOperation, "vector", "lane-cycles", EnergyPart::Vector, energy->table.fp32_operation()});
    enter_places(*energy, spec, all);
    enter_links(*energy, all);
    config::Section section = root.section("energy");
    all.idle = static_power(
        section, "idle",
        section.power("idle", "what the whole device draws when it does nothing, its memory included"),
        spec.memory.background());
    // SRAM is in the table; of another memory without figures the total would be too little.
    if (spec.memory.kind != DramSpec::Kind::Sram && !spec.memory.has_energy()) return std::nullopt;
    return all;
}

}  // namespace systole::systolic
