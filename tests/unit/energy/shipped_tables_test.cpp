// SPDX-License-Identifier: Apache-2.0
// The tables of configs/energy say how figures that nobody published follow from those that were: held to
// that here, and to their reader.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>

#include "models/energy/energy_config.h"
#include "sim/base/error.h"
#include "sim/config/config.h"
#include "sim/config/yaml.h"

namespace systole {
namespace {

config::YamlNode shipped(const std::string& name) {
    return config::load_yaml("configs/energy/" + name + ".yaml");
}

/// As a device's section would have it, with what is the device's.
config::YamlNode device(const std::string& table, const std::string& more) {
    return config::parse_yaml("energy: {preset: " + table + ", wire_mm: 10, host_bit: 5 pJ" + more + "}\n",
                              "device.yaml");
}

DeviceEnergy read(const config::YamlNode& document, const std::vector<DType>& formats, bool chips = false) {
    config::Config config = config::Config::from_document(
        document, [](const std::string& name, const SourceMark&) { return shipped(name); });
    const auto energy = read_device_energy(config.root(), formats, chips);
    config.finish();
    REQUIRE(energy);
    return *energy;
}

EnergyTable table(const std::string& node) {
    return read(device("energy_" + node, ""), {}).table;
}

/// All of a table's figures, in femtojoules.
std::map<std::string, double> figures(const std::string& node) {
    const EnergyTable energies = table(node);
    std::map<std::string, double> all;
    for (std::size_t i = 0; i < kDTypes; ++i)
        if (energies.multiply[i])
            all[std::string("mul ") + dtype_names()[i]] = static_cast<double>(energies.multiply[i]->value());
    all["add int32"] = static_cast<double>(energies.add_int32.value());
    all["add fp32"] = static_cast<double>(energies.add_fp32.value());
    for (const SramEnergy& sram : energies.sram)
        all["sram " + std::to_string(sram.size.value())] = static_cast<double>(sram.of_64_bits.value());
    all["instruction"] = static_cast<double>(energies.instruction.value());
    return all;
}

std::string message_of(const config::YamlNode& document, const std::vector<DType>& formats, bool chips) {
    try {
        read(document, formats, chips);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("energies of 28, 16 and 12 nm lie between those of 45 and 7 nm by a power of the node") {
    const auto old_node = figures("45nm"), new_node = figures("7nm");
    for (const int node : {28, 16, 12}) {
        const double share = std::log(45.0 / node) / std::log(45.0 / 7);
        for (const auto& [name, energy] : figures(std::to_string(node) + "nm")) {
            INFO(node << " nm, " << name);
            const double expected =
                old_node.at(name) * std::pow(new_node.at(name) / old_node.at(name), share);
            CHECK(energy == Approx(expected).epsilon(0.01).margin(1));
        }
    }
}

TEST_CASE("energies below 7 nm are one share of those of 7 nm, and never more than the node before") {
    auto before = figures("7nm");
    const std::map<int, double> shares{{6, 1.0}, {5, 0.7}, {4, 0.63}, {3, 0.49}};
    const auto seven = before;
    for (const auto node : {6, 5, 4, 3}) {
        auto now = figures(std::to_string(node) + "nm");
        for (const auto& [name, energy] : now) {
            INFO(node << " nm, " << name);
            CHECK(energy == Approx(seven.at(name) * shares.at(node)).epsilon(0.01).margin(1));
            CHECK(energy <= before.at(name));
        }
        before = std::move(now);
    }
}

TEST_CASE("published multiply-accumulates come out as published") {
    CHECK(table("45nm").mac(DType::Int8, DType::Int8) == Femtojoules(300));
    CHECK(table("7nm").mac(DType::Int8, DType::Int8) == Femtojoules(100));
    CHECK(table("7nm").mac(DType::Bf16, DType::Bf16) == Femtojoules(590));
    CHECK(table("7nm").mac(DType::Fp16, DType::Fp16) == Femtojoules(720));
}

TEST_CASE("a table without an operation that the device does is refused by the operation's name") {
    CHECK(message_of(device("energy_7nm", ""), {DType::Int32}, false).find("energy.mul.int32") !=
          std::string::npos);
    CHECK(message_of(device("energy_7nm", ""), {DType::Int8}, false).empty());
}

TEST_CASE("a device with links to other chips needs their energy") {
    CHECK(message_of(device("energy_7nm", ""), {}, true).find("energy.chip_bit") != std::string::npos);
    CHECK(message_of(device("energy_7nm", ", chip_bit: 6 pJ"), {}, true).empty());
    CHECK(message_of(device("energy_7nm", ", chip_bit: 0 pJ"), {}, true).find("expected more than nothing") !=
          std::string::npos);
}

TEST_CASE(
    "figures that are missing are told in the end, and figures that follow from them are read until then") {
    config::Config config = config::Config::from_document(
        config::parse_yaml("energy: {wire_mm: 10, host_bit: 5 pJ}\n", "device.yaml"),
        [](const std::string& name, const SourceMark&) { return shipped(name); });
    const auto energy = read_device_energy(config.root(), {}, false);
    REQUIRE(energy);
    // Between two sizes: by the one's part of the other.
    CHECK(energy->table.sram_byte(Bytes(16 << 10)) >= Femtojoules());
    CHECK_THROWS_WITH(config.finish(), Catch::Contains("energy.sram.8KiB: is missing"));
}

}  // namespace systole
