// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.h"

#include <array>
#include <catch2/catch.hpp>

#include "tests/support/complaint.h"

using namespace systole;
using namespace systole::config;

namespace {

constexpr Schema kLetters{"letter", "write it again", 2, 4};
constexpr std::array<Rename, 3> kRenamed{Rename{"letter", 3, "stamp.prize", "stamp.price"},
                                         Rename{"letter", 4, "pages.tekst", "pages.text"},
                                         Rename{"card", 3, "pages", "sides"}};

std::string complaint_of(const std::string& text) {
    return complaint([&] { of_schema(parse_yaml(text, "a.yaml"), kLetters, kRenamed); });
}

}  // namespace

TEST_CASE("a document without a schema, or with one that is read, is read") {
    for (const char* text : {"to: you", "schema: 2\nto: you", "to: you\nschema: 4"})
        CHECK(complaint_of(text) == "fine");
    const YamlNode document = parse_yaml("to: you", "a.yaml");
    CHECK(&of_schema(document, kLetters) == &document);
}

TEST_CASE("a document of a schema that is not read is refused in one line, whatever else is wrong") {
    CHECK(complaint_of("to: you\nschema: 5\nstamp: {prize: 1}") ==
          "a.yaml:2:9: error: letter/5 was written by or for a newer systole; this one reads letter/2..4: "
          "take a "
          "newer one, or write it again");
    CHECK(complaint_of("schema: 1") ==
          "a.yaml:1:9: error: letter/1 is not read any more; this systole reads letter/2..4: write it again");
}

TEST_CASE("a schema that is no number is refused") {
    for (const char* text :
         {"schema: letter", "schema: ''", "schema:", "schema: [2]", "schema: {of: 2}", "schema: 2.0",
          "schema: 02", "schema: -2", "schema: 0", "schema: 99999999999999999999"})
        CHECK(complaint_of(text).find(
                  "error: schema: expected the number of the form that the document has, such as 4") !=
              std::string::npos);
}

TEST_CASE("every renamed key is told with its place and its new name, in lists, too") {
    CHECK(complaint_of("stamp:\n  prize: 1\npages:\n  - {text: a}\n  - {tekst: b}") ==
          "a.yaml:2:3: error: letter/2: key 'stamp.prize' was renamed 'stamp.price' in letter/3\n"
          "a.yaml:5:6: error: letter/3: key 'pages.tekst' was renamed 'pages.text' in letter/4");
}

TEST_CASE("a key of the same name elsewhere is none that was renamed") {
    CHECK(complaint_of("prize: 1\npages: [{prize: 2}]") == "fine");
}

TEST_CASE("configurations are told apart by the key of their title") {
    CHECK(configuration_schema("memory").name == "memory");
    CHECK(configuration_schema("cost").name == "cost");
    CHECK(configuration_schema("").name == "device");
}
