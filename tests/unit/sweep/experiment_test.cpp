// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/experiment.h"

#include <catch2/catch.hpp>

#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using test::complaint;
using test::experiment;

namespace {

const std::string kBase = "device: alpha\ntrace: net\n";

/// What is wrong with an experiment whose third line on is `text`.
std::string mistake(const std::string& text) {
    return complaint([&] { experiment(kBase + text); });
}

}  // namespace

TEST_CASE("an experiment is read whole", "[experiment]") {
    const Experiment read = experiment(
        "experiment: A title\ndevice: [alpha, dir/beta.yaml]\ntrace: net\nset: {chip.mode: os, 'alpha:a.l': "
        "[1, 2]}\n"
        "axes: {chip.rows: [1, 2]}\nderive: {chip.cols: chip.rows * 2, buf.size: {value: 2, unit: KiB}, "
        "area: 3}\n"
        "where: [chip.rows < 4, area > 1]\nobjectives: [time_ns, {max: speed}, {min: area * 2}]\n"
        "sample: {method: latin_hypercube, count: 7, seed: 3}\nlimits: {time: 90 s, memory: 2 GiB}");
    CHECK(read.title == "A title");
    REQUIRE(read.devices.size() == 2);
    CHECK(read.devices[1].name == "dir/beta.yaml");
    CHECK(read.devices[1].where.column == 17);
    REQUIRE(read.fixed.size() == 2);
    CHECK(read.fixed[1].device == "alpha");
    CHECK(read.fixed[1].values == std::vector<std::string>{"[1, 2]"});
    REQUIRE(read.derived.size() == 3);
    CHECK(read.derived[0].is_setting());
    CHECK(read.derived[1].unit == "KiB");
    CHECK_FALSE(read.derived[2].is_setting());
    CHECK(read.where.size() == 2);
    REQUIRE(read.objectives.size() == 3);
    CHECK_FALSE(read.objectives[0].maximize);
    CHECK(read.objectives[1].maximize == true);
    CHECK(read.objectives[2].maximize == false);
    CHECK(read.objectives[2].name == "area * 2");
    CHECK(read.sample.method == Sample::Method::LatinHypercube);
    CHECK(read.sample.count == 7);
    CHECK(read.sample.seed == 3);
    CHECK(read.limits.time.value() == 90'000'000'000'000);
    CHECK(read.limits.memory == Bytes(std::int64_t{2} << 30));
}

TEST_CASE("a device and a trace are enough for an experiment", "[experiment]") {
    const Experiment read = experiment(kBase);
    CHECK(read.axes.empty());
    CHECK(read.sample.method == Sample::Method::Grid);
    CHECK(read.limits.time.value() == std::int64_t{3600} * 1'000'000'000'000);
    CHECK_FALSE(read.limits.memory);
}

TEST_CASE("what an experiment lacks is said", "[experiment]") {
    CHECK(complaint([] { experiment("[1]"); }) ==
          "e.yaml:1:1: error: an experiment is a map with 'device', 'trace' and 'axes'");
    CHECK(complaint([] { experiment("device: a"); }) ==
          "e.yaml:1:1: error: an experiment needs 'trace:', a name ('systole list traces'), a file or a list "
          "of "
          "them");
    CHECK(complaint([] { experiment("device: []\ntrace: n"); }) ==
          "e.yaml:1:9: error: an empty list; expected a device or more");
    CHECK(complaint([] { experiment("device: [a, b, a]\ntrace: n"); }) ==
          "e.yaml:1:16: error: the device 'a' is named twice");
    CHECK(complaint([] { experiment("device: ''\ntrace: n"); }) ==
          "e.yaml:1:9: error: expected the name of a device, not an empty text");
    CHECK(complaint([] { experiment("device: {a: 1}\ntrace: n"); }) ==
          "e.yaml:1:9: error: expected the name of a device, not a map");
    CHECK(complaint([] { experiment("device: \"a\\nb\"\ntrace: n"); }) ==
          "e.yaml:1:9: error: expected the name of a device, on one line");
}

TEST_CASE("unknown keys are refused with what they may mean", "[experiment]") {
    CHECK(mistake("axis: {}") == "e.yaml:3:1: error: an experiment has no key 'axis' (did you mean 'axes'?)");
    CHECK(mistake("sample: {method: grid, sede: 1}") ==
          "e.yaml:3:24: error: 'sample' has no key 'sede' (did you mean 'seed'?)");
    CHECK(mistake("limits: {tiem: 1 s}") ==
          "e.yaml:3:10: error: 'limits' has no key 'tiem' (did you mean 'time'?)");
    CHECK(mistake("derive: {a: {value: 1, unti: B}}")
              .starts_with("e.yaml:3:24: error: a derived value has no key"));
    CHECK(
        mistake("objectives: [{best: x}]").starts_with("e.yaml:3:15: error: an objective has no key 'best'"));
}

