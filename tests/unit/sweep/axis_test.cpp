// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/axis.h"

#include <catch2/catch.hpp>

#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using systole::sweep::test::complaint;

namespace {

using Texts = std::vector<std::string>;

std::vector<Axis> read(const std::string& text) {
    return read_axes(config::parse_yaml(text, "a.yaml"), {"alpha", "dir:x/beta.yaml"});
}

std::string mistake(const std::string& text) {
    return complaint([&] { read(text); });
}

const std::string kForms =
    "expected a list of values, {linear: [FROM, TO, COUNT]}, {log2: [FROM, TO]} or {zip: {PATH: …, PATH: …}}";

}  // namespace

TEST_CASE("axes are lists and ranges, in the file's order", "[axis]") {
    const std::vector<Axis> axes = read(
        "z.b: [3, 1, 2]\na.x: {linear: [1, 9, 3]}\nm.y: {log2: [1 KiB, 4 KiB]}\ns.p: {linear: [1, 2.5]}");
    REQUIRE(axes.size() == 4);
    CHECK(axes[0].columns[0].path == "z.b");
    CHECK(axes[0].columns[0].values == Texts{"3", "1", "2"});
    CHECK(axes[1].columns[0].values == Texts{"1", "5", "9"});
    CHECK(axes[2].columns[0].values == Texts{"1 KiB", "2 KiB", "4 KiB"});
    CHECK_FALSE(axes[0].span);
    REQUIRE(axes[3].span);
    CHECK(axes[3].span->from == "1");
    CHECK(axes[3].span->to == "2.5");
    CHECK(axes[3].size() == 0);
}

TEST_CASE("values and keys know their places", "[axis]") {
    const std::vector<Axis> axes = read("a.x: [1,\n  2]\nb.y: {log2: [1, 2]}");
    CHECK(to_string({axes[0].columns[0].where, ""}) == "a.yaml:1:1: error: ");
    REQUIRE(axes[0].columns[0].places.size() == 2);
    CHECK(to_string({axes[0].columns[0].places[1], ""}) == "a.yaml:2:3: error: ");
    CHECK(to_string({axes[1].columns[0].places[1], ""}) == "a.yaml:3:13: error: ");
}

TEST_CASE("values may be lists, quoted and of any letters", "[axis]") {
    const std::vector<Axis> axes = read("a.x: [[row, bank], [\"a, b\", '']]\nb.y: ['', 'ä, \"ö\"', ws]");
    CHECK(axes[0].columns[0].values == Texts{"[row, bank]", "[\"a, b\", \"\"]"});
    CHECK(axes[1].columns[0].values == Texts{"", "ä, \"ö\"", "ws"});
}

TEST_CASE("a zip moves several keys together", "[axis]") {
    const std::vector<Axis> axes =
        read("size: {zip: {a.x: [1, 2, 3], a.y: {linear: [9, 5, 3]}, 'alpha:b.z': [1, 1, 2]}}");
    REQUIRE(axes.size() == 1);
    REQUIRE(axes[0].columns.size() == 3);
    CHECK(axes[0].size() == 3);
    CHECK(axes[0].columns[1].values == Texts{"9", "7", "5"});
    CHECK(axes[0].columns[2].device == "alpha");
    CHECK(axes[0].columns[2].path == "b.z");
    CHECK(axes[0].columns[2].name() == "alpha:b.z");
}

TEST_CASE("a device stands before the last colon of a key", "[axis]") {
    const std::vector<Axis> axes = read("'dir:x/beta.yaml:a.x': [1]\nalpha:a.x: [1]");
    CHECK(axes[0].columns[0].device == "dir:x/beta.yaml");
    CHECK(axes[0].columns[0].path == "a.x");
    CHECK(axes[1].columns[0].name() == "alpha:a.x");
    CHECK(mistake("alhpa:a.x: [1]") ==
          "a.yaml:1:1: error: 'alhpa' is none of this experiment's devices "
          "(did you mean 'alpha'?)");
}

