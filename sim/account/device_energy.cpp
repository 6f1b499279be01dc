// SPDX-License-Identifier: Apache-2.0
#include "sim/account/device_energy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "sim/account/invariants.h"
#include "sim/base/check.h"
#include "sim/base/text.h"

namespace systole {
namespace {

std::int64_t weight_of(const ResultRow& row, EnergyFollows follows) {
    switch (follows) {
        case EnergyFollows::Time:
            return row.time().value();
        case EnergyFollows::DramRead:
            return row.dram_read.value();
        case EnergyFollows::DramWritten:
            return row.dram_written.value();
        case EnergyFollows::DramMoved:
            return (row.dram_read + row.dram_written).value();
    }
    return 0;
}

/// `count` by the layers' weights, whole numbers that sum to it. Where nothing weighs (rows that were opened
/// for nobody), by time.
std::vector<std::int64_t> shared_out(std::int64_t count, const std::vector<ResultRow>& layers,
                                     EnergyFollows follows) {
    Int128 all = 0;
    for (const ResultRow& row : layers) all += weight_of(row, follows);
    if (all == 0 && follows != EnergyFollows::Time) return shared_out(count, layers, EnergyFollows::Time);
    std::vector<std::int64_t> shares(layers.size());
    Int128 weight = 0;
    std::int64_t given = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        weight += weight_of(layers[i], follows);
        // A run without time has its counts in the last layer.
        const std::int64_t until = i + 1 == layers.size() ? count
                                   : all == 0             ? 0
                                                          : static_cast<std::int64_t>(count * weight / all);
        shares[i] = until - given;
        given = until;
    }
    return shares;
}

class Accounting {
public:
    explicit Accounting(DeviceResult& result) : result_(result) {}

    /// Counts of each layer.
    template <class Count>
    void enter(EnergyEntry entry, Count count_of) {
        for (const ResultRow& row : result_.layers) entry.layers.push_back(count_of(row));
        for (const std::int64_t count : entry.layers) entry.count += count;
        if (entry.count != 0) enter(std::move(entry));
    }
    void enter(EnergyEntry entry) {
        ledger_.enter(std::move(entry));  // refuses what 64 bits do not hold
        const EnergyEntry& entered = ledger_.entries().back();
        const auto part = static_cast<std::size_t>(entered.part);
        for (std::size_t i = 0; i < entered.layers.size(); ++i)
            result_.layers[i].energy[part] += entered.each * entered.layers[i];
        result_.total.energy[part] += entered.energy();
    }
    EnergyLedger take() { return std::move(ledger_); }

private:
    DeviceResult& result_;
    EnergyLedger ledger_;
};

void enter_operations(const DeviceResult& result, const DeviceEnergySpec& spec, Accounting& accounting) {
    const auto count = [](const ResultRow& row, const std::string& name) {
        std::int64_t sum = 0;
        for (const OperationCount& operation : row.operations)
            if (operation.name == name) sum += operation.count;
        return sum;
    };
    for (const OperationEnergy& each : spec.operations)
        accounting.enter({result.device + '.' + each.of, each.name, "", each.unit, 0, each.each, each.part},
                         [&](const ResultRow& row) { return count(row, each.name); });
    for (const ResultRow& row : result.layers)
        for (const OperationCount& operation : row.operations)
            SYSTOLE_CHECK(std::ranges::any_of(spec.operations,
                                              [&](const auto& each) { return each.name == operation.name; }),
                          "{}: {} {} have no energy", row.name, operation.count, operation.name);
}

void enter_bytes(const DeviceResult& result, const DeviceEnergySpec& spec, Accounting& accounting) {
    for (std::size_t p = 0; p < kPlaces; ++p) {
        if (!spec.places[p]) continue;
        const auto place = static_cast<Place>(p);
        const auto passed = [&](Place Movement::*end, const char* event, Femtojoules each) {
            if (each == Femtojoules()) return;
            accounting.enter({fmt::format("{}.{}", result.device, place_name(result, place)), event, "", "B",
                              0, each, spec.places[p]->part},
                             [&](const ResultRow& row) {
                                 std::int64_t bytes = 0;
                                 for (const Movement& moved : row.movements)
                                     if (moved.*end == place) bytes += moved.bytes.value();
                                 return bytes;
                             });
        };
        passed(&Movement::from, "read", spec.places[p]->read);
        passed(&Movement::to, "write", spec.places[p]->written);
    }
}

double watts(Femtojoules energy, Ticks time) {
    return static_cast<double>(energy.value()) / static_cast<double>(time.value()) / 1000;
}

/// Of each layer and as many behind it as the window takes.
double peak_watts(const std::vector<ResultRow>& layers) {
    double peak = 0;
    std::size_t end = 0;
    Femtojoules energy;
    Ticks time;
    for (const ResultRow& first : layers) {
        for (; end < layers.size() && time < kPowerWindow; ++end) {
            energy += energy_of(layers[end]);
            time += layers[end].time();
        }
        if (time >= kPowerWindow) peak = std::max(peak, watts(energy, time));
        energy -= energy_of(first);
        time -= first.time();
    }
    return peak;
}

}  // namespace

