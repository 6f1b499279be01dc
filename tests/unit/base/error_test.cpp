// SPDX-License-Identifier: Apache-2.0
#include "sim/base/error.h"

#include <catch2/catch.hpp>

using namespace systole;

TEST_CASE("a diagnostic leaves out what is unknown of its place", "[error]") {
    CHECK(to_string(Diagnostic{{"a.yaml", 7, 10}, "wrong"}) == "a.yaml:7:10: error: wrong");
    CHECK(to_string(Diagnostic{{"a.yaml", 0, 0}, "wrong"}) == "a.yaml: error: wrong");
    CHECK(to_string(Diagnostic{{"--set mxu.rows", 0, 0}, "wrong"}) == "--set mxu.rows: error: wrong");
    CHECK(to_string(Diagnostic{{}, "wrong"}) == "systole: error: wrong");
}

TEST_CASE("a user error shows every diagnostic on its own line", "[error]") {
    const UserError error(std::vector<Diagnostic>{{{"a", 1, 2}, "x"}, {{"a", 3, 4}, "y"}});
    CHECK(std::string(error.what()) == "a:1:2: error: x\na:3:4: error: y");
    CHECK(error.diagnostics().size() == 2);
}

TEST_CASE("did you mean offers the nearest candidate and only a near one", "[error]") {
    const std::vector<std::string> names{"rows", "columns", "clock"};
    CHECK(did_you_mean("rwos", names) == " (did you mean 'rows'?)");  // a swap is one edit
    CHECK(did_you_mean("rxxs", names).empty());  // two edits away from a word of four letters
    CHECK(did_you_mean("row", names) == " (did you mean 'rows'?)");
    CHECK(did_you_mean("colums", names) == " (did you mean 'columns'?)");
    CHECK(did_you_mean("clocks", names) == " (did you mean 'clock'?)");
    CHECK(did_you_mean("weights", names).empty());
    CHECK(did_you_mean("", names).empty());
    CHECK(did_you_mean("rows", {}).empty());
    CHECK(did_you_mean(std::string(1'000'000, 'r'), names).empty());
}
