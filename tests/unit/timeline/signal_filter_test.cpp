// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/signal_filter.h"

#include <catch2/catch.hpp>
#include <random>

#include "sim/base/error.h"

namespace systole {
namespace {

/// By definition, letter by letter: exponential, and obviously right.
bool slow_match(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    if (pattern[0] == '*')
        return slow_match(pattern.substr(1), text) || (!text.empty() && slow_match(pattern, text.substr(1)));
    return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
           slow_match(pattern.substr(1), text.substr(1));
}

std::string complaint(const std::vector<std::string>& patterns, const std::vector<std::string>& paths) {
    SignalFilter filter(patterns);
    for (const std::string& path : paths) filter.offer(path);
    try {
        filter.require_matches();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

const std::vector<std::string> kPaths{"tpu.clock", "tpu.mxu0.pe_0_0.sum", "tpu.mxu0.pe_0_1.sum",
                                      "tpu.load.queue"};

}  // namespace

TEST_CASE("patterns match as their definition says, letter by letter") {
    std::mt19937_64 random(7);
    const auto word = [&](std::string_view letters, std::size_t longest) {
        std::string made(random() % (longest + 1), ' ');
        for (char& c : made) c = letters[random() % letters.size()];
        return made;
    };
    int matched = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::string pattern = word("ab.*?*", 8), text = word("ab.", 8);
        INFO("'" << pattern << "' on '" << text << "'");
        REQUIRE(matches_pattern(pattern, text) == slow_match(pattern, text));
        matched += matches_pattern(pattern, text);
    }
    CHECK(matched > 1000);
}

TEST_CASE("a pattern of many stars is quick on a long path") {
    std::string pattern;
    for (int i = 0; i < 500; ++i) pattern += "*a";
    CHECK_FALSE(matches_pattern(pattern + "b", std::string(5000, 'a')));
}

TEST_CASE("without patterns every signal is wanted; with several, what any of them matches") {
    CHECK(SignalFilter({}).wants("tpu.clock"));
    const SignalFilter filter({"*.sum", "tpu.c*"});
    CHECK(filter.wants("tpu.clock"));
    CHECK(filter.wants("tpu.mxu0.pe_0_1.sum"));
    CHECK_FALSE(filter.wants("tpu.load.queue"));
}

TEST_CASE("every pattern that matches nothing is named, with what was near") {
    CHECK(complaint({"*"}, kPaths).empty());
    CHECK(complaint({"*.sun"}, kPaths) ==
          "--signals *.sun: error: matches no signal; no signal is called 'sun' (did you mean 'sum'?); "
          "--list-signals shows what there is");
    CHECK_THAT(complaint({"tpu.mxu0.pe_0_7.sum"}, kPaths), Catch::Contains("did you mean 'tpu.mxu0.pe_0_"));
    CHECK_THAT(complaint({"mxu0.pe_0_1.sum"}, kPaths),
               Catch::Contains("'tpu.mxu0.pe_0_1.sum': did you mean '*mxu0.pe_0_1.sum*'?"));
    const std::string both = complaint({"x", "*.clock", "y"}, kPaths);
    CHECK(std::count(both.begin(), both.end(), '\n') == 1);
}

}  // namespace systole
