// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/plan.h"

#include <catch2/catch.hpp>

#include "sim/sweep/point_identity.h"
#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using test::mistake;
using test::plan;
using test::World;

namespace {

const std::string kBase = "device: alpha\ntrace: net\n";

std::vector<std::vector<std::string>> values_of(const Manifest& manifest) {
    std::vector<std::vector<std::string>> all;
    for (std::size_t i = 0; i < manifest.size(); ++i) all.push_back(manifest.point(i).values);
    return all;
}

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("a grid's plan is what nested loops make", "[plan]") {
    const Plan made = plan(
        "device: [alpha, beta]\ntrace: [net, other]\nset: {chip.clock: 3 GHz}\n"
        "axes: {chip.rows: [1, 2, 3], 'beta:chip.extra': [1, 2], chip.cols: [4, 6]}\n"
        "derive: {area: chip.rows * chip.cols, chip.buffer: {value: chip.rows * 2, unit: KiB}}\n"
        "where: chip.rows * chip.cols < 18 && chip.extra2 * 0 == 0\n",
        [] {
            World world;
            for (auto& [name, device] : world.devices) device["chip.extra2"] = "7";
            return world;
        }());
    REQUIRE(made.manifest.columns() == std::vector<std::string>{"chip.rows", "beta:chip.extra", "chip.cols",
                                                                "area", "chip.buffer", "chip.clock"});
    std::vector<std::vector<std::string>> expected;
    std::uint64_t excluded = 0, equal = 0;
    for (const std::string device : {"alpha", "beta"})
        for (const std::string trace : {"net", "other"})
            for (const int rows : {1, 2, 3})
                for (const int extra : {1, 2})
                    for (const int cols : {4, 6}) {
                        if (rows * cols >= 18) {
                            ++excluded;
                        } else if (device == "alpha" && extra == 2) {
                            ++equal;  // the same as with 1: it is no key of alpha
                        } else {
                            const std::string own = device == "beta" ? std::to_string(extra) : "";
                            expected.push_back({device, trace, std::to_string(rows), own,
                                                std::to_string(cols), std::to_string(rows * cols),
                                                std::to_string(2 * rows) + " KiB", "3 GHz"});
                        }
                    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < made.manifest.size(); ++i) {
        const Point point = made.manifest.point(i);
        rows.push_back({point.device, point.trace});
        rows.back().insert(rows.back().end(), point.values.begin(), point.values.end());
    }
    CHECK(rows == expected);
    CHECK(made.excluded == excluded);
    CHECK(made.equal == equal);
}

TEST_CASE("the id of a planned point is that of what its line sets", "[plan]") {
    const World world;
    const Simulator simulator = test::simulator(world);
    const Plan made = plan(
        "device: [alpha, beta]\ntrace: net\nset: {chip.mode: os, 'alpha:chip.clock': 2 GHz}\n"
        "axes: {s: {zip: {'alpha:chip.rows': [1, 2], workload.batch: [3, 4]}}, run.repeat: [1, 2]}\n"
        "derive: {chip.cols: 64 * run.repeat, free: chip.cols / 64 + 0.5, chip.buffer: {value: free, unit: "
        "MB}}\n");
    REQUIRE(made.manifest.size() == 8);
    for (std::size_t i = 0; i < made.manifest.size(); ++i) {
        const Point point = made.manifest.point(i);
        CHECK(PointIdentity(simulator).id(point.device, point.trace, made.manifest.settings(point)) ==
              point.id);
    }
}

TEST_CASE("an experiment without axes is one point", "[plan]") {
    CHECK(plan(kBase).manifest.size() == 1);
    CHECK(plan(kBase + "sample: {method: random, count: 5}").manifest.size() == 1);
    CHECK(plan(kBase + "sample: {method: latin_hypercube, count: 5}").manifest.size() == 1);
}

TEST_CASE("mistakes of values are told at their places before anything runs", "[plan]") {
    CHECK(mistake(kBase + "axes: {chip.rows: [1, 0, 2, x], chip.cols: [1, 9999]}") ==
          "e.yaml:3:23: error: chip.rows=0: expected a number from 1 to 4096\n"
          "e.yaml:3:29: error: chip.rows=x: expected a number from 1 to 4096\n"
          "e.yaml:3:48: error: chip.cols=9999: expected a number from 1 to 4096");
    CHECK(mistake(kBase + "axes: {chip.rosw: [1]}") ==
          "e.yaml:3:20: error: chip.rosw=1: there is no such key");
    CHECK(mistake(kBase + "axes: {workload.batch: [1, 0]}") ==
          "e.yaml:3:28: error: workload.batch=0: expected a number from 1 to 4096");
    CHECK(mistake(kBase + "axes: {run.repeat: [1, 0]}") ==
          "e.yaml:3:24: error: run.repeat=0: expected a number from 1 to 4096");
    CHECK(mistake(kBase + "set: {chip.mode: is}") == "e.yaml:3:18: error: chip.mode=is: expected ws or os");
    CHECK(mistake(kBase + "set: {chip.mode: is}\naxes: {chip.rows: [1, 2]}") ==
          "e.yaml:3:18: error: chip.mode=is: expected ws or os");
    CHECK(mistake(kBase + "axes: {chip.rows: [1, '']}") ==
          "e.yaml:3:23: error: chip.rows=: expected a number from 1 to 4096");
    CHECK(mistake(kBase + "axes: {'': [1]}").find("e.yaml:3:8: error: '' is no path of a key") == 0);
    CHECK(mistake(kBase + "axes: {chip.rows: {linear: [-1, 1, 3]}}") ==
          "e.yaml:3:28: error: chip.rows=-1: expected a number from 1 to 4096\n"
          "e.yaml:3:28: error: chip.rows=0: expected a number from 1 to 4096");
    CHECK(mistake(kBase + "axes: {chip.rows: {linear: [9, -1]}}\nsample: {method: random, count: 3}") ==
          "e.yaml:3:8: error: chip.rows=-1: expected a number from 1 to 4096");
    CHECK(mistake(kBase + "derive: {chip.rows: 2 / 3}") ==
          "e.yaml:3:21: error: chip.rows=0.666666666667: expected a number from 1 to 4096");
    CHECK(mistake("device: [alpha, beta]\ntrace: net\naxes: {chip.extra: [1]}") ==
          "e.yaml:3:21: error: alpha: chip.extra=1: there is no such key; for one device write "
          "'beta:chip.extra'");
    CHECK(mistake("device: [alpha, beta]\ntrace: net\naxes: {chip.rows: [1, 0]}") ==
          "e.yaml:3:23: error: chip.rows=0: expected a number from 1 to 4096");
    CHECK(mistake("device: [alpha, beta]\ntrace: net\naxes: {'alpha:chip.extra': [1]}") ==
          "e.yaml:3:29: error: chip.extra=1: there is no such key");
    CHECK(mistake("device: [alpha, beta]\ntrace: net\nderive: {chip.extra: 1}") ==
          "e.yaml:3:22: error: alpha: chip.extra=1: there is no such key; for one device write "
          "'beta:chip.extra'");
}

TEST_CASE("a derived value without the unit that its key wants is told how to have one", "[plan]") {
    CHECK(mistake(kBase + "derive: {chip.buffer: 2 * 1024}") ==
          "e.yaml:3:23: error: chip.buffer=2048: expected a size: {value: FORMULA, unit: B}");
    CHECK(mistake(kBase + "derive: {chip.clock: 5}").find("{value: FORMULA, unit: Hz}") != std::string::npos);
    CHECK(mistake(kBase + "derive: {chip.rows: 0}") ==
          "e.yaml:3:21: error: chip.rows=0: expected a number from 1 to 4096");
}

TEST_CASE("values that conditions leave out need not be sound", "[plan]") {
    CHECK(plan(kBase + "axes: {chip.rows: [1, 0, 2]}\nwhere: chip.rows > 0").manifest.size() == 2);
    CHECK(plan(kBase + "axes: {chip.rows: [0, 1, 2], chip.cols: [1, 2, 9999]}\nwhere: [chip.rows * chip.cols "
                       "> 0, chip.rows * chip.cols < 9]")
              .manifest.size() == 4);
    // Two of ten thousand combinations are wanted, and one of them with the value that is none.
    CHECK(mistake(kBase + "axes: {chip.rows: {linear: [0, 99, 100]}, chip.cols: {linear: [1, 100, 100]}}\n"
                          "where: chip.rows + 100 * chip.cols < 102") ==
          "e.yaml:3:28: error: chip.rows=0: expected a number from 1 to 4096");
    CHECK(mistake(kBase + "axes: {chip.rosw: [1, 2]}\nwhere: chip.rosw > 2")
              .starts_with("e.yaml:3:20: error: chip.rosw=1: there is no such key"));
}

TEST_CASE("what no device runs is told before anything runs", "[plan]") {
    World world;
    world.run_once = {"alpha"};
    const std::string axes = "trace: net\naxes: {run.repeat: [1, 2]}";
    CHECK(mistake("device: alpha\n" + axes, world) == "e.yaml:3:24: error: alpha runs once");
    CHECK(mistake("device: beta\n" + axes, world) == "fine");
    // What one of the devices runs is a point, which the other refuses.
    CHECK(mistake("device: [alpha, beta]\n" + axes, world) == "fine");
    CHECK(mistake("device: [alpha, beta]\ntrace: net\naxes: {run.repeat: [1, 2, 0]}", world) ==
          "e.yaml:3:27: error: run.repeat=0: expected a number from 1 to 4096");
    world.run_once = {"alpha", "beta"};
    CHECK(mistake("device: [alpha, beta]\n" + axes, world) == "e.yaml:3:24: error: alpha runs once");
}

TEST_CASE("mistakes of names, objectives and values are told together, by their places", "[plan]") {
    CHECK(mistake(kBase +
                  "axes: {chip.rosw: [1, 2], chip.cols: [0, 4]}\nderive: {speed: 1, a: chip.rowz, b: a}\n"
                  "where: [b > 2, chip.colz == 1]\nobjectives: [tiem_ns]") ==
          "e.yaml:3:20: error: chip.rosw=1: there is no such key\n"
          "e.yaml:3:23: error: chip.rosw=2: there is no such key\n"
          "e.yaml:3:39: error: chip.cols=0: expected a number from 1 to 4096\n"
          "e.yaml:4:10: error: 'speed' is the name of a column that results have; give the derived value "
          "another\n"
          "e.yaml:4:23: error: 'chip.rowz' is no axis, no value derived before, and no key of alpha or net "
          "(did you mean 'chip.rows'?)\n"
          "e.yaml:5:16: error: 'chip.colz' is no axis, no value derived before, and no key of alpha or net "
          "(did you mean 'chip.cols'?)\n"
          "e.yaml:6:14: error: 'tiem_ns' is no figure of a result and no column of this sweep (did you mean "
          "'time_ns'?)");
}

TEST_CASE("formulas of one device reach keys that only it has", "[plan]") {
    const std::string two = "device: [alpha, beta]\ntrace: net\n";
    const Plan made = plan(two +
                           "axes: {'beta:chip.extra': [1, 2, 3], chip.rows: [4, 8]}\n"
                           "derive: {'beta:twice': 2 * chip.extra, 'beta:chip.cols': twice + 1}\n"
                           "where: [{beta: chip.extra < 3}, {beta: twice != 2 || chip.rows == 8}]");
    CHECK(made.manifest.columns() ==
          std::vector<std::string>{"beta:chip.extra", "chip.rows", "beta:twice", "beta:chip.cols"});
    CHECK(values_of(made.manifest) == Rows{{"", "4", "", ""},
                                           {"", "8", "", ""},
                                           {"1", "8", "2", "3"},
                                           {"2", "4", "4", "5"},
                                           {"2", "8", "4", "5"}});
    CHECK(made.manifest.settings(made.manifest.point(2)) ==
          std::vector<Setting>{{"chip.extra", "1", {}}, {"chip.rows", "8", {}}, {"chip.cols", "3", {}}});
    CHECK(plan(two + "derive: {'alpha:n': chip.rows, 'beta:n': chip.extra}\nwhere: n == 1").manifest.size() ==
          1);
}

TEST_CASE("a key that one device lacks is told with the words for the other", "[plan]") {
    const std::string two = "device: [alpha, beta]\ntrace: net\n";
    CHECK(mistake(two + "where: chip.extra > 0") ==
          "e.yaml:3:8: error: alpha has no key 'chip.extra'; a condition of one device is written {beta: …}");
    CHECK(mistake(two + "axes: {'beta:chip.extra': [1, 2]}\nwhere: chip.extra > 0")
              .starts_with("e.yaml:4:8: error: alpha has no key 'chip.extra'"));
    CHECK(mistake(two + "derive: {n: chip.extra}") ==
          "e.yaml:3:13: error: alpha has no key 'chip.extra'; a value of one device is derived as 'beta:n'");
    CHECK(mistake(two + "where: {alpha: chip.extra > 0}") ==
          "e.yaml:3:16: error: 'chip.extra' is no axis, no value derived before, and no key of alpha or net");
}

TEST_CASE("a word in a formula is told to be none of its numbers", "[plan]") {
    CHECK(mistake(kBase + "where: chip.mode == ws") ==
          "e.yaml:3:8: error: 'ws' is no axis, no value derived before, and no key of alpha or net; formulas "
          "compare numbers only, and 'chip.mode' is a word ('ws')");
    CHECK(mistake(kBase + "axes: {chip.mode: [os, ws]}\nwhere: chip.mode == os")
              .find("formulas compare numbers only, and 'chip.mode' is a word ('os')") != std::string::npos);
}

TEST_CASE("combinations that a condition excludes are not computed with", "[plan]") {
    const std::string axes = kBase + "axes: {chip.rows: [2, 1, 4]}\n";
    CHECK(values_of(plan(axes + "derive: {a: 4 / (chip.rows - 2), b: 2 / (a + 4)}\nwhere: [b > 0, "
                                "a != -4, chip.rows != 2]")
                        .manifest) == Rows{{"4", "2", "0.333333333333"}});
    CHECK(mistake(axes + "derive: {a: 4 / (chip.rows - 2)}\nwhere: [a > 0, chip.rows != 4]")
              .find("'4 / (chip.rows - 2)' is no finite number where chip.rows = 2") != std::string::npos);
}

TEST_CASE("values that fit other values are no mistakes", "[plan]") {
    // os wants as many columns as rows, which no first values have.
    const Plan made = plan(kBase + "axes: {chip.mode: [os, ws], chip.rows: [16, 4], chip.cols: [2, 8]}");
    CHECK(made.manifest.size() == 8);  // what does not fit is refused when it runs
    CHECK(mistake(kBase + "axes: {chip.mode: [ws, os], chip.rows: [16, 9], chip.cols: [2, 8]}") ==
          "e.yaml:3:24: error: os wants as many columns as rows");
}

TEST_CASE("devices and traces that are not there are told at their places", "[plan]") {
    CHECK(mistake("device: [alpha, gamma]\ntrace: [no, net]\naxes: {nonsense.x: [1]}") ==
          "e.yaml:1:17: error: there is no device 'gamma'\ne.yaml:2:9: error: there is no trace 'no'");
}

TEST_CASE("names of formulas are checked before anything runs", "[plan]") {
    CHECK(
        mistake(kBase + "where: [chip.rosw < 3, other > 1]") ==
        "e.yaml:3:9: error: 'chip.rosw' is no axis, no value derived before, and no key of alpha or net (did "
        "you mean 'chip.rows'?)\n"
        "e.yaml:3:24: error: 'other' is no axis, no value derived before, and no key of alpha or net");
    CHECK(mistake(kBase + "where: chip.extra < 3").find("no key of alpha or net") != std::string::npos);
    CHECK(mistake("device: beta\ntrace: net\nwhere: chip.extra < 3") == "fine");
    CHECK(mistake(kBase + "derive: {a: b + 1, b: 2}")
              .find("e.yaml:3:13: error: 'b' is derived further down; "
                    "write it above") == 0);
    CHECK(mistake(kBase + "derive: {a: 2, b: a + 1}\nwhere: b == 3") == "fine");
    CHECK(mistake(kBase + "where: chip.mode == 1").find("uses 'chip.mode', which is no number") !=
          std::string::npos);
    CHECK(mistake(kBase + "objectives: [tiem_ns, bound]") ==
          "e.yaml:3:14: error: 'tiem_ns' is no figure of a result and no column of this sweep (did you mean "
          "'time_ns'?)\n"
          "e.yaml:3:23: error: 'bound' is no figure of a result and no column of this sweep");
    CHECK(mistake(kBase + "objectives: [time_ns * chip.rows]") ==
          "e.yaml:3:14: error: 'chip.rows' is no figure of a result and no column of this sweep; 'derive: "
          "{NAME: chip.rows}' makes one of a key");
    CHECK(mistake(kBase + "derive: {n: chip.rows}\nobjectives: [time_ns * n]") == "fine");
    CHECK(mistake(kBase + "derive: {speed: 1}") ==
          "e.yaml:3:10: error: 'speed' is the name of a column that results have; give the derived value "
          "another");
    CHECK(mistake(kBase + "derive: {pareto: 1}").find("'pareto' is the name of a column") !=
          std::string::npos);
}

TEST_CASE("a derived key is not what it was before it is derived", "[plan]") {
    CHECK(mistake(kBase + "derive: {chip.rows: 2 * chip.rows}") ==
          "e.yaml:3:21: error: 'chip.rows' is derived from itself");
    CHECK(mistake(kBase + "derive: {a: chip.cols, chip.cols: 2}") ==
          "e.yaml:3:13: error: 'chip.cols' is derived further down; write it above");
    CHECK(mistake(kBase + "derive: {chip.cols: 2, a: chip.cols}\nwhere: a == 2") == "fine");
}

TEST_CASE("conditions see what a point's device and trace say", "[plan]") {
    const std::string two = "device: [alpha, beta]\ntrace: [net, other]\n";
    CHECK(plan(two + "axes: {'alpha:chip.rows': [1, 16]}\nwhere: chip.rows == 16").manifest.size() == 4);
    CHECK(plan(two + "where: chip.clock == 2 GHz").manifest.size() == 2);
    CHECK(plan(two + "where: workload.batch == 2 && chip.buffer > 16 KiB").manifest.size() == 1);
    CHECK(plan(two + "set: {workload.batch: 5}\nwhere: workload.batch == 5").manifest.size() == 4);
    CHECK(plan(two + "axes: {run.repeat: [1, 2, 3]}\nwhere: [run.repeat > 1, run.repeat < 3]")
              .manifest.size() == 4);
}

TEST_CASE("conditions that exclude everything are a mistake", "[plan]") {
    CHECK(mistake(kBase + "axes: {chip.rows: {linear: [1, 1200, 1200]}}\nwhere: chip.rows > 9999") ==
          "e.yaml:4:8: error: 'where' excludes all 1,200 combinations; no point is left");
    CHECK(
        mistake(kBase + "axes: {chip.rows: [1, 2]}\nwhere: chip.rows > 9\nsample: {method: random, count: 5}")
            .find("e.yaml:4:8: error: 'where' excludes all") == 0);
}

TEST_CASE("a condition that is no number says for which values", "[plan]") {
    CHECK(mistake(kBase + "axes: {chip.rows: [1, 2]}\nwhere: 1 / (chip.rows - 2) < 0")
              .find("e.yaml:4:8: error: '1 / (chip.rows - 2) < 0' is no finite number where chip.rows = 2") ==
          std::string::npos);  // a comparison with infinity is one
    CHECK(mistake(kBase + "axes: {chip.rows: [1, 2]}\nderive: {a: 1 / (chip.rows - 2)}")
              .find("e.yaml:4:13: error: '1 / (chip.rows - 2)' is no finite number where chip.rows = 2") ==
          0);
}

TEST_CASE("huge experiments are refused, or meant", "[plan]") {
    const std::string big =
        kBase + "axes: {chip.rows: {linear: [1, 4000, 4000]}, chip.cols: {linear: [1, 4000, 4000]}";
    CHECK(mistake(big + "}") ==
          "systole: error: 16,000,000 combinations; --yes says that more than 1,000,000 are meant");
    CHECK(
        mistake(big + ", run.repeat: {linear: [1, 100, 100]}}") ==
        "systole: error: 1,600,000,000 combinations; the most is 100,000,000: shorten axes, or take samples "
        "('sample:')");
    std::string endless = kBase + "axes:\n";
    for (int i = 0; i < 7; ++i) endless += fmt::format("  a.x{}: {{linear: [1, 1000, 1000]}}\n", i);
    CHECK(mistake(endless).find("systole: error: more than 18 quintillion combinations; the most is") == 0);
}

TEST_CASE("equal combinations are one point", "[plan]") {
    const Plan made = plan(kBase + "axes: {s: {zip: {chip.rows: [1, 2, 1], chip.cols: [3, 3, 3]}}}");
    CHECK(values_of(made.manifest) == Rows{{"1", "3"}, {"2", "3"}});
    CHECK(made.equal == 1);
}

TEST_CASE("samples are as many as are asked for, and equal for equal seeds", "[plan]") {
    const std::string axes =
        kBase + "axes: {chip.rows: {linear: [1, 4000]}, chip.clock: {linear: [1 GHz, 2 GHz]}}\n";
    const Plan random = plan(axes + "where: chip.rows > 2000\nsample: {method: random, count: 20, seed: 4}");
    CHECK(random.manifest.size() == 20);
    CHECK(random.excluded > 0);
    CHECK(plan(axes + "where: chip.rows > 2000\nsample: {method: random, count: 20, seed: 4}")
              .manifest.text() == random.manifest.text());
    const Plan latin = plan(axes + "sample: {method: latin_hypercube, count: 20}");
    std::set<std::int64_t> strata;
    for (const auto& values : values_of(latin.manifest)) strata.insert((std::stoll(values[0]) - 1) / 200);
    CHECK(strata.size() == 20);
}

TEST_CASE("more samples than there are combinations are all combinations, soon", "[plan]") {
    const std::string axes = kBase + "axes: {chip.rows: [1, 2, 3], chip.cols: [1, 2]}\n";
    CHECK(plan(axes + "sample: {method: random, count: 1000000}").manifest.size() == 6);
    CHECK(plan(axes + "where: chip.rows > 1\nsample: {method: random, count: 1000000}").manifest.size() == 4);
}

TEST_CASE("keys outside sections are no keys of a sweep", "[plan]") {
    CHECK(
        mistake(kBase + "axes: {kind: [fake]}") ==
        "e.yaml:3:8: error: 'kind' is no path of a key; expected one such as 'mxu.rows', 'workload.batch' or "
        "'run.launch'");
    CHECK(mistake(kBase + "set: {kind: fake}").find("e.yaml:3:7: error: 'kind' is no path of a key") == 0);
}

TEST_CASE("planning says now and then how far it is", "[plan]") {
    std::vector<std::uint64_t> told;
    PlanOptions options;
    options.progress = [&](std::uint64_t looked) { told.push_back(looked); };
    plan(kBase + "axes: {chip.rows: {linear: [1, 2500, 2500]}}", {}, options);
    CHECK(told == std::vector<std::uint64_t>{1000, 2000});
}
