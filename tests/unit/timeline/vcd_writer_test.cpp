// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/vcd_writer.h"

#include <catch2/catch.hpp>
#include <random>
#include <sstream>

#include "sim/base/error.h"
#include "tests/unit/timeline/wave_signals.h"

namespace systole {
namespace {

using namespace test;

struct Dump {
    std::string text;
    VcdWriter writer{[this](std::string_view bytes) { text += bytes; }};
};

/// What a reader makes of a binary value: as many bits as the variable has, extended on the left.
std::int64_t read_bits(std::string bits, int width) {
    if (bits[0] == 'z') return kNoWaveValue;
    bits.insert(0, static_cast<std::size_t>(width) - bits.size(), bits[0] == '1' ? '0' : bits[0]);
    std::int64_t value = bits[0] == '1' ? -1 : 0;
    for (const char bit : bits)
        value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << 1) + (bit - '0');
    return value;
}

}  // namespace

TEST_CASE("a small dump, byte for byte") {
    Dump dump;
    std::int64_t level = 5, state = 0;
    WaveRecorder recorder(SignalFilter({}), window(2, 4), dump.writer);
    recorder.add(clock_signal("tpu.clock", Hertz(1'000'000'000)), {});
    recorder.add(signal("tpu.mxu0.queue", Form::Unsigned, 8), [&] { return level; });
    recorder.add(text_signal("tpu.state", {"idle", "busy"}), [&] { return state; });
    recorder.begin();
    recorder.sample(Cycles(2));
    level = -1;
    state = 1;
    recorder.sample(Cycles(3));
    recorder.end();
    CHECK(dump.text == R"($comment cycles 2 to 4 of a clock of 1000000000 Hz $end
$version Systole $end
$timescale 1 ps $end
$scope module tpu $end
$var wire 1 ! clock $end
$var string 1 # state $end
$scope module mxu0 $end
$var wire 8 " queue [7:0] $end
$upscope $end
$upscope $end
$enddefinitions $end
#2000
$dumpvars
1!
b101 "
sidle #
$end
#2500
0!
#3000
1!
b11111111 "
sbusy #
#3500
0!
#4000
)");
}

TEST_CASE("integers of every width read back as they were") {
    std::mt19937_64 random(3);
    for (int width = 2; width <= 63; ++width) {
        Dump dump;
        std::vector<std::int64_t> values{
            0, 1, -1, kNoWaveValue, (std::int64_t{1} << (width - 1)) - 1, -(std::int64_t{1} << (width - 1))};
        for (int i = 0; i < 20; ++i) values.push_back(static_cast<std::int64_t>(random()) >> (64 - width));
        dump.writer.begin({signal("a.b", Form::Signed, width)}, window(0, 100));
        for (std::size_t i = 0; i < values.size(); ++i) {
            dump.writer.time(Ticks(static_cast<std::int64_t>(i)));
            dump.writer.change(0, values[i]);
        }
        dump.writer.end(Ticks(100));
        std::istringstream lines(dump.text);
        std::size_t read = 0;
        for (std::string line; std::getline(lines, line);) {
            if (line[0] != 'b') continue;
            INFO("seed 3, width " << width << ", value " << values[read]);
            REQUIRE(read_bits(line.substr(1, line.find(' ') - 1), width) == values[read]);
            ++read;
        }
        REQUIRE(read == values.size());
    }
}

TEST_CASE("a million signals have codes of their own, short and printable") {
    Dump dump;
    std::vector<WaveSignal> signals;
    for (int i = 0; i < 20000; ++i) signals.push_back(signal("a.s" + std::to_string(i), Form::Bit));
    dump.writer.begin(signals, window(0, 1));
    dump.writer.end(Ticks(0));
    std::istringstream words(dump.text);
    std::set<std::string> codes;
    for (std::string word; words >> word;)
        if (word == "$var") {
            std::string type, width, code;
            words >> type >> width >> code;
            codes.insert(code);
            CHECK(code.size() <= 3);
        }
    CHECK(codes.size() == signals.size());
}

TEST_CASE("no change is larger than what the estimate allows for it") {
    for (const WaveSignal& one :
         {signal("a.b", Form::Bit), signal("a.b", Form::Signed, 32), signal("a.b", Form::Unsigned, 8),
          text_signal("a.b", {"x", "longest name"})}) {
        Dump dump;
        dump.writer.begin({one}, window(0, 2));
        dump.writer.time(Ticks(0));
        dump.writer.change(0, 1);
        dump.writer.end(Ticks(1));
        const std::size_t before = dump.text.rfind("$dumpvars\n") + 10, after = dump.text.rfind("$end\n");
        CHECK(static_cast<std::int64_t>(after - before) <= VcdWriter::largest_change(one));
    }
}

TEST_CASE("a sink that cannot write stops the recording") {
    VcdWriter writer([](std::string_view) { throw UserError("the disk is full"); });
    writer.begin({signal("a.b", Form::Bit)}, window(0, 1));
    CHECK_THROWS_AS(writer.end(Ticks(1)), UserError);
}

}  // namespace systole
