// SPDX-License-Identifier: Apache-2.0
#include "sim/report/standing_limit.h"

#include <algorithm>

#include "sim/account/classes.h"

namespace systole::report {

using Json = nlohmann::ordered_json;

void check_standing(const Json& standing, const Check& check) {
    for (const char* key : {"name", "op", "fastest", "next", "why"}) check.text(standing, key);
    check.number(standing, "factor", true);
    const Json& times = check.member(standing, "time_ns");
    if (!times.is_object()) check.at("time_ns").fail("expected an object");
    for (const auto& [name, time] : times.items()) check.at("time_ns").number(times, name.c_str());
    const Json& longer = check.member(standing, "next_longer_ns");
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        check.at("next_longer_ns")
            .number(longer, std::string(to_string(static_cast<SlotClass>(i))).c_str(), false, -1e300);
}

void StandingLimit::add(Json layer) {
    double difference = 0;
    for (const auto& [owner, longer] : layer["next_longer_ns"].items())
        if (longer.is_number()) difference += longer.get<double>();
    kept_.push_back({count_++, difference, std::move(layer)});
    if (kept_.size() >= 2 * most_) shed();
}

void StandingLimit::shed() {
    std::sort(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) {
        return a.difference != b.difference ? a.difference > b.difference : a.layer < b.layer;
    });
    if (kept_.size() > most_) kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(most_), kept_.end());
}

std::vector<Json> StandingLimit::finish() {
    shed();
    std::sort(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) { return a.layer < b.layer; });
    std::vector<Json> layers;
    for (Kept& kept : kept_) layers.push_back(std::move(kept.json));
    return layers;
}

}  // namespace systole::report
