// SPDX-License-Identifier: Apache-2.0
// Times of collectives against the library's formulas by hand, and what passes the links.
#include "models/devices/simt/kernels/collective_cost.h"

#include <catch2/catch.hpp>
#include <map>

#include <algorithm>
#include <string>

#include "tests/unit/simt/gpu_config.h"

namespace systole::simt {
namespace {

using Kind = Collective::Kind;

constexpr Bytes kMiB(1 << 20);

CollectivesSpec by_library(const std::string& gpu) {
    CollectivesSpec spec = test::shipped_gpu(gpu).collectives;
    spec.measured.clear();
    return spec;
}

double us(Ticks time) {
    return static_cast<double>(time.value()) / 1e6;
}

/// Of what is weighed.
CollectiveTime entry(const std::vector<CollectiveTime>& all, CollectiveAlgorithm algorithm,
                     WireProtocol protocol) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const CollectiveTime& one) {
        return one.kernel.algorithm == algorithm && one.kernel.protocol == protocol;
    });
    REQUIRE(found != all.end());
    return *found;
}

/// As the library does it.
CollectiveKernel with(Kind kind, CollectiveAlgorithm algorithm, std::int64_t chips, Bytes message) {
    return {kind, algorithm, WireProtocol::Simple, chips, message};
}

}  // namespace

TEST_CASE("a large sum goes round rings in packets of 128 bytes", "[simt]") {
    // 14 us + 14 steps of 1.9 us, and 2 x 7/8 of 16 MiB at 0.92 x 240 GB/s.
    const CollectiveTime time = time_collective(by_library("a100"), Kind::AllReduce, 8, kMiB * 16);
    CHECK(time.kernel.algorithm == CollectiveAlgorithm::Ring);
    CHECK(time.kernel.protocol == WireProtocol::Ll128);
    CHECK(us(time.launch) == Approx(14));
    CHECK(us(time.latency) == Approx(40.6));
    CHECK(us(time.total) == Approx(40.6 + 132.9716).epsilon(1e-6));
    CHECK(static_cast<double>(time.bus().value()) / 1e9 == Approx(169.152).epsilon(1e-5));
    CHECK(time.corrected_by == 0);
}

TEST_CASE("a small sum carries its flags, and costs little but its steps", "[simt]") {
    // 6.6 us + 14 x 0.6 us, and 1.75 KiB at 87.7 GB/s.
    const CollectiveTime time = time_collective(by_library("a100"), Kind::AllReduce, 8, Bytes(1024));
    CHECK(time.kernel.protocol == WireProtocol::Ll);
    CHECK(us(time.total) == Approx(15.0204).epsilon(1e-4));
}

TEST_CASE("trees are weighed with what the library knows of their middle sizes", "[simt]") {
    // 14 us + 2 x 7 x 1.25 us; 240 GB/s x 0.92 x 7/9, half of it for the way up and down, 0.6 of that at 1
    // MiB.
    const auto all = weigh_collective(by_library("a100"), Kind::AllReduce, 8, kMiB);
    const CollectiveTime tree = entry(all, CollectiveAlgorithm::Tree, WireProtocol::Ll128);
    CHECK(us(tree.latency) == Approx(31.5));
    CHECK(us(tree.total) == Approx(51.8528).epsilon(1e-5));
    CHECK(all.size() == 6);
    CHECK(std::is_sorted(all.begin(), all.end(), [](auto& a, auto& b) { return a.total < b.total; }));
}

TEST_CASE("on Hopper the switch adds where more than two chips sum much", "[simt]") {
    // 25 us, and 16 MiB at 320 GB/s x 0.85 x 7/8.
    const CollectivesSpec spec = by_library("h200");
    const CollectiveTime time = time_collective(spec, Kind::AllReduce, 8, kMiB * 16);
    CHECK(time.kernel.algorithm == CollectiveAlgorithm::Switch);
    CHECK(us(time.total) == Approx(25 + 70.4925).epsilon(1e-6));
    CHECK(time_collective(spec, Kind::AllReduce, 2, kMiB * 16).kernel.algorithm == CollectiveAlgorithm::Ring);
    CHECK(time_collective(spec, Kind::AllGather, 8, kMiB * 16).kernel.algorithm == CollectiveAlgorithm::Ring);
}

TEST_CASE("over PCIe there is one ring, without packets of 128 bytes", "[simt]") {
    // 8.4 us + 14 x 5.7 us, and 1.75 x 16 MiB at 24 GB/s.
    const CollectiveTime time = time_collective(by_library("l4"), Kind::AllReduce, 8, kMiB * 16);
    CHECK(time.kernel.protocol == WireProtocol::Simple);
    CHECK(us(time.total) == Approx(8.4 + 79.8 + 1223.3387).epsilon(1e-6));
    for (const CollectiveTime& one : weigh_collective(by_library("l4"), Kind::AllReduce, 8, kMiB))
        CHECK(one.kernel.protocol != WireProtocol::Ll128);
}

TEST_CASE("parts that go to their chips at once take one step", "[simt]") {
    // 8.4 us + 3.4 us, and 7/8 of 16 MiB at 240 GB/s.
    const CollectiveTime time = time_collective(by_library("a100"), Kind::AllToAll, 8, kMiB * 16);
    CHECK(time.kernel.algorithm == CollectiveAlgorithm::Direct);
    CHECK(us(time.total) == Approx(11.8 + 61.1669).epsilon(1e-6));
}

