// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/point_identity.h"

#include <catch2/catch.hpp>

#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using test::World;

namespace {

using Settings = std::vector<Setting>;

std::string id(const World& world, const Settings& settings, const std::string& device = "alpha",
               const std::string& trace = "net") {
    const Simulator simulator = test::simulator(world);
    return PointIdentity(simulator).id(device, trace, settings);
}

Setting set(const std::string& path, const std::string& value) {
    return {path, value, {}};
}

}  // namespace

TEST_CASE("an id is sixteen hexadecimal digits", "[point_identity]") {
    const std::string one = id({}, {});
    CHECK(one.size() == 16);
    CHECK(one.find_first_not_of("0123456789abcdef") == std::string::npos);
}

TEST_CASE("what a configuration was reached by is no part of its id", "[point_identity]") {
    const World world;
    const std::string one = id(world, {});
    CHECK(id(world, {set("chip.rows", "4")}) == one);  // what it is anyway
    CHECK(id(world, {set("workload.batch", "1")}) == one);
    CHECK(id(world, {set("run.launch", "none")}) == one);
    const std::string moved =
        id(world, {set("chip.rows", "8"), set("chip.cols", "9"), set("workload.batch", "3")});
    CHECK(id(world, {set("workload.batch", "3"), set("chip.cols", "9"), set("chip.rows", "8")}) == moved);
    World other;  // whose file says what the first was set to
    other.devices["alpha"]["chip.rows"] = "8";
    CHECK(id(other, {set("chip.cols", "9"), set("workload.batch", "3")}) == moved);
    other.protocol["run.repeat"] = "2";
    CHECK(id(other, {}) == id(world, {set("chip.rows", "8"), set("run.repeat", "2")}));
}

TEST_CASE("a quantity has one id however it is written", "[point_identity]") {
    const auto clock = [](const std::string& text) { return id({}, {set("chip.clock", text)}); };
    CHECK(clock("1 GHz") == clock("1000 MHz"));
    CHECK(clock("1.5 GHz") == clock("1500000 kHz"));
    CHECK(clock("0.5 us") == clock("500 ns"));
    CHECK(clock("2 MiB") == clock("2048 KiB"));
    CHECK(clock("0.50") == clock("0.5"));
    CHECK(clock("1 GB") != clock("1 GiB"));
    CHECK(clock("1 GB") != clock("1 GB/s"));
    CHECK(clock("1") != clock("1 B"));
    CHECK(clock("ws") != clock("os"));
}

TEST_CASE("whatever a result depends on makes another id", "[point_identity]") {
    const World world;
    std::vector<std::string> ids{id(world, {}), id(world, {}, "beta"), id(world, {}, "alpha", "other")};
    for (const Setting& each :
         {set("chip.rows", "5"), set("chip.cols", "5"), set("chip.mode", "os"), set("workload.batch", "2"),
          set("workload.seq", "4"), set("run.launch", "graph"), set("run.repeat", "2")})
        ids.push_back(id(world, {each}));
    World changed = world;
    changed.program = "fake 1.1";
    ids.push_back(id(changed, {}));
    changed = world;
    changed.digests["net"] = "other layers";
    ids.push_back(id(changed, {}));
    changed = world;
    changed.devices["alpha"]["chip.clock"] = "1001 MHz";
    ids.push_back(id(changed, {}));
    changed = world;
    changed.devices["alpha"]["chip.new"] = "";
    ids.push_back(id(changed, {}));
    changed = world;
    changed.traces["net"]["workload.new"] = "1";
    ids.push_back(id(changed, {}));
    const std::set<std::string> different(ids.begin(), ids.end());
    CHECK(different.size() == ids.size());
}

TEST_CASE("texts that run together are not alike", "[point_identity]") {
    World one, other;
    one.devices["alpha"] = {{"a", "b1:c"}, {"d", ""}};
    other.devices["alpha"] = {{"a", "b"}, {"c1:d", ""}};
    CHECK(id(one, {}) != id(other, {}));
    one.devices["alpha"] = {{"a", "1"}, {"b", ""}};
    other.devices["alpha"] = {{"a", ""}, {"b", "1"}};
    CHECK(id(one, {}) != id(other, {}));
}

TEST_CASE("one identity for many points gives the ids that one for each gives", "[point_identity]") {
    const World world;
    const Simulator simulator = test::simulator(world);
    PointIdentity shared(simulator);
    for (int turn = 0; turn < 2; ++turn)
        for (const char* device : {"alpha", "beta"})
            for (const char* trace : {"net", "other"})
                for (const Settings& settings :
                     {Settings{}, Settings{set("chip.rows", "3")}, Settings{set("run.repeat", "3")},
                      Settings{set("workload.batch", "5"), set("chip.mode", "os")}})
                    CHECK(shared.id(device, trace, settings) == id(world, settings, device, trace));
}

