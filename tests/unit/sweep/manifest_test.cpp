// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/manifest.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using test::complaint;

namespace {

std::string mistake(const std::string& text) {
    return complaint([&] { Manifest::parse(text, "m.csv"); });
}

}  // namespace

TEST_CASE("a manifest is a table of which every line is a point", "[manifest]") {
    Manifest manifest({"a.x", "alpha:a.y", "area"});
    manifest.add({"0123456789abcdef", "alpha", "net", {"1", "2", "3"}});
    CHECK(manifest.text() == "id,device,trace,a.x,alpha:a.y,area\n0123456789abcdef,alpha,net,1,2,3\n");
    CHECK(manifest.size() == 1);
    CHECK(manifest.id(0) == "0123456789abcdef");
}

TEST_CASE("hostile cells come back from a manifest as they were", "[manifest]") {
    const std::vector<std::string> cells{"",    ",",      "\"",     "a,\"b\",c",        "größe ≤ 4",
                                         " a ", "\"\"\"", "[a, b]", "cr\rin",           "=1+2",
                                         "'",   "\t",     "id",     "\xF0\x9F\x92\xA5", "0123456789abcdef,"};
    for (unsigned seed = 1; seed <= 50; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const auto any = [&] { return cells[random() % cells.size()]; };
        std::vector<std::string> columns(1 + random() % 4);
        for (std::string& each : columns) each = any();
        Manifest manifest(columns);
        std::vector<Point> points;
        for (unsigned i = 0; i < 5; ++i) {
            points.push_back({fmt::format("{:016x}", random()), any(), any(), columns});
            for (std::string& each : points.back().values) each = any();
            manifest.add(points.back());
        }
        const Manifest again = Manifest::parse(manifest.text(), "m.csv");
        REQUIRE(again.columns() == columns);
        REQUIRE(again.size() == points.size());
        REQUIRE(again.text() == manifest.text());
        for (std::size_t i = 0; i < points.size(); ++i) {
            const Point point = again.point(i);
            CHECK(again.id(i) == points[i].id);
            CHECK(point.id == points[i].id);
            CHECK(point.device == points[i].device);
            CHECK(point.trace == points[i].trace);
            CHECK(point.values == points[i].values);
        }
    }
}

TEST_CASE("a point sets the keys that concern its device", "[manifest]") {
    Manifest manifest({"a.x", "alpha:a.y", "dir:b/beta.yaml:a.y", "area"});
    const std::vector<Setting> of_alpha = manifest.settings({"", "alpha", "", {"1", "2", "", "9"}});
    CHECK(of_alpha == std::vector<Setting>{{"a.x", "1", {}}, {"a.y", "2", {}}});
    const std::vector<Setting> of_beta = manifest.settings({"", "dir:b/beta.yaml", "", {"1", "", "", "9"}});
    CHECK(of_beta == std::vector<Setting>{{"a.x", "1", {}}, {"a.y", "", {}}});  // an empty value is one
    CHECK(of_alpha[1].where.file == "--set a.y");
}

TEST_CASE("a text that is no manifest is refused with its place", "[manifest]") {
    const std::string good = "id,device,trace,a.x\n0123456789abcdef,alpha,net,1\n";
    CHECK(mistake(good) == "fine");
    CHECK(mistake("") == "m.csv: error: the manifest ends in the middle of a line");
    CHECK(mistake(good + "0123456789abcdef,al") == "m.csv: error: the manifest ends in the middle of a line");
    CHECK(mistake("device,trace,id\n") ==
          "m.csv:1:1: error: expected a manifest, which begins with 'id,device,trace'");
    CHECK(mistake("id\n").find("expected a manifest") != std::string::npos);
    CHECK(mistake("\n\n").find("expected a manifest") != std::string::npos);
    CHECK(mistake(good + "0123,alpha,net,1\n") == "m.csv:3:1: error: expected an id of 16 digits");
    CHECK(mistake(good + "\n") == "m.csv:3:1: error: expected an id of 16 digits");
    CHECK(mistake("id,device,trace\n\"a\n").find("m.csv") != std::string::npos);
}

TEST_CASE("a line of too many cells is refused when it is asked for", "[manifest]") {
    const Manifest manifest =
        Manifest::parse("id,device,trace,a.x\n0123456789abcdef,alpha,net,1,2\n", "m.csv");
    CHECK(complaint([&] { manifest.point(0); }) == "m.csv:2:1: error: expected 4 cells");
}
