// SPDX-License-Identifier: Apache-2.0
#include "sim/account/result_style.h"

#include <catch2/catch.hpp>
#include <set>

#include "sim/account/writers.h"
#include "tests/unit/account/sample_result.h"

using namespace systole;

TEST_CASE("every class has a colour of its own, which what is bound by it shares", "[account]") {
    std::set<int> colours;
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const auto slot_class = static_cast<SlotClass>(i);
        colours.insert(class_ink(slot_class).colour);
        const bool computes = i <= static_cast<std::size_t>(SlotClass::Ramp);
        if (!computes) CHECK(bound_ink(to_string(slot_class)) == class_ink(slot_class));
    }
    CHECK(colours.size() == kSlotClasses);
    CHECK(bound_ink("compute") == class_ink(SlotClass::Useful));
    CHECK(bound_ink("chips") == class_ink(SlotClass::Host));
    CHECK(bound_ink("none") == kPlain);
}

// The sample's layers: 37.5 % for 60 ns, 6.25 % for 40 ns.
TEST_CASE("utilization over time is the layers' averages, weighed where a part holds two of them",
          "[account]") {
    const DeviceResult result = test::sample_result();
    const auto check = [&](std::size_t bins, const std::vector<double>& expected) {
        CHECK_THAT(utilization_over_time(result, bins), Catch::Approx(expected));
    };
    check(10, {.375, .375, .375, .375, .375, .375, .0625, .0625, .0625, .0625});
    // The third of four parts has 10 ns of the first layer and 15 ns of the second.
    check(4, {.375, .375, .1875, .0625});
    check(1, {.25});
    check(0, {});
}

TEST_CASE("a terminal with pictures has a sparkline up to the highest utilization", "[account]") {
    TextStyle style;
    style.pictures = true;
    style.width = 56;
    CHECK_THAT(to_text(test::sample_result(), style),
               Catch::Contains("Utilization over time: ██████▂▂▂▂ (0 to 37.5 %, a bar is 10.00 ns)\n"));
    CHECK_THAT(to_text(test::sample_result()), !Catch::Contains("Utilization over time"));
}

TEST_CASE("a row's largest loss has its class's colour, and zeros are faint", "[account]") {
    TextStyle style;
    style.colour = true;
    const std::string text = to_text(test::sample_result(), style);
    // conv1 loses most to memory, fc to vector work; fc has no padding.
    CHECK_THAT(text, Catch::Contains(painted("40.0", class_ink(SlotClass::Memory), style)));
    CHECK_THAT(text, Catch::Contains(painted("62.5", class_ink(SlotClass::Vector), style)));
    CHECK_THAT(text, Catch::Contains(painted("0.0", kFaint, style)));
    CHECK_THAT(text, Catch::Contains(painted("vector", class_ink(SlotClass::Vector), style)));
}

TEST_CASE("a narrow terminal has fewer columns, says so, and keeps time, utilization and what bounds",
          "[account]") {
    TextStyle style;
    style.width = 60;
    const std::string text = to_text(test::sample_result(), style);
    const std::string table = text.substr(0, text.find("\n\n", text.find("total")));
    for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1) {
        const std::size_t end = table.find('\n', at);
        if (at > 0) CHECK(std::min(end, table.size()) - at <= 60);  // behind the title
        if (end == std::string::npos) break;
    }
    CHECK_THAT(text, Catch::Contains("Left out for the terminal's width of 60: "));
    CHECK_THAT(table, Catch::Contains("time") && Catch::Contains("util %") && Catch::Contains("bound by"));
    CHECK_THAT(to_text(test::sample_result()), !Catch::Contains("Left out"));
}