TEST_CASE("a document that a setting puts in place brings its values along", "[point_identity]") {
    World world;
    Simulator simulator = test::simulator(world);
    simulator.device = [](const std::string&, const Settings& settings) {
        Resolved resolved{{{"memory.preset", "small"}, {"memory.size", "1"}}, ""};
        for (const Setting& each : settings)
            if (each.path == "memory.preset")
                resolved.values = {{each.path, each.value}, {"memory.size", "9"}};
        return resolved;
    };
    PointIdentity identity(simulator);
    const Settings large{set("memory.preset", "large")};
    CHECK(identity.id("alpha", "net", large) != identity.id("alpha", "net", {}));
    CHECK(identity.value("alpha", "net", "memory.size", {}) == "1");
    CHECK(identity.value("alpha", "net", "memory.size", large) == "9");
    CHECK(identity.id("alpha", "net", {large[0], set("memory.size", "9")}) ==
          identity.id("alpha", "net", large));
}

TEST_CASE("keys have values where nothing moves them", "[point_identity]") {
    const World world;
    const Simulator simulator = test::simulator(world);
    PointIdentity identity(simulator);
    CHECK(identity.value("alpha", "net", "chip.rows", {}) == "4");
    CHECK(identity.value("beta", "net", "chip.rows", {}) == "16");
    CHECK(identity.value("alpha", "net", "workload.seq", {}) == "128");
    CHECK(identity.value("alpha", "net", "run.repeat", {}) == "1");
    CHECK(identity.value("alpha", "net", "run.repeat", {set("run.repeat", "7")}) == "7");
    CHECK_FALSE(identity.value("alpha", "net", "chip.extra", {}));
    CHECK_FALSE(identity.value("alpha", "other", "workload.seq", {}));
    const std::vector<std::string> paths = identity.paths("alpha", "other");
    CHECK(std::count(paths.begin(), paths.end(), "workload.batch") == 1);
    CHECK(std::count(paths.begin(), paths.end(), "run.launch") == 1);
    CHECK(std::count(paths.begin(), paths.end(), "chip.rows") == 1);
}

TEST_CASE("settings are sorted by whom they concern", "[point_identity]") {
    const SortedSettings sorted(
        {set("workload.a", "1"), set("run.b", "2"), set("runner.c", "3"), set("workload", "4")});
    CHECK(sorted.workload == Settings{set("workload.a", "1")});
    CHECK(sorted.run == Settings{set("run.b", "2")});
    CHECK(sorted.device == Settings{set("runner.c", "3"), set("workload", "4")});
}

TEST_CASE("a device that cannot be read has no id", "[point_identity]") {
    CHECK(test::complaint([] { id({}, {}, "gamma"); }) == "systole: error: there is no device 'gamma'");
}

TEST_CASE("a document that fits only with other settings still has an id, and so has what fits none",
          "[point_identity]") {
    const World world;
    std::string depth = "7";
    Simulator simulator = test::simulator(world);
    simulator.device = [&depth](const std::string&, const Settings& settings) {
        std::map<std::string, std::string> values{{"m.preset", "plain"}, {"m.cols", "8"}, {"m.depth", "1"}};
        for (const Setting& each : settings) values[each.path] = each.value;
        if (values["m.preset"] == "wide" && values["m.cols"] != "64")
            throw UserError("wide wants 64 columns");
        if (values["m.preset"] == "wide") values["m.depth"] = depth;
        return Resolved{{values.begin(), values.end()}, ""};
    };
    const auto id = [&](const std::string& preset, const std::string& cols) {
        return PointIdentity(simulator).id("alpha", "net", {set("m.preset", preset), set("m.cols", cols)});
    };
    const std::set<std::string> different{id("plain", "8"), id("plain", "64"), id("wide", "8"),
                                          id("wide", "64")};
    CHECK(different.size() == 4);
    CHECK(PointIdentity(simulator).value("alpha", "net", "m.depth",
                                         {set("m.preset", "wide"), set("m.cols", "64")}) == "7");
    simulator.check = [&](const std::string& device, const std::string&, const Settings& settings) {
        simulator.device(device, settings);
    };
    const std::string before = id("wide", "64");
    depth = "9";  // the document has changed
    CHECK(id("wide", "64") != before);
    CHECK(test::complaint([&] {
              make_plan(
                  test::experiment("device: alpha\ntrace: net\naxes: {m.preset: [plain, wide], m.cols: [8, "
                                   "64]}"),
                  simulator, {});
          }) == "fine");
}

TEST_CASE("ways of measuring that do not fit each other are points all the same", "[point_identity]") {
    const World world;
    Simulator simulator = test::simulator(world);
    simulator.protocol = [](const Settings& settings) {
        std::map<std::string, std::string> values{{"run.repeat", "1"}, {"run.timed", "0"}};
        for (const Setting& each : settings) values[each.path] = each.value;
        if (values["run.repeat"] == "1" && values["run.timed"] != "0") throw UserError("it runs once");
        return Resolved{{values.begin(), values.end()}, ""};
    };
    simulator.check = [&](const std::string&, const std::string&, const Settings& settings) {
        simulator.protocol(settings);
    };
    const Plan made = make_plan(
        test::experiment("device: alpha\ntrace: net\naxes: {run.repeat: [1, 2], run.timed: [0, 3]}"),
        simulator, {});
    CHECK(made.manifest.size() == 4);
    CHECK(made.equal == 0);
}
