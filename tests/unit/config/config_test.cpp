// SPDX-License-Identifier: Apache-2.0
#include "sim/config/config.h"

#include <catch2/catch.hpp>

#include "tests/unit/config/support.h"

using namespace systole;
using namespace systole::config;
using test::load;
using test::reading;

TEST_CASE("each getter reads its kind", "[config]") {
    Config config = load(
        "device: Mine\nrows: 128\nclock: 1.05 GHz\nspace: 24 MiB\nlink: 900 GB/s\ndelay: 700 ns\nshare: 0.8\n"
        "double: on\nname: 'a: b'\norder: columns\nmap: [row, bank]\n");
    Section root = config.root();
    CHECK(config.title() == "Mine");
    CHECK(root.count("rows", "", {}) == 128);
    CHECK(root.clock("clock", "") == Hertz(1'050'000'000));
    CHECK(root.bytes("space", "") == Bytes(25'165'824));
    CHECK(root.bandwidth("link", "") == BytesPerSecond(900'000'000'000));
    CHECK(root.time("delay", "") == Ticks(700'000));
    CHECK(root.energy("event", "", Femtojoules(1'500)) == Femtojoules(1'500));
    CHECK(root.power("idle", "", Milliwatts(33)) == Milliwatts(33));
    CHECK(root.number("share", "", 0, 1) == 0.8);
    CHECK(root.flag("double", ""));
    CHECK(root.text("name", "") == "a: b");
    CHECK(root.choice("order", "", {"rows", "columns"}) == 1);
    CHECK(root.list("map", "") == std::vector<std::string>{"row", "bank"});
    CHECK_NOTHROW(config.finish());
}

TEST_CASE("a missing key takes its default", "[config]") {
    Config config = load("device: Mine\n");
    Section mxu = config.root().section("mxu");
    CHECK(mxu.count("rows", "rows of the array", {}, 64) == 64);
    CHECK(mxu.clock("clock", "", Hertz(940'000'000)) == Hertz(940'000'000));
    CHECK(mxu.time("delay", "", Ticks(0)) == Ticks(0));
    CHECK(mxu.number("share", "", 0, 1, 0.25) == 0.25);
    CHECK_FALSE(mxu.flag("double", "", false));
    CHECK(mxu.list("map", "", std::vector<std::string>{}).empty());
    config.finish();
    REQUIRE(config.effective().size() == 6);
    const Entry rows = config.effective()[0];
    CHECK(rows.path == "mxu.rows");
    CHECK(rows.value == "64");
    CHECK(rows.origin == Origin::Default);
    CHECK(rows.meaning == "rows of the array");
}

TEST_CASE("a wrong value is told with its path and place", "[config]") {
    CHECK(reading("mxu:\n  clock: 1050\n", [](Section root) { root.section("mxu").clock("clock", ""); }) ==
          "d.yaml:2:10: error: mxu.clock: '1050' has no unit; expected a frequency such as '940 MHz'");
    CHECK(reading("rows: 24 MiB", [](Section root) { root.count("rows", "", {}); }) ==
          "d.yaml:1:7: error: rows: '24 MiB' is not a plain whole number; a count has no unit");
    CHECK(reading("rows: 0", [](Section root) { root.count("rows", "", {}); }) ==
          "d.yaml:1:7: error: rows: '0' is too small; the least is 1");
    CHECK(reading("fast: maybe", [](Section root) { root.flag("fast", ""); }) ==
          "d.yaml:1:7: error: fast: 'maybe' is not 'on' or 'off'");
    CHECK(reading("order: colums", [](Section root) {
              root.choice("order", "", {"rows", "columns"});
          }) == "d.yaml:1:8: error: order: 'colums' is not one of rows, columns (did you mean 'columns'?)");
    CHECK(reading("rows: [1, 2]", [](Section root) { root.count("rows", "", {}); }) ==
          "d.yaml:1:7: error: rows: expected one value, found the list [1, 2]");
    CHECK(reading("map: row", [](Section root) { root.list("map", ""); }) ==
          "d.yaml:1:6: error: map: expected a list such as [a, b], found 'row'");
    CHECK(reading("map: [a, [b]]", [](Section root) { root.list("map", ""); }) ==
          "d.yaml:1:10: error: map: expected a list of plain values, found a list");
    CHECK(reading("rows:\n", [](Section root) { root.count("rows", "", {}); }) ==
          "d.yaml:1:1: error: rows: has no value");
}

TEST_CASE("keys that are missing, unknown or of the wrong shape are told", "[config]") {
    const auto rows = [](Section root) { root.section("mxu").count("rows", "rows of the array", {}); };
    CHECK(reading("mxu: {}", rows) == "d.yaml:1:6: error: mxu.rows: is missing (rows of the array)");
    CHECK(reading("device: x", rows) == "d.yaml: error: mxu.rows: is missing (rows of the array)");
    CHECK(reading("mxu:\n  rows: 1\n  row: 2\n", rows) ==
          "d.yaml:3:8: error: unknown key 'mxu.row' (did you mean 'mxu.rows'?)");
    CHECK(reading("mxu: {rows: 1}\nzebra: 1", rows) == "d.yaml:2:8: error: unknown key 'zebra'");
    CHECK(reading("mxu: {rows: {a: 1}}", rows) ==
          "d.yaml:1:13: error: mxu.rows: expected one value, found a map (rows of the array)\n"
          "d.yaml:1:17: error: unknown key 'mxu.rows.a' (did you mean 'mxu.rows'?)");
    CHECK(reading("mxu: 5", rows) ==
          "d.yaml: error: mxu.rows: is missing (rows of the array)\n"
          "d.yaml:1:6: error: mxu: expected a map of keys, found one value");
    CHECK(reading("mxu.rows: 5\nmxu: {rows: 1}", rows) ==
          "d.yaml:1:1: error: key 'mxu.rows' is empty or holds a '.'; nest maps instead");
}

TEST_CASE("all mistakes of a file are told at once, in order of place", "[config]") {
    CHECK(reading(
              "a: x\nb: 1\nc: y\n",
              [](Section root) {
                  CHECK(root.count("c", "", {3, 9}) == 3);  // the lowest legal value, so that reading goes on
                  CHECK(root.count("a", "", {}, 7) == 7);
                  root.fail("b", "is not twice c");
                  root.count("b", "", {});
              }) ==
          "d.yaml:1:4: error: a: 'x' is not a whole number\n"
          "d.yaml:2:4: error: b: is not twice c\n"
          "d.yaml:3:4: error: c: 'y' is not a whole number");
}

TEST_CASE("the origin of a leaf is one, said, and complete", "[config]") {
    const auto rows = [](Section root) { root.count("rows", "", {}); };
    CHECK(reading("rows: {value: 1, sourced: 'p. 4'}", rows) == "fine");
    CHECK(reading("rows: {value: 1}", rows) ==
          "d.yaml:1:7: error: rows: has no origin; expected one of 'sourced', 'derived', 'assumed' or "
          "'calibrated'");
    CHECK(reading("rows: {value: 1, sourced: a, derived: b}", rows) ==
          "d.yaml:1:7: error: rows: has several origins; expected one of 'sourced', 'derived', 'assumed' or "
          "'calibrated'");
    CHECK(reading("rows: {value: 1, sorced: a, derived: b}", rows) ==
          "d.yaml:1:18: error: rows: unknown key 'sorced' beside 'value' (did you mean 'sourced'?)");
    CHECK(reading("rows: {value: 1, sourced: }", rows) == "d.yaml:1:18: error: rows.sourced: expected text");
    CHECK(reading("rows: {sourced: a}", rows) ==
          "d.yaml: error: rows: is missing ()\n"
          "d.yaml:1:7: error: rows: has an origin but no 'value'");
    CHECK(reading("rows: {value: {a: 1}, sourced: b}", rows) ==
          "d.yaml:1:15: error: rows: the value is a map; expected a plain value or a list");
    CHECK(reading("rows: {value: 1, assumed: a}", rows) ==
          "d.yaml:1:7: error: rows: 'assumed' needs a 'range' of plausible values");
    CHECK(reading("rows: {value: 1, calibrated: a, range: 1..2}", rows) ==
          "d.yaml:1:7: error: rows: 'calibrated' values stand only below the key 'calibrated'");
    CHECK(reading("calibrated: {rate: {value: 0.9, calibrated: a, range: 0.8..1.0}}",
                  [](Section root) { root.section("calibrated").number("rate", "", 0, 1); }) == "fine");
}

TEST_CASE("a range encloses its value", "[config]") {
    const auto delay = [](Section root) { root.time("delay", ""); };
    CHECK(reading("delay: {value: 40 ns, assumed: a, range: 20 ns..1 us}", delay) == "fine");
    CHECK(reading("delay: {value: 40 ns, assumed: a, range: 20..80 ns}", delay) == "fine");
    CHECK(reading("delay: {value: 40 ns, assumed: a, range: 50..80 ns}", delay) ==
          "d.yaml:1:16: error: delay: '40 ns' lies outside its own range '50..80 ns'");
    CHECK(reading("delay: {value: 40 ns, assumed: a, range: 20 ns}", delay) ==
          "d.yaml:1:16: error: delay: range '20 ns' is not of the form 'low..high'");
    CHECK(reading("delay: {value: 40 ns, assumed: a, range: 20..80}", delay) ==
          "d.yaml:1:16: error: delay: range '20..80': '20' has no unit; expected a time such as '700 ns'");
}

TEST_CASE("--set overrides a file, a default, and nothing else", "[config]") {
    Config config = load("mxu: {rows: {value: 128, sourced: a}}");
    config.set("mxu.rows", "64");
    config.set("mxu.columns", "32");
    config.set("mxu.map", "row, bank");
    Section mxu = config.root().section("mxu");
    CHECK(mxu.count("rows", "", {}) == 64);
    CHECK(mxu.count("columns", "", {}, 1) == 32);
    CHECK(mxu.list("map", "") == std::vector<std::string>{"row", "bank"});
    CHECK_NOTHROW(config.finish());
    CHECK(config.effective()[0].origin == Origin::CommandLine);
}

TEST_CASE("a wrong --set is told by its path", "[config]") {
    const auto setting = [](const std::string& path, const std::string& value) {
        return test::complaint([&] {
            Config config = load("mxu: {rows: 128}");
            config.set(path, value);
            config.root().section("mxu").count("rows", "", {});
            config.finish();
        });
    };
    CHECK(setting("mxu.rows", "many") == "--set mxu.rows: error: mxu.rows: 'many' is not a whole number");
    CHECK(setting("mxu.row", "1") ==
          "--set mxu.row: error: unknown key 'mxu.row' (did you mean 'mxu.rows'?)");
    CHECK(setting("mxu", "1") ==
          "--set mxu: error: mxu: is a map of keys, not one value; name a key in it, such as mxu.rows");
    CHECK(setting("mxu.rows.x", "1") ==
          "--set mxu.rows.x: error: mxu.rows.x: mxu.rows is one value, not a map of keys");
    CHECK(setting("mxu.rows", "") == "--set mxu.rows: error: mxu.rows: has no value");
    CHECK(setting("mxu..rows", "1") == "--set mxu..rows: error: expected a path such as 'mxu.rows'");
    CHECK(setting("extends", "x") ==
          "--set extends: error: what a document extends is chosen in its file, not with --set");
    CHECK(setting("mxv.preset", "x") == "--set mxv.preset: error: there is no map 'mxv'");
    CHECK(setting("mxu.rows", "\x01") == "--set mxu.rows: error: holds a byte that is not readable text");
}

TEST_CASE("keys come in file order and may be asked for", "[config]") {
    Config config = load("rate: {int8: 2, bf16: 1, a-b: 1, deep: {x: 1, y: 2}}\nempty: {}");
    const Section rate = config.root().section("rate");
    CHECK(rate.keys() == std::vector<std::string>{"int8", "bf16", "a-b", "deep"});
    CHECK(rate.has("deep"));
    CHECK(rate.has("int8"));
    CHECK_FALSE(rate.has("int"));
    CHECK(config.root().has("empty"));
    CHECK(config.root().keys() == std::vector<std::string>{"rate"});
}

TEST_CASE("what --set gives can be told from what files give", "[config]") {
    Config config = load("rate: {int8: 2, bf16: 1}");
    CHECK_FALSE(config.root().section("rate").is_set("int8"));
    config.set("rate.int8", "4");
    config.set("rate.fp16", "1");
    const Section rate = config.root().section("rate");
    CHECK(rate.is_set("int8"));
    CHECK(rate.is_set("fp16"));
    CHECK_FALSE(rate.is_set("bf16"));
    CHECK_FALSE(rate.is_set("fp8"));
    CHECK_FALSE(config.root().is_set("rate"));
}
