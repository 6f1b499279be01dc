// SPDX-License-Identifier: Apache-2.0
#include "sim/device/cost_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace systole {
namespace {

constexpr const char* kDate = "a day or month such as '2025-11-03' or '2025-11'";

/// "2025-11", "2025-11-03", of a day that there is.
bool is_date(std::string_view text) {
    constexpr std::string_view kForm = "0000-00-00";
    if (text.size() != 7 && text.size() != kForm.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (kForm[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
    const auto number = [&](std::size_t at, std::size_t count) {
        int value = 0;
        for (const char digit : text.substr(at, count)) value = 10 * value + (digit - '0');
        return value;
    };
    const std::chrono::year_month_day date(
        std::chrono::year(number(0, 4)), std::chrono::month(static_cast<unsigned>(number(5, 2))),
        std::chrono::day(text.size() == kForm.size() ? static_cast<unsigned>(number(8, 2)) : 1));
    return date.ok() && date.year() >= std::chrono::year(1900);
}

/// When the price `key` was asked. One that --set gives is tried, not quoted: what a file says of its own
/// price's date is then not true of it.
std::string date_of(config::Section& cost, const std::string& key) {
    const std::string on = key + "_on";
    const bool tried = cost.is_set(key) && !cost.is_set(on);
    if (tried && !cost.has(on)) return "";
    if (!tried && !cost.is_set(on) && cost.is_nearer(key, on))
        cost.fail(key, fmt::format("its date, '{}', is another price's; expected one beside it", on));
    const std::string date = cost.text(on, fmt::format("when {} was asked", key));
    if (!date.empty() && !is_date(date)) cost.fail(on, fmt::format("'{}' is not {}", date, kDate));
    return tried ? "" : date;
}

/// `key` says something of a price that is not there.
void refuse_alone(config::Section& cost, const std::string& key, const std::string& price) {
    if (cost.has(key))
        cost.refuse(key, fmt::format("belongs to '{0}', which is missing; expected '{0}', too", price));
}

/// Most keys are optional and not asked for where they are not given: the configuration could not say which
/// was meant by one that is misspelt.
void refuse_unknown(config::Section& cost) {
    static const std::vector<std::string> known{"rent", "rent_on",     "purchase",       "purchase_on",
                                                "life", "electricity", "power_overhead", "utilization"};
    for (const std::string& key : cost.keys()) {
        if (std::find(known.begin(), known.end(), key) != known.end() || !cost.section(key).keys().empty())
            continue;
        cost.refuse(
            key, fmt::format("unknown key{}; expected {}", did_you_mean(key, known), fmt::join(known, ", ")));
    }
}

double share_of_hours(config::Section& cost) {
    const double share =
        cost.number("utilization", "share of the paid hours in which the device works", 0, 1, 1.0);
    if (share <= 0) cost.fail("utilization", "'0' is zero; expected more than 0, at most 1");
    return share > 0 ? share : 1;
}

}  // namespace

CostSpec read_cost(const config::Section& device) {
    CostSpec spec;
    if (!device.has("cost")) return spec;
    config::Section cost = device.section("cost");
    refuse_unknown(cost);
    if (cost.has("rent")) {
        CostSpec::Rent rent;
        rent.usd_per_hour = cost.usd_per_hour("rent", "price of an hour of the device, electricity included");
        rent.origin.on = date_of(cost, "rent");
        spec.rent = std::move(rent);
    } else {
        refuse_alone(cost, "rent_on", "rent");
    }
    const bool bought = cost.has("purchase");
    CostSpec::Purchase purchase;
    if (bought) {
        purchase.usd = cost.usd("purchase", "price of the device");
        purchase.origin.on = date_of(cost, "purchase");
        purchase.life_years = cost.years("life", "time over which the price is written off");
    } else {
        for (const char* const key : {"purchase_on", "life"}) refuse_alone(cost, key, "purchase");
    }
    if (bought || cost.has("electricity"))
        purchase.electricity_usd_per_kwh =
            cost.usd_per_kwh("electricity", "price of electricity, of what was bought");
    if (bought || cost.has("power_overhead"))
        purchase.power_overhead =
            cost.number("power_overhead", "power of the data centre over that of its machines (PUE)", 1, 10);
    if (bought) spec.purchase = std::move(purchase);
    spec.utilization = share_of_hours(cost);
    return spec;
}

void name_origins(CostSpec& spec, const std::vector<config::Entry>& entries) {
    const auto origin = [&](const std::string& path) {
        const auto entry = std::find_if(entries.begin(), entries.end(),
                                        [&](const config::Entry& each) { return each.path == path; });
        if (entry == entries.end()) return std::string();
        if (entry->origin == config::Origin::CommandLine) return std::string("tried by --set");
        if (entry->origin == config::Origin::Plain) return std::string("as the device's file has it");
        std::string text(to_string(entry->origin));
        if (!entry->range.empty()) text += fmt::format(" ({})", entry->range);
        return entry->note.empty() ? text : fmt::format("{}: {}", text, entry->note);
    };
    if (spec.rent) spec.rent->origin.source = origin("cost.rent");
    if (spec.purchase) spec.purchase->origin.source = origin("cost.purchase");
}

}  // namespace systole
