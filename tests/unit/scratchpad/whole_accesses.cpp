// SPDX-License-Identifier: Apache-2.0
// Promises are shares of cycles; banks serve whole lines. Whatever was promised, a bank that gives each of
// its cycles to whole accesses, the most urgent first, must be able to keep all of it: byte for byte placed
// by the definition of the map, no calendar involved.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "models/memory/scratchpad/scratchpad_banks.h"
#include "tests/support/seeds.h"

namespace systole {
namespace {

/// What a bank owes a client: so many lines within [begin, end).
struct Debt {
    std::int64_t begin, end, lines;
};

/// Serves `ports` lines a cycle, of those that may begin the one whose time is up first. Whether all are in
/// time.
bool kept(std::vector<Debt> debts, int ports) {
    std::int64_t last = 0;
    for (const Debt& debt : debts) last = std::max(last, debt.end);
    for (std::int64_t cycle = 0; cycle < last; ++cycle) {
        for (int port = 0; port < ports; ++port) {
            Debt* urgent = nullptr;
            for (Debt& debt : debts)
                if (debt.lines > 0 && debt.begin <= cycle && (!urgent || debt.end < urgent->end))
                    urgent = &debt;
            if (!urgent) break;
            if (urgent->end <= cycle) return false;
            --urgent->lines;
        }
    }
    return std::all_of(debts.begin(), debts.end(), [](const Debt& debt) { return debt.lines == 0; });
}

std::int64_t bank_of(const ScratchpadSpec& spec, std::int64_t line) {
    const std::int64_t turn = line / spec.banks, in_turn = line % spec.banks;
    return spec.bank_map == BankMapKind::Interleaved ? in_turn : in_turn ^ (turn % spec.banks);
}

}  // namespace

TEST_CASE("banks that serve whole lines can keep every promise", "[scratchpad]") {
    for (std::uint64_t seed = 1; seed <= test::enough(150); ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % n); };
        ScratchpadSpec spec{.capacity = Bytes(1 << 20)};
        spec.banks = 1 << below(4);
        spec.bank_bytes = Bytes(1 + below(24));
        spec.bank_map = below(2) ? BankMapKind::Xor : BankMapKind::Interleaved;
        spec.bank_access = below(2) ? BankAccess::Shared : BankAccess::Split;
        spec.bank_ports = 1 + static_cast<int>(below(3));
        ScratchpadBanks banks(spec);
        const auto bank_count = static_cast<std::size_t>(spec.banks);
        std::vector<std::vector<Debt>> reads(bank_count), writes(bank_count);
        std::int64_t now = 0, beyond_least = 0;
        for (int ask = 0; ask < 120; ++ask) {
            now += below(4) ? below(4) : below(40);
            const std::int64_t begin = now + (below(3) ? 0 : below(30));
            // A strided run of vectors, each with whatever lines its bytes lie in.
            const std::int64_t vectors = 1 + below(12), bytes = 1 + below(100);
            const std::int64_t stride = below(3) ? std::int64_t{1} << below(9) : below(300);
            const std::int64_t base = below(5000);
            BankLoad load(banks.map());
            std::vector<std::int64_t> lines(bank_count);
            for (std::int64_t vector = 0; vector < vectors; ++vector) {
                const std::int64_t first = (base + vector * stride) / spec.bank_bytes.value();
                const std::int64_t last = (base + vector * stride + bytes - 1) / spec.bank_bytes.value();
                load.add(first, last);
                for (std::int64_t line = first; line <= last; ++line)
                    ++lines[static_cast<std::size_t>(bank_of(spec, line))];
            }
            const std::int64_t least = 1 + below(3 * vectors);
            const ScratchpadBanks::Work work{BankClient::Dma, Cycles(now), Cycles(begin), Cycles(least)};
            const bool write = below(2) == 1;
            const std::int64_t taken = (write ? banks.write(work, load) : banks.read(work, load)).value();
            REQUIRE(taken >= least);
            beyond_least += taken - least;
            const bool one_for_both = spec.bank_access == BankAccess::Shared;
            for (std::size_t bank = 0; bank < bank_count; ++bank)
                if (lines[bank] > 0)
                    (write && !one_for_both ? writes : reads)[bank].push_back(
                        {begin, begin + taken, lines[bank]});
        }
        for (std::size_t bank = 0; bank < bank_count; ++bank) {
            CAPTURE(bank);
            CHECK(kept(reads[bank], spec.bank_ports));
            CHECK(kept(writes[bank], spec.bank_ports));
        }
        if (spec.bank_ports == 1) CHECK(beyond_least > 0);  // they did meet
    }
}

}  // namespace systole
