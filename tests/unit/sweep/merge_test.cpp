// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/merge.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "sim/base/csv.h"
#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using test::World;

namespace {

/// A folder of a sweep whose results a test writes.
class Sweep {
public:
    explicit Sweep(const std::string& text)
        : simulator_(test::simulator(world_)),
          experiment_(test::experiment(text)),
          folder_(Folder::create(place_ / "sweep", {world_.program, "0123", text, place_ / ".", 1},
                                 make_plan(experiment_, simulator_, {}).manifest)) {}

    std::string id(std::size_t point) const { return std::string(folder_.manifest().id(point)); }
    void done(std::size_t point, const std::string& time, const std::string& area,
              const std::string& speed) const {
        folder_.write({id(point),
                       false,
                       "",
                       {{"time_ns", time}, {"area_um", area}, {"speed", speed}, {"bound", "x"}},
                       0});
    }
    MergedTable merge() const { return sweep::merge(folder_, experiment_, simulator_); }

    World world_;
    Simulator simulator_;
    Experiment experiment_;
    test::TemporaryFolder place_;
    Folder folder_;
};

std::vector<std::string> column(const MergedTable& table, const std::string& name) {
    std::vector<std::string> cells;
    for (const auto& row : table.rows) cells.push_back(row.at(table.column(name)));
    return cells;
}

using Texts = std::vector<std::string>;

const std::string kRows = "device: alpha\ntrace: net\naxes: {chip.rows: {linear: [1, 5, 5]}}\n";

}  // namespace

TEST_CASE("a merged table has a row for each point, whatever became of it", "[merge]") {
    const Sweep sweep(kRows);
    sweep.done(0, "10", "3", "1");
    sweep.folder_.write({sweep.id(1), true, "no, \"never\"\nat all", {}, 0});
    sweep.folder_.write_failure(sweep.id(2), "hung");
    sweep.folder_.write_failure(sweep.id(0), "had hung");  // before it was done
    const MergedTable table = sweep.merge();
    CHECK(to_csv(table) ==
          fmt::format("id,device,trace,chip.rows,status,error,time_ns,area_um,speed,bound,pareto\n"
                      "{},alpha,net,1,done,,10,3,1,x,\n"
                      "{},alpha,net,2,refused,\"no, \"\"never\"\"\nat all\",,,,,\n"
                      "{},alpha,net,3,failed,hung,,,,,\n"
                      "{},alpha,net,4,missing,,,,,,\n"
                      "{},alpha,net,5,missing,,,,,,\n",
                      sweep.id(0), sweep.id(1), sweep.id(2), sweep.id(3), sweep.id(4)));
    CHECK(table.tally.done == 1);
    CHECK(table.tally.refused == 1);
    CHECK(table.tally.failed == 1);
    CHECK(table.tally.missing == 2);
    CHECK(table.tally.reasons ==
          std::map<std::string, std::size_t>{{"no, \"never\"\nat all", 1}, {"hung", 1}});
    CHECK(table.front.empty());
    CHECK(table.columns[table.column("time_ns")].is_number);
    CHECK(table.columns[table.column("chip.rows")].is_number);
    CHECK_FALSE(table.columns[table.column("bound")].is_number);
    CHECK_FALSE(table.columns[table.column("id")].is_number);
    CHECK_FALSE(table.columns[table.column("error")].is_number);
    CHECK(table.column("nonsense") == table.columns.size());
}

TEST_CASE("a merged table is the same whatever order its points finished in", "[merge]") {
    std::string first;
    for (unsigned seed = 1; seed <= 5; ++seed) {
        INFO("seed " << seed);
        const Sweep sweep(kRows + "objectives: [time_ns, area_um]");
        std::vector<std::size_t> order{0, 1, 2, 3, 4};
        std::shuffle(order.begin(), order.end(), std::mt19937(seed));
        for (const std::size_t each : order) {
            sweep.folder_.write(
                {sweep.id(each),
                 false,
                 "",
                 {{"time_ns", std::to_string(7 * each % 5)}, {"area_um", std::to_string(3 * each % 5)}},
                 0.1 * seed});
            if (each % 2) sweep.merge();  // between others
        }
        const MergedTable table = sweep.merge();
        const std::string text = to_csv(table) + front_csv(table);
        if (first.empty()) first = text;
        CHECK(text == first);
    }
}

TEST_CASE("a broken result is removed and its point missing", "[merge]") {
    const Sweep sweep(kRows);
    sweep.done(0, "10", "3", "1");
    const auto file =
        sweep.place_ / fmt::format("sweep/points/{}/{}.json", sweep.id(0).substr(0, 2), sweep.id(0));
    test::write_text(file, test::read_text(file).substr(0, 30));
    CHECK(column(sweep.merge(), "status")[0] == "missing");
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK(sweep.folder_.finished().empty());
}

