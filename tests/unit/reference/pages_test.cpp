// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/reference/key_pages.h"
#include "sim/reference/key_schema.h"
#include "tests/unit/reference/support.h"

namespace systole::reference::test {
namespace {

using Catch::Matchers::Contains;
using config::Config;
using nlohmann::json;

std::vector<Key> kettle() {
    return keys_of({"{volume: 2 MiB, heater: {power: 2 kW}}"}, [](Config& config) {
        config.root().bytes("volume", "what it holds | at most", {1, 1 << 30});
        config.root().choice("plug", "of the wall", {"round", "64"}, 0);
        if (config.root().has("lid")) config.root().section("lid").flag("locks", "whether it locks");
        config.root().section("calibrated").number("share", "of the heat", 0.5, 1.0, 1.0);
    });
}

TEST_CASE("a page has a row for each key, and a heading for each section") {
    const std::string page = key_page({"Kettles", "Of all.\n"}, kettle());
    CHECK_THAT(page, Contains("# Kettles\n\nOf all.\n"));
    CHECK_THAT(page, Contains("| `volume` | a size, 1 B..1 GiB | **required** | what it holds \\| at most. | "
                              "1: `2 MiB` in a |"));
    CHECK_THAT(page, Contains("| `plug` | `round`, `64` | `round` | of the wall. | – |"));
    CHECK_THAT(page, Contains("## `lid`\n\nOptional."));
}

TEST_CASE("a schema has types, limits and names, and asks for what must be there") {
    const json schema = json::parse(key_schema({"A kettle", "kettle"}, kettle()));
    // A list, whichever compiler read its braces.
    REQUIRE(schema.at("allOf").is_array());
    CHECK(schema.at("allOf").at(0).at("$ref") == "#/$defs/document");
    const json& document = schema.at("$defs").at("document");
    const json& properties = document.at("properties");
    CHECK(properties.at("volume").at("anyOf")[0].at("pattern") ==
          "^(0|[1-9][0-9]*)(\\.[0-9]+)? *(B|kB|KiB|MB|MiB|GB|GiB|TB|TiB)$");
    CHECK(properties.at("plug").at("anyOf")[0].at("enum") == json({"round", "64", 64}));
    CHECK(document.at("then").at("required") == json({"volume"}));
    CHECK(document.at("then").at("properties").at("lid").at("then").at("required") == json({"locks"}));
    const json& share = properties.at("calibrated").at("properties").at("share");
    CHECK(share.at("anyOf")[0].at("minimum") == 0.5);
    CHECK(share.at("anyOf")[1].at("allOf")[0].at("$ref") == "#/$defs/calibrated");
    CHECK(properties.at("volume").at("anyOf")[1].at("allOf")[0].at("$ref") == "#/$defs/origin");
}

TEST_CASE("a document that is part of another one is asked for nothing") {
    const json schema = json::parse(key_schema({"A kettle", "kettle", false, true}, kettle()));
    CHECK(schema.at("$defs").at("document").at("then").empty());
}

}  // namespace
}  // namespace systole::reference::test
