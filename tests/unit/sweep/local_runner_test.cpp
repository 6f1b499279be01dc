// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/local_runner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>

#include "sim/base/sanitized.h"
#include "sim/sweep/point_process.h"
#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using test::World;

namespace fs = std::filesystem;

namespace {

// A sanitizer's shadows are data, too.
constexpr Bytes kMemory(kAddressSanitizer ? std::int64_t{1} << 62 : std::int64_t{256} << 20);

/// A sweep of `acts`, a point each, in a folder of its own.
class Sweep {
public:
    explicit Sweep(const std::vector<std::string>& acts) : simulator_(test::simulator(world_)) {
        std::string text = "device: alpha\ntrace: net\naxes: {chip.act: [";
        for (const std::string& act : acts) text += act + ", ";
        text += "]}\n";
        const Plan plan = test::plan(text, world_);
        folder_ = std::make_unique<Folder>(
            Folder::create(place_ / "sweep", {world_.program, "0123", text, place_ / ".", 1}, plan.manifest));
    }

    /// As a session does: those without a result.
    std::vector<std::size_t> open() const {
        const std::vector<std::string> finished = folder_->finished();
        std::vector<std::size_t> points;
        for (std::size_t i = 0; i < folder_->manifest().size(); ++i)
            if (!std::count(finished.begin(), finished.end(), std::string(folder_->manifest().id(i))))
                points.push_back(i);
        return points;
    }
    RunnerReport run(RunnerOptions options) const {
        return run_points(*folder_, simulator_, open(), options);
    }
    std::string id(std::size_t point) const { return std::string(folder_->manifest().id(point)); }
    /// Why a point failed; "" if it did not.
    std::string reason(std::size_t point) const {
        const auto failures = folder_->failures();
        const auto found = failures.find(id(point));
        return found == failures.end() ? "" : found->second;
    }
    /// Where a process writes a point's result until it is whole.
    fs::path unfinished(std::size_t point) const {
        return place_ / fmt::format("sweep/points/{}/.{}.json.7-0123.tmp", id(point).substr(0, 2), id(point));
    }
    bool is_finished(std::size_t point) const { return folder_->result(id(point)).has_value(); }

