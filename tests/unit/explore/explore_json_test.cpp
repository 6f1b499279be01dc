// SPDX-License-Identifier: Apache-2.0
#include "sim/app/explore_json.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace systole::app {

TEST_CASE("base64 is that of RFC 4648's own examples", "[explore]") {
    CHECK(base64("").empty());
    CHECK(base64("f") == "Zg==");
    CHECK(base64("fo") == "Zm8=");
    CHECK(base64("foo") == "Zm9v");
    CHECK(base64("foob") == "Zm9vYg==");
    CHECK(base64("fooba") == "Zm9vYmE=");
    CHECK(base64("foobar") == "Zm9vYmFy");
    CHECK(base64("\xff\xfe\xfb") == "//77");
}

TEST_CASE("numbers take the smallest type that holds them all, lowest byte first", "[explore]") {
    CHECK(packed({}).dump() == R"({"type":"i8","data":""})");
    CHECK(packed({-128, 127}).dump() == R"({"type":"i8","data":"gH8="})");           // 80 7f
    CHECK(packed({128}).dump() == R"({"type":"i16","data":"gAA="})");                // 80 00
    CHECK(packed({-129, 1}).dump() == R"({"type":"i16","data":"f/8BAA=="})");        // 7f ff 01 00
    CHECK(packed({-32768, 32767}).dump() == R"({"type":"i16","data":"AID/fw=="})");  // 00 80 ff 7f
    CHECK(packed({32768, -1}).dump() ==
          R"({"type":"i32","data":"AIAAAP////8="})");  // 00 80 00 00 ff ff ff ff
    CHECK(packed({-2147483647 - 1}).dump() == R"({"type":"i32","data":"AAAAgA=="})");  // 00 00 00 80
}

}  // namespace systole::app
