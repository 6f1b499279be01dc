// SPDX-License-Identifier: Apache-2.0
#include "sim/device/cost_config.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/yaml.h"
#include "tests/support/complaint.h"

using namespace systole;
using Catch::Contains;

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

CostSpec read(const std::string& text, const Settings& settings = {}) {
    config::Config config = config::Config::from_document(
        config::parse_yaml(text, "d.yaml"), [](const std::string&, const SourceMark&) {
            return config::parse_yaml("cost: Somewhere\nelectricity: 0.08 USD/kWh\npower_overhead: 1.1\n",
                                      "p.yaml");
        });
    for (const auto& [path, value] : settings) config.set(path, value);
    CostSpec spec = read_cost(config.root());
    config.finish();
    name_origins(spec, config.effective());
    return spec;
}

std::string complaint_of(const std::string& keys, const Settings& settings = {}) {
    return complaint([&] { read("device: D\ncost: " + keys + "\n", settings); });
}

}  // namespace

TEST_CASE("a device without prices has none", "[cost]") {
    const CostSpec spec = read("device: D\n");
    CHECK_FALSE(spec.rent.has_value());
    CHECK_FALSE(spec.purchase.has_value());
}

TEST_CASE("prices are read with their dates and where they are from", "[cost]") {
    const CostSpec spec = read(
        "device: D\ncost:\n  preset: somewhere\n  rent: {value: 3.22 USD/h, sourced: \"a list\"}\n  rent_on: "
        "2025-11\n"
        "  purchase: {value: 30000 USD, assumed: \"a shop\", range: 20000..40000 USD}\n  purchase_on: "
        "2024-02-29\n"
        "  life: 4.5 years\n  utilization: 0.4\n");
    REQUIRE(spec.rent.has_value());
    CHECK(spec.rent->usd_per_hour == Approx(3.22));
    CHECK(spec.rent->origin.on == "2025-11");
    CHECK(spec.rent->origin.source == "sourced: a list");
    REQUIRE(spec.purchase.has_value());
    CHECK(spec.purchase->usd == 30'000);
    CHECK(spec.purchase->life_years == 4.5);
    CHECK(spec.purchase->electricity_usd_per_kwh == Approx(0.08));
    CHECK(spec.purchase->power_overhead == 1.1);
    CHECK(spec.purchase->origin.on == "2024-02-29");
    CHECK(spec.purchase->origin.source == "assumed (20000..40000 USD): a shop");
    CHECK(spec.utilization == 0.4);
}

TEST_CASE("a price that is tried has no date", "[cost]") {
    const CostSpec tried = read("device: D\n", {{"cost.rent", "5 USD/h"}});
    CHECK(tried.rent->origin.on.empty());
    CHECK(tried.rent->origin.source == "tried by --set");
    const std::string dated = "device: D\ncost: {rent: 3 USD/h, rent_on: 2025-11}\n";
    CHECK(read(dated).rent->origin.source == "as the device's file has it");
    CHECK(read(dated, {{"cost.rent", "5 USD/h"}}).rent->origin.on.empty());
    CHECK(read(dated, {{"cost.rent", "5 USD/h"}, {"cost.rent_on", "2026-01"}}).rent->origin.on == "2026-01");
}

TEST_CASE("a section that names a preset has no inherited price", "[cost]") {
    const std::string base = "device: B\ncost: {rent: 3 USD/h, rent_on: 2025-11}\n";
    const auto extended = [&](const std::string& more) {
        config::Config config = config::Config::from_document(
            config::parse_yaml("device: D\nextends: base\n" + more, "d.yaml"),
            [&](const std::string& name, const SourceMark&) {
                return config::parse_yaml(
                    name == "base" ? base : "cost: Somewhere\nelectricity: 0.08 USD/kWh\n", name);
            });
        CostSpec spec = read_cost(config.root());
        config.finish();
        return spec;
    };
    CHECK(extended("").rent.has_value());
    CHECK_FALSE(extended("cost: {preset: somewhere}\n").rent.has_value());
    CHECK(extended("cost: {rent: 1 USD/h, rent_on: 2026-01}\n").rent->origin.on == "2026-01");
    // The date of the price that it stands for is not its own.
    CHECK_THROWS_WITH(
        extended("cost: {rent: 1 USD/h}\n"),
        Contains("d.yaml:3:14: ") && Contains("cost.rent: its date, 'rent_on', is another price's"));
    CHECK(extended("cost: {rent_on: 2026-01}\n").rent->origin.on == "2026-01");  // it is the same then
}

TEST_CASE("prices that are none are refused at their keys", "[cost]") {
    const std::string dated = ", rent_on: 2025-11}";
    CHECK_THAT(complaint_of("{rent: -3 USD/h" + dated),
               Contains("d.yaml:2:14: ") && Contains("cost.rent: '-3 USD/h' is negative"));
    CHECK_THAT(complaint_of("{rent: 0 USD/h" + dated),
               Contains("cost.rent: '0 USD/h' is zero; expected more than 0"));
    CHECK_THAT(complaint_of("{rent: 3" + dated),
               Contains("'3' has no unit; expected a price such as '3.22 USD/h'"));
    CHECK_THAT(complaint_of("{rent: 3 EUR/h" + dated), Contains("has an unknown unit 'EUR/h'"));
    CHECK_THAT(complaint_of("{rent: 3 USD" + dated), Contains("has an unknown unit 'USD'"));
    CHECK_THAT(complaint_of("{rent: 0.0000001 USD/h" + dated),
               Contains("is not a whole number of 0.000001 USD/h"));
    CHECK_THAT(complaint_of("{rent: 3 USD/h}"), Contains("cost.rent_on"));
    CHECK_THAT(complaint_of("{rnet: 3 USD/h}"),
               Contains("cost.rnet: unknown key (did you mean 'rent'?); expected rent, "));
    CHECK_THAT(complaint_of("{rent_on: 2025-11}"),
               Contains("cost.rent_on: belongs to 'rent', which is missing"));
    CHECK_THAT(complaint_of("{life: 4 years}"),
               Contains("cost.life: belongs to 'purchase', which is missing"));
}

TEST_CASE("a date is a day that there is, or a month", "[cost]") {
    for (const char* const wrong : {"2025", "2025-13", "2025-00", "2025-1", "2025-02-29", "2025-04-31",
                                    "2025-11-00", "11/2025", "2025-11-3x", "0000-01"}) {
        INFO(wrong);
        CHECK_THAT(complaint_of(std::string("{rent: 3 USD/h, rent_on: ") + wrong + "}"),
                   Contains("cost.rent_on: '" + std::string(wrong) +
                            "' is not a day or month such as '2025-11-03'"));
    }
    CHECK(complaint_of("{rent: 3 USD/h, rent_on: 2024-02-29}") == "fine");
}

TEST_CASE("what a purchase needs has to be there", "[cost]") {
    const std::string bought = "purchase: 3 USD, purchase_on: 2025-11, ";
    CHECK(complaint_of("{" + bought + "life: 1 year, electricity: 0.1 USD/kWh, power_overhead: 1}") ==
          "fine");
    CHECK_THAT(complaint_of("{" + bought + "electricity: 0.1 USD/kWh, power_overhead: 1}"),
               Contains("cost.life"));
    CHECK_THAT(complaint_of("{" + bought + "life: 1 year, power_overhead: 1}"), Contains("cost.electricity"));
    CHECK_THAT(complaint_of("{" + bought + "life: 1 year, electricity: 0.1 USD/kWh}"),
               Contains("cost.power_overhead"));
    CHECK_THAT(complaint_of("{" + bought + "life: 1 year, electricity: 0 USD/kWh, power_overhead: 1}"),
               Contains("cost.electricity: '0 USD/kWh' is zero; expected more than 0"));
    CHECK_THAT(complaint_of("{" + bought + "life: 0 years, electricity: 1 USD/kWh, power_overhead: 1}"),
               Contains("cost.life: '0 years' is zero"));
    CHECK_THAT(complaint_of("{" + bought + "life: 1 year, electricity: 1 USD/kWh, power_overhead: 0.9}"),
               Contains("cost.power_overhead: '0.9' is too small; the least is 1"));
}

TEST_CASE("utilization is a share of the paid hours, and some", "[cost]") {
    const std::string rent = "{rent: 3 USD/h, rent_on: 2025-11, utilization: ";
    CHECK_THAT(complaint_of(rent + "0}"),
               Contains("cost.utilization: '0' is zero; expected more than 0, at most 1"));
    CHECK_THAT(complaint_of(rent + "1.1}"), Contains("cost.utilization: '1.1' is too large; the most is 1"));
    CHECK_THAT(complaint_of(rent + "-1}"), Contains("cost.utilization: '-1' is too small"));
    CHECK(complaint_of(rent + "1}") == "fine");
}