TEST_CASE("samples are checked", "[experiment]") {
    CHECK(mistake("sample: {method: latin}") ==
          "e.yaml:3:18: error: there is no method 'latin'; expected grid, random or latin_hypercube");
    CHECK(mistake("sample: {count: 3}") ==
          "e.yaml:3:9: error: expected a method: grid, random or latin_hypercube");
    CHECK(mistake("sample: {method: random}") == "e.yaml:3:9: error: expected the count of samples");
    CHECK(mistake("sample: {method: grid, count: 3}") ==
          "e.yaml:3:9: error: a grid takes every combination: it has no count and no seed");
    CHECK(mistake("sample: {method: random, count: 0}") ==
          "e.yaml:3:33: error: expected the count of samples: '0' is too small; the least is 1");
    CHECK(mistake("sample: {method: random, count: 100000001}").find("too large") != std::string::npos);
    CHECK(mistake("sample: {method: random, count: 1, seed: -1}").find("'-1' is too small") !=
          std::string::npos);
    CHECK(mistake("sample: random") ==
          "e.yaml:3:9: error: expected {method: latin_hypercube, count: 100, seed: 1}, "
          "not text");
    CHECK(mistake("axes: {a.x: {linear: [1, 2]}}") ==
          "e.yaml:3:8: error: 'a.x' is a range without steps, and a grid needs them: {linear: [1, 2, "
          "COUNT]}, or "
          "samples ('sample:')");
}

TEST_CASE("limits are checked", "[experiment]") {
    CHECK(mistake("limits: {time: 5}") ==
          "e.yaml:3:16: error: the limit of time: '5' has no unit; expected a time such as '700 ns'");
    CHECK(mistake("limits: {time: 1 us}").find("is too small; the least is 1 ms") != std::string::npos);
    CHECK(mistake("limits: {memory: 1 MiB}").find("the least is 32 MiB") != std::string::npos);
    CHECK(mistake("limits: {}") ==
          "e.yaml:3:9: error: expected {time: 60 s, memory: 2 GiB}, not an empty map");
}

TEST_CASE("a key has its values from one place", "[experiment]") {
    const std::string tail =
        "' has its values from another place, too; expected one of 'set', 'axes' and 'derive'";
    CHECK(mistake("set: {a.x: 1}\naxes: {a.x: [1]}") == "e.yaml:4:8: error: 'a.x" + tail);
    CHECK(mistake("axes: {a.x: [1]}\nderive: {a.x: 1}") == "e.yaml:4:10: error: 'a.x" + tail);
    CHECK(mistake("set: {'alpha:a.x': 1}\naxes: {'alpha:a.x': [1]}") ==
          "e.yaml:4:8: error: 'alpha:a.x" + tail);
}

TEST_CASE("a key of one device is a key of all, too", "[experiment]") {
    const std::string tail =
        "' has its values from another place, too; expected one of 'set', 'axes' and 'derive'";
    CHECK(mistake("set: {a.x: 1}\naxes: {'alpha:a.x': [1]}") == "e.yaml:4:8: error: 'alpha:a.x" + tail);
    CHECK(mistake("axes: {'alpha:a.x': [1], a.x: [2]}") == "e.yaml:3:26: error: 'a.x" + tail);
    CHECK(mistake("axes: {'alpha:a.x': [1]}\nderive: {a.x: 1}") == "e.yaml:4:10: error: 'a.x" + tail);
    CHECK(complaint([] { experiment("device: [a, b]\ntrace: n\naxes: {'a:m.x': [1], 'b:m.x': [2]}"); }) ==
          "fine");
}

TEST_CASE("derived values have names that formulas can write", "[experiment]") {
    for (const char* name : {"''", "a b", "'alpha:'", "_a", "\"a\\nb\"", "1a", ".a", "ä", "a-b", "'a,b'"}) {
        INFO(name);
        CHECK(mistake(fmt::format("derive: {{{}: 1}}", name)).find("is no name of a derived value") !=
              std::string::npos);
    }
    CHECK(mistake("derive: {a_.B_9: 1}") == "fine");
    CHECK(mistake("derive: {'alpha:a.x': 1, 'alpha:n': 2}") == "fine");
}

