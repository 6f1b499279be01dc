// SPDX-License-Identifier: Apache-2.0
// Banks against a reference that keeps every cycle of every bank by itself and places every byte.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "models/memory/scratchpad/scratchpad_banks.h"
#include "tests/support/seeds.h"

namespace systole {
namespace {

/// The bank of a byte, by the definition of the map alone.
int bank_of(const ScratchpadSpec& spec, std::int64_t byte) {
    const std::int64_t line = byte / spec.bank_bytes.value();
    const std::int64_t turn = line / spec.banks, in_turn = line % spec.banks;
    if (spec.bank_map == BankMapKind::Interleaved) return static_cast<int>(in_turn);
    return static_cast<int>(in_turn ^ (turn % spec.banks));
}

std::vector<std::int64_t> counted(const ScratchpadSpec& spec, std::int64_t address, std::int64_t bytes) {
    std::map<std::int64_t, int> lines;
    for (std::int64_t byte = address; byte < address + bytes; ++byte)
        lines[byte / spec.bank_bytes.value()] = bank_of(spec, byte);
    std::vector<std::int64_t> load(static_cast<std::size_t>(spec.banks));
    for (const auto& [line, bank] : lines) ++load[static_cast<std::size_t>(bank)];
    return load;
}

/// Every cycle on its own: tries lengths one after another, then takes from cycle after cycle.
class EveryCycle {
public:
    EveryCycle(int banks, int ports) : banks_(static_cast<std::size_t>(banks)), whole_(ports * 4096) {}

    std::int64_t take(std::int64_t begin, std::int64_t least, const std::vector<std::int64_t>& load) {
        std::int64_t length = least;
        while (!fits(begin, length, load)) ++length;
        for (std::size_t bank = 0; bank < banks_; ++bank) {
            if (load[bank] == 0) continue;
            const std::int64_t needed = load[bank] * 4096, room = free_in(bank, begin, length);
            const std::int64_t share = (needed * 65536 + room - 1) / room;
            std::int64_t taken = 0;
            for (std::int64_t cycle = begin; cycle < begin + length; ++cycle) {
                const std::int64_t given = (free(bank, cycle) * share + 65535) / 65536;
                taken_[{bank, cycle}] += given;
                taken += given;
                CHECK(free(bank, cycle) >= 0);
            }
            CHECK(taken >= needed);
        }
        return length;
    }
    std::int64_t free(std::size_t bank, std::int64_t cycle) const {
        const auto found = taken_.find({bank, cycle});
        return whole_ - (found == taken_.end() ? 0 : found->second);
    }

private:
    std::int64_t free_in(std::size_t bank, std::int64_t begin, std::int64_t length) const {
        std::int64_t sum = 0;
        for (std::int64_t cycle = begin; cycle < begin + length; ++cycle) sum += free(bank, cycle);
        return sum;
    }
    bool fits(std::int64_t begin, std::int64_t length, const std::vector<std::int64_t>& load) const {
        for (std::size_t bank = 0; bank < banks_; ++bank)
            if (free_in(bank, begin, length) < load[bank] * 4096) return false;
        return true;
    }
    std::size_t banks_;
    std::int64_t whole_;
    std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> taken_;
};

BankLoad load_of(const BankMap& map, const std::vector<std::int64_t>& lines) {
    BankLoad load(map);
    for (std::size_t bank = 0; bank < lines.size(); ++bank)
        if (lines[bank] > 0)
            load.add(static_cast<std::int64_t>(bank), static_cast<std::int64_t>(bank), lines[bank]);
    return load;
}

ScratchpadSpec small(BankAccess access) {
    return {.capacity = Bytes(1 << 20),
            .banks = 4,
            .bank_bytes = Bytes(16),
            .activation_ports = 1,
            .weight_port_bytes = Bytes(16),
            .dma_port_bytes = Bytes(64),
            .latency = Cycles(0),
            .bank_access = access};
}

}  // namespace

TEST_CASE("an address range has the lines by bank that its bytes lie in, whatever the map", "[scratchpad]") {
    const std::uint64_t seed = 20240917;
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 400; ++round) {
        ScratchpadSpec spec = small(BankAccess::Private);
        spec.bank_map = random() % 2 ? BankMapKind::Xor : BankMapKind::Interleaved;
        spec.banks = 1 << random() % 5;
        if (spec.bank_map == BankMapKind::Interleaved) spec.banks += static_cast<int>(random() % 3);
        spec.bank_bytes = Bytes(1 + static_cast<std::int64_t>(random() % 20));
        const auto address = static_cast<std::int64_t>(random() % 10'000);
        const auto bytes = 1 + static_cast<std::int64_t>(random() % 3000);
        CAPTURE(round, spec.banks, spec.bank_bytes.value(), address, bytes);
        ScratchpadBanks banks(spec);
        const BankLoad& load = banks.range(Bytes(address), Bytes(bytes));
        const auto expected = counted(spec, address, bytes);
        for (std::size_t bank = 0; bank < expected.size(); ++bank)
            CHECK(load.lines()[bank] == expected[bank]);
        const std::int64_t first = address / spec.bank_bytes.value();
        const std::int64_t last = (address + bytes - 1) / spec.bank_bytes.value();
        if (spec.map().distinct(first, last)) CHECK(load.busiest() == 1);
    }
}

TEST_CASE("an xor map spreads strides of every power of two below the square of its banks", "[scratchpad]") {
    const BankMap map{32, BankMapKind::Xor};
    for (std::int64_t stride = 1; stride < 32 * 32; stride *= 2) {
        std::set<int> banks;
        for (std::int64_t i = 0; i < 32 * 32 / stride; ++i) banks.insert(map.bank_of(i * stride));
        CAPTURE(stride);
        CHECK(static_cast<std::int64_t>(banks.size()) == std::min<std::int64_t>(32, 32 * 32 / stride));
    }
}

TEST_CASE("reservations made in intervals are those of a reference that goes cycle by cycle",
          "[scratchpad]") {
    for (std::uint64_t seed = 1; seed <= test::enough(60); ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % n); };
        const BankMap map{1 + static_cast<int>(below(8)), BankMapKind::Interleaved};
        const int ports = 1 + static_cast<int>(below(3));
        BankCalendar calendar(map.banks, ports);
        EveryCycle reference(map.banks, ports);
        std::int64_t now = 0;
        for (int ask = 0; ask < 60; ++ask) {
            now += below(3) ? below(8) : below(60);
            const std::int64_t begin = now + (below(2) ? 0 : below(20)), least = 1 + below(30);
            std::vector<std::int64_t> lines(static_cast<std::size_t>(map.banks));
            for (auto& n : lines) n = below(3) ? below(2 * least) : 0;
            CAPTURE(ask, now, begin, least);
            const Cycles taken =
                calendar.take(Cycles(now), Cycles(begin), Cycles(least), load_of(map, lines));
            REQUIRE(taken.value() == reference.take(begin, least, lines));
            for (std::size_t bank = 0; bank < lines.size(); ++bank)
                for (std::int64_t cycle = now; cycle < now + 100; ++cycle)
                    REQUIRE(calendar.free(bank, Cycles(cycle)) == reference.free(bank, cycle));
        }
    }
}

