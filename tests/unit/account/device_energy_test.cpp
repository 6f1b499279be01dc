// SPDX-License-Identifier: Apache-2.0
#include "sim/account/device_energy.h"

#include <catch2/catch.hpp>

#include "sim/account/invariants.h"
#include "tests/unit/account/aborts.h"
#include "tests/unit/account/sample_result.h"

namespace systole {
namespace {

/// The sample's two layers, with operations: 90 and 10 MACs of 300 fJ, 8 lane operations of 2 pJ.
DeviceResult counted() {
    DeviceResult result = test::sample_result();
    result.layers[0].operations = {{"int8 mac", 90}};
    result.layers[1].operations = {{"int8 mac", 10}, {"lane operation", 8}};
    result.energy = {};
    result.energy.enter({"tiny_tpu.dram", "read", "read_bursts", "bursts", 65, Femtojoules(890'500),
                         EnergyPart::Memory, EnergyFollows::DramRead});
    result.energy.enter({"tiny_tpu.dram", "background", "", "ps", 100'000, Femtojoules(33),
                         EnergyPart::Memory, EnergyFollows::Time});
    return result;
}

DeviceEnergySpec figures() {
    DeviceEnergySpec spec;
    spec.operations = {{"int8 mac", "mxu", "MACs", EnergyPart::Matrix, Femtojoules(300)},
                       {"lane operation", "vector", "lane-cycles", EnergyPart::Vector, Femtojoules(2000)}};
    const auto place = [&](Place of) -> auto& {
        return spec.places[static_cast<std::size_t>(of)];
    };
    place(Place::Scratchpad) = PlaceEnergy{EnergyPart::OnChip, Femtojoules(1000), Femtojoules(1500)};
    place(Place::WeightFifo) = PlaceEnergy{EnergyPart::OnChip, Femtojoules(0), Femtojoules(10)};
    place(Place::Host) = PlaceEnergy{EnergyPart::Host, Femtojoules(40'000), Femtojoules(40'000)};
    spec.idle = Milliwatts(500);
    return spec;
}

Femtojoules part(const ResultRow& row, EnergyPart of) {
    return row.energy[static_cast<std::size_t>(of)];
}

}  // namespace

TEST_CASE("a device's energy is what was counted times what one takes, layer by layer") {
    DeviceResult result = counted();
    account_energy(result, figures());
    const ResultRow &conv = result.layers[0], &head = result.layers[1];
    CHECK(part(conv, EnergyPart::Matrix) == Femtojoules(27'000));
    CHECK(part(head, EnergyPart::Matrix) == Femtojoules(3'000));
    CHECK(part(conv, EnergyPart::Vector) == Femtojoules(0));
    CHECK(part(head, EnergyPart::Vector) == Femtojoules(16'000));
    // 50 B into the scratchpad and 2,000 into the FIFO; 30 B out of the scratchpad.
    CHECK(part(conv, EnergyPart::OnChip) == Femtojoules(50 * 1500 + 2000 * 10));
    CHECK(part(head, EnergyPart::OnChip) == Femtojoules(30 * 1000));
    CHECK(part(conv, EnergyPart::Host) == Femtojoules(50 * 40'000));
    CHECK(part(head, EnergyPart::Host) == Femtojoules(30 * 40'000));
    // Half a watt for 60 and 40 ns: 30 and 20 nJ are 30 and 20 million femtojoules.
    CHECK(part(conv, EnergyPart::Static) == Femtojoules(30'000'000));
    CHECK(part(head, EnergyPart::Static) == Femtojoules(20'000'000));
    CHECK(part(result.total, EnergyPart::Static) == Femtojoules(50'000'000));
    CHECK(result.energy_is_whole);
    CHECK(energy_violations(result).empty());
}

TEST_CASE("the memory's commands follow the layers' bytes, its background their time") {
    DeviceResult result = counted();
    account_energy(result, figures());
    const auto& entries = result.energy.entries();
    const auto of = [&](const char* event, const char* path) -> const EnergyEntry& {
        for (const EnergyEntry& entry : entries)
            if (entry.event == event && entry.path == path) return entry;
        FAIL(event);
        return entries.front();
    };
    // 2,050 of 2,080 B were read for the first layer: of 65 bursts 64.06.
    CHECK(of("read", "tiny_tpu.dram").layers == std::vector<std::int64_t>{64, 1});
    CHECK(of("background", "tiny_tpu.dram").layers == std::vector<std::int64_t>{60'000, 40'000});
    CHECK(part(result.total, EnergyPart::Memory) == Femtojoules(65 * 890'500 + 100'000 * 33));
}

TEST_CASE("the ledger's bytes times their energies are the energy of the transfers") {
    DeviceResult result = counted();
    account_energy(result, figures());
    Femtojoules transfers;
    for (const EnergyEntry& entry : result.energy.entries())
        if (entry.unit == "B") transfers += entry.energy();
    // host 50 in, 30 out; scratchpad 50 in, 30 out; FIFO 2,000 in
    CHECK(transfers == Femtojoules(80 * 40'000 + 50 * 1500 + 30 * 1000 + 2000 * 10));
}

TEST_CASE("an operation without a figure aborts instead of taking nothing") {
    DeviceResult result = counted();
    result.layers[0].operations.push_back({"fp64 mac", 1});
    CHECK(test::aborts([&] { account_energy(result, figures()); }));
}

TEST_CASE("energy that does not sum is told") {
    DeviceResult result = counted();
    account_energy(result, figures());
    DeviceResult spoiled = result;
    spoiled.layers[1].energy[0] += Femtojoules(1);
    REQUIRE(energy_violations(spoiled).size() == 1);
    CHECK(energy_violations(spoiled)[0] == "femtojoules of matrix of all layers: 30001, expected 30000");
    spoiled = result;
    spoiled.total.energy[7] -= Femtojoules(1);
    CHECK(energy_violations(spoiled).size() == 2);
    spoiled = result;
    spoiled.layers.pop_back();
    CHECK_FALSE(energy_violations(spoiled).empty());
}

TEST_CASE("power is energy over time, and its peak that of the layers that draw most for long") {
    DeviceResult result;
    result.device = "d";
    const auto layer = [&](std::int64_t us, std::int64_t microjoules) {
        ResultRow row;
        row.begin = result.total.end;
        row.end = row.begin + Ticks(us * 1'000'000);
        row.energy[0] = Femtojoules(microjoules * 1'000'000'000);
        result.layers.push_back(row);
        result.total.end = row.end;
        result.total.energy[0] += row.energy[0];
    };
    layer(20, 2000);  // 100 W
    layer(1, 1000);   // 1,000 W, for less than the window: with the next one 1,300 uJ in 10 us, 130 W
    layer(9, 300);
    layer(70, 700);
    result.total.macs = Macs(2'000'000);
    CHECK_FALSE(power_drawn(result));  // not known to be all
    result.energy.enter({"d", "e", "", "x", 1, Femtojoules(4'000'000'000'000)});
    result.energy_is_whole = true;
    const auto power = power_drawn(result);
    REQUIRE(power);
    CHECK(power->average_w == Approx(40));
    CHECK(power->peak_w == Approx(130));
    CHECK(power->operations_per_joule == Approx(4e6 / 4e-3));
}

TEST_CASE("of a run shorter than the window the peak is the average, and one without time draws nothing") {
    DeviceResult result = counted();
    account_energy(result, figures());
    const auto power = power_drawn(result);
    REQUIRE(power);
    CHECK(power->peak_w == Approx(power->average_w));
    CHECK_THAT(energy_sentence(result),
               Catch::Matchers::StartsWith("Energy 114.6 nJ: 53.4 % memory, 43.6 % static, 2.8 % host"));
    result.total.end = result.total.begin;
    CHECK_FALSE(power_drawn(result));
}

TEST_CASE("without figures of the device the sentence says that the memory's is all") {
    CHECK(energy_sentence(counted()) ==
          "Energy 61.18 nJ: 94.6 % read, 5.4 % background. Of the memory only: the device has no figures "
          "(energy).");
    CHECK(energy_sentence(DeviceResult{}).empty());
}

TEST_CASE("of the memory's energy, the last run of a network has the share of its bytes and its time") {
    const DeviceResult result = counted();
    const EnergyLedger share = memory_share(result.energy, result.total, result.layers[1]);
    REQUIRE(share.entries().size() == 2);
    CHECK(share.entries()[0].count == 65 * 30 / 2080);
    CHECK(share.entries()[1].count == 40'000);
    CHECK(share.entries()[0].counter.empty());
}

}  // namespace systole
