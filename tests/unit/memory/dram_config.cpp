// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_config.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/config/config.h"

namespace systole::test {
namespace {

config::Config load(const std::string& file) {
    const auto no_presets = [](const std::string&, const SourceMark& where) -> config::YamlNode {
        throw UserError(where, "no presets here");
    };
    return config::Config::from_document(config::load_yaml(file), no_presets);
}

DramSpec read(config::Config& memory) {
    const DramSpec spec = read_dram_spec(memory.root());
    memory.finish();
    return spec;
}

std::string complaint_about(const std::string& path, const std::string& value) {
    config::Config memory = load("configs/memory/teaching.yaml");
    memory.set(path, value);
    try {
        read(memory);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("the TPU v4 preset is half of 1228 GB/s and 32 GiB") {
    config::Config memory = load("configs/memory/hbm2_tpu_v4.yaml");
    const DramSpec spec = read(memory);
    CHECK(spec.capacity() == Bytes(std::int64_t{16} << 30));
    CHECK(spec.peak() == BytesPerSecond(614'400'000'000));
}

TEST_CASE("the TPU v1 preset is 8 GiB at 34 GB/s") {
    config::Config memory = load("configs/memory/ddr3_tpu_v1.yaml");
    const DramSpec spec = read(memory);
    CHECK(spec.capacity() == Bytes(std::int64_t{8} << 30));
    CHECK(spec.peak().value() == Approx(34.1e9).epsilon(0.002));
}

TEST_CASE("every value of a shipped memory says where it comes from") {
    for (const std::string name : {"hbm2_tpu_v4", "ddr3_tpu_v1", "teaching", "ideal"}) {
        config::Config memory = load("configs/memory/" + name + ".yaml");
        read(memory);
        for (const config::Entry& entry : memory.effective()) {
            INFO(name << ": " << entry.path);
            CHECK(entry.origin != config::Origin::Plain);
            CHECK_FALSE(entry.meaning.empty());
        }
    }
}

TEST_CASE("an ideal memory needs only its size") {
    config::Config memory = load("configs/memory/ideal.yaml");
    const DramSpec spec = read(memory);
    CHECK(spec.kind == DramSpec::Kind::Ideal);
    CHECK(spec.peak() == BytesPerSecond::max());
}

TEST_CASE("values that contradict each other are refused with the reason") {
    CHECK(complaint_about("timing.RC", "20").find("is less than RAS + RP") != std::string::npos);
    CHECK(complaint_about("timing.CCD_S", "1").find("bursts must not overlap") != std::string::npos);
    CHECK(complaint_about("timing.REFI", "100").find("refresh must leave time") != std::string::npos);
    CHECK(complaint_about("rows", "1000").find("expected a power of two, not 1000") != std::string::npos);
    CHECK(complaint_about("address_map", "bg2 co5 ba2 ro8").find("ro bits") != std::string::npos);
    CHECK(complaint_about("row_bytes", "16 B").find("at least one burst") != std::string::npos);
    CHECK(complaint_about("writes.low", "31").find("is not below high") != std::string::npos);
    CHECK(complaint_about("standard", "HBM9").find("HBM2") != std::string::npos);
    CHECK(complaint_about("timing.tCL", "14").find("tCL") != std::string::npos);
}

}  // namespace systole::test
