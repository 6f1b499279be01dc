// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/config/support.h"

using namespace systole;
using namespace systole::config;
using test::load;

namespace {

/// Loads `text` with every key read as text (or a list, for keys that start with 'l').
Config read_all(const std::string& text, const std::vector<std::string>& keys) {
    Config config = load(text);
    for (const std::string& key : keys) {
        if (key.starts_with('l'))
            config.root().section("deep").list(key, "");
        else
            config.root().section("deep").text(key, "");
    }
    config.finish();
    return config;
}

void check_same(const std::vector<Entry>& a, const std::vector<Entry>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        INFO(a[i].path);
        CHECK(a[i].path == b[i].path);
        CHECK(a[i].value == b[i].value);
        CHECK(a[i].origin == b[i].origin);
        CHECK(a[i].note == b[i].note);
        CHECK(a[i].range == b[i].range);
    }
}

}  // namespace

TEST_CASE("the effective configuration is written as a document", "[effective]") {
    Config config = load(
        "device: My TPU\nkind: systolic\nmxu:\n  rows: {value: 128, sourced: 'Jouppi: table 4'}\n"
        "  delay: {value: 40 ns, assumed: typical, range: 20..80 ns}\n  map: [row, 'a, b']\n");
    config.set("mxu.columns", "64");
    Section root = config.root();
    root.text("kind", "which model");
    root.section("mxu").count("rows", "", {});
    root.section("core").clock("clock", "", Hertz(1'050'000'000));
    root.section("mxu").count("columns", "", {});
    root.section("mxu").time("delay", "");
    root.section("mxu").list("map", "");
    config.finish();
    CHECK(config.effective_yaml() ==
          "device: My TPU\n"
          "schema: 1\n"
          "kind: systolic\n"
          "mxu:\n"
          "  rows: {value: 128, sourced: \"Jouppi: table 4\"}\n"
          "  columns: {value: 64, set: \"--set\"}\n"
          "  delay: {value: 40 ns, assumed: typical, range: 20..80 ns}\n"
          "  map: [row, \"a, b\"]\n"
          "core:\n"
          "  clock: {value: 1050 MHz, default: no file gives it}\n");
}

TEST_CASE("every origin survives being written and loaded again", "[effective]") {
    Config config = load(
        "device: 'T: \"x\" # y'\nplain: 1\na: {value: 2, sourced: s}\nb: {value: 3, derived: d}\n"
        "c: {value: 4, assumed: r, range: 1..9}\ncalibrated: {d: {value: 5, calibrated: m, range: 1..9}}\nl: "
        "[1, 2]\n");
    config.set("e", "6");
    config.set("m", "x,y");
    const auto read = [](Config& from) {
        Section root = from.root();
        for (const char* const key : {"plain", "a", "b", "c", "e"}) root.count(key, "", {});
        root.section("calibrated").count("d", "", {});
        root.count("f", "", {}, 7);
        root.list("l", "");
        root.list("m", "");
        from.finish();
    };
    read(config);
    Config again = load(config.effective_yaml());
    read(again);
    CHECK(again.title() == "T: \"x\" # y");
    check_same(config.effective(), again.effective());
    CHECK(again.effective_yaml() == config.effective_yaml());
}

TEST_CASE("any readable text survives as value, note and list item", "[effective]") {
    constexpr std::uint64_t kSeed = 5;
    INFO("seed " << kSeed);
    std::mt19937_64 random(kSeed);
    const std::vector<std::string> pieces{"a",  "Z",  "0",  " ",  ": ", ":",    "#",    " #",       "'",
                                          "\"", "\\", "\n", "\t", "[",  "]",    "{",    "}",        ",",
                                          "&",  "*",  "!",  "|",  ">",  "%",    "@",    "`",        "-",
                                          "- ", "?",  "? ", "~",  "..", "null", "\r\n", "\xC3\xA9", "="};
    const auto text = [&] {
        std::string result = pieces[random() % pieces.size()];
        for (auto n = random() % 12; n > 0; --n) result += pieces[random() % pieces.size()];
        return result;
    };
    for (int i = 0; i < 500; ++i) {
        // The first document is written by an obvious writer of our own: escape whatever is not a letter.
        const auto quote = [](const std::string& raw) {
            std::string quoted = "\"";
            for (const char c : raw) {
                char buffer[8];
                std::snprintf(buffer, sizeof buffer, "\\x%02x", static_cast<unsigned>(c));
                quoted += (c & 0x80) != 0 ? std::string(1, c) : std::string(buffer);
            }
            return quoted + '"';
        };
        const std::string plain = text(), noted = text(), note = text(), item = text();
        Config config = read_all("deep:\n  p: " + quote(plain) + "\n  n: {value: " + quote(noted) +
                                     ", sourced: " + quote(note) + "}\n  l: [" + quote(item) + ", x]\n",
                                 {"p", "n", "l"});
        INFO(config.effective_yaml());
        REQUIRE(config.effective()[0].value == plain);
        REQUIRE(config.effective()[1].note == note);
        Config again = read_all(config.effective_yaml(), {"p", "n", "l"});
        check_same(config.effective(), again.effective());
        CHECK(again.root().section("deep").list("l", "")[0] == item);
    }
}