Femtojoules energy_of(const ResultRow& row) {
    Femtojoules all;
    for (const Femtojoules part : row.energy) all += part;
    return all;
}

void account_energy(DeviceResult& result, const DeviceEnergySpec& spec) {
    Accounting accounting(result);
    enter_operations(result, spec, accounting);
    enter_bytes(result, spec, accounting);
    for (EnergyEntry entry : result.energy.entries()) {
        entry.layers = shared_out(entry.count, result.layers, entry.follows);
        accounting.enter(std::move(entry));
    }
    // A milliwatt is a femtojoule a picosecond.
    accounting.enter({result.device, "idle", "", "ps", 0, Femtojoules(spec.idle.value()), EnergyPart::Static},
                     [](const ResultRow& row) { return row.time().value(); });
    result.energy = accounting.take();
    result.energy_is_whole = true;
    check_energy(result);
}

EnergyLedger memory_share(const EnergyLedger& ledger, const ResultRow& whole, const ResultRow& part) {
    EnergyLedger shares;
    for (EnergyEntry entry : ledger.entries()) {
        const auto all = std::max<std::int64_t>(1, weight_of(whole, entry.follows));
        entry.count = static_cast<std::int64_t>(Int128{entry.count} * weight_of(part, entry.follows) / all);
        entry.counter.clear();  // which counts all of it
        shares.enter(std::move(entry));
    }
    return shares;
}

std::optional<PowerDrawn> power_drawn(const DeviceResult& result) {
    const Ticks time = result.total.time();
    if (!result.energy_is_whole || time == Ticks(0)) return std::nullopt;
    PowerDrawn power;
    power.average_w = watts(result.energy.total(), time);
    power.peak_w = std::max(power.average_w, peak_watts(result.layers));
    power.operations_per_joule = 2 * static_cast<double>(result.total.macs.value()) /
                                 static_cast<double>(result.energy.total().value()) * 1e15;
    return power;
}

std::string energy_sentence(const DeviceResult& result) {
    if (!result.energy_is_whole) {
        const std::string memory = energy_sentence(result.energy);
        return memory.empty() ? "" : memory + " Of the memory only: the device has no figures (energy).";
    }
    std::vector<std::size_t> order(kEnergyParts);
    for (std::size_t i = 0; i < kEnergyParts; ++i) order[i] = i;
    const EnergyParts& parts = result.total.energy;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return parts[a] > parts[b]; });
    const auto total = static_cast<double>(result.energy.total().value());
    std::vector<std::string> shares;
    for (const std::size_t i : order)
        if (parts[i] > Femtojoules())
            shares.push_back(fmt::format("{} % {}",
                                         format_percent(static_cast<double>(parts[i].value()) / total),
                                         to_string(static_cast<EnergyPart>(i))));
    if (shares.empty()) return "Energy 0 J.";
    std::string text =
        fmt::format("Energy {}: {}", format_energy(result.energy.total()), fmt::join(shares, ", "));
    if (const auto power = power_drawn(result))
        text += fmt::format("; {:.4g} W on average, {:.4g} W at most (over {} or more), {:.4g} TOPS/W",
                            power->average_w, power->peak_w, format_time(kPowerWindow),
                            power->operations_per_joule / 1e12);
    return text + '.';
}

}  // namespace systole