TEST_CASE("what is no axis is refused at its place", "[axis]") {
    CHECK(mistake("[1]") == "a.yaml:1:1: error: 'axes' must be a map of paths and values, not a list");
    CHECK(mistake("{}") == "a.yaml:1:1: error: 'axes' must be a map of paths and values, not empty");
    CHECK(mistake("a.x: 3") ==
          "a.yaml:1:6: error: '3' is one value, and an axis has several: write it below "
          "'set:', or as the list [3]");
    CHECK(mistake("a.x: []") == "a.yaml:1:6: error: the axis 'a.x' has no values; " + kForms);
    CHECK(mistake("a.x:") == "a.yaml:1:1: error: the axis 'a.x' has no values; " + kForms);
    CHECK(mistake("a.x: {}") == "a.yaml:1:6: error: the axis 'a.x' has no values; " + kForms);
    CHECK(mistake("a.x: {linaer: [1, 2, 2]}") ==
          "a.yaml:1:7: error: there is no range 'linaer' (did you mean 'linear'?); " + kForms);
    CHECK(mistake("a.x: [1, {b: 2}]") ==
          "a.yaml:1:10: error: expected a value, or a list of values for a key "
          "that takes one, not a map");
    CHECK(mistake("a.x: [1, ~]") ==
          "a.yaml:1:10: error: expected a value, or a list of values for a key that "
          "takes one, not nothing");
    CHECK(mistake("a.x: [[[1]]]").starts_with("a.yaml:1:7: error: expected a value"));
    CHECK(mistake("a.x: [\"1\\n2\"]") == "a.yaml:1:7: error: a value of an axis is one line");
}

TEST_CASE("ranges of a wrong form are refused at their place", "[axis]") {
    for (const char* range : {"[1, 2, 3, 4]", "[1]", "[]", "7", "{a: 1}", "[1, [2], 3]", "[1, ~, 3]"}) {
        INFO(range);
        CHECK(mistake(fmt::format("a.x: {{linear: {}}}", range)) ==
              "a.yaml:1:15: error: expected {linear: [FROM, TO, COUNT]}");
    }
    CHECK(mistake("a.x: {linear: }").find("expected {linear: [FROM, TO, COUNT]}") != std::string::npos);
    CHECK(mistake("a.x: {log2: [1, 2, 3]}") == "a.yaml:1:13: error: expected {log2: [FROM, TO]}");
    CHECK(mistake("a.x: {log2: [1, 3]}") ==
          "a.yaml:1:13: error: doubling 1 does not lead to 3; 4 would be next");
}

TEST_CASE("a value that comes twice and a key on two axes are mistakes", "[axis]") {
    CHECK(mistake("a.x: [1, 2, 1]") == "a.yaml:1:13: error: the axis 'a.x' has the value 1 twice");
    CHECK(mistake("s: {zip: {a.x: [1, 2]}}\na.x: [1]") == "a.yaml:2:1: error: 'a.x' is on two axes");
    CHECK(mistake("a.x: [1]\nalpha:a.x: [1]") == "fine");  // the experiment says more
}

TEST_CASE("mistakes of zips are told at their place", "[axis]") {
    CHECK(
        mistake("s: {zip: {a.x: [1, 2], a.y: [1, 2, 3]}}") ==
        "a.yaml:1:24: error: 'a.y' has 3 values and 'a.x' 2; those of a zip are taken together, so they must "
        "be as many");
    CHECK(mistake("s: {zip: {a.x: [1]}, other: 1}") ==
          "a.yaml:1:4: error: a zip has no other keys beside it");
    CHECK(mistake("s: {zip: [1, 2]}") ==
          "a.yaml:1:10: error: expected a map of paths and values to be taken together");
    CHECK(mistake("s: {zip: {}}").starts_with("a.yaml:1:10: error: expected a map of paths"));
    CHECK(mistake("s: {zip: }").find("expected a map of paths") != std::string::npos);
    CHECK(mistake("s: {zip: {a.x: {linear: [1, 2]}}}") ==
          "a.yaml:1:25: error: a range of a zip has steps: {linear: [FROM, TO, COUNT]}");
    CHECK(mistake("s: {zip: {a.x: {zip: {a.y: [1]}}}}") ==
          "a.yaml:1:17: error: a zip within a zip; put its keys beside the others");
}

TEST_CASE("paths are made of letters, digits, '_', '-' and '.'", "[axis]") {
    for (const char* path : {"a.x=4", "a x.y", "a.x,b", "ä.x", "a.x/y"}) {
        INFO(path);
        CHECK(mistake(fmt::format("'{}': [1]", path))
                  .starts_with(fmt::format("a.yaml:1:1: error: '{}' is no path of a key", path)));
    }
    CHECK(mistake("a_1.x-y.Z: [1]") == "fine");
}

TEST_CASE("every mistake of the axes is told at once", "[axis]") {
    CHECK(mistake("a.x: []\nb.x: 3\nc.x: {log2: [1, 3]}") ==
          "a.yaml:1:6: error: the axis 'a.x' has no values; " + kForms +
              "\na.yaml:2:6: error: '3' is one value, and an axis has several: write it below 'set:', or as "
              "the "
              "list [3]\na.yaml:3:13: error: doubling 1 does not lead to 3; 4 would be next");
}
