// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/memory/slow_channel_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "models/memory/constraint_table.h"
#include "tests/unit/memory/memory_presets.h"

namespace systole::test {
namespace {

/// Reading a file takes longer than a run: each is read once.
const std::vector<DramSpec>& shipped() {
    static const std::vector<DramSpec> specs = [] {
        std::vector<DramSpec> all;
        for (const std::string& name : memory_names())
            if (DramSpec spec = memory_spec(name); spec.kind == DramSpec::Kind::Dram) all.push_back(spec);
        return all;
    }();
    return specs;
}

/// The fields of the map without the channel's, in any order that keeps rows on top.
std::string some_map(Random& random, const DramSpec& spec) {
    std::vector<std::string> fields{"co", "ba"};
    if (spec.bank_groups > 1) fields.emplace_back("bg");
    std::shuffle(fields.begin(), fields.end(), random);
    std::string map;
    for (const std::string& field : fields) map += field + " ";
    return map + "ro";
}

}  // namespace

DramSpec some_memory(Random& random) {
    DramSpec spec = shipped()[static_cast<std::size_t>(pick(random, 0, std::ssize(shipped()) - 1))];
    const ConstraintTable& table = *find_constraint_table(spec.standard);
    spec.address_map = some_map(random, spec);
    spec.channels = 1;
    spec.pseudo_channels = static_cast<int>(pick(random, 1, table.pseudo_channels));
    if (spec.pseudo_channels > 1) spec.address_map = "ch " + spec.address_map;
    spec.refresh = static_cast<RefreshPolicy>(pick(random, 0, table.refreshes_banks() ? 2 : 1));
    spec.refresh_postpone = static_cast<int>(pick(random, 0, 1) * pick(random, 0, 8));
    spec.timing["RFC"] = std::min(spec.timing["RFC"], pick(random, 60, 200));
    spec.timing["REFI"] = pick(random, 3, 10) * (spec.timing["RFC"] + spec.timing["RC"]);
    if (table.refreshes_banks())
        spec.timing["REFISB"] = pick(random, 2, 5) * (spec.timing["RFCSB"] + spec.timing["RC"]);
    spec.refresh_phase = Ticks(pick(random, 0, 1'000'000));
    spec.queue = static_cast<int>(pick(random, 0, 3) == 0 ? pick(random, 1, 8) : pick(random, 16, 64));
    spec.shared_queue = pick(random, 0, 2) == 0;
    spec.writes.high = std::max(1, spec.queue * static_cast<int>(pick(random, 5, 10)) / 10);
    spec.writes.low = static_cast<int>(pick(random, 0, spec.writes.high - 1));
    spec.page = static_cast<PagePolicy>(pick(random, 0, 2));
    spec.row_hit_cap = static_cast<int>(pick(random, 0, 1) * pick(random, 1, 8));
    spec.patience = static_cast<int>(pick(random, 0, 1) == 0 ? pick(random, 1, 50) : 4096);
    return spec;
}

std::deque<Arrival> some_traffic(Random& random, const DramSpec& spec, std::int64_t bursts) {
    const std::int64_t all = spec.bus_capacity() / spec.burst_bytes;
    const std::int64_t writes_percent = pick(random, 0, 2) * pick(random, 0, 40);
    const std::int64_t longest = pick(random, 0, 1) == 0 ? 1 : pick(random, 2, 200);
    const std::int64_t region = pick(random, 0, 1) == 0 ? all : 4096, pause = pick(random, 0, 80);
    const std::int64_t stream_percent = pick(random, 0, 100), second_bus_percent = pick(random, 0, 2) * 50;
    std::deque<Arrival> arrivals;
    std::int64_t clock = 0, at = 0, total = 0;
    for (std::int64_t id = 0; total < bursts; ++id) {
        const std::int64_t count = pick(random, 1, longest);
        if (pick(random, 0, 99) >= stream_percent) at = pick(random, 0, region - 1);
        at = std::min(at, all - count);
        const bool write = pick(random, 0, 99) < writes_percent;
        const bool second = spec.pseudo_channels > 1 && pick(random, 0, 99) < second_bus_percent;
        arrivals.push_back(
            {clock, second ? 1 : 0, id, at, count, write ? Direction::Write : Direction::Read});
        at += count, total += count;
        if (pick(random, 0, 2) == 0) clock += pick(random, 0, pause);
    }
    return arrivals;
}

std::string words(const DramSpec& spec) {
    return fmt::format(
        "{}, {} pseudo-channels, map {}, refresh {} (postpone {}), queue {}{}, writes {}/{}, page {}, cap "
        "{}, "
        "patience {}",
        spec.standard, spec.pseudo_channels, spec.address_map, static_cast<int>(spec.refresh),
        spec.refresh_postpone, spec.queue, spec.shared_queue ? " shared" : "", spec.writes.high,
        spec.writes.low, static_cast<int>(spec.page), spec.row_hit_cap, spec.patience);
}

}  // namespace systole::test
