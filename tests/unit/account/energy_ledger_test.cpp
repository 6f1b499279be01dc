// SPDX-License-Identifier: Apache-2.0
#include "sim/account/energy_ledger.h"

#include <catch2/catch.hpp>
#include <limits>

#include "sim/base/error.h"

namespace systole {

TEST_CASE("an energy ledger sums events times energy each") {
    EnergyLedger ledger;
    CHECK(ledger.empty());
    CHECK(energy_sentence(ledger).empty());
    ledger.enter({"tpu.dram", "activate", "activates", "commands", 10, Femtojoules(900'000)});
    ledger.enter({"tpu.dram", "read", "read_bursts", "bursts", 20, Femtojoules(1'500'000)});
    ledger.enter({"tpu.link", "read", "reads", "packets", 1, Femtojoules(61'000'000)});
    CHECK(ledger.total() == Femtojoules(100'000'000));
    CHECK(ledger.entries()[1].energy() == Femtojoules(30'000'000));
    CHECK(energy_sentence(ledger) == "Energy 100.0 nJ: 91.0 % read, 9.0 % activate.");
}

TEST_CASE("events that took nothing are not named") {
    EnergyLedger ledger;
    ledger.enter({"tpu.dram", "write", "write_bursts", "bursts", 0, Femtojoules(900)});
    CHECK(energy_sentence(ledger) == "Energy 0 J.");
    ledger.enter({"tpu.dram", "read", "read_bursts", "bursts", 2, Femtojoules(500)});
    CHECK(energy_sentence(ledger) == "Energy 1.000 pJ: 100.0 % read.");
}

TEST_CASE("a sum beyond 64 bits is refused instead of wrapping") {
    EnergyLedger ledger;
    ledger.enter({"a", "b", "", "ps", std::numeric_limits<std::int64_t>::max(), Femtojoules(1)});
    CHECK_THROWS_AS(ledger.enter({"a", "b", "", "ps", 1, Femtojoules(1)}), UserError);
    CHECK_THROWS_AS(
        ledger.enter({"a", "b", "", "ps", std::numeric_limits<std::int64_t>::max(), Femtojoules(2)}),
        UserError);
    CHECK(ledger.entries().size() == 1);
}

}  // namespace systole
