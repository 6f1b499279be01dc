// SPDX-License-Identifier: Apache-2.0
// `collectives` as it is read, and values that no library has.
#include "models/devices/simt/spec/collectives_config.h"

#include <catch2/catch.hpp>

#include <string>

#include "tests/unit/simt/gpu_config.h"

namespace systole::simt {
namespace {

SimtSpec with(const std::string& line) {
    return test::gpu_spec("device: Mine\nkind: simt\nextends: a100\n" + line + "\n");
}

std::string complaint_about(const std::string& line) {
    try {
        with(line);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a table of measured bandwidths is read by kind and chips", "[simt]") {
    const CollectivesSpec spec =
        with(
            "collectives: {most_chips: 4, channels: 3, ring: {step: {ll: 2 us}}, measured: {sizes: [1 KiB, "
            "1 MiB, 2 MiB, 3 MiB, 4 MiB, 5 MiB, 6 MiB], all_to_all: {4: [1 GB/s, none, 2 GB/s, 3 GB/s, 4 "
            "GB/s, 5 GB/s, 6 GB/s]}}}")
            .collectives;
    CHECK(spec.most_chips == 4);
    CHECK(spec.channels == 3);
    CHECK(spec.ring.step[0] == Ticks(2'000'000));
    CHECK(spec.ring.step[1] == Ticks(1'900'000));
    REQUIRE(spec.measured.size() == 12);
    const MeasuredCollective& row = spec.measured[10];
    CHECK(row.kind == Collective::Kind::AllToAll);
    CHECK(row.chips == 4);
    REQUIRE(row.points.size() == 6);
    CHECK(row.points[1].message == Bytes(2 << 20));
    CHECK(row.points[1].bus == BytesPerSecond(2'000'000'000));
    CHECK(with("collectives: {measured: {use: off}}").collectives.measured.empty());
}

TEST_CASE("each shipped GPU says how it is joined to others", "[simt]") {
    // NVLink 3, 4 and 5: 600, 900 and 1800 GB/s both ways together; PCIe 4.0 and 5.0 x16.
    for (const auto& [name, rate] : {std::pair<const char*, double>{"a100", 300},
                                     {"h100", 450},
                                     {"h200", 450},
                                     {"b200", 900},
                                     {"gb200", 900},
                                     {"a100_pcie", 31.5},
                                     {"l40s", 31.5},
                                     {"l4", 31.5},
                                     {"h100_pcie", 63}}) {
        CAPTURE(name);
        const SimtSpec spec = test::shipped_gpu(name);
        REQUIRE(spec.chip_link);
        CHECK(static_cast<double>(spec.chip_link->peak().value()) / 1e9 == Approx(rate));
        CHECK(spec.collectives.measured.empty() == (rate < 100 || rate > 500));
    }
}

TEST_CASE("what no table of collectives can be is refused at its place", "[simt]") {
    for (const auto& [line, said] :
         {std::pair<const char*, const char*>{"collectives: {measured: {all_reduce: {2: [1 GB/s]}}}",
                                              "1 bandwidths for 7 sizes"},
          {"collectives: {measured: {all_reduce: {1: [none, none, none, none, none, none, none]}}}", "chips"},
          {"collectives: {measured: {all_reduce: {3: [none, none, none, none, none, none, 5 s]}}}", "5 s"},
          {"collectives: {measured: {all_scatter: {3: [none]}}}", "all_scatter"},
          {"collectives: {measured: {sizes: [1 KiB, 1 KiB, 2 KiB, 3 KiB, 4 KiB, 5 KiB, 6 KiB]}}",
           "no larger than the size before"},
          {"collectives: {channel_bandwidth: 1 B/s}", "1 MB/s"},
          {"collectives: {ring: {base: {ll: 1 s}}}", "longer than a millisecond"},
          {"collectives: {channels: 0}", "channels"},
          {"collectives: {most_chips: 1}", "most_chips"}}) {
        const std::string complaint = complaint_about(line);
        CAPTURE(line, complaint);
        CHECK(complaint.starts_with("mine.yaml:4:"));
        CHECK(complaint.find(said) != std::string::npos);
        CHECK(complaint.find('\n') == std::string::npos);
    }
}

}  // namespace systole::simt
