// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_energy.h"

#include <catch2/catch.hpp>

#include "tests/unit/memory/memory_specs.h"

namespace systole::test {
namespace {

DramChannel::Stats counted() {
    DramChannel::Stats counts;
    counts.activates = 10;
    counts.read_bursts = 100;
    counts.write_bursts = 7;
    counts.refreshes = 3;
    counts.bank_refreshes = 5;
    return counts;
}

DramSpec measured() {
    DramSpec spec = hbm2();
    spec.channels = 2;
    spec.pseudo_channels = 2;
    spec.energy = {Femtojoules(900),    Femtojoules(90),    Femtojoules(80),
                   Femtojoules(30'000), Femtojoules(1'900), Milliwatts(33)};
    return spec;
}

EnergyLedger ledger_of(const DramSpec& spec) {
    EnergyLedger ledger;
    enter_energy(spec, counted(), Ticks(1'000), "tpu.dram", ledger);
    return ledger;
}

std::int64_t energy_of(const EnergyLedger& ledger, const std::string& event) {
    for (const EnergyEntry& entry : ledger.entries())
        if (entry.event == event) return entry.energy().value();
    return -1;
}

}  // namespace

TEST_CASE("commands take energy each, the background all the time on every data bus") {
    const EnergyLedger ledger = ledger_of(measured());
    CHECK(energy_of(ledger, "activate") == 9'000);
    CHECK(energy_of(ledger, "read") == 9'000);
    CHECK(energy_of(ledger, "write") == 560);
    CHECK(energy_of(ledger, "refresh") == 90'000);
    CHECK(energy_of(ledger, "refresh_bank") == -1);
    CHECK(energy_of(ledger, "background") == 4 * 1'000 * 33);  // four buses, 1 ns: 33 mW are 33 fJ a ps
    CHECK(ledger.total() == Femtojoules(9'000 + 9'000 + 560 + 90'000 + 132'000));
}

TEST_CASE("the refresh that a policy gives is the one that is entered") {
    DramSpec spec = measured();
    spec.refresh = RefreshPolicy::PerBank;
    CHECK(energy_of(ledger_of(spec), "refresh_bank") == 9'500);
    CHECK(energy_of(ledger_of(spec), "refresh") == -1);
    spec.refresh = RefreshPolicy::Off;
    CHECK(energy_of(ledger_of(spec), "refresh") == -1);
    CHECK(energy_of(ledger_of(spec), "refresh_bank") == -1);
}

TEST_CASE("without figures there is no entry, not a zero") {
    DramSpec spec = measured();
    spec.energy.reset();
    CHECK(ledger_of(spec).empty());
    spec = measured();
    spec.kind = DramSpec::Kind::Ideal;
    CHECK(ledger_of(spec).empty());
}

}  // namespace systole::test
