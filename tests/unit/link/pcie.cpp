// SPDX-License-Identifier: Apache-2.0
// PCI Express against arithmetic by hand, and against a link that sends every packet by itself.
#include "models/link/pcie_timing.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/seeds.h"
#include "tests/unit/link/packet_link.h"

namespace systole {
namespace {

using test::PacketLink;

constexpr Ticks kLatency(150'000);

PcieSpec gen3_x16() {
    PcieSpec spec;
    spec.host_latency = Ticks(250'000);
    return spec;
}

/// Bytes per second of a long stream of one direction.
double bandwidth(const PcieSpec& spec, bool write, std::int64_t chunk = 32 * 1024) {
    PcieTiming timing(spec, kLatency);
    const auto move = [&](std::int64_t i) {
        return write ? timing.write(Ticks(0), i * chunk, Bytes(chunk))
                     : timing.read(Ticks(0), i * chunk, Bytes(chunk));
    };
    Ticks begin, end;
    const std::int64_t warm = (1 << 20) / chunk, chunks = (1 << 25) / chunk;
    for (std::int64_t i = 0; i < chunks; ++i) {
        end = move(i);
        if (i + 1 == warm) begin = end;
    }
    return static_cast<double>((chunks - warm) * chunk) / static_cast<double>((end - begin).value()) * 1e12;
}

PcieSpec random_spec(std::mt19937_64& random) {
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    PcieSpec spec;
    spec.generation = static_cast<int>(pick(1, 6));
    spec.lanes = 1 << pick(0, 4);
    spec.max_payload = Bytes(128 << pick(0, 3));
    spec.max_read_request = Bytes(128 << pick(0, 5));
    spec.read_completion_boundary = Bytes(64 << pick(0, 1));
    spec.completion_payload =
        std::clamp(Bytes(64 << pick(0, 5)), spec.read_completion_boundary, spec.max_payload);
    spec.long_addresses = pick(0, 1) == 1;
    spec.tags = static_cast<int>(pick(1, 64));
    spec.posted_headers = static_cast<int>(pick(1, 64));
    spec.posted_data = spec.max_payload * pick(1, 64);
    spec.packets_per_ack = static_cast<int>(pick(1, 8));
    spec.host_latency = Ticks(pick(0, 500'000));
    return spec;
}

std::vector<Ticks> closed_form(const PcieSpec& spec,
                               const std::vector<PacketLink::Transaction>& transactions) {
    PcieTiming timing(spec, kLatency);
    std::vector<Ticks> done;
    for (const auto& t : transactions)
        done.push_back(t.write ? timing.write(Ticks(t.at), t.address, Bytes(t.bytes))
                               : timing.read(Ticks(t.at), t.address, Bytes(t.bytes)));
    return done;
}

}  // namespace

TEST_CASE("Gen3 x16 moves what the arithmetic of its packets says", "[pcie]") {
    // 16 lanes x 8 GT/s x 128/130 / 8 bits = 15.754 GB/s of packets, headers and all.
    const double wire = 16 * 8e9 * 128 / 130 / 8;
    // Writes: 256 B behind a header of 16 B, 4 B of STP token before and 4 B of LCRC behind: 256 of 280 B.
    const double writes = wire * 256 / (256 + 16 + 4 + 4);
    CHECK(writes == Approx(14.40e9).epsilon(0.001));
    CHECK(bandwidth(gen3_x16(), true) == Approx(writes).epsilon(0.02));
    // Reads: a request of 512 B comes back in two completions of 256 B behind headers of 12 B: 512 of 552 B.
    const double reads = wire * 512 / (2 * (256 + 12 + 4 + 4));
    CHECK(reads == Approx(14.61e9).epsilon(0.001));
    CHECK(bandwidth(gen3_x16(), false) == Approx(reads).epsilon(0.02));
    // To the byte: one acknowledgement and one credit update of 8 B for every four requests, 4 B for each.
    CHECK(bandwidth(gen3_x16(), false) == Approx(wire * 512 / (552 + 4)).epsilon(1e-5));
    CHECK(bandwidth(gen3_x16(), true) == Approx(writes).epsilon(1e-5));
}

TEST_CASE("every generation has its line rate and encoding, and lanes add up", "[pcie]") {
    const double gbps[] = {0.25, 0.5, 0.984615, 1.969231, 3.938462, 7.375};  // of one lane
    for (int generation = 1; generation <= 6; ++generation)
        for (const int lanes : {1, 2, 4, 8, 16}) {
            PcieSpec spec = gen3_x16();
            spec.generation = generation;
            spec.lanes = lanes;
            const double wire = gbps[generation - 1] * lanes * 1e9;
            CHECK(static_cast<double>(PcieWire(spec).rate().value()) == Approx(wire).epsilon(1e-6));
            // Enough tags and credits for 64 GT/s x 16.
            spec.tags = 768;
            spec.posted_headers = 1024;
            spec.posted_data = Bytes(256 * 1024);
            const double framing = generation == 6 ? 0 : 8;
            CHECK(bandwidth(spec, true) == Approx(wire * 256 / (256 + 16 + framing)).epsilon(1e-4));
        }
}

TEST_CASE("one read takes its request there, the data's time, and its completions back", "[pcie]") {
    PcieTiming timing(gen3_x16(), kLatency);
    // A byte takes 65/64 ns / 16 = 63.4765625 ps. Request 24 B, one completion of 20 + 64 B, and 4 B of
    // acknowledgement: 112 B are 7109.375 ps; behind them 150 ns twice and 250 ns.
    CHECK(timing.read(Ticks(1000), 4096, Bytes(64)) == Ticks(1000 + 7110 + 550'000));
}

TEST_CASE("one write is done when its last byte arrives: nothing comes back", "[pcie]") {
    PcieTiming timing(gen3_x16(), kLatency);
    // 600 B from 4096 + 100: packets of 156, 256 and 188 B with 24 B each: 672 B are 42656.25 ps.
    CHECK(timing.write(Ticks(0), 4196, Bytes(600)) == Ticks(42'657 + 150'000));
}

TEST_CASE("few tags bound reads by what is under way in a round trip", "[pcie]") {
    // Little's law: 8 tags x 512 B in 2 x 150 + 250 ns, the request's 24 B and one request's completions.
    PcieSpec spec = gen3_x16();
    spec.tags = 8;
    const double byte = 65.0 / 64 / 16;  // ns
    const double round_trip = 550 + (24 + 552 + 4) * byte;
    CHECK(bandwidth(spec, false) == Approx(8 * 512 / round_trip * 1e9).epsilon(1e-3));
    CHECK(bandwidth(spec, false) < 0.55 * bandwidth(gen3_x16(), false));
    spec.max_read_request = Bytes(1024);
    CHECK(bandwidth(spec, false) > 0.9 * bandwidth(gen3_x16(), false));
    CHECK(bandwidth(spec, true) == Approx(bandwidth(gen3_x16(), true)));
}

TEST_CASE("few credits bound writes by what is under way in a round trip", "[pcie]") {
    PcieSpec spec = gen3_x16();
    spec.posted_headers = 8;
    const double round_trip = 550 + 280 * 65.0 / 64 / 16;  // ns
    CHECK(bandwidth(spec, true) == Approx(8 * 256 / round_trip * 1e9).epsilon(1e-3));
    CHECK(bandwidth(spec, false) == Approx(bandwidth(gen3_x16(), false)));
    spec.posted_headers = 64;
    spec.posted_data = Bytes(8 * 256);
    CHECK(bandwidth(spec, true) == Approx(8 * 256 / round_trip * 1e9).epsilon(1e-3));
}

TEST_CASE("small completions cost a header each", "[pcie]") {
    PcieSpec spec = gen3_x16();
    spec.completion_payload = Bytes(64);
    const double wire = 16 * 8e9 * 128 / 130 / 8;
    CHECK(bandwidth(spec, false) == Approx(wire * 512 / (8 * (64 + 20) + 4)).epsilon(1e-4));
}

TEST_CASE("both directions at once keep almost all of their bandwidth", "[pcie]") {
    PcieTiming timing(gen3_x16(), kLatency);
    constexpr std::int64_t kChunk = 32 * 1024, kChunks = 1024;
    Ticks read, written;
    for (std::int64_t i = 0; i < kChunks; ++i) {
        const Ticks now(i * 2'000'000);  // 16.4 GB/s are asked for each way
        read = timing.read(now, i * kChunk, Bytes(kChunk));
        written = timing.write(now, i * kChunk, Bytes(kChunk));
    }
    const double wire = 16 * 8e9 * 128 / 130 / 8, total = kChunk * kChunks;
    // Beside 512 B of read data the other direction carries 24 B of request and 2 x 4 B of acknowledgements;
    // beside 256 B of written data 4 B. The directions differ in speed, hence the margin.
    const double up = wire / (280.0 / 256 + 32.0 / 512), down = wire / (556.0 / 512 + 4.0 / 256);
    CHECK(total / static_cast<double>(written.value()) * 1e12 == Approx(up).epsilon(0.005));
    CHECK(total / static_cast<double>(read.value()) * 1e12 == Approx(down).epsilon(0.005));
}

TEST_CASE("how a transfer is cut at packets' sizes changes nothing", "[pcie]") {
    for (const bool write : {false, true}) {
        std::vector<Ticks> ends;
        for (const std::int64_t chunk : {512, 4096, 32768, 1 << 20}) {
            std::vector<PacketLink::Transaction> cut;
            for (std::int64_t at = 0; at < 1 << 20; at += chunk) cut.push_back({7, at, chunk, write});
            ends.push_back(closed_form(gen3_x16(), cut).back());
        }
        CHECK(std::all_of(ends.begin(), ends.end(), [&](Ticks end) { return end == ends.front(); }));
    }
}

TEST_CASE("traffic of one direction ends when every packet by itself would", "[pcie]") {
    for (std::uint64_t seed = 1; seed <= test::enough(300); ++seed) {
        std::mt19937_64 random(seed);
        CAPTURE(seed);
        const PcieSpec spec = random_spec(random);
        const auto pick = [&](std::int64_t low, std::int64_t high) {
            return std::uniform_int_distribution<std::int64_t>(low, high)(random);
        };
        const bool write = pick(0, 1) == 1;
        CAPTURE(spec.generation, spec.lanes, spec.tags, spec.posted_headers, write);
        std::vector<PacketLink::Transaction> transactions;
        std::int64_t now = 0;
        for (int i = 0; i < 30; ++i) {
            now += pick(0, 2) == 0 ? pick(0, 3'000'000) : 0;
            // Writes end with whole packets: a short one takes the credits of a full one in the closed form.
            const std::int64_t unit = write ? spec.max_payload.value() : 1;
            const std::int64_t bytes = pick(1, 40'000 / unit) * unit;
            transactions.push_back({now, pick(0, 1 << 20) * unit, bytes, write});
        }
        const std::vector<Ticks> fast = closed_form(spec, transactions);
        const std::vector<double> slow = PacketLink(spec, kLatency.value()).run(transactions);
        for (std::size_t i = 0; i < fast.size(); ++i) {
            CAPTURE(i, transactions[i].at, transactions[i].address, transactions[i].bytes);
            REQUIRE(std::abs(static_cast<double>(fast[i].value()) - slow[i]) <= 2);
        }
    }
}

TEST_CASE("mixed traffic ends close to when every packet by itself would", "[pcie]") {
    for (std::uint64_t seed = 1; seed <= test::enough(50); ++seed) {
        std::mt19937_64 random(seed);
        CAPTURE(seed);
        std::vector<PacketLink::Transaction> transactions;
        std::int64_t now = 0;
        for (int i = 0; i < 200; ++i) {
            now += std::uniform_int_distribution<std::int64_t>(0, 3'000'000)(random);
            const std::int64_t address =
                std::uniform_int_distribution<std::int64_t>(0, 1 << 20)(random) * 256;
            transactions.push_back({now, address, 16 * 1024, std::bernoulli_distribution()(random)});
        }
        const std::vector<Ticks> fast = closed_form(gen3_x16(), transactions);
        const std::vector<double> slow = PacketLink(gen3_x16(), kLatency.value()).run(transactions);
        // Requests and acknowledgements that come while a transaction passes delay the next one in the closed
        // form, not this one: by a sixteenth of the bytes of each transaction that overlaps it.
        const double each = 16 * 1024 / 16 * 65.0 / 64 / 16 * 1000;
        for (std::size_t i = 0; i < fast.size(); ++i) {
            double slack = each;
            for (std::size_t j = 0; j < fast.size(); ++j)
                if (transactions[j].write != transactions[i].write &&
                    slow[j] >= static_cast<double>(transactions[i].at) &&
                    static_cast<double>(transactions[j].at) <= slow[i])
                    slack += each;
            REQUIRE(std::abs(static_cast<double>(fast[i].value()) - slow[i]) <= slack);
        }
        CHECK(static_cast<double>(fast.back().value()) == Approx(slow.back()).epsilon(0.005));
    }
}

}  // namespace systole