TEST_CASE("conditions and derived values may concern one device", "[experiment]") {
    const std::string two = "device: [alpha, ./b.yaml]\ntrace: n\n";
    const Experiment read = experiment(
        two + "derive: {'./b.yaml:m.x': a, n: 1}\nwhere: [a > 1, {alpha: a > 2, ./b.yaml: a > 3}]");
    CHECK(read.derived[0].device == "./b.yaml");
    CHECK(read.derived[0].name == "m.x");
    CHECK(read.derived[1].device.empty());
    REQUIRE(read.where.size() == 3);
    CHECK(read.where[0].device.empty());
    CHECK(read.where[1].device == "alpha");
    CHECK(read.where[2].device == "./b.yaml");
    CHECK(read.where[2].formula.text() == "a > 3");
    CHECK(experiment(two + "where: {alpha: a > 2}").where[0].device == "alpha");
    CHECK(complaint([&] { experiment(two + "where: {alhpa: a > 2}"); }) ==
          "e.yaml:3:9: error: 'alhpa' is none of this experiment's devices (did you mean 'alpha'?)");
    CHECK(complaint([&] { experiment(two + "derive: {'alhpa:n': 2}"); }) ==
          "e.yaml:3:10: error: 'alhpa' is none of this experiment's devices (did you mean 'alpha'?)");
    CHECK(complaint([&] { experiment(two + "where: {}"); })
              .starts_with("e.yaml:3:8: error: expected a condition such as 'mxu.rows <= 256', or {DEVICE: "
                           "CONDITION}, not"));
    CHECK(complaint([&] {
              experiment(two + "derive: {'alpha:m.x': 1, m.x: 2}");
          }).starts_with("e.yaml:3:26: error: 'm.x' has its values from another place, too"));
    CHECK(complaint([&] { experiment(two + "derive: {'alpha:m.x': 1, './b.yaml:m.x': 2}"); }) == "fine");
}

TEST_CASE("mistakes of all parts are told together, by their places", "[experiment]") {
    CHECK(mistake("axis: 1\naxes: {a.x: []}\nlimits: {time: 5}\nwhere: [1 +, 1 <]\nderive: {1a: 2, b: )}") ==
          "e.yaml:3:1: error: an experiment has no key 'axis' (did you mean 'axes'?)\n"
          "e.yaml:4:13: error: the axis 'a.x' has no values; expected a list of values, {linear: [FROM, TO, "
          "COUNT]}, {log2: [FROM, TO]} or {zip: {PATH: …, PATH: …}}\n"
          "e.yaml:5:16: error: the limit of time: '5' has no unit; expected a time such as '700 ns'\n"
          "e.yaml:6:9: error: '1 +' ends too early; expected arithmetic such as 'mxu.rows <= 4 * "
          "workload.batch'\n"
          "e.yaml:6:14: error: '1 <' ends too early; expected arithmetic such as 'mxu.rows <= 4 * "
          "workload.batch'\n"
          "e.yaml:7:10: error: '1a' is no name of a derived value; expected a letter, and then letters, "
          "digits, '_' and '.'\n"
          "e.yaml:7:20: error: ')' has ')' where it cannot be, at character 1; expected arithmetic such as "
          "'mxu.rows <= 4 * workload.batch'");
}

TEST_CASE("values that are set are one each", "[experiment]") {
    CHECK(mistake("set: {a.x: }").find("expected a value") != std::string::npos);
    CHECK(mistake("set: {a.x: {linear: [1, 2, 2]}}").find("expected a value") != std::string::npos);
    CHECK(mistake("set: {a.x: []}") == "fine");  // an empty list is a value, which the key may refuse
    CHECK(mistake("set: {b:a.x: 1}").find("'b' is none of this experiment's devices") != std::string::npos);
    CHECK(mistake("set: []") ==
          "e.yaml:3:6: error: expected a map of paths and values, such as "
          "{memory.channels: 16}, not a list");
}

TEST_CASE("formulas of an experiment are checked where they are", "[experiment]") {
    CHECK(mistake("where: a.x = 1").starts_with("e.yaml:3:8: error: 'a.x = 1' assigns at character 5"));
    CHECK(mistake("where: [1 < 2, 1 +]").starts_with("e.yaml:3:16: error: '1 +' ends too early"));
    CHECK(mistake("derive: {a: {value: 1 +}}").starts_with("e.yaml:3:21: error: '1 +' ends too early"));
    CHECK(mistake("objectives: [{min: )}]").starts_with("e.yaml:3:20: error: ')'"));
    CHECK(mistake("where: []") == "e.yaml:3:8: error: an empty list; expected a condition or more");
    CHECK(mistake("derive: {a: {unit: B}}") == "e.yaml:3:13: error: expected {value: FORMULA, unit: UNIT}");
    CHECK(mistake("objectives: [{min: a, max: b}]") ==
          "e.yaml:3:14: error: expected {min: FORMULA} or {max: FORMULA}");
    CHECK(mistake("objectives: [a, {max: a}]") == "e.yaml:3:23: error: the objective 'a' comes twice");
}
