// SPDX-License-Identifier: Apache-2.0
#include "sim/base/mistakes.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "tests/support/complaint.h"

using namespace systole;

namespace {

SourceMark at(int line, int column = 1) {
    return {"f", line, column};
}

}  // namespace

TEST_CASE("mistakes are told by their places, those of one place as they were found", "[mistakes]") {
    Mistakes mistakes;
    CHECK(mistakes.empty());
    CHECK_NOTHROW(mistakes.throw_if_any());
    mistakes.add(at(2), "last");
    mistakes.add(at(1, 7), "second");
    mistakes.add(UserError({{at(1, 2), "first"}, {at(1, 7), "third"}}));
    CHECK(mistakes.count() == 4);
    CHECK(complaint([&] { mistakes.throw_if_any(); }) ==
          "f:1:2: error: first\nf:1:7: error: second\nf:1:7: error: third\nf:2:1: error: last");
}

TEST_CASE("what an attempt throws is one mistake more, and reading goes on", "[mistakes]") {
    Mistakes mistakes;
    CHECK(mistakes.attempt([] {}));
    CHECK(mistakes.empty());
    CHECK_FALSE(mistakes.attempt([] { throw UserError(at(3), "wrong"); }));
    CHECK(complaint([&] { mistakes.throw_if_any(); }) == "f:3:1: error: wrong");
    CHECK_THROWS_AS(mistakes.attempt([] { throw std::logic_error("a fault of ours"); }), std::logic_error);
}

TEST_CASE("the hundredth mistake ends reading, within an attempt, too", "[mistakes]") {
    Mistakes mistakes;
    int added = 0;
    const auto read_on = [&] {
        for (int line = 1; line <= 1000; ++line) {
            ++added;
            mistakes.add(at(line), "wrong");
        }
    };
    std::vector<Diagnostic> thrown;
    try {
        mistakes.attempt(read_on);
    } catch (const UserError& error) {
        thrown = error.diagnostics();
    }
    CHECK(added == 100);
    REQUIRE(thrown.size() == 101);
    CHECK(thrown.front().where.line == 1);
    CHECK(thrown.back().message == "100 mistakes; the rest was not read");
}
