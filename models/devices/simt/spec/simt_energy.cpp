// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/spec/simt_energy.h"

#include <vector>

#include "models/energy/energy_config.h"

namespace systole::simt {
namespace {

// Registers and shared memory are made of banks that are read a row at a time: 32 of an SM's shared memory
// (CUDA C++ Programming Guide), two of a sub-core's registers, each of arrays of this size.
constexpr Bytes kBank(8 << 10);
// A special function is a quadratic polynomial from a table (S. Oberman, M. Siu, "A High-Performance
// Area-Efficient Multifunction Interpolator", ARITH 2005): a square and two multiply-adds.
constexpr std::int64_t kSpecialOperations = 3;

void enter_operations(const EnergyTable& table, DeviceEnergySpec& all) {
    const auto enter = [&](std::string name, const char* of, const char* unit, EnergyPart part,
                           Femtojoules each) {
        all.operations.push_back({std::move(name), of, unit, part, each});
    };
    for (std::size_t i = 0; i < kDTypes; ++i)
        if (const auto dtype = static_cast<DType>(i); table.multiply[i])
            enter(mac_name(dtype), "sms", "MACs", EnergyPart::Matrix, table.mac(dtype, dtype));
    const Femtojoules bank = table.sram_byte(kBank);
    enter(kInstruction, "sms", "thread instructions", EnergyPart::Instructions, table.instruction);
    enter(kRegisterByte, "sms", "B", EnergyPart::Instructions, bank);
    enter(kSharedByte, "sms", "B", EnergyPart::OnChip, bank);
    enter(kFp32Operation, "sms", "operations", EnergyPart::Vector, table.fp32_operation());
    enter(kIntegerOperation, "sms", "operations", EnergyPart::Vector, table.add_int32);
    enter(kSpecialOperation, "sms", "operations", EnergyPart::Vector,
          kSpecialOperations * table.fp32_operation());
    const auto place = [&](Place of) -> auto& {
        return all.places[static_cast<std::size_t>(of)];
    };
    place(Place::SharedMemory) = PlaceEnergy{EnergyPart::OnChip, bank, bank};
}

std::vector<DType> formats_of(const SimtSpec& spec) {
    std::vector<DType> formats;
    for (std::size_t i = 0; i < kDTypes; ++i)
        if (const auto dtype = static_cast<DType>(i); spec.macs_per_cycle(dtype) > 0)
            formats.push_back(dtype);
    return formats;
}

}  // namespace

std::optional<DeviceEnergySpec> read_simt_energy(const config::Section& root, const SimtSpec& spec) {
    const std::optional<DeviceEnergy> energy =
        read_device_energy(root, formats_of(spec), spec.chip_link.has_value());
    if (!energy) return std::nullopt;
    const EnergyTable& table = energy->table;
    DeviceEnergySpec all;
    enter_operations(table, all);
    const auto cache = [&](Place of, const L2Spec& cache) {
        const Femtojoules byte = table.sram_byte(cache.capacity) + table.wire_byte(energy->wire_mm);
        all.places[static_cast<std::size_t>(of)] = PlaceEnergy{EnergyPart::OnChip, byte, byte};
    };
    cache(Place::L2, spec.l2);
    if (spec.memory_side_cache) cache(Place::MemorySideCache, *spec.memory_side_cache);
    enter_links(*energy, all);
    all.idle = static_power(root.section("power"), "idle", spec.power.idle, spec.memory.background());
    if (!spec.memory.has_energy()) return std::nullopt;
    return all;
}

}  // namespace systole::simt