TEST_CASE("the front is of the points that can be compared, the best first", "[merge]") {
    const Sweep sweep(kRows + "objectives: [time_ns, {max: speed / area_um}]");
    sweep.done(0, "30", "1", "9");  // speed per area 9
    sweep.done(1, "10", "1", "2");  // 2
    sweep.done(2, "30", "1", "3");  // worse than the first
    sweep.done(3, "", "1", "100");  // has no time
    sweep.done(4, "5", "0", "0");   // nothing by nothing
    const MergedTable table = sweep.merge();
    CHECK(column(table, "pareto") == Texts{"1", "1", "0", "", ""});
    CHECK(column(table, "speed / area_um") == Texts{"9", "2", "3", "100", ""});
    CHECK(table.front == std::vector<std::size_t>{1, 0});
    const std::string csv = to_csv(table), front = front_csv(table);
    const std::vector<CsvRow> rows = parse_csv(front, "front");
    REQUIRE(rows.size() == 3);
    CHECK(front.substr(0, front.find('\n')) == csv.substr(0, csv.find('\n')));
    CHECK(rows[1].cells[0] == sweep.id(1));
    CHECK(rows[2].cells[0] == sweep.id(0));
}

TEST_CASE("an objective looks for what its figure means unless it says so", "[merge]") {
    const auto best = [](const std::string& objectives) {
        const Sweep sweep(kRows + "objectives: " + objectives);
        for (std::size_t i = 0; i < 5; ++i)
            sweep.done(i, std::to_string(10 + i), std::to_string(5 - i), std::to_string(20 + i));
        const MergedTable table = sweep.merge();
        REQUIRE(table.front.size() == 1);
        return table.front[0];
    };
    CHECK(best("time_ns") == 0);
    CHECK(best("speed") == 4);  // of which more is better
    CHECK(best("{min: speed}") == 0);
    CHECK(best("{max: time_ns}") == 4);
    CHECK(best("chip.rows") == 0);
    CHECK(best("{max: chip.rows * 2}") == 4);
    CHECK(best("speed * 1") == 0);  // a formula is a cost
}

TEST_CASE("objectives may use quantities, derived values and keys of one device", "[merge]") {
    const Sweep sweep(
        "device: [alpha, beta]\ntrace: net\naxes: {'alpha:chip.cols': [4, 8], chip.clock: [1 GHz, 500 MHz]}\n"
        "derive: {twice: 2 * chip.cols}\nobjectives: [time_ns * chip.clock, twice, {max: chip.cols}]");
    const std::size_t points = sweep.folder_.manifest().size();
    REQUIRE(points == 6);  // two of beta's four are equal to the others
    for (std::size_t i = 0; i < points; ++i) sweep.done(i, "2", "1", "1");
    const MergedTable table = sweep.merge();
    CHECK(column(table, "time_ns * chip.clock") ==
          Texts{"2000000000", "1000000000", "2000000000", "1000000000", "2000000000", "1000000000"});
    CHECK(column(table, "chip.cols") == Texts{"4", "4", "8", "8", "", ""});
    CHECK(column(table, "twice") == Texts{"8", "8", "16", "16", "4", "4"});
    CHECK(column(table, "pareto") == Texts{"0", "1", "0", "1", "", ""});
}

TEST_CASE("objectives of any size are numbers of the table", "[merge]") {
    const Sweep sweep(kRows + "objectives: [time_ns * 1e18, time_ns / 1e9, {max: speed}]");
    for (std::size_t i = 0; i < 5; ++i) sweep.done(i, std::to_string(i + 1), "1", "0.00001");
    const MergedTable table = sweep.merge();
    for (const MergedColumn& each : table.columns)
        if (each.name.find("time_ns") == 0 || each.name == "speed") {
            INFO(each.name);
            CHECK(each.is_number);
        }
    CHECK(column(table, "time_ns * 1e18")[1] == "2000000000000000000");
    CHECK(column(table, "time_ns / 1e9")[1] == "0.000000002");
}

TEST_CASE("figures that this program does not know are left out", "[merge]") {
    const Sweep sweep(kRows);
    sweep.folder_.write({sweep.id(0), false, "", {{"phase_of_moon", "3"}, {"time_ns", "4"}}, 0});
    const MergedTable table = sweep.merge();
    CHECK(column(table, "time_ns")[0] == "4");
    CHECK(table.column("phase_of_moon") == table.columns.size());
}

TEST_CASE("figures that are no numbers are not compared", "[merge]") {
    const Sweep sweep(kRows + "objectives: time_ns");
    for (const auto& [point, time] :
         std::map<std::size_t, std::string>{{0, "nan"}, {1, "inf"}, {2, "7"}, {3, "9"}})
        sweep.done(point, time, "1", "1");
    CHECK(column(sweep.merge(), "pareto") == Texts{"", "", "1", "0", ""});
}