TEST_CASE("what was measured at two sizes corrects the library between and beyond them", "[simt]") {
    CollectivesSpec spec = by_library("a100");
    const auto expected = [&](Bytes size) {
        return us(time_collective(spec, Kind::AllReduce, 4, size).total);
    };
    const double small = expected(kMiB), middle = expected(kMiB * 8), large = expected(kMiB * 64);
    const double huge = expected(kMiB * 256), tiny = expected(Bytes(1024));
    // Twice as slow at 1 MiB, eight times at 64 MiB; of a bus bandwidth 1.5 of the message.
    const auto bus = [](Bytes size, double time) {
        return BytesPerSecond(
            static_cast<std::int64_t>(static_cast<double>(size.value()) * 1.5 / time * 1e6));
    };
    spec.measured = {
        {Kind::AllReduce, 4, {{kMiB, bus(kMiB, 2 * small)}, {kMiB * 64, bus(kMiB * 64, 8 * large)}}}};
    CHECK(expected(kMiB) == Approx(2 * small).epsilon(1e-6));
    CHECK(expected(kMiB * 64) == Approx(8 * large).epsilon(1e-6));
    CHECK(expected(kMiB * 8) == Approx(4 * middle).epsilon(1e-6));  // half way by the logarithm
    CHECK(expected(kMiB * 256) == Approx(8 * huge).epsilon(1e-6));
    CHECK(expected(Bytes(1024)) == Approx(2 * tiny).epsilon(1e-6));
    const CollectiveTime time = time_collective(spec, Kind::AllReduce, 4, kMiB);
    CHECK(time.corrected_by == 4);
    CHECK(us(time.by_library) == Approx(small));
    CHECK(us(time.launch) == Approx(2 * 6.6));
    // Nothing was measured of other kinds.
    CHECK(time_collective(spec, Kind::AllGather, 4, kMiB).corrected_by == 0);
}

TEST_CASE("a number of chips that was not measured is corrected as the nearest one", "[simt]") {
    CollectivesSpec spec = by_library("a100");
    const auto expected = [&](std::int64_t chips) {
        return us(time_collective(spec, Kind::AllReduce, chips, kMiB).total);
    };
    std::map<std::int64_t, double> library;
    for (const std::int64_t chips : {2, 3, 4, 6, 8}) library[chips] = expected(chips);
    const auto row = [&](std::int64_t chips, double times) {
        const double share = 2.0 * static_cast<double>(chips - 1) / static_cast<double>(chips);
        const double rate = static_cast<double>(kMiB.value()) * share / (times * library[chips]) * 1e6;
        return MeasuredCollective{
            Kind::AllReduce, chips, {{kMiB, BytesPerSecond(static_cast<std::int64_t>(rate))}}};
    };
    spec.measured = {row(8, 2), row(2, 3)};
    for (const auto& [chips, times] : std::map<std::int64_t, double>{{2, 3}, {3, 3}, {6, 2}, {8, 2}})
        CHECK(expected(chips) == Approx(times * library[chips]).epsilon(1e-6));
    CHECK(expected(4) == Approx(3 * library[4]).epsilon(1e-6));  // as near to both: the fewer
    CHECK(time_collective(spec, Kind::AllReduce, 6, kMiB).corrected_by == 8);
}

TEST_CASE("each algorithm sends and receives what it has to", "[simt]") {
    const Bytes message(8000);
    CHECK(with(Kind::AllReduce, CollectiveAlgorithm::Ring, 8, message).out() == Bytes(14000));
    CHECK(with(Kind::AllGather, CollectiveAlgorithm::Ring, 8, message).out() == Bytes(7000));
    CHECK(with(Kind::ReduceScatter, CollectiveAlgorithm::Ring, 4, message).in() == Bytes(6000));
    CHECK(with(Kind::AllReduce, CollectiveAlgorithm::Tree, 8, message).out() == Bytes(16000));
    CHECK(with(Kind::AllReduce, CollectiveAlgorithm::Tree, 2, message).out() == Bytes(8000));
    CHECK(with(Kind::AllReduce, CollectiveAlgorithm::Switch, 8, message).in() == Bytes(9000));
    CHECK(with(Kind::AllToAll, CollectiveAlgorithm::Direct, 4, message).out() == Bytes(6000));
    CHECK(with(Kind::AllReduce, CollectiveAlgorithm::Ring, 8, message).steps() == 14);
    CHECK(with(Kind::AllGather, CollectiveAlgorithm::Ring, 8, message).steps() == 7);
    CHECK(with(Kind::AllToAll, CollectiveAlgorithm::Direct, 8, message).steps() == 1);
}

TEST_CASE("no time is shorter than the links need", "[simt]") {
    for (const char* gpu :
         {"a100", "h100", "h200", "a100_pcie", "h100_pcie", "l4", "l40s", "b200", "gb200"}) {
        const SimtSpec spec = test::shipped_gpu(gpu);
        for (const Kind kind : {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll})
            for (const std::int64_t chips : {2, 4, 8})
                for (Bytes message(1024); message <= kMiB * 1024; message = message * 8) {
                    CAPTURE(gpu, static_cast<int>(kind), chips, message.value());
                    const CollectiveTime time = time_collective(spec.collectives, kind, chips, message);
                    const double link = static_cast<double>(time.kernel.out().value()) /
                                        static_cast<double>(spec.chip_link->peak().value()) * 1e6;
                    CHECK(us(time.total - time.launch) >= link);
                    CHECK(time.latency <= time.total);
                }
    }
}

}  // namespace systole::simt
