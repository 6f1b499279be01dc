// SPDX-License-Identifier: Apache-2.0
// Requests of `systole dram`, plain and gzipped; few of them are played, too, in both orders.
#include "models/traffic/request_reader.h"

#include <algorithm>

#include "models/memory/config/dram_config.h"
#include "sim/config/yaml.h"
#include "tests/fuzz/checked_drive.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/input_file.h"

namespace systole::fuzz {
namespace {

constexpr std::int64_t kMostPlayed = 2000;
/// What is later is not played: --check-dram looks at each refresh that comes before.
constexpr Cycles kLast(10'000'000);

DramSpec small_memory() {
    config::Config config = config::Config::from_document(
        config::load_yaml("configs/memory/teaching.yaml"),
        [](const std::string& name, const SourceMark& where) -> config::YamlNode {
            throw UserError(where, "there is no preset " + name);
        });
    DramSpec spec = read_dram_spec(config.root());
    config.finish();
    return spec;
}

}  // namespace

void read_input(const std::string& input) {
    static const DramSpec memory = small_memory();
    static const Cycles latest = ClockDomain(memory.clock).at_or_before(memory.longest_run());
    const InputFile file(input);
    try {
        RequestReader reader(file.path(), memory.burst_bytes, memory.capacity(), latest);
        std::int64_t count = 0;
        Cycles last;
        for (MemoryRequest request; reader.next(request); ++count) last = std::max(last, request.clock);
        if (count == 0 || count > kMostPlayed || last > kLast) return;
        for (const auto order : {DriveOptions::Order::Fifo, DriveOptions::Order::PerBus}) {
            RequestReader again(file.path(), memory.burst_bytes, memory.capacity(), latest);
            const DriveOptions options{.order = order, .window = count % 4};
            if (drive_checked(memory, again, options).requests() != count)
                throw std::logic_error("requests that were never served");
        }
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"0 R 0x0\n",
                                                      "\n",
                                                      "\r\n",
                                                      " W ",
                                                      " R 0X7fffe0\n",
                                                      "# ",
                                                      "3900 ",
                                                      "9223372036854775807 ",
                                                      "1f8b0800",
                                                      std::string_view("\x1f\x8b\x08\x00", 4),
                                                      std::string_view("\x00", 1),
                                                      "\xEF\xBB\xBF",
                                                      "0x",
                                                      "\t",
                                                      "-1",
                                                      "\xff"};
    return pieces;
}

}  // namespace systole::fuzz
