// SPDX-License-Identifier: Apache-2.0
#include "sim/report/layer_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/account/classes.h"
#include "sim/base/text.h"

namespace systole::report {
namespace {

using Json = nlohmann::ordered_json;

/// Whether a number is a whole one of 64 bits with a sign; a file may hold greater ones.
bool is_int64(const Json& number) {
    if (number.is_number_unsigned()) return std::in_range<std::int64_t>(number.get<std::uint64_t>());
    return number.is_number_integer();
}

/// Whole numbers stay whole while their sum is one of 64 bits.
Json added(const Json& a, const Json& b) {
    if (is_int64(a) && is_int64(b)) {
        std::int64_t sum = 0;
        if (!__builtin_add_overflow(a.get<std::int64_t>(), b.get<std::int64_t>(), &sum)) return sum;
    }
    return a.get<double>() + b.get<double>();
}

/// Adds every number of `row` to that of `sum`, object by object; other values stay what they are in `sum`.
void add_numbers(Json& sum, const Json& row) {
    for (const auto& [key, value] : row.items()) {
        Json& own = sum[key];
        if (value.is_object() && own.is_object())
            add_numbers(own, value);
        else if (value.is_number() && own.is_number())
            own = added(own, value);
        else if (value.is_null())
            own = nullptr;
    }
}

/// Movements between the same places of the same operand become one.
void add_movements(Json& sum, const Json& moved) {
    for (const Json& movement : moved) {
        const auto same = [&](const Json& other) {
            return other["from"] == movement["from"] && other["to"] == movement["to"] &&
                   other["operand"] == movement["operand"];
        };
        const auto found = std::find_if(sum.begin(), sum.end(), same);
        if (found == sum.end())
            sum.push_back(movement);
        else
            (*found)["bytes"] = added((*found)["bytes"], movement["bytes"]);
    }
}

/// Shares of the sum's capacity, from its slots. What else a file has among them is nobody's.
void share_out(Json& sum) {
    double whole = 0;
    const auto slots_of = [&](std::size_t i) {
        return sum["class_slots"][std::string(to_string(static_cast<SlotClass>(i)))].get<double>();
    };
    for (std::size_t i = 0; i < kSlotClasses; ++i) whole += slots_of(i);
    Json shares = Json::object();
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        shares[std::string(to_string(static_cast<SlotClass>(i)))] = whole > 0 ? slots_of(i) / whole : 0.0;
    sum["utilization"] = shares["useful"];
    sum["classes"] = std::move(shares);
}

}  // namespace

struct LayerLimit::Kept {
    std::size_t layer = 0;
    double time = 0;
    Json row;
};

LayerLimit::LayerLimit(std::size_t most) : most_(std::max<std::size_t>(2, most)) {}
LayerLimit::~LayerLimit() = default;
LayerLimit::LayerLimit(LayerLimit&&) noexcept = default;
LayerLimit& LayerLimit::operator=(LayerLimit&&) noexcept = default;

void LayerLimit::add(Json row) {
    const double time = row["time_ns"].get<double>();
    kept_.push_back({count_++, time, std::move(row)});
    if (kept_.size() >= 2 * most_) shed(most_ - 1);
}

/// Keeps the `most` of the longest time and sums the others up.
void LayerLimit::shed(std::size_t most) {
    const auto longer = [](const Kept& a, const Kept& b) {
        return a.time != b.time ? a.time > b.time : a.layer < b.layer;
    };
    std::sort(kept_.begin(), kept_.end(), longer);
    for (std::size_t i = most; i < kept_.size(); ++i) {
        if (sum_.empty()) {
            sum_.push_back(std::move(kept_[i]));
            continue;
        }
        Json& sum = sum_.front().row;
        Json moved = std::move(sum["bytes"]["moved"]);
        add_movements(moved, kept_[i].row["bytes"]["moved"]);
        add_numbers(sum, kept_[i].row);
        sum["bytes"]["moved"] = std::move(moved);
    }
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(std::min(most, kept_.size())), kept_.end());
}

LayerLimit::Rows LayerLimit::finish() {
    if (count_ > most_) shed(most_ - 1);
    std::sort(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) { return a.layer < b.layer; });
    Rows rows;
    if (!sum_.empty()) rows.row_of_layer.assign(count_, kept_.size());
    for (Kept& kept : kept_) {
        if (!sum_.empty()) rows.row_of_layer[kept.layer] = rows.rows.size();
        rows.rows.push_back(std::move(kept.row));
    }
    if (!sum_.empty()) {
        Json& sum = sum_.front().row;
        share_out(sum);
        sum["name"] = fmt::format("{} further layers",
                                  with_thousands(static_cast<std::int64_t>(count_ - kept_.size())));
        for (const char* words : {"op", "mapping", "bound_by", "roofline_bound"}) sum[words] = "various";
        sum["reused"] = false;
        rows.rows.push_back(std::move(sum));
    }
    return rows;
}

}  // namespace systole::report
