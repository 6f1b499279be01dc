// SPDX-License-Identifier: Apache-2.0
#include "models/link/host_link_config.h"

#include <catch2/catch.hpp>

#include <string>

#include "sim/config/config.h"
#include "sim/config/yaml.h"

namespace systole {
namespace {

const std::string kPcie = "{kind: pcie, generation: 4, lanes: 8, latency: 150 ns, host_latency: 250 ns}";

/// What is read from `text`; or the complaint about it.
HostLinkSpec read(const std::string& text, std::string* complaint = nullptr) {
    config::Config config =
        config::Config::from_document(config::parse_yaml(text, "host.yaml"),
                                      [](const std::string&, const SourceMark& where) -> config::YamlNode {
                                          throw UserError(where, "no presets here");
                                      });
    const HostLinkSpec spec = read_host_link_spec(config.root());
    try {
        config.finish();
    } catch (const UserError& error) {
        if (!complaint) throw;
        *complaint = error.what();
    }
    return spec;
}

std::string complaint_about(const std::string& extra) {
    std::string complaint;
    read(kPcie.substr(0, kPcie.size() - 1) + ", " + extra + "}", &complaint);
    return complaint;
}

}  // namespace

TEST_CASE("a link is a bandwidth and a latency, or PCI Express of a generation and lanes", "[link]") {
    const HostLinkSpec fixed = read("{bandwidth: 16 GB/s, latency: 10 ns}");
    CHECK(fixed.kind == HostLinkSpec::Kind::Fixed);
    CHECK(fixed.peak() == BytesPerSecond(16'000'000'000));
    const HostLinkSpec pcie = read(kPcie);
    CHECK(pcie.kind == HostLinkSpec::Kind::Pcie);
    // 8 lanes of 16 GT/s, 128b/130b; at most 256 of 276 bytes are data.
    CHECK(static_cast<double>(pcie.peak().value()) == Approx(15.7538e9 * 256 / 276).epsilon(1e-5));
    CHECK(pcie.pcie.completion_payload == Bytes(256));
}

TEST_CASE("a PCIe link made fixed keeps its packets, which then mean nothing", "[link]") {
    const HostLinkSpec spec = read(
        "{kind: fixed, generation: 4, lanes: 8, bandwidth: 10 GB/s, latency: 1 us, host_latency: 250 ns}");
    CHECK(spec.kind == HostLinkSpec::Kind::Fixed);
    CHECK(spec.peak() == BytesPerSecond(10'000'000'000));
}

TEST_CASE("what PCI Express does not have is refused", "[link]") {
    const auto contains = [](const std::string& text) { return Catch::Matchers::Contains(text); };
    std::string complaint;
    read("{kind: pcie, generation: 7, lanes: 3, latency: 2 s, host_latency: 1 ns}", &complaint);
    CHECK_THAT(complaint, contains("generation") && contains("1, 2, 4, 8 and 16 lanes, not 3") &&
                              contains("longer than a second"));
    CHECK_THAT(complaint_about("max_payload: 100 B"), contains("max_payload") && contains("not 100"));
    CHECK_THAT(complaint_about("max_read_request: 8 KiB"), contains("not 8192"));
    CHECK_THAT(complaint_about("read_completion_boundary: 32 B"), contains("64 B and 128 B"));
    CHECK_THAT(complaint_about("completion_payload: 512 B"), contains("max_payload (256 B), not 512 B"));
    CHECK_THAT(complaint_about("completion_payload: 192 B"), contains("a power of two"));
    CHECK_THAT(complaint_about("posted_credits: {data: 128 B}"), contains("could never be sent"));
    CHECK_THAT(complaint_about("tags: 0"), contains("tags"));
    CHECK_THAT(complaint_about("address_bits: 48"), contains("address_bits"));
    CHECK_THAT(complaint_about("bandwidth: 10 GB/s"), contains("kind: fixed"));
    CHECK_THAT(complaint_about("lane: 3"), contains("lanes"));
}

}  // namespace systole
