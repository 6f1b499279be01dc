// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <random>

#include "tests/unit/config/support.h"

using namespace systole;
using namespace systole::config;

namespace {

std::string mistake(const std::string& text) {
    return test::complaint([&] { parse_yaml(text, "f.yaml"); });
}

std::string repeat(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
}

}  // namespace

TEST_CASE("every value and key knows its place", "[yaml]") {
    const YamlNode root = parse_yaml("# title\nmxu:\n  rows: 128\n  map: [a, 'b c']\nnone:\n", "f.yaml");
    REQUIRE(root.kind == YamlNode::Kind::Map);
    REQUIRE(root.entries.size() == 2);
    const YamlNode* mxu = root.find("mxu");
    REQUIRE(mxu != nullptr);
    CHECK(root.entries[0].where.line == 2);
    CHECK(root.entries[0].where.column == 1);
    const YamlNode* rows = mxu->find("rows");
    REQUIRE(rows != nullptr);
    CHECK(rows->scalar == "128");
    CHECK_FALSE(rows->quoted);
    CHECK(rows->where.file == "f.yaml");
    CHECK(rows->where.line == 3);
    CHECK(rows->where.column == 9);
    const YamlNode* map = mxu->find("map");
    REQUIRE((map != nullptr && map->items.size() == 2));
    CHECK(map->items[1].scalar == "b c");
    CHECK(map->items[1].quoted);
    CHECK(root.find("none")->kind == YamlNode::Kind::Null);
    CHECK(root.find("other") == nullptr);
}

TEST_CASE("a byte order mark and carriage returns do no harm", "[yaml]") {
    const YamlNode root = parse_yaml(
        "\xEF\xBB\xBF"
        "a: 1\r\nb: 2\r\n",
        "f.yaml");
    CHECK(root.find("a")->scalar == "1");
    CHECK(root.find("a")->where.column == 4);
    CHECK(root.find("b")->scalar == "2");
}

TEST_CASE("what yaml-cpp lets pass is refused with its place", "[yaml]") {
    CHECK(mistake("a: 1\nb: 2\na: 3") == "f.yaml:3:1: error: key 'a' is given twice; the first is at 1:1");
    CHECK(mistake("a: &x 1") == "f.yaml:1:4: error: an anchor ('&'); write the value out where it is needed");
    CHECK(mistake("a: &x 1\nb: *x") ==
          "f.yaml:1:4: error: an anchor ('&'); write the value out where it is needed\n"
          "f.yaml:2:4: error: an alias ('*'); write the value out");
    CHECK(mistake("a: &x {b: *x}").find("f.yaml:1:11: error: an alias") != std::string::npos);
    for (const char* const tagged : {"a: !!int 1", "a: ! 1", "a: !t [1]", "a: !!map {b: 1}", "a: !t"}) {
        INFO(tagged);
        CHECK(mistake(tagged) == "f.yaml:1:4: error: an explicit tag ('!'); types follow from the keys");
    }
    CHECK(mistake("a: 1\n---\nb: 1") == "f.yaml:2:1: error: a second document; a file holds one");
    CHECK(mistake("a: 1\n...\n") == "fine");
    CHECK(mistake("[a]: 1") == "f.yaml:1:1: error: a key must be text, not a list");
    CHECK(mistake("{a: 1}: 2") == "f.yaml:1:1: error: a key must be text, not a map");
    CHECK(mistake("~: 1") == "f.yaml:1:1: error: a key must be text, not nothing");
}

TEST_CASE("an empty document is refused", "[yaml]") {
    for (const char* const empty : {"", "\n", "# only this\n", "---\n", "~", "null"}) {
        INFO(empty);
        CHECK(mistake(empty) == "f.yaml: error: the document is empty");
    }
}

TEST_CASE("syntax mistakes are told with line, column and a hint", "[yaml]") {
    CHECK(mistake("a: b: c") ==
          "f.yaml:1:5: error: not valid YAML: illegal map value; a value that holds ': ' needs quotes");
    CHECK(mistake("x: 1\na: [1, 2") ==
          "f.yaml:2:1: error: not valid YAML: end of sequence flow not found; a '[' has no ']'");
    CHECK(mistake("a: *x") ==
          "f.yaml:1:4: error: not valid YAML: the referenced anchor is not defined; aliases are not allowed, "
          "text that starts with '*' needs quotes");
    CHECK(mistake("- a\nb: 1") == "f.yaml:2:1: error: this line continues neither a map nor a list above it");
    CHECK(mistake("a:\n\tb: 1") == "f.yaml:2:1: error: a tab in the indentation; use spaces");
    CHECK(mistake("a:\n  b: 1\n \tc: 1") == "f.yaml:3:2: error: a tab in the indentation; use spaces");
}

