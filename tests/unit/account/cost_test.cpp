// SPDX-License-Identifier: Apache-2.0
#include "sim/account/cost.h"

#include <catch2/catch.hpp>

#include "sample_result.h"
#include "sim/account/run_result.h"

using namespace systole;
using Catch::Contains;

namespace {

constexpr Ticks kSecond(1'000'000'000'000);

CostSpec rented(double usd_per_hour, double utilization = 1) {
    return {CostSpec::Rent{usd_per_hour, {"2025-02", "sourced: a list"}}, std::nullopt, utilization};
}

/// 8766 USD over a year of 8766 hours is a dollar an hour.
CostSpec bought(double utilization = 1) {
    return {std::nullopt, CostSpec::Purchase{8766, 1, 0.1, 1.2, {"2024-06-30", "assumed: a shop"}},
            utilization};
}

RunWork work(Ticks time) {
    return {time, std::nullopt, std::nullopt, std::nullopt, std::nullopt};
}

CostShare only(const RunCost& cost) {
    REQUIRE(cost.prices.size() == 1);
    return cost.prices.front();
}

}  // namespace

TEST_CASE("a rent is paid for hours in which nothing runs, too", "[cost]") {
    const CostShare share = only(cost_of(rented(3.6, 0.5), work(kSecond)));
    CHECK(share.usd_per_hour == Approx(3.6));
    CHECK(share.usd_per_run == Approx(0.002));
    CHECK_FALSE(share.electricity_usd_per_run.has_value());
    CHECK_FALSE(share.usd_per_million_tokens.has_value());
    CHECK_FALSE(share.usd_per_1000_items.has_value());
    CHECK_FALSE(share.usd_per_step.has_value());
    CHECK(share.origin.on == "2025-02");
}

TEST_CASE("what was bought is written off, and draws electricity while it works", "[cost]") {
    RunWork second = work(kSecond);
    second.energy = Femtojoules(1'000'000'000'000'000'000);  // 1 kJ in a second: 1 kW
    // 1 kW x 1.2 x 0.1 USD/kWh = 0.12 USD an hour that it works.
    const CostShare always = only(cost_of(bought(), second));
    CHECK(always.bought);
    CHECK(always.usd_per_hour == Approx(1.12));
    CHECK(always.usd_per_run == Approx(1.12 / 3600));
    CHECK(*always.electricity_usd_per_run == Approx(0.12 / 3600));
    // Half of the hours: each hour of work pays for two of the price, and for its own electricity.
    const CostShare half = only(cost_of(bought(0.5), second));
    CHECK(half.usd_per_hour == Approx(1.06));
    CHECK(half.usd_per_run == Approx(2.12 / 3600));
    CHECK(*half.electricity_usd_per_run == Approx(0.12 / 3600));
}

TEST_CASE("both prices are told, and a purchase without an energy is not", "[cost]") {
    CostSpec both = rented(3.6);
    both.purchase = bought().purchase;
    RunWork second = work(kSecond);
    CHECK_FALSE(only(cost_of(both, second)).bought);
    second.energy = Femtojoules(0);
    const RunCost cost = cost_of(both, second);
    REQUIRE(cost.prices.size() == 2);
    CHECK(cost.prices.back().bought);
    CHECK(*cost.prices.back().electricity_usd_per_run == 0);
}

TEST_CASE("what is missing for a cost is named", "[cost]") {
    CHECK_THAT(missing_for_cost({}, true),
               Contains("cost.rent or cost.purchase is missing") && Contains("--set cost.rent='3.2 USD/h'"));
    CHECK(missing_for_cost(rented(1), false).empty());
    CHECK_THAT(missing_for_cost(bought(), false), Contains("energy of the whole device is missing"));
    CHECK(missing_for_cost(bought(), true).empty());
}

TEST_CASE("a cost is that of all chips for all that they make", "[cost]") {
    RunWork second = work(kSecond);
    using Phase = ServingStep::Phase;
    // 16 tokens of 4 chips, 0.001 USD each.
    second.serving = ServingStep{Phase::Decode, 16, 4096, 1, 4, 1};
    CHECK(*only(cost_of(rented(3.6), second)).usd_per_million_tokens == Approx(0.004 / 16 * 1e6));
    // Replicas pay and make alike; a step is that of all 32 chips.
    second.serving = ServingStep{Phase::Train, 2, 100, 1, 4, 8};
    second.step_chips = 32;
    CHECK(*only(cost_of(rented(3.6), second)).usd_per_million_tokens == Approx(0.004 / 200 * 1e6));
    CHECK(*only(cost_of(rented(3.6), second)).usd_per_step == Approx(0.032));
}

TEST_CASE("a cost is told for a thousand of what is in the batch", "[cost]") {
    RunWork second = work(kSecond);
    second.batch_of = BatchOf{BatchOf::Item::Images, 8};
    CHECK(*only(cost_of(rented(3.6), second)).usd_per_1000_items == Approx(0.001 / 8 * 1000));
    second.batch_of = BatchOf{BatchOf::Item::Tokens, 8};
    CHECK(*only(cost_of(rented(3.6), second)).usd_per_million_tokens == Approx(0.001 / 8 * 1e6));
    CHECK_FALSE(only(cost_of(rented(3.6), second)).usd_per_1000_items.has_value());
}

TEST_CASE("a run that takes no time costs nothing, and not more", "[cost]") {
    RunWork none = work(Ticks(0));
    none.energy = Femtojoules(0);
    CHECK(only(cost_of(rented(3.6), none)).usd_per_run == 0);
    CHECK(only(cost_of(bought(), none)).usd_per_hour == Approx(1));
}

TEST_CASE("the table of costs has the columns that say something", "[cost]") {
    DeviceResult first, second;
    first.device = "chip", second.device = "card";
    first.batch_of = second.batch_of = BatchOf{BatchOf::Item::Queries, 10};
    RunWork run = work(kSecond);
    run.batch_of = first.batch_of;
    first.cost = cost_of(rented(3.6, 0.5), run);
    run.energy = Femtojoules(1'000'000'000'000'000'000);
    second.cost = cost_of(bought(), run);
    CHECK(cost_text({first, second}) ==
          "device  price               USD/h  worked %    USD/run  USD/1,000 queries  electricity\n"
          "------  ------------------  -----  --------  ---------  -----------------  -----------\n"
          "chip    rented, 2025-02     3.600      50.0   0.002000             0.2000  in the rent\n"
          "card    bought, 2024-06-30  1.120     100.0  0.0003111            0.03111       10.7 %\n"
          "\n"
          "chip: rent of 2025-02, sourced: a list\n"
          "card: purchase of 2024-06-30, assumed: a shop\n");
    second.cost.reset();
    first.cost->prices.front().origin = {"", "tried by --set"};
    const std::string text = cost_text({first, second});
    CHECK_THAT(text, Contains("chip    rented  3.600") && Contains("chip: rent, tried by --set") &&
                         !Contains("card"));
}
