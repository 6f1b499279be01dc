// SPDX-License-Identifier: Apache-2.0
#include "sim/base/schema.h"

#include <catch2/catch.hpp>

using namespace systole;

namespace {

constexpr Schema kLetters{"letter", "write it again", 2, 4};
constexpr Schema kCards{"card", "send another"};

}  // namespace

TEST_CASE("a number that is read has no complaint, at either end") {
    CHECK(schema_complaint(kLetters, 2).empty());
    CHECK(schema_complaint(kLetters, 4).empty());
    CHECK(schema_complaint(kCards, 1).empty());
}

TEST_CASE("a newer number says what is read and what to do") {
    CHECK(schema_complaint(kLetters, 5) ==
          "letter/5 was written by or for a newer systole; this one reads "
          "letter/2..4: take a newer one, or write it again");
    CHECK(schema_complaint(kCards, 2) ==
          "card/2 was written by or for a newer systole; this one reads card/1: take a newer one, or send "
          "another");
}

TEST_CASE("a number that is no longer read says so") {
    CHECK(schema_complaint(kLetters, 1) ==
          "letter/1 is not read any more; this systole reads letter/2..4: write it again");
}

TEST_CASE("renamed keys lead from an old schema to one that is there") {
    for (const Rename& rename : renamed_keys()) {
        CHECK(rename.since > 1);
        CHECK(rename.from != rename.to);
    }
}
