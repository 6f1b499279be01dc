// SPDX-License-Identifier: Apache-2.0
#include "models/energy/energy_config.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole {
namespace {

using config::Section;

constexpr double kLongestWire = 300;  // millimetres: a wafer

/// Zero is no energy that anything takes. What is wrong or missing is the least there is until
/// Config::finish() tells of it: figures are divided by each other before that.
Femtojoules positive(Section& section, std::string_view key, std::string_view meaning) {
    constexpr Femtojoules kLeast(1);
    const Femtojoules energy = section.energy(key, meaning);
    if (energy == Femtojoules()) section.fail(key, "expected more than nothing");
    return std::max(energy, kLeast);
}

EnergyTable read_table(Section energy, const std::vector<DType>& multiplied) {
    EnergyTable table;
    Section add = energy.section("add");
    table.add_int32 = positive(add, "int32", "an addition into a sum in int32");
    table.add_fp32 = positive(add, "fp32", "an addition into a sum in fp32");
    Section multiply = energy.section("mul");
    for (std::size_t i = 0; i < kDTypes; ++i) {
        const auto dtype = static_cast<DType>(i);
        const std::string_view name = to_string(dtype);
        const bool needed = std::ranges::find(multiplied, dtype) != multiplied.end();
        if (!needed && dtype != DType::Fp32 && !multiply.has(name)) continue;
        table.multiply[i] = positive(
            multiply, name, fmt::format("a multiplication in {}, which units of the device do", name));
    }
    Section sram = energy.section("sram");
    constexpr std::array<std::pair<const char*, std::int64_t>, 3> kSizes{
        {{"8KiB", 8 << 10}, {"32KiB", 32 << 10}, {"1MiB", 1 << 20}}};
    for (std::size_t i = 0; i < kSizes.size(); ++i)
        table.sram[i] = {Bytes(kSizes[i].second),
                         positive(sram, kSizes[i].first, "64 bits of an SRAM of this size, read or written")};
    table.wire = positive(energy, "wire_bit_mm", "a bit along a millimetre of wire on the die");
    table.instruction =
        positive(energy, "instruction",
                 "an instruction of one thread: fetch, decoding, scheduling, without registers");
    return table;
}

}  // namespace

std::optional<DeviceEnergy> read_device_energy(const Section& root, const std::vector<DType>& multiplied,
                                               bool has_chip_link) {
    if (!root.has("energy")) return std::nullopt;
    Section section = root.section("energy");
    DeviceEnergy energy;
    energy.table = read_table(section, multiplied);
    energy.wire_mm = section.number(
        "wire_mm",
        "millimetres of wire between SRAM that units share (or the memory's pins) and a unit, on average",
        0.0, kLongestWire);
    energy.host_byte = 8 * positive(section, "host_bit", "a bit over the link to the host, both ends");
    // Without a link nothing passes; the figure may stand for one that was taken away.
    if (has_chip_link || section.has("chip_bit"))
        energy.chip_byte = 8 * positive(section, "chip_bit", "a bit over a link to another chip, both ends");
    return energy;
}

Milliwatts static_power(Section section, const char* key, Milliwatts idle, Milliwatts memory) {
    if (idle == Milliwatts())
        section.fail(
            key, "without what the device draws when idle its energy is not known: expected more than 0 W");
    else if (idle < memory)
        section.fail(key, fmt::format("{} mW, less than the {} mW that its memory draws in the background",
                                      idle.value(), memory.value()));
    return idle - memory;
}

void enter_links(const DeviceEnergy& energy, DeviceEnergySpec& spec) {
    const auto place = [&](Place of) -> auto& {
        return spec.places[static_cast<std::size_t>(of)];
    };
    place(Place::Host) = PlaceEnergy{EnergyPart::Host, energy.host_byte, energy.host_byte};
    // What arrives was sent by another chip, which accounts for its own end of the link.
    const Femtojoules end(energy.chip_byte.value() / 2);
    place(Place::ChipLink) = PlaceEnergy{EnergyPart::Chips, energy.chip_byte - end, end};
}

}  // namespace systole
