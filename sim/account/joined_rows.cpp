// SPDX-License-Identifier: Apache-2.0
#include "sim/account/joined_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

/// Of the layers of `joins`, those that some device does not have as a layer of its own.
std::set<std::string> joined_somewhere(const std::vector<DeviceResult>& devices, const Joins& joins) {
    std::set<std::string> joined;
    for (const DeviceResult& device : devices) {
        std::set<std::string> own;
        for (const ResultRow& row : device.layers) own.insert(row.name);
        for (const auto& [name, product] : joins)
            if (!own.contains(name)) joined.insert(name);
    }
    return joined;
}

}  // namespace

std::vector<std::vector<ResultRow>> rows_alike(const std::vector<DeviceResult>& devices, const Joins& joins) {
    const std::set<std::string> joined = joined_somewhere(devices, joins);
    std::vector<std::vector<ResultRow>> all;
    for (const DeviceResult& device : devices) {
        std::vector<ResultRow>& rows = all.emplace_back();
        std::map<std::string, std::size_t> places;
        for (const ResultRow& row : device.layers)
            if (joined.contains(row.name)) {
                const auto product = places.find(joins.at(row.name));
                SYSTOLE_CHECK(product != places.end(), "{} has '{}' without what it joins", device.device,
                              row.name);
                join(rows[product->second], row);
            } else {
                places[row.name] = rows.size();
                rows.push_back(row);
            }
        SYSTOLE_CHECK(std::ranges::equal(rows, all.front(), {}, &ResultRow::name, &ResultRow::name),
                      "{} and {} have other layers", device.device, devices.front().device);
    }
    return all;
}

}  // namespace systole
