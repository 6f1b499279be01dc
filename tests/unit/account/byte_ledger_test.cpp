// SPDX-License-Identifier: Apache-2.0
#include "sim/account/byte_ledger.h"

#include <catch2/catch.hpp>

#include "tests/unit/account/aborts.h"

namespace systole {

TEST_CASE("a transfer is found at both of its ends, by layer and by operand") {
    ByteLedger ledger(2);
    ledger.enter(0, Place::Dram, Place::Scratchpad, Operand::Activations, Bytes(100));
    ledger.enter(0, Place::Dram, Place::Scratchpad, Operand::Activations, Bytes(11));
    ledger.enter(0, Place::Dram, Place::WeightFifo, Operand::Weights, Bytes(20));
    ledger.enter(1, Place::Scratchpad, Place::Dram, Operand::Outputs, Bytes(7));
    ledger.enter(1, Place::Dram, Place::Scratchpad, Operand::KvCache, Bytes(5));

    CHECK(ledger.moved(0, Place::Dram, Place::Scratchpad, Operand::Activations) == Bytes(111));
    CHECK(ledger.moved(0, Place::Scratchpad, Place::Dram, Operand::Activations) == Bytes(0));
    CHECK(ledger.moved(1, Place::Dram, Place::Scratchpad) == Bytes(5));
    CHECK(ledger.total(Place::Dram, Place::Scratchpad) == Bytes(116));
    CHECK(ledger.out_of(0, Place::Dram) == Bytes(131));
    CHECK(ledger.into(1, Place::Dram) == Bytes(7));
    CHECK(ledger.out_of(Place::Dram) == Bytes(136));
    CHECK(ledger.into(Place::Scratchpad) == Bytes(116));
    CHECK(ledger.into(Place::Host) == Bytes(0));
    CHECK(ledger.layers() == 2);
}

TEST_CASE("only cells that moved something are listed, in the order of the places") {
    ByteLedger ledger(2);
    ledger.enter(0, Place::Scratchpad, Place::Host, Operand::Outputs, Bytes(3));
    ledger.enter(0, Place::Host, Place::Dram, Operand::Activations, Bytes(2));
    ledger.enter(0, Place::Host, Place::Dram, Operand::Weights, Bytes(0));
    ledger.enter(1, Place::Host, Place::Dram, Operand::Activations, Bytes(40));

    const std::vector<Movement> first = ledger.movements(0), all = ledger.movements();
    REQUIRE(first.size() == 2);
    CHECK((first[0].from == Place::Host && first[0].to == Place::Dram && first[0].bytes == Bytes(2)));
    CHECK((first[1].operand == Operand::Outputs && first[1].bytes == Bytes(3)));
    REQUIRE(all.size() == 2);
    CHECK(all[0].bytes == Bytes(42));
}

TEST_CASE("a ledger starts empty and refuses other layers and negative bytes") {
    ByteLedger ledger(1);
    CHECK(ledger.movements().empty());
    CHECK(test::aborts([&] { ledger.enter(1, Place::Host, Place::Dram, Operand::Weights, Bytes(1)); }));
    CHECK(test::aborts([&] { ledger.enter(0, Place::Host, Place::Dram, Operand::Weights, Bytes(-1)); }));
    CHECK(test::aborts([&] { ledger.moved(1, Place::Host, Place::Dram); }));
}

}  // namespace systole
