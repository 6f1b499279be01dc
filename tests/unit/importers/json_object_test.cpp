// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/json_object.h"

#include <catch2/catch.hpp>

using namespace systole;

namespace {

std::string refusal(const std::string& text) {
    try {
        const JsonObject object(text, "f.json");
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

/// What is said when a key is read as an extent.
std::string extent_refusal(const std::string& text) {
    JsonObject object(text, "f.json");
    object.extent("a");
    try {
        object.throw_if_any();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("keys of a JSON object have types, and those that are null are not there") {
    JsonObject object(R"({"a": 3, "b": true, "c": "x", "d": null})", "f.json");
    CHECK(object.extent("a") == 3);
    CHECK(object.extent("d", 7) == 7);
    CHECK(object.flag("b", false));
    CHECK(object.flag("d", true));
    CHECK(object.text("c", "") == "x");
    CHECK(object.text("d", "y") == "y");
    CHECK(!object.has("d"));
    CHECK(object.states("d"));
    CHECK(!object.states("z"));
    CHECK_NOTHROW(object.throw_if_any());
}

TEST_CASE("a key that holds something else is a mistake at its place") {
    CHECK(extent_refusal("{\n  \"b\": 1,\n  \"a\": 0\n}") ==
          "f.json:3:3: error: 'a' must be a whole number from 1 to 2147483647, not 0");
    for (const char* value :
         {"-1", "1.5", "\"1\"", "[1]", "2147483648", "18446744073709551615", "1e3", "true"})
        CHECK_THAT(extent_refusal(std::string("{\"a\": ") + value + "}"),
                   Catch::Contains("f.json:1:2: error: 'a'"));
    CHECK(extent_refusal("{\"b\": 1}") == "f.json:1:1: error: 'a' is missing");
}

TEST_CASE("what is no JSON object is refused at its place") {
    CHECK_THAT(refusal(""), Catch::Contains("f.json:1:1: error: this is no JSON"));
    CHECK_THAT(refusal("{\"a\": 1,\n  \"b\": }"), Catch::Contains("f.json:2:8: error: this is no JSON"));
    CHECK_THAT(refusal("{\"a\": 1"), Catch::Contains("error: this is no JSON"));
    CHECK_THAT(refusal("[1]"), Catch::Contains("f.json:1:1: error: expected an object"));
    CHECK_THAT(refusal("{\"a\": 1,\n \"a\": 2}"), Catch::Contains("error: 'a' is there twice"));
    CHECK_THAT(refusal("{\"a\": \"\xFF\"}"), Catch::Contains("this is no JSON"));
    CHECK_THAT(refusal(std::string("{\0}", 3)), Catch::Contains("this is no JSON"));
    for (const char* number : {"1e999", "-1e400"})
        CHECK(refusal(std::string("{\"a\": ") + number + "}") ==
              "f.json:1:1: error: a number in it is too large to be read");
    CHECK(refusal("{\"a\": {\"b\": 1}, \"c\": {\"b\": 2}}").empty());
}

TEST_CASE("a million brackets are refused as too deep") {
    const std::string many(1'000'000, '[');
    CHECK_THAT(refusal("{\"a\": " + many), Catch::Contains("f.json:"));
    CHECK_THAT(refusal("{\"a\": " + many + std::string(1'000'000, ']') + "}"),
               Catch::Contains("nested deeper than 64"));
}
