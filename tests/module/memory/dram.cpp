// SPDX-License-Identifier: Apache-2.0
// The Dram module under SystemC: phases, splitting over channels, back-pressure, refusals. Times of single
// requests are computed by hand from the timing parameters.
#include "models/memory/dram.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <random>

#include "sim/kernel/kernel.h"
#include "tests/module/memory/initiators.h"
#include "tests/module/memory/phase_monitor.h"
#include "tests/unit/memory/memory_specs.h"

namespace systole::test {
namespace {

/// Two channels of HBM2, channel bit above one row of all bank groups' bursts.
DramSpec two_channels() {
    DramSpec spec = hbm2();
    spec.channels = 2;
    spec.address_map = "ch1 bg2 co5 ba2 ro15";
    spec.refresh = RefreshPolicy::Off;
    return spec;
}

constexpr Ticks ns(std::int64_t n) {
    return Ticks(n * 1000);
}

}  // namespace

TEST_CASE("a request is accepted at once and answered when its last channel is done") {
    FreshKernel kernel;
    Dram dram("dram", two_channels());
    Source source("source", {{ns(10), 0, 32}, {ns(200), 32, 64}, {ns(400), 33, 31}});
    source.out.bind(dram.in);
    run_to_the_end();
    const auto& outcomes = source.outcomes();
    CHECK(outcomes[0].accepted == ns(10));
    CHECK(outcomes[0].answered == ns(10 + 15 + 14 + 2));  // closed bank
    CHECK(outcomes[1].answered ==
          ns(200 + 15 + 14 + 2));                     // channel 1 closed, channel 0's next bank group too
    CHECK(outcomes[2].answered == ns(400 + 14 + 2));  // a row hit
    for (const auto& outcome : outcomes) CHECK(outcome.status == tlm::TLM_OK_RESPONSE);
    CHECK(dram.bytes_read() == Bytes(32 + 64 + 31));
    CHECK(dram.idle());
    const std::vector<Stat> stats = dram.stats();
    CHECK(stats[2].name == "read_bursts");
    CHECK(stats[2].value == 4);
}

TEST_CASE("requests between two clock edges count from the next") {
    FreshKernel kernel;
    DramSpec spec = two_channels();
    spec.clock = Hertz(1'500'000'000);
    Dram dram("dram", spec);
    Source source("source", {{Ticks(700), 0, 32}});
    source.out.bind(dram.in);
    run_to_the_end();
    CHECK(source.outcomes()[0].answered == Ticks((2 + 31) * 1'000'000 / 1500));  // edge 2 is at 1333 ps
}

TEST_CASE("a full door holds the request phase open, and nothing is lost") {
    FreshKernel kernel;
    DramSpec spec = two_channels();
    spec.door = 1;
    spec.queue = 4;
    Dram dram("dram", spec);
    std::vector<Source::Request> requests;
    for (std::uint64_t i = 0; i < 50; ++i) requests.push_back({ns(0), i * 4096, 1024, i % 3 == 0});
    Source first("first", requests), second("second", requests, true);
    first.out.bind(dram.in);
    second.out.bind(dram.in);
    run_to_the_end();
    CHECK(first.outcomes()[2].accepted > ns(0));
    for (const Source* source : {&first, &second})
        for (const auto& outcome : source->outcomes()) CHECK(outcome.status == tlm::TLM_OK_RESPONSE);
    CHECK(dram.bytes_written() == Bytes(2 * 17 * 1024));
    CHECK(dram.bytes_read() == Bytes(2 * 33 * 1024));
    CHECK(dram.idle());
}

TEST_CASE("how a transfer is cut into payloads does not change when its last byte arrives") {
    std::map<unsigned, Ticks> last;
    for (const unsigned piece : {256u, 1024u, 4096u, 32768u}) {
        FreshKernel kernel;
        DramSpec spec = two_channels();
        spec.refresh = RefreshPolicy::AllBank;
        spec.door = 4096;
        Dram dram("dram", spec);
        std::vector<Source::Request> requests;
        for (std::uint64_t at = 0; at < (1u << 18); at += piece) requests.push_back({ns(5), at, piece});
        Source source("source", requests);
        source.out.bind(dram.in);
        run_to_the_end();
        for (const auto& outcome : source.outcomes()) last[piece] = std::max(last[piece], outcome.answered);
    }
    CHECK(last[256] == last[32768]);
    CHECK(last[1024] == last[32768]);
    CHECK(last[4096] == last[32768]);
    CHECK(last[32768] > ns((1 << 18) / 32));  // two channels of 16 B a clock
}

TEST_CASE("what no memory could serve is refused with the response TLM has for it") {
    FreshKernel kernel;
    const DramSpec spec = two_channels();
    Dram dram("dram", spec);
    const auto end = static_cast<std::uint64_t>(spec.capacity().value());
    Source source("source", {{ns(0), end - 32, 64},
                             {ns(0), 0, 64 * 1024},
                             {ns(0), end - 64, 64},
                             {ns(0), 0, 64, true, 32},  // streaming: the same 32 B twice
                             {ns(0), 0, 64, true, 0}});
    source.out.bind(dram.in);
    run_to_the_end();
    CHECK(source.outcomes()[0].status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(source.outcomes()[1].status == tlm::TLM_BURST_ERROR_RESPONSE);
    CHECK(source.outcomes()[2].status == tlm::TLM_OK_RESPONSE);
    CHECK(source.outcomes()[3].status == tlm::TLM_BURST_ERROR_RESPONSE);
    CHECK(source.outcomes()[4].status == tlm::TLM_OK_RESPONSE);
    CHECK(dram.bytes_written() == Bytes(64));
}

TEST_CASE("an ideal memory answers at the same time") {
    FreshKernel kernel;
    DramSpec spec;
    spec.kind = DramSpec::Kind::Ideal;
    spec.flat_capacity = Bytes(1 << 20);
    Dram dram("dram", spec);
    Source source("source", {{ns(7), 0, 1024}, {ns(7), 4096, 32768, true}});
    source.out.bind(dram.in);
    run_to_the_end();
    CHECK(source.outcomes()[0].answered == ns(7));
    CHECK(source.outcomes()[1].answered == ns(7));
    CHECK(dram.bytes_written() == Bytes(32768));
}

TEST_CASE("memory on the chip passes requests one behind the other at its bandwidth") {
    FreshKernel kernel;
    DramSpec spec;
    spec.kind = DramSpec::Kind::Sram;
    spec.flat_capacity = Bytes(1 << 20);
    spec.sram_bandwidth = BytesPerSecond(1'024'000'000'000);  // 1024 B a nanosecond
    spec.sram_latency = Ticks(3000);
    Dram dram("dram", spec);
    Source source("source", {{ns(7), 0, 1024}, {ns(7), 4096, 32768, true}, {ns(100), 512, 1024}});
    source.out.bind(dram.in);
    run_to_the_end();
    CHECK(source.outcomes()[0].answered == ns(7 + 1 + 3));
    CHECK(source.outcomes()[1].answered == ns(7 + 1 + 32 + 3));
    CHECK(source.outcomes()[2].answered == ns(100 + 1 + 3));
    CHECK(dram.bytes_written() == Bytes(32768));
    CHECK(dram.bytes_read() == Bytes(2048));
    EnergyLedger ledger;
    dram.account_energy(ledger);
    CHECK(ledger.empty());
}

TEST_CASE("many small requests of memory on the chip take as long as few large ones") {
    const auto last = [](std::int64_t requests, std::uint32_t bytes) {
        FreshKernel kernel;
        DramSpec spec;
        spec.kind = DramSpec::Kind::Sram;
        spec.flat_capacity = Bytes(1 << 20);
        spec.sram_bandwidth = BytesPerSecond(80'000'000'000'000);
        Dram dram("dram", spec);
        std::vector<Source::Request> all(static_cast<std::size_t>(requests), {ns(0), 0, bytes});
        Source source("source", all);
        source.out.bind(dram.in);
        run_to_the_end();
        return source.outcomes().back().answered;
    };
    CHECK(last(100, 320) == last(1, 32000));  // of which each takes 4 ps
    CHECK(last(1000, 100) == ns(0) + Ticks(1250));
}

TEST_CASE("the refresh phase moves the first refresh") {
    for (const std::int64_t phase : {0, 3000, 3900 + 3000}) {
        FreshKernel kernel;
        DramSpec spec = two_channels();
        spec.refresh = RefreshPolicy::AllBank;
        spec.refresh_phase = ns(phase);
        Dram dram("dram", spec);
        Source source("source", {{ns(900), 0, 32}});
        source.out.bind(dram.in);
        run_to_the_end();
        // due at 900 after 3000 of 3900: REF at once (nothing is open), ACT RFC - 1 later
        const std::int64_t wait = phase == 0 ? 0 : 259;
        CHECK(source.outcomes()[0].answered == ns(900 + wait + 15 + 14 + 2));
    }
}

TEST_CASE("a blocking transport takes as long as the phases do") {
    FreshKernel kernel;
    Dram dram("dram", two_channels());
    LooselyTimed source("source", {{0, 32, false}});
    source.out.bind(dram.in);
    run_to_the_end();
    CHECK(source.answered() == std::vector{ns(10 + 15 + 14 + 2)});
}

TEST_CASE("stand-alone initiators drive the memory, and every phase is legal") {
    for (const bool late : {false, true}) {
        FreshKernel kernel;
        DramSpec spec = two_channels();
        spec.refresh = RefreshPolicy::AllBank;
        spec.door = 2;
        Dram dram("dram", spec);
        std::mt19937_64 random(late ? 7 : 8);
        std::vector<Source::Request> requests;
        std::vector<LooselyTimed::Request> blocking;
        std::int64_t bytes = 0;
        for (std::uint64_t i = 0; i < 200; ++i) {
            const auto size = static_cast<unsigned>(random() % 4096 + 1);
            requests.push_back(
                {ns(static_cast<std::int64_t>(i) * 40), random() % (1 << 24), size, i % 3 == 0});
            blocking.push_back({random() % (1 << 24), size, i % 5 == 0});
            bytes += 2 * size;
        }
        Source timed("timed", requests, late);
        LooselyTimed loose("loose", blocking);
        PhaseMonitor monitor("monitor");
        timed.out.bind(monitor.in);
        monitor.out.bind(dram.in);
        loose.out.bind(dram.in);
        run_to_the_end();
        CHECK(monitor.faults == std::vector<std::string>{});
        CHECK(monitor.responses == 200);
        CHECK(monitor.quiet());
        CHECK(loose.all_ok());
        CHECK(loose.answered().size() == 200);
        CHECK((dram.bytes_read() + dram.bytes_written()).value() == bytes);
        CHECK(dram.idle());
    }
}

namespace {

/// Long ranges that reach all channels alike, whole and from anywhere on, and short ones that set some apart.
std::vector<Source::Request> some_ranges(std::mt19937_64& random, const DramSpec& spec, std::size_t count) {
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    const std::int64_t stripe = 4 * spec.burst_bytes.value() * spec.data_buses();
    const std::int64_t short_percent = pick(0, 2) * 15, pause = pick(0, 3) * 400;
    std::vector<Source::Request> requests;
    std::int64_t at = 0, next = 0;
    while (requests.size() < count) {
        const bool is_short = pick(0, 99) < short_percent;
        const std::int64_t bytes = is_short ? pick(1, 700) : stripe * pick(1, 8);
        if (is_short || pick(0, 9) == 0 || next + bytes > (1 << 24))
            next = is_short ? pick(0, 1 << 24) : stripe * pick(0, (1 << 23) / stripe);
        requests.push_back(
            {ns(at), static_cast<std::uint64_t>(next), static_cast<unsigned>(bytes), pick(0, 3) == 0});
        next += bytes;
        if (pick(0, 2) == 0) at += pick(0, pause);
    }
    return requests;
}

struct Seen {
    std::vector<Source::Outcome> first, second;
    BusAccount account;
    std::vector<Stat> stats;
};

/// Wants to know now and then whose the data buses have been so far; each answer is checked to be all of it.
class Auditor : public sc_core::sc_module {
public:
    Auditor(sc_core::sc_module_name name, Dram& dram) : sc_module(name), dram_(dram) {
        SC_HAS_PROCESS(Auditor);
        SC_THREAD(ask);
    }

private:
    void ask() {
        for (int i = 0; i < 200; ++i) {
            wait(to_sc_time(ns(70)));
            dram_.bus_account();
        }
    }
    Dram& dram_;
};

/// Apart: every channel is simulated by itself, and asked at its bounds whether a held request may enter.
/// Audited: alike channels are together, but none is ahead of time, for it is asked in between.
enum class Way { Together, Apart, Audited };

Seen run_both(const DramSpec& spec, const std::vector<Source::Request>& first,
              const std::vector<Source::Request>& second, Way way) {
    FreshKernel kernel;
    Dram dram("dram", spec);
    std::optional<Auditor> auditor;
    if (way == Way::Audited) {
        dram.stay_in_time();
        auditor.emplace("auditor", dram);
    }
    if (way == Way::Apart)
        for (int channel = 0; channel < dram.channels(); ++channel)
            dram.listen(channel, [](const GivenCommand&) {});
    Source one("one", first), other("other", second, true);
    one.out.bind(dram.in);
    other.out.bind(dram.in);
    run_to_the_end();
    return {one.outcomes(), other.outcomes(), dram.bus_account(), dram.stats()};
}

bool same_times(const std::vector<Source::Outcome>& a, const std::vector<Source::Outcome>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Source::Outcome& one, const Source::Outcome& other) {
                          return one.accepted == other.accepted && one.answered == other.answered;
                      });
}

}  // namespace

TEST_CASE("channels that are simulated once while they are alike do what they do one by one") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::mt19937_64 random(seed);
        const auto pick = [&](int low, int high) {
            return std::uniform_int_distribution<int>(low, high)(random);
        };
        DramSpec spec = hbm2();
        spec.channels = 1 << pick(1, 4);
        spec.pseudo_channels = pick(1, 2);
        const int bits = std::bit_width(static_cast<unsigned>(spec.data_buses())) - 1;
        spec.address_map =
            "ch" + std::to_string(bits) + (pick(0, 1) == 0 ? " bg2 co5 ba2 ro15" : " co2 bg2 co3 ba2 ro15");
        spec.queue = pick(8, 64);
        spec.writes = {std::max(1, spec.queue * 4 / 5), spec.queue / 5};
        spec.shared_queue = pick(0, 3) == 0;
        spec.door = pick(1, 16);
        spec.refresh = static_cast<RefreshPolicy>(pick(0, 2));
        spec.refresh_postpone = pick(0, 1) * pick(0, 8);
        INFO("seed " << seed << ", " << spec.channels << " x " << spec.pseudo_channels << ", map "
                     << spec.address_map);
        const auto first = some_ranges(random, spec, 600), second = some_ranges(random, spec, 300);
        const Seen apart = run_both(spec, first, second, Way::Apart);
        for (const Way way : {Way::Together, Way::Audited}) {
            const Seen seen = run_both(spec, first, second, way);
            REQUIRE(same_times(seen.first, apart.first));
            REQUIRE(same_times(seen.second, apart.second));
            REQUIRE(seen.account == apart.account);
            for (std::size_t i = 0; i < apart.stats.size(); ++i) {
                INFO(apart.stats[i].name);
                REQUIRE(seen.stats[i].value == apart.stats[i].value);
            }
        }
    }
}

}  // namespace systole::test
