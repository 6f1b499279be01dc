// SPDX-License-Identifier: Apache-2.0
// `extends` and `preset`.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/unit/config/support.h"

using namespace systole;
using namespace systole::config;
using test::complaint;
using test::load;

namespace {

std::int64_t count(Config& config, const char* section, const char* key) {
    return config.root().section(section).count(key, "", {});
}

}  // namespace

TEST_CASE("the nearest document wins, through several", "[documents]") {
    Config config =
        load("device: Mine\nextends: middle\nmxu: {rows: 1}",
             {{"middle", "device: Middle\nextends: far\nmxu: {rows: 2, columns: 2}"},
              {"far", "device: Far\nmxu: {rows: 3, columns: 3, depth: {value: 3, sourced: 'p. 9'}}"}});
    CHECK(config.title() == "Mine");
    CHECK(count(config, "mxu", "rows") == 1);
    CHECK(count(config, "mxu", "columns") == 2);
    CHECK(count(config, "mxu", "depth") == 3);
    config.finish();
    const std::vector<Entry> entries = config.effective();
    CHECK(entries[1].where.file == "middle.yaml");
    CHECK(entries[2].origin == Origin::Sourced);
    CHECK(entries[2].note == "p. 9");
}

TEST_CASE("a preset fills a map, and the map's own keys win", "[documents]") {
    Config config =
        load("memory:\n  channels: 8\n  preset: hbm\n",
             {{"hbm", "memory: HBM\nextends: base\nchannels: 4\nbanks: 16"}, {"base", "ranks: 2\nbanks: 8"}});
    CHECK(count(config, "memory", "channels") == 8);
    CHECK(count(config, "memory", "banks") == 16);
    CHECK(count(config, "memory", "ranks") == 2);
    CHECK(config.title().empty());
    CHECK_NOTHROW(config.finish());
}

TEST_CASE("another preset drops what farther documents gave below its map", "[documents]") {
    Config config =
        load("extends: base\nmemory: {preset: ddr}",
             {{"base", "memory: {preset: hbm, channels: 8}"}, {"hbm", "stacks: 4"}, {"ddr", "ranks: 2"}});
    CHECK(count(config, "memory", "ranks") == 2);
    CHECK_FALSE(config.root().section("memory").has("channels"));
    CHECK_NOTHROW(config.finish());
}

TEST_CASE("a memory document is read alone, by its own title", "[documents]") {
    Config config = load("memory: HBM2\nchannels: 4");
    CHECK(config.title() == "HBM2");
    CHECK(config.root().count("channels", "", {}) == 4);
    CHECK_NOTHROW(config.finish());
    CHECK(config.effective_yaml() == "memory: HBM2\nschema: 1\nchannels: 4\n");
}

TEST_CASE("documents that build on each other in a circle are an error", "[documents]") {
    CHECK(complaint([] {
              load("extends: a", {{"a", "x: 1\nextends: b"}, {"b", "extends: a"}});
          }) == "b.yaml:1:10: error: 'extends: a' leads in a circle: a.yaml -> b.yaml -> a.yaml");
    CHECK(complaint([] {
              load("extends: a", {{"a", "memory: {preset: a}"}});
          }) == "a.yaml:1:18: error: 'preset: a' leads in a circle: a.yaml -> a.yaml");
}

TEST_CASE("documents that multiply are cut off", "[documents]") {
    test::Presets presets;
    for (int level = 0; level < 9; ++level)
        for (int i = 0; i < 10; ++i)
            presets[fmt::format("p{}", level)] += fmt::format("k{}: {{preset: p{}}}\n", i, level + 1);
    presets["p9"] = "x: 1";
    CHECK(complaint([&] {
              load("extends: p0", presets);
          }).find("more than 64 documents build on each other") != std::string::npos);
}

TEST_CASE("mistakes around documents are told with their place", "[documents]") {
    const auto nothing = [](Section) {};
    CHECK(test::reading("- 1", nothing) == "d.yaml:1:1: error: expected a map of keys, not a list");
    CHECK(test::reading("x: 1\nextends: none", nothing) == "d.yaml:2:10: error: no preset 'none'");
    CHECK(test::reading("extends: [a, b]", nothing) ==
          "d.yaml:1:10: error: 'extends' takes the name of one document");
    CHECK(test::reading("preset: a", nothing) ==
          "d.yaml:1:9: error: 'preset' stands inside a map; the document as a whole 'extends' another");
    CHECK(test::reading("m: {extends: a}", nothing) ==
          "d.yaml:1:5: error: 'extends' stands at the top of a document; a map takes 'preset'");
    CHECK(test::reading("extends: a\nmxu: 5", [](Section root) { root.section("mxu").count("rows", "", {}); },
                        {{"a", "mxu: {rows: 1}"}}) ==
          "d.yaml:2:6: error: mxu: is a map of keys, not one value; name a key in it, such as mxu.rows");
}
