// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <string>

#include "models/link/chip_link_config.h"
#include "sim/config/config.h"
#include "sim/config/yaml.h"

namespace systole {
namespace {

std::optional<ChipLinkSpec> read(const std::string& text, std::string* complaint = nullptr) {
    config::Config config =
        config::Config::from_document(config::parse_yaml(text, "chip.yaml"),
                                      [](const std::string&, const SourceMark& where) -> config::YamlNode {
                                          throw UserError(where, "no presets here");
                                      });
    const auto spec = read_chip_link_spec(config.root());
    try {
        config.finish();
    } catch (const UserError& error) {
        if (!complaint) throw;
        *complaint = error.what();
    }
    return spec;
}

std::string complaint_about(const std::string& text) {
    std::string complaint;
    read(text, &complaint);
    return complaint;
}

}  // namespace

TEST_CASE("a switch carries all of the bandwidth to any chip", "[link]") {
    const auto spec = read("{chip_link: {network: switch, bandwidth: 300 GB/s, latency: 500 ns}}");
    REQUIRE(spec);
    CHECK(spec->peak() == BytesPerSecond(300'000'000'000));
    CHECK(spec->in_flight() == Bytes(150'000));
    CHECK(complaint_about("{chip_link: {network: star, bandwidth: 1 GB/s, latency: 1 us}}").find("ring") !=
          std::string::npos);
}

TEST_CASE("a ring has the links to both neighbours in each direction of data", "[link]") {
    const auto spec = read("{chip_link: {bandwidth: 45 GB/s, latency: 1 us}}");
    REQUIRE(spec);
    CHECK(spec->peak() == BytesPerSecond(90'000'000'000));
    CHECK(spec->in_flight() == Bytes(90'000));
    CHECK(ChipLinkSpec{BytesPerSecond(1'000'000'001), Ticks(1000)}.in_flight() == Bytes(3));  // 2.000000002
    CHECK_FALSE(read("{}"));
}

TEST_CASE("links that nobody builds are slips of the pen", "[link]") {
    CHECK_THAT(complaint_about("{chip_link: {bandwidth: 45 kB/s, latency: 1 us}}"),
               Catch::Contains("chip.yaml:1:") && Catch::Contains("expected 1 MB/s to 1 PB/s"));
    CHECK_THAT(complaint_about("{chip_link: {bandwidth: 2000000 GB/s, latency: 1 us}}"),
               Catch::Contains("expected 1 MB/s to 1 PB/s"));
    CHECK_THAT(complaint_about("{chip_link: {bandwidth: 45 GB/s, latency: 2 ms}}"),
               Catch::Contains("longer than a millisecond"));
    CHECK_THAT(complaint_about("{chip_link: {bandwidth: 45 GB/s}}"), Catch::Contains("latency"));
    CHECK_THAT(complaint_about("{chip_link: {bandwith: 45 GB/s, latency: 1 us}}"),
               Catch::Contains("bandwith"));
}

}  // namespace systole
