// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/catalogue.h"

#include <catch2/catch.hpp>

#include "tests/unit/reference/support.h"

namespace systole::reference::test {
namespace {

using config::Config;
using config::Section;

/// A lamp: a choice that calls for keys, in which another one does; a table; a part that may be missing.
void read_lamp(Config& config) {
    Section root = config.root();
    root.count("watts", "what it draws", {1, 60}, 40);
    if (root.choice("light", "what glows", {"wire", "led"}, 0) == 1) {
        if (root.section("led").flag("dims", "whether it can be dimmed", false))
            root.section("led").time("ramp", "from dark to bright");
    } else {
        root.text("metal", "of the wire");
    }
    Section prices = root.section("prices");
    for (const std::string& shop : prices.keys()) prices.usd(shop, "what a shop wants");
    if (root.has("shade")) root.section("shade").text("colour", "of the shade");
    if (root.has("note")) root.text("note", "whatever there is to say");
}

const std::vector<std::string> kWire = {"{metal: tungsten, watts: 60}"};

TEST_CASE("keys are found with kind, limits, default and meaning, in the order of asking") {
    const std::vector<Key> keys = keys_of(kWire, read_lamp);
    CHECK(keys.front().asked.path == "watts");
    const Key& watts = key(keys, "watts");
    CHECK(watts.asked.kind == config::ValueKind::Count);
    CHECK(watts.asked.limits == "1..60");
    CHECK(watts.asked.fallback == "40");
    CHECK(watts.asked.meaning == "what it draws");
    CHECK_FALSE(watts.is_required);
    CHECK(key(keys, "metal").is_required);
}

TEST_CASE("a key is told with the documents that give it, not with those that leave its default") {
    const std::vector<Key> keys = keys_of({"{metal: tungsten, watts: 60}", "{metal: carbon}"}, read_lamp);
    REQUIRE(key(keys, "watts").uses.size() == 1);
    CHECK(key(keys, "watts").uses[0].document == "a");
    CHECK(key(keys, "watts").uses[0].value == "60");
    REQUIRE(key(keys, "metal").uses.size() == 2);
    CHECK(key(keys, "metal").uses[1].value == "carbon");
}

TEST_CASE("keys that only a choice calls for, and a choice among those, are found without a document") {
    const std::vector<Key> keys = keys_of(kWire, read_lamp);
    REQUIRE(has_key(keys, "led.ramp"));
    CHECK(key(keys, "led.dims").only_for("light") == std::vector<std::string>{"led"});
    CHECK(key(keys, "led.ramp").only_for("led.dims") == std::vector<std::string>{"on"});
    CHECK(key(keys, "metal").only_for("light") == std::vector<std::string>{"wire"});
    CHECK(key(keys, "watts").when.empty());
    CHECK(key(keys, "led.ramp").is_required);
}

TEST_CASE("what a reader only looks for is found: parts as optional sections, values as optional keys") {
    const std::vector<Key> keys = keys_of(kWire, read_lamp);
    CHECK(key(keys, "shade.colour").section == "shade");
    CHECK(key(keys, "shade.colour").is_required);
    CHECK(key(keys, "shade.colour").when.empty());
    CHECK_FALSE(key(keys, "note").is_required);
    CHECK(key(keys, "note").section.empty());
}

TEST_CASE("the keys of a table are one, with an entry of a document as its example") {
    const std::vector<Key> keys =
        keys_of({"{metal: tungsten, prices: {corner: 2 USD, mall: 3 USD}}"}, read_lamp);
    CHECK_FALSE(has_key(keys, "prices.corner"));
    const Key& price = key(keys, "prices.*");
    CHECK_FALSE(price.is_required);
    REQUIRE(price.uses.size() == 1);
    CHECK(price.uses[0].value == "corner: 2 USD");
}

TEST_CASE("what stands in a file for a choice's old value does not count for its new one") {
    const auto read = [](Config& config) {
        Section root = config.root();
        const bool lanes = root.choice("link", "how it is told", {"fixed", "lanes"}) == 1;
        if (lanes || root.has("lanes")) root.count("lanes", "of the link", {1, 16});
    };
    CHECK(key(keys_of({"{link: lanes, lanes: 4}"}, read), "lanes").only_for("link") ==
          std::vector<std::string>{"lanes"});
}

TEST_CASE("defaults and limits that follow from other keys say so") {
    const auto read = [](Config& config) {
        const std::int64_t queue = config.root().count("queue", "entries", {1, 100});
        config.root().count("high", "of them", {1, queue}, queue / 2);
    };
    const std::vector<Key> keys = keys_of({"{queue: 10}", "{queue: 20}"}, read);
    const Key& high = key(keys, "high");
    CHECK(high.default_follows);
    CHECK(high.limits_follow);
    CHECK_FALSE(key(keys_of({"{queue: 10}"}, read), "high").default_follows);
}

TEST_CASE("two readers that mean different things by one path make two keys") {
    const auto read = [](Config& config) {
        const bool clock = config.root().choice("kind", "what it is", {"clock", "lamp"}) == 0;
        config.root().count("hands", clock ? "that point" : "that hold it", {1, 3});
        if (!clock) config.root().flag("on", "whether it burns", false);
    };
    const std::vector<Key> keys = keys_of({"{kind: clock, hands: 3}"}, read);
    CHECK(std::ranges::count_if(keys, [](const Key& each) { return each.asked.path == "hands"; }) == 2);
    CHECK(key(keys, "hands").only_for("kind") == std::vector<std::string>{"clock"});
    CHECK(key(keys, "on").only_for("kind") == std::vector<std::string>{"lamp"});
}

TEST_CASE("a part that only one kind looks for is that kind's") {
    const auto read = [](Config& config) {
        const bool lamp = config.root().choice("kind", "what it is", {"clock", "lamp"}) == 1;
        if (lamp && config.root().has("shade")) config.root().section("shade").text("colour", "of the shade");
    };
    CHECK(key(keys_of({"{kind: clock}"}, read), "shade.colour").only_for("kind") ==
          std::vector<std::string>{"lamp"});
}

TEST_CASE("keys below a section lose its path, those beside it stay") {
    const std::vector<Key> keys = keys_of(kWire, read_lamp);
    const std::vector<Key> led = keys_below(keys, "led");
    REQUIRE(led.size() == 2);
    CHECK(led[0].asked.path == "dims");
    CHECK(led[1].only_for("dims") == std::vector<std::string>{"on"});
    CHECK(keys_below(keys, "shade")[0].section.empty());
    CHECK_FALSE(has_key(keys_beside(keys, {"led", "shade"}), "led.dims"));
    CHECK(has_key(keys_beside(keys, {"led", "shade"}), "watts"));
    CHECK(keys_below(keys, "le").empty());
}

}  // namespace
}  // namespace systole::reference::test