TEST_CASE("bytes that are not text are refused", "[yaml]") {
    CHECK(mistake("a: \xff") == "f.yaml:1:4: error: byte 0xff is not UTF-8");
    CHECK(mistake("a: \xC0\x80") == "f.yaml:1:4: error: byte 0xc0 is not UTF-8");
    CHECK(mistake("a: \xED\xA0\x80") == "f.yaml:1:4: error: byte 0xed is not UTF-8");
    CHECK(mistake("a: \xE2\x82") == "f.yaml:1:4: error: byte 0xe2 is not UTF-8");
    CHECK(mistake("a: \xF4\x90\x80\x80") == "f.yaml:1:4: error: byte 0xf4 is not UTF-8");
    CHECK(mistake("a: \xE2\x82\xAC \xF0\x9F\x98\x80") == "fine");
    CHECK(mistake(std::string("a: 1\nb\0: 2", 10)) == "f.yaml:2:2: error: control character 0x00");
    CHECK(mistake("a: \x04") == "f.yaml:1:4: error: control character 0x04");
    CHECK(mistake("a: x\ry: 2") == "f.yaml:1:5: error: control character 0x0d");
    CHECK(mistake("a: \"\\0\"") == "f.yaml:1:4: error: control character 0x00 in a quoted text");
}

TEST_CASE("nesting ends at 64 levels", "[yaml]") {
    CHECK(mistake(repeat("[", 64) + repeat("]", 64)) == "fine");
    CHECK(mistake(repeat("[", 65) + repeat("]", 65)) == "f.yaml:1:65: error: nested deeper than 64 levels");
    std::string indented;
    for (int i = 0; i < 1000; ++i) indented += std::string(i, ' ') + "a:\n";
    CHECK(mistake(indented) == "f.yaml:65:65: error: nested deeper than 64 levels");
    CHECK(mistake(repeat("- ", 100'000)).find("nested deeper than 64 levels") != std::string::npos);
    CHECK(mistake(repeat("? ", 100'000)).find("nested deeper than 64 levels") != std::string::npos);
    CHECK(mistake(repeat("{a: ", 9'000)).find("nested deeper than 64 levels") != std::string::npos);
}

TEST_CASE("a hundred thousand open brackets are one clean error", "[yaml]") {
    for (const char* const open : {"[", "{", "{a: ", "[\n"}) {
        INFO(open);
        CHECK(mistake(repeat(open, 100'000)).find("10001 brackets stay open") != std::string::npos);
    }
    CHECK(mistake("a: '" + repeat("[]", 100'000) + "'") == "fine");
}

TEST_CASE("files are read, and what cannot be read is said", "[yaml]") {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "systole_yaml_test.yaml";
    std::ofstream(file) << "a: 1\n";
    CHECK(load_yaml(file).find("a")->where.file == file.string());
    std::filesystem::resize_file(file, (std::uintmax_t{64} << 20) + 1);
    CHECK(test::complaint([&] { load_yaml(file); }) == file.string() + ": error: larger than 64 MiB");
    std::filesystem::remove(file);
    CHECK(test::complaint([&] { load_yaml(file); }) ==
          file.string() + ": error: cannot be opened; does it exist, and may you read it?");
    const std::filesystem::path folder = std::filesystem::temp_directory_path();
    CHECK(test::complaint([&] { load_yaml(folder); }) ==
          folder.string() + ": error: is a directory, not a file");
}

TEST_CASE("arbitrary text is parsed or refused", "[yaml]") {
    constexpr std::uint64_t kSeed = 3;
    INFO("seed " << kSeed);
    const std::vector<std::string> pieces{"a",   "b",     ": ",    ":",     "\n", "  ",  "- ", "? ",  "[",
                                          "]",   "{",     "}",     ",",     "'",  "\"",  "|",  "|\n", ">",
                                          "&a ", "*a",    "!t",    "!",     "#",  "\\",  "\t", "~",   "<<",
                                          "!<",  "%TAG ", "---\n", "...\n", "1",  "|2\n"};
    std::mt19937_64 random(kSeed);
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (auto n = random() % 40; n > 0; --n) text += pieces[random() % pieces.size()];
        INFO(text);
        CHECK_FALSE(mistake(text).empty());
    }
}
