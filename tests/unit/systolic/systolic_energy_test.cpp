// SPDX-License-Identifier: Apache-2.0
// What bytes and operations of shipped accelerators take, by hand from the tables of their processes.
#include "models/devices/systolic/spec/systolic_energy.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/shipped_device.h"

namespace systole::systolic {
namespace {

DeviceEnergySpec energy_of(const std::string& device) {
    const SystolicSpec spec =
        test::spec_of_document(config::load_yaml("configs/devices/" + device + ".yaml"));
    REQUIRE(spec.energy);
    return *spec.energy;
}

PlaceEnergy at(const DeviceEnergySpec& energy, Place place) {
    const auto& found = energy.places[static_cast<std::size_t>(place)];
    REQUIRE(found);
    return *found;
}

Femtojoules each(const DeviceEnergySpec& energy, const std::string& name) {
    for (const OperationEnergy& operation : energy.operations)
        if (operation.name == name) return operation.each;
    FAIL(name);
    return {};
}

}  // namespace

TEST_CASE("a TPU v1's bytes take SRAM of 28 nm, and wires where they come a long way") {
    const DeviceEnergySpec energy = energy_of("tpu_v1");
    // 12.1 mm x 8 bits x 80 fJ
    const Femtojoules wires(7744);
    // banks of 1.5 MiB are built of 1 MiB: 60,573 fJ for 8 bytes
    CHECK(at(energy, Place::Scratchpad).read == Femtojoules(7572) + wires);
    CHECK(at(energy, Place::Scratchpad).written == Femtojoules(7572) + wires);
    // a tile of 64 KiB, a fifth of the way from 32 KiB to 1 MiB: 16,080 fJ x (60,573 / 16,080)^(1/5) for 8
    // bytes
    CHECK(at(energy, Place::WeightFifo).read == Femtojoules(2621));
    CHECK(at(energy, Place::WeightFifo).written == Femtojoules(2621) + wires);
    // 16 KiB a column, half way from 8 to 32 KiB; a sum that comes is read, too
    CHECK(at(energy, Place::Accumulator).read == Femtojoules(1528));
    CHECK(at(energy, Place::Accumulator).written == Femtojoules(2 * 1528));
    // 5 pJ a bit
    CHECK(at(energy, Place::Host).read == Femtojoules(40'000));
    CHECK_FALSE(energy.places[static_cast<std::size_t>(Place::Dram)]);
    CHECK(each(energy, "int8 mac") == Femtojoules(153 + 74));
    CHECK(each(energy, "int16xint8 mac") == Femtojoules(310 + 74));  // root of 627 x 153
    CHECK(each(energy, kLaneOperation) == Femtojoules(2839 + 722));
}

TEST_CASE("static power is the published idle power less what the memory draws by itself") {
    const SystolicSpec spec = test::spec_of_document(config::load_yaml("configs/devices/tpu_v1.yaml"));
    REQUIRE(spec.memory.energy);
    CHECK(spec.energy->idle + spec.memory.energy->background * spec.memory.data_buses() ==
          Milliwatts(28'000));
}

TEST_CASE("weights that come from the scratchpad take no wires into the FIFO") {
    const DeviceEnergySpec energy = energy_of("tpu_v4");
    CHECK(at(energy, Place::WeightFifo).written == at(energy, Place::WeightFifo).read);
}

TEST_CASE("bytes of a memory on the chip take SRAM, and nothing draws in its background") {
    const DeviceEnergySpec energy = energy_of("groq_tsp");
    // 18 mm of wires beside 1 MiB of 16 nm, in the table as 64 bits
    CHECK(at(energy, Place::Dram).read > Femtojoules(8 * 80 * 18));
    CHECK(at(energy, Place::Dram).read == at(energy, Place::Dram).written);
    CHECK(energy.idle == Milliwatts(90'000));
}

TEST_CASE("without figures of its memory a device has none") {
    config::YamlNode document =
        config::parse_yaml("device: D\nextends: tpu_v4\nmemory: {preset: ideal}\n", "mine.yaml");
    CHECK_FALSE(test::spec_of_document(document).energy);
}

}  // namespace systole::systolic
