// SPDX-License-Identifier: Apache-2.0
#include "sim/device/merged_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "sim/base/check.h"

namespace systole {
namespace {

/// By layer of the network that ran: the number of its row.
std::vector<std::size_t> row_numbers(const Graph& sliced) {
    std::vector<std::size_t> rows;
    std::map<std::string, std::size_t> known;
    std::size_t next = 0;
    for (const Layer& layer : sliced.layers) {
        const auto [at, added] = known.try_emplace(whole_name(layer), next);
        next += added ? 1 : 0;
        rows.push_back(at->second);
    }
    return rows;
}

void add(std::vector<Movement>& sum, const std::vector<Movement>& movements) {
    for (const Movement& movement : movements) {
        const auto same = std::ranges::find_if(sum, [&](const Movement& known) {
            return known.from == movement.from && known.to == movement.to &&
                   known.operand == movement.operand;
        });
        if (same == sum.end())
            sum.push_back(movement);
        else
            same->bytes += movement.bytes;
    }
}

void add(ResultRow& sum, const ResultRow& part) {
    sum.cycles += part.cycles;
    sum.end += part.time();
    sum.macs += part.macs;
    sum.matrix_macs += part.matrix_macs;
    sum.lane_cycles += part.lane_cycles;
    for (std::size_t i = 0; i < kSlotClasses; ++i) sum.slots[i] += part.slots[i];
    if (part.utilization_slots)
        sum.utilization_slots = sum.utilization_slots.value_or(0) + *part.utilization_slots;
    add_counts(sum.operations, part.operations);
    add(sum.movements, part.movements);
    sum.dram_read += part.dram_read;
    sum.dram_written += part.dram_written;
    sum.compulsory_dram += part.compulsory_dram;
    for (std::size_t i = 0; i < kLevels; ++i) sum.roofline.cycles[i] += part.roofline.cycles[i];
    sum.reused = sum.reused || part.reused;
}

/// What bounds most of the time of a layer's parts; of equals the first.
class Bounds {
public:
    void add(const ResultRow& part) {
        const auto known = std::ranges::find(times_, part.bound_by, &Time::bound);
        if (known == times_.end())
            times_.push_back({part.bound_by, part.time()});
        else
            known->time += part.time();
    }
    const std::string& most() const { return std::ranges::max_element(times_, {}, &Time::time)->bound; }

private:
    struct Time {
        std::string bound;
        Ticks time;
    };
    std::vector<Time> times_;
};

}  // namespace

void add_counts(std::vector<OperationCount>& sum, const std::vector<OperationCount>& operations) {
    for (const OperationCount& operation : operations) {
        const auto same = std::ranges::find(sum, operation.name, &OperationCount::name);
        if (same == sum.end())
            sum.push_back(operation);
        else
            same->count += operation.count;
    }
}

void merge_rows(DeviceResult& result, const std::vector<std::size_t>& layers) {
    SYSTOLE_CHECK(result.layers.size() == layers.size(), "{} rows of {} parts", result.layers.size(),
                  layers.size());
    if (layers.empty()) return;
    std::vector<std::optional<ResultRow>> rows(1 + *std::ranges::max_element(layers));
    std::vector<Bounds> bounds(rows.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
        std::optional<ResultRow>& row = rows[layers[i]];
        bounds[layers[i]].add(result.layers[i]);
        if (row)
            add(*row, result.layers[i]);
        else
            row = std::move(result.layers[i]);
    }
    Ticks now(0);
    result.layers.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ResultRow& row = result.layers.emplace_back(std::move(*rows[i]));
        row.bound_by = bounds[i].most();
        row.end = now + row.time();
        row.begin = now;
        now = row.end;
    }
}

void merge_parts(const Graph& sliced, DeviceResult& result, Timeline& timeline) {
    SYSTOLE_CHECK(result.layers.size() == sliced.layers.size(), "{} rows for {} layers", result.layers.size(),
                  sliced.layers.size());
    if (std::ranges::none_of(sliced.layers, [](const Layer& layer) { return layer.slice.has_value(); }))
        return;
    for (std::size_t i = 0; i < sliced.layers.size(); ++i) {
        const auto& slice = sliced.layers[i].slice;
        if (!slice) continue;
        result.layers[i].name = slice->whole;
        result.layers[i].mapping += fmt::format("; in {} slices of the batch", slice->count);
    }
    const std::vector<std::size_t> numbers = row_numbers(sliced);
    merge_rows(result, numbers);
    for (Span& span : timeline.spans)
        if (span.layer >= 0)
            span.layer = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(span.layer)]);
}

}  // namespace systole