TEST_CASE("a bank that is half promised takes a stream that needs it whole twice as long", "[scratchpad]") {
    ScratchpadBanks banks(small(BankAccess::Split));
    BankLoad load(banks.map());
    load.add(0, 0, 50);  // one line of bank 0, again and again
    const auto ask = [&](Cycles now, Cycles least) {
        return ScratchpadBanks::Work{BankClient::Streams, now, now, least};
    };
    CHECK(banks.read(ask(Cycles(0), Cycles(100)), load) == Cycles(100));  // half of the bank till 100
    CHECK(banks.read(ask(Cycles(0), Cycles(50)), load) == Cycles(100));   // the other half
    CHECK(banks.read(ask(Cycles(0), Cycles(50)), load) == Cycles(150));   // what comes behind both
    CHECK(banks.write(ask(Cycles(0), Cycles(50)), load) == Cycles(50));   // has a port of its own
    BankLoad other(banks.map());
    other.add(1, 1, 50);
    CHECK(banks.read(ask(Cycles(0), Cycles(50)), other) == Cycles(50));  // another bank
    CHECK(banks.stats(BankClient::Streams).accesses == 250);
    CHECK(banks.stats(BankClient::Streams).lost == Cycles(50 + 100));
    CHECK(banks.stats(BankClient::Dma).accesses == 0);
}

TEST_CASE("with one port for both, writes are in the way of reads", "[scratchpad]") {
    ScratchpadBanks banks(small(BankAccess::Shared));
    const ScratchpadBanks::Work work{BankClient::Dma, Cycles(0), Cycles(0), Cycles(8)};
    // 512 B: 32 lines, 8 in each of the four banks.
    CHECK(banks.write(work, banks.range(Bytes(0), Bytes(512))) == Cycles(8));
    CHECK(banks.read(work, banks.range(Bytes(512), Bytes(512))) == Cycles(16));
}

TEST_CASE("a load that stands for a part of itself is rounded up, bank by bank", "[scratchpad]") {
    BankLoad load(BankMap{4});
    for (int bank = 0; bank < 4; ++bank) load.add(bank, bank, bank);
    load.scale(2, 3);  // 0, 2/3, 4/3, 2
    CHECK(load.lines() == std::vector<std::int64_t>{0, 1, 2, 2});
}

TEST_CASE("what has passed is forgotten", "[scratchpad]") {
    ScratchpadBanks banks(small(BankAccess::Split));
    BankCalendar calendar(4, 1);
    const BankLoad& load = banks.range(Bytes(0), Bytes(64));
    for (std::int64_t now = 0; now < 100'000; now += 3) {
        calendar.take(Cycles(now), Cycles(now), Cycles(5), load);
        REQUIRE(calendar.intervals() <= 5);
    }
}

TEST_CASE("what has passed in a long pause is given back, too", "[scratchpad]") {
    ScratchpadBanks banks(small(BankAccess::Split));
    BankCalendar calendar(4, 1);
    for (std::int64_t burst = 0; burst < 100; ++burst) {
        // Twenty promises of one bank far ahead, one by one, and then nothing until long after the last.
        for (std::int64_t i = 0; i < 20; ++i) {
            const BankLoad& load = banks.range(Bytes(i % 4 * 16), Bytes(16));
            const Cycles now(10'000 * burst), from(10'000 * burst + 10 * i);
            calendar.take(now, from, Cycles(5), load);
        }
        REQUIRE(calendar.places() <= 2 * calendar.intervals() + 1);
    }
}

}  // namespace systole
