// SPDX-License-Identifier: Apache-2.0
// What an A100's operations and bytes take, by hand from the table of 7 nm.
#include "models/devices/simt/spec/simt_energy.h"

#include <catch2/catch.hpp>

#include "tests/unit/simt/gpu_config.h"

namespace systole::simt {
namespace {

SimtSpec gpu(const std::string& more) {
    return test::gpu_spec("device: mine\nextends: a100\n" + more);
}

Femtojoules each(const DeviceEnergySpec& energy, const std::string& name) {
    for (const OperationEnergy& operation : energy.operations)
        if (operation.name == name) return operation.each;
    FAIL(name);
    return {};
}

}  // namespace

TEST_CASE("operations of an A100 take what its table says") {
    const SimtSpec spec = gpu("");
    REQUIRE(spec.energy);
    CHECK(each(*spec.energy, mac_name(DType::Bf16)) == Femtojoules(210 + 380));
    CHECK(each(*spec.energy, mac_name(DType::Int8)) == Femtojoules(70 + 30));
    CHECK(each(*spec.energy, kFp32Operation) == Femtojoules(1310 + 380));
    CHECK(each(*spec.energy, kSpecialOperation) == Femtojoules(3 * 1690));
    CHECK(each(*spec.energy, kIntegerOperation) == Femtojoules(30));
    CHECK(each(*spec.energy, kInstruction) == Femtojoules(4000));
    // 7.5 pJ for 64 bits of 8 KiB
    CHECK(each(*spec.energy, kRegisterByte) == Femtojoules(938));
    CHECK(each(*spec.energy, kSharedByte) == Femtojoules(938));
}

TEST_CASE("bytes of an A100's L2 take SRAM of 1 MiB and the way across the die") {
    const SimtSpec spec = gpu("");
    REQUIRE(spec.energy);
    const auto& l2 = spec.energy->places[static_cast<std::size_t>(Place::L2)];
    REQUIRE(l2);
    // 14 pJ for 64 bits; 19.2 mm x 8 bits x 80 fJ
    CHECK(l2->read == Femtojoules(1750 + 12'288));
    CHECK(l2->written == l2->read);
    CHECK_FALSE(spec.energy->places[static_cast<std::size_t>(Place::MemorySideCache)]);
    CHECK_FALSE(spec.energy->places[static_cast<std::size_t>(Place::Dram)]);
}

TEST_CASE("a GPU's static power is its idle power less what the memory draws by itself") {
    const SimtSpec spec = gpu("");
    CHECK(spec.energy->idle + spec.memory.background() == Milliwatts(80'000));
    CHECK(spec.memory.background() == Milliwatts(64 * 41));
}

TEST_CASE("a GPU whose memory has no figures has none") {
    CHECK_FALSE(gpu("memory: {preset: ideal}\n").energy);
}

}  // namespace systole::simt