    World world_;
    Simulator simulator_;
    test::TemporaryFolder place_;
    std::unique_ptr<Folder> folder_;
};

RunnerOptions options(int jobs = 2, std::int64_t milliseconds = 60'000) {
    RunnerOptions made;
    made.jobs = jobs;
    made.time = Ticks(milliseconds * 1'000'000'000);
    made.memory = kMemory;
    return made;
}

}  // namespace

TEST_CASE("every point of a sweep gets its result", "[local_runner]") {
    const Sweep sweep({"fine", "a", "b", "c", "d", "e", "f"});
    for (const int jobs : {3, 1}) {
        std::vector<std::size_t> told;
        RunnerOptions made = options(jobs);
        made.progress = [&](std::size_t ended, std::size_t failed) {
            told.push_back(ended);
            CHECK(failed == 0);
        };
        const std::size_t open = sweep.open().size();
        const RunnerReport report = sweep.run(made);
        CHECK(report.ended == open);
        CHECK(report.failed == 0);
        CHECK_FALSE(report.stopped);
        CHECK(std::is_sorted(told.begin(), told.end()));
        CHECK((open == 0 ? told.empty() : told.back() == open));
        CHECK(sweep.open().empty());
    }
    const auto result = sweep.folder_->result(sweep.id(0));
    REQUIRE(result);
    CHECK(result->figures[0].value == "250");  // 1000 x batch 1 / rows 4
    CHECK(result->figures[3].value == "compute");
    CHECK_FALSE(fs::exists(sweep.place_ / "sweep/failed"));
}

TEST_CASE("points that crash and throw have their reasons and the others finish", "[local_runner]") {
    const Sweep sweep({"abort", "fine", "segfault", "throw", "starve", "exit", "refuse", "a"});
    const RunnerReport report = sweep.run(options());
    CHECK(report.ended == 8);
    CHECK(report.failed == 5);
    CHECK(sweep.reason(0).starts_with("crashed by signal 6 (Aborted)"));
    CHECK(sweep.reason(2).starts_with("crashed by signal 11 (Segmentation fault)"));
    CHECK(sweep.reason(3) == "a wheel came off");
    CHECK(sweep.reason(4).starts_with("asked for more memory than the limit of "));
    CHECK(sweep.reason(5) == "failed without a word");
    CHECK(report.failures.at("a wheel came off") == 1);
    for (const std::size_t point : {1, 6, 7}) CHECK(sweep.is_finished(point));
    CHECK(sweep.folder_->failures().size() == 5);
}

TEST_CASE("a point that throws what is no exception ends there", "[local_runner]") {
    const Sweep sweep({"throw a number", "fine"});
    const pid_t self = ::getpid();
    std::string reason;
    try {
        sweep.run(options());
        reason = sweep.reason(0);
    } catch (...) {
        if (::getpid() != self) ::_exit(9);  // the point, in the middle of this test
    }
    CHECK(reason == "failed with an exception of no known kind");
    CHECK(sweep.is_finished(1));
}

TEST_CASE("a refused point has its answer and does not run again", "[local_runner]") {
    const Sweep sweep({"refuse", "throw"});
    CHECK(sweep.run(options()).failed == 1);
    const auto refused = sweep.folder_->result(sweep.id(0));
    REQUIRE(refused);
    CHECK(refused->refused);
    CHECK(refused->error == "the device, \"it\", does not want\\x0ato");  // on one line
    CHECK(sweep.open() == std::vector<std::size_t>{1});
    CHECK(sweep.run(options()).ended == 1);
}

TEST_CASE("a point that hangs is ended at its limit of time", "[local_runner]") {
    const Sweep sweep({"fine", "hang", "a"});
    const auto begin = std::chrono::steady_clock::now();
    const RunnerReport report = sweep.run(options(2, 300));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    CHECK(report.failed == 1);
    CHECK(sweep.reason(1) == "took longer than the limit of 300 ms");
    CHECK(sweep.is_finished(0));
    CHECK(sweep.is_finished(2));
}

TEST_CASE("a point that never stops talking is ended at its limit of time, too", "[local_runner]") {
    const Sweep sweep({"chatter", "fine"});
    const auto begin = std::chrono::steady_clock::now();
    sweep.run(options(1, 300));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    CHECK(sweep.reason(0) == "took longer than the limit of 300 ms");
    CHECK(sweep.is_finished(1));
}

TEST_CASE("a point that eats memory is ended at its limit", "[local_runner]") {
    if (!PointProcess::limits_memory()) return;
    const Sweep sweep({"eat", "fine"});
    const RunnerReport report = sweep.run(options());
    CHECK(report.failures.at("asked for more memory than the limit of 256 MiB") == 1);
    CHECK(sweep.is_finished(1));
}

TEST_CASE("a point that cannot write says so and the others finish", "[local_runner]") {
    const Sweep sweep({"fine", "a", "b"});
    // A file where the results' folder is to be, which not even root can write into.
    fs::create_directories(sweep.place_ / "sweep/points");
    const fs::path shelf = sweep.place_ / fmt::format("sweep/points/{}", sweep.id(1).substr(0, 2));
    test::write_text(shelf, "");
    const RunnerReport report = sweep.run(options());
    CHECK(report.failed == 1);
    CHECK(sweep.reason(1).find("its result cannot be written: ") != std::string::npos);
    fs::remove(shelf);
    CHECK(sweep.open() == std::vector<std::size_t>{1});
    CHECK(sweep.run(options()).failed == 0);
    CHECK(sweep.reason(1).empty());  // it has not failed, after all
}

TEST_CASE("a folder that takes no failures does not end a sweep", "[local_runner]") {
    const Sweep sweep({"throw", "fine"});
    test::write_text(sweep.place_ / "sweep/failed", "");
    const RunnerReport report = sweep.run(options());
    CHECK(report.failures.at("a wheel came off") == 1);
    CHECK(sweep.is_finished(1));
}

TEST_CASE("a second run runs only what has no result", "[local_runner]") {
    const Sweep sweep({"fine", "throw", "a"});
    sweep.run(options());
    const std::string before = test::read_text(
        sweep.place_ / fmt::format("sweep/points/{}/{}.json", sweep.id(0).substr(0, 2), sweep.id(0)));
    CHECK(sweep.open() == std::vector<std::size_t>{1});
    const RunnerReport report = sweep.run(options());
    CHECK(report.ended == 1);
    CHECK(report.failed == 1);
    CHECK(test::read_text(sweep.place_ / fmt::format("sweep/points/{}/{}.json", sweep.id(0).substr(0, 2),
                                                     sweep.id(0))) == before);
}

TEST_CASE("a point whose device has changed since the plan does not run", "[local_runner]") {
    Sweep sweep({"fine", "a"});
    sweep.world_.devices["alpha"]["chip.rows"] = "5";
    const RunnerReport report = sweep.run(options());
    CHECK(report.failed == 2);
    CHECK(sweep.reason(0).find("has changed since the sweep was planned") != std::string::npos);
    CHECK(sweep.open().size() == 2);
    sweep.world_.devices.erase("alpha");
    CHECK(sweep.run(options()).failures.at("there is no device 'alpha'") == 2);
}

TEST_CASE("a runner that is asked to stop ends what runs", "[local_runner]") {
    const Sweep sweep({"fine", "hang", "a"});
    RunnerOptions made = options(1);
    int asked = 0;
    made.stop = [&] { return ++asked > 5; };
    const RunnerReport report = sweep.run(made);
    CHECK(report.stopped);
    CHECK(report.ended < 3);
    CHECK(sweep.folder_->failures().empty());
}

TEST_CASE("what a killed point has written of its result goes with it", "[local_runner]") {
    const Sweep sweep({"hang", "fine"});
    // Of the machine's two ways to kill: a limit of time, and a user who interrupts.
    for (const bool interrupted : {false, true}) {
        const fs::path half = sweep.unfinished(0), others = sweep.unfinished(1);
        fs::create_directories(half.parent_path());
        fs::create_directories(others.parent_path());
        test::write_text(half, "half");
        test::write_text(others, "another's");
        RunnerOptions made = options(1, interrupted ? 60'000 : 50);
        int asked = 0;
        made.stop = [&] { return interrupted && ++asked > 3; };
        const RunnerReport report = run_points(*sweep.folder_, sweep.simulator_, {0}, made);
        CHECK(report.stopped == interrupted);
        CHECK(report.failed == (interrupted ? 0 : 1));
        CHECK_FALSE(fs::exists(half));
        CHECK(fs::exists(others));
    }
}
