// SPDX-License-Identifier: Apache-2.0
#include "sim/account/joined_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "sim/account/byte_ledger.h"
#include "sim/base/check.h"

namespace systole {
namespace {

std::vector<Movement> sum_of(const std::vector<Movement>& a, const std::vector<Movement>& b) {
    ByteLedger sum(1);
    for (const auto* movements : {&a, &b})
        for (const Movement& m : *movements) sum.enter(0, m.from, m.to, m.operand, m.bytes);
    return sum.movements();
}

/// `product` with what `other` did. Their times are added: others may lie between.
void join(ResultRow& product, const ResultRow& other) {
    product.op += " + " + other.op;
    product.cycles += other.cycles;
    if (other.time() > product.time()) product.bound_by = other.bound_by;
    product.end += other.time();
    product.macs += other.macs;
    product.matrix_macs += other.matrix_macs;
    product.lane_cycles += other.lane_cycles;
    if (product.utilization_slots)
        *product.utilization_slots += other.utilization_slots.value_or(other.capacity());
    for (std::size_t c = 0; c < kSlotClasses; ++c) product.slots[c] += other.slots[c];
    product.movements = sum_of(product.movements, other.movements);
    product.dram_read += other.dram_read;
    product.dram_written += other.dram_written;
    product.compulsory_dram += other.compulsory_dram;
    for (std::size_t level = 0; level < kLevels; ++level)
        product.roofline.cycles[level] += other.roofline.cycles[level];
    for (std::size_t part = 0; part < kEnergyParts; ++part) product.energy[part] += other.energy[part];
    product.reused = product.reused && other.reused;
}

/// Names of rows that are one row everywhere.
class RowNames {
public:
    void unite(const std::string& layer, const std::string& with) {
        const std::string name = of(layer), into = of(with);
        if (name != into) into_[name] = into;
    }
    /// The name of the row that a layer is part of.
    std::string of(std::string name) const {
        for (auto into = into_.find(name); into != into_.end(); into = into_.find(name)) name = into->second;
        return name;
    }

private:
    std::map<std::string, std::string> into_;
};

RowNames names_of(const std::vector<DeviceResult>& devices, const Joins& joins) {
    RowNames names;
    for (const DeviceResult& device : devices) {
        std::set<std::string> own;
        for (const ResultRow& row : device.layers) own.insert(row.name);
        for (const Join& join : joins)
            if (!own.contains(join.layer)) names.unite(join.layer, join.with);
    }
    return names;
}

}  // namespace

std::vector<std::vector<ResultRow>> rows_alike(const std::vector<DeviceResult>& devices, const Joins& joins) {
    const RowNames names = names_of(devices, joins);
    std::vector<std::vector<ResultRow>> all;
    for (const DeviceResult& device : devices) {
        std::vector<ResultRow>& rows = all.emplace_back();
        std::map<std::string, std::size_t> places;
        for (const ResultRow& row : device.layers) {
            const auto [place, is_new] = places.try_emplace(names.of(row.name), rows.size());
            if (!is_new) {
                join(rows[place->second], row);
                continue;
            }
            rows.push_back(row);
            rows.back().name = place->first;
        }
        SYSTOLE_CHECK(std::ranges::equal(rows, all.front(), {}, &ResultRow::name, &ResultRow::name),
                      "{} and {} have other layers", device.device, devices.front().device);
    }
    return all;
}

}  // namespace systole
