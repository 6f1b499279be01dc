// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page.h"

#include <catch2/catch.hpp>
#include <stdexcept>

using namespace systole::report;

namespace {

const std::string kPage =
    R"(<title>Systole</title><script id="data" type="application/json">null</script><script>draw()</script>)";

}  // namespace

TEST_CASE("a page takes its title and its data") {
    CHECK(fill_page(kPage, "tpu_v4, resnet50", R"({"a": 1})") ==
          R"(<title>tpu_v4, resnet50</title><script id="data" type="application/json">{"a": 1}</script>)"
          "<script>draw()</script>");
}

TEST_CASE("no name ends the element that it is in") {
    CHECK(
        fill_page(kPage, "</title><img onerror=x> & co",
                  R"(["</script><img src=x onerror=alert(1)>", "<!--"])") ==
        "<title>&lt;/title&gt;&lt;img onerror=x&gt; &amp; co</title>"
        R"(<script id="data" type="application/json">)"
        R"(["\u003c/script>\u003cimg src=x onerror=alert(1)>", "\u003c!--"]</script><script>draw()</script>)");
}

TEST_CASE("what looks like the place of data in a title is none") {
    const std::string page = fill_page(kPage, R"(<script id="data" type="application/json">)", "1");
    CHECK(page.find(R"(json">1</script>)") != std::string::npos);
}

TEST_CASE("a page without places for title and data is refused") {
    CHECK_THROWS_AS(fill_page("<html></html>", "t", "{}"), std::invalid_argument);
    CHECK_THROWS_AS(fill_page("<title>x</title>", "t", "{}"), std::invalid_argument);
}
