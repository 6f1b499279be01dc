// SPDX-License-Identifier: Apache-2.0
// Steps that a program repeats, and the program without most of them: by hand.
#include "models/devices/systolic/program/repeated_steps.h"

#include <fmt/format.h>

#include "models/devices/systolic/program/shorter_program.h"
#include "sim/workload/shorter_graph.h"
#include "tests/unit/program/small_program.h"

namespace systole::systolic {
namespace {

using test::parse;

const std::string kHead = R"(systole-program 2
trace "steps" compulsory_dram=160
array dataflow=ws
layer "first" op=matmul macs=0 compulsory_dram=100 dtype=int8 mapping="by hand"
layer "last" op=matmul macs=0 compulsory_dram=60 dtype=int8 mapping="by hand"
)";

/// Loads what the step before has stored by then, and stores it elsewhere.
std::string step(int number, int layer, int bytes = 16) {
    const std::string after = number > 0 ? fmt::format(" after=store:{}", number) : "";
    return fmt::format(
        "load layer={0} from=dram:{1} to=scratchpad:0 rows=1 row_bytes={2} operand=activations{3}\n"
        "store layer={0} from=scratchpad:0 to=dram:{4} rows=1 row_bytes={2} operand=outputs after=load:{5}\n",
        layer, 4096 + 64 * number, bytes, after, 65536 + 64 * number, number + 1);
}

std::string steps(int count, int layer = 0) {
    std::string text;
    for (int number = 0; number < count; ++number) text += step(number, layer);
    return text;
}

using Ranges = std::vector<RepeatedSteps>;

}  // namespace

TEST_CASE("steps that differ by where operands lie are found", "[program]") {
    // The first load waits for nothing, so that commands repeat from the second one on: store, load, ...
    const Program program = parse(kHead + steps(40));
    CHECK(find_repeated_steps(program, 16) == Ranges{{0, 1, 2, 39}});
    CHECK(find_repeated_steps(program, 39) == Ranges{{0, 1, 2, 39}});
    CHECK(find_repeated_steps(program, 40).empty());
}

TEST_CASE("steps that do other work, for another layer, or wait for something else are no repetition",
          "[program]") {
    std::string other;
    for (int number = 0; number < 40; ++number) other += step(number, 0, number == 20 ? 32 : 16);
    // Of the steps 1 to 19 the load of the first one is left over, and 21 to 39 behind the one that differs.
    CHECK(find_repeated_steps(parse(kHead + other), 16) == Ranges{{0, 1, 2, 19}, {0, 42, 2, 19}});

    std::string layers;
    for (int number = 0; number < 40; ++number) layers += step(number, number < 20 ? 0 : 1);
    CHECK(find_repeated_steps(parse(kHead + layers), 16) == Ranges{{0, 1, 2, 19}, {1, 40, 2, 20}});

    std::string waits = steps(40);
    const std::size_t at = waits.find("after=store:20");
    waits.replace(at, 14, "after=store:19");
    CHECK(find_repeated_steps(parse(kHead + waits), 16) == Ranges{{0, 1, 2, 19}, {0, 41, 2, 19}});
}

TEST_CASE("of steps within steps those are taken that cover the most, of equals the shortest", "[program]") {
    // Twenty blocks of four steps and what the host gets.
    std::string text;
    for (int block = 0; block < 20; ++block) {
        for (int inner = 0; inner < 4; ++inner) text += step(4 * block + inner, 0);
        text +=
            fmt::format("host_out layer=0 from=scratchpad:0 to=host:{} rows=1 row_bytes=16 operand=outputs\n",
                        65536 + 64 * block);
    }
    CHECK(find_repeated_steps(parse(kHead + text), 16) == Ranges{{0, 1, 9, 19}});
}

TEST_CASE("rows that are looked up are read by chance, and no repetition", "[program]") {
    Program program = parse(kHead + steps(40));
    for (Transfer& transfer : program.transfers) transfer.lookup.rows = 100;
    CHECK(find_repeated_steps(program, 16).empty());
}

TEST_CASE("steps that load tiles which others use are none to leave out", "[program]") {
    const std::string load =
        "weights0 layer=0 from=scratchpad:0 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights\n";
    const std::string use =
        "mxu0 layer=0 left=0:0 m=8 k=4 n=4 accumulator=0 mode=set tile=next dtype=int8 batch=0 m0=0 k0=0 "
        "n0=0\n";
    std::string head = kHead, apart, beside;
    head.replace(head.find("macs=0"), 6, "macs=2560");
    head += "stream levels=1*0,2*64,4*4 segments=0+2,32+2\n";
    for (int i = 0; i < 20; ++i) apart += load, beside += load + use;
    for (int i = 0; i < 20; ++i) apart += use;
    CHECK(find_repeated_steps(parse(head + apart), 16).empty());
    CHECK(find_repeated_steps(parse(head + beside), 16) == Ranges{{0, 0, 2, 20}});
}

