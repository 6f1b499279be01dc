// SPDX-License-Identifier: Apache-2.0
// Memories to their specification; a DRAM that is taken serves a few hundred bursts in and out of order.
#include "models/memory/config/dram_config.h"
#include "models/traffic/pattern.h"
#include "sim/config/yaml.h"
#include "tests/fuzz/checked_drive.h"
#include "tests/fuzz/fuzz_target.h"

#include <filesystem>
#include <system_error>

namespace systole::fuzz {
namespace {

config::YamlNode preset(const std::string& name, const SourceMark& where) {
    const std::string file = "configs/memory/" + name + ".yaml";
    std::error_code unknown;  // such as a name that is too long
    if (!std::filesystem::exists(file, unknown)) throw UserError(where, "there is no memory " + name);
    return config::load_yaml(file);
}

void play(const DramSpec& memory) {
    const PatternTarget target{memory.burst_bytes.value(), memory.timing.at("BL"), memory.data_buses()};
    for (const auto kind : {PatternSpec::Kind::Stream, PatternSpec::Kind::Random}) {
        PatternSpec spec;
        spec.kind = kind;
        spec.requests = 300;
        spec.span = memory.capacity().value();
        spec.writes = 330'000;
        if (!pattern_fault(spec, target).empty()) continue;
        const auto source = make_pattern(spec, target);
        if (drive_checked(memory, *source, {}).requests() != spec.requests)
            throw std::logic_error("requests that were never served");
    }
}

}  // namespace

void read_input(const std::string& input) {
    try {
        config::Config config = config::Config::from_document(config::parse_yaml(input, "m.yaml"), preset);
        const DramSpec memory = read_dram_spec(config.root());
        config.finish();
        if (memory.is_dram()) play(memory);
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"extends: teaching\n",
                                                      "extends: hbm3_h100\n",
                                                      "{value: ",
                                                      "kind: sram",
                                                      "kind: ideal",
                                                      "standard: DDR4",
                                                      "standard: GDDR6",
                                                      "refresh: per_bank",
                                                      "refresh: off",
                                                      "page: closed",
                                                      "page: adaptive",
                                                      "shared_queue: on",
                                                      "row_hit_cap: 4",
                                                      "patience: 1\n",
                                                      "queue: 1\n",
                                                      "door: 1\n",
                                                      "address_map: bg2 co5 ba2 ro9",
                                                      "ch bg co ba ro",
                                                      "refresh_postpone: 8\n",
                                                      "pseudo_channels: 2\n",
                                                      "channels: 128\n",
                                                      "timing:\n  ",
                                                      "REFI: ",
                                                      " GHz",
                                                      " MHz",
                                                      " KiB",
                                                      "ecc_share: 0.0625\n",
                                                      "writes: {high: 1, low: 0}\n",
                                                      "\n  ",
                                                      "&a",
                                                      "\xff"};
    return pieces;
}

}  // namespace systole::fuzz