TEST_CASE("a shorter program waits for what stands in the place of what is left out", "[program]") {
    // A command before and one behind, which waits for the first load and for the last store.
    const std::string ahead =
        "host_in layer=0 from=host:0 to=dram:4096 rows=1 row_bytes=32 operand=activations\n";
    const std::string behind =
        "host_out layer=1 from=scratchpad:0 to=host:0 rows=1 row_bytes=16 operand=outputs "
        "after=load:{},store:{}\n";
    const Program program = parse(kHead + ahead + steps(40) + fmt::format(fmt::runtime(behind), 1, 40));
    const Ranges blocks = find_repeated_steps(program, 16);
    REQUIRE(blocks == Ranges{{0, 2, 2, 39}});
    const Program shorter = shorten(program, blocks, {7});

    // Five of the steps, and the last two, at their own addresses.
    std::string text = kHead + ahead + steps(6);
    for (const int number : {38, 39}) {
        const int now = number - 32;
        std::string own = step(now, 0);
        for (const int base : {4096, 65536}) {
            const std::string place = fmt::format("dram:{}", base + 64 * now);
            own.replace(own.find(place), place.size(), fmt::format("dram:{}", base + 64 * number));
        }
        text += own;
    }
    // The load of the step behind the fifth is the first that is left out.
    const Program expected = parse(text + fmt::format(fmt::runtime(behind), 1, 8));
    REQUIRE(shorter.commands.size() == expected.commands.size());
    for (std::size_t i = 0; i < expected.commands.size(); ++i) {
        const Command &own = shorter.commands[i], &other = expected.commands[i];
        CAPTURE(i);
        CHECK(own.unit == other.unit);
        CHECK(shorter.transfer(own).from.address == expected.transfer(other).from.address);
        REQUIRE(own.token_count == other.token_count);
        for (std::uint32_t t = 0; t < own.token_count; ++t)
            CHECK(shorter.tokens[own.first_token + t] == expected.tokens[other.first_token + t]);
    }
}

TEST_CASE("what commands behind several blocks wait for is renumbered by all that is left out before",
          "[program]") {
    // Forty steps of each layer; then what waits for a command of the first block's beginning, for one in the
    // middle of it, for one between its last steps, and for the same of the second.
    std::string text = steps(40);
    for (int number = 40; number < 80; ++number) text += step(number, 1);
    const std::string late =
        "host_out layer=1 from=scratchpad:0 to=host:0 rows=1 row_bytes=16 operand=outputs after=store:{}\n";
    const std::vector<int> awaited{1, 4, 20, 38, 40, 42, 60, 80};
    for (const int store : awaited) text += fmt::format(fmt::runtime(late), store);
    const Program program = parse(kHead + text);
    const Ranges blocks = find_repeated_steps(program, 16);
    // The first load waits for nothing; a step of these is a store and the next load.
    REQUIRE(blocks == Ranges{{0, 1, 2, 39}, {1, 80, 2, 40}});
    const Program shorter = shorten(program, blocks, {5, 7});

    std::vector<std::uint32_t> waits;
    for (std::size_t i = shorter.commands.size() - awaited.size(); i < shorter.commands.size(); ++i) {
        REQUIRE(shorter.commands[i].token_count == 1);
        waits.push_back(shorter.tokens[shorter.commands[i].first_token].count);
    }
    // Of the first block stores 1 to 3 are left, and 38 and 39 (now 4 and 5); 40 lies between the two. Of the
    // second 41 to 45 and 79 and 80. What is left out is what lies as many whole steps before it.
    CHECK(waits == std::vector<std::uint32_t>{1, 1, 1, 4, 6, 8, 7, 13});
}

TEST_CASE("each step is a part of its layer, as is what lies before and behind", "[program]") {
    const Program program = parse(kHead + steps(40) + step(40, 1));
    const Ranges blocks = find_repeated_steps(program, 16);
    REQUIRE(blocks == Ranges{{0, 1, 2, 39}});
    const std::vector<std::size_t> parts = parts_of(program, blocks).layers;
    CHECK(parts.size() == 1 + 39 + 1 + 1);
    CHECK(std::ranges::count(parts, 0U) == 41);
    CHECK(parts.back() == 1);

    const Program shorter = shorten(program, blocks, {5});
    REQUIRE(shorter.layers.size() == 1 + 5 + 1 + 1);
    std::vector<int> layers;
    for (const Command& command : shorter.commands) layers.push_back(command.layer);
    CHECK(layers == std::vector<int>{0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 7});
    std::int64_t compulsory = 0;
    for (const LayerInfo& layer : shorter.layers) compulsory += layer.compulsory_dram;
    CHECK(compulsory == 160);
    CHECK(shorter.layers.front().compulsory_dram == 100);
    CHECK(shorter.layers.back().name == "last");
    CHECK(shorter.layers[6].name == "first");
}

TEST_CASE("a program of which all steps are left is the same", "[program]") {
    const Program program = parse(kHead + steps(40) + step(40, 1));
    Program same = shorten(program, find_repeated_steps(program, 16), {39});
    same.layers = program.layers;
    for (std::size_t i = 0; i < same.commands.size(); ++i) same.commands[i].layer = program.commands[i].layer;
    CHECK(to_text(same) == to_text(program));
}

TEST_CASE("programs of other turns begin alike up to the last turns of the shorter one", "[program]") {
    const auto with = [](const std::string& text, std::size_t turns) {
        const Program program = parse(kHead + text);
        return shorten(program, find_repeated_steps(program, 16), {turns});
    };
    // One command, then steps of two commands, of which 5 - 2 and 9 - 2 come before the last ones.
    const Program five = with(steps(40), 5), nine = with(steps(40), 9);
    CHECK(same_until(five, nine, 1 + 2 * 3));
    CHECK(same_until(nine, five, 1 + 2 * 3));
    CHECK_FALSE(same_until(five, nine, 1 + 2 * 4));
    CHECK(same_until(nine, nine, nine.commands.size()));
    CHECK_FALSE(same_until(nine, nine, nine.commands.size() + 1));
    // A later layer's command that comes first belongs to another part in each.
    const std::string early =
        "host_in layer=1 from=host:0 to=dram:0 rows=1 row_bytes=16 operand=activations\n";
    CHECK_FALSE(same_until(with(early + steps(40), 5), with(early + steps(40), 9), 1));
}

}  // namespace systole::systolic
