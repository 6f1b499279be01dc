// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/wave_recorder.h"

#include <catch2/catch.hpp>

#include "sim/base/error.h"
#include "tests/unit/timeline/wave_signals.h"

namespace systole {
namespace {

using namespace test;

/// Writes down what it is told: "2000: 0=5 1=0".
class Notes final : public WaveWriter {
public:
    void begin(const std::vector<WaveSignal>& signals, const WaveWindow&) override { count = signals.size(); }
    void time(Ticks at) override { lines.push_back(std::to_string(at.value()) + ":"); }
    void change(std::size_t signal, std::int64_t value) override {
        lines.back() += " " + std::to_string(signal) + "=" + std::to_string(value);
    }
    void end(Ticks at) override { lines.push_back("end " + std::to_string(at.value())); }
    std::vector<std::string> lines;
    std::size_t count = 0;
};

using Lines = std::vector<std::string>;

std::string refusal(std::int64_t cycles, const std::vector<std::string>& patterns, int pes) {
    Notes notes;
    WaveRecorder recorder(SignalFilter(patterns), window(10, 10 + cycles), notes);
    for (int pe = 0; pe < pes; ++pe)
        for (const char* name : {".sum", ".moving"})
            recorder.add(signal("tpu.mxu0.pe_" + std::to_string(pe) + name, Form::Signed, 32),
                         [] { return 0; });
    try {
        recorder.begin();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

/// What stands between `before` and `after`.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
    const std::size_t begin = text.find(before) + before.size();
    return text.substr(begin, text.find(after, begin) - begin);
}

}  // namespace

TEST_CASE("the first cycle of a window shows everything, later ones what has changed") {
    Notes notes;
    std::int64_t a = 5;
    WaveRecorder recorder(SignalFilter({"*a", "*b"}), window(2, 5), notes);
    CHECK(recorder.add(signal("t.a", Form::Unsigned, 8), [&] { return a; }) == 0);
    CHECK(recorder.add(signal("t.c", Form::Unsigned, 8), [] { return 0; }) == SignalSink::kUnwanted);
    CHECK(recorder.add(signal("t.b", Form::Unsigned, 8), [] { return 7; }) == 1);
    recorder.begin();
    recorder.sample(Cycles(2));
    recorder.sample(Cycles(3));
    a = 6;
    recorder.sample(Cycles(4));
    recorder.end();
    CHECK(notes.lines == Lines{"2000: 0=5 1=7", "4000: 0=6", "end 5000"});
}

TEST_CASE("changes between edges are written at their times, in order, and the last of a time counts") {
    Notes notes;
    WaveRecorder recorder(SignalFilter({}), window(1, 3), notes);
    recorder.add(signal("t.bus", Form::Unsigned, 8), {});
    recorder.begin();
    recorder.change(0, Ticks(200), 1);   // before the window: the value at its begin
    recorder.change(0, Ticks(2300), 9);  // ahead of time
    recorder.change(0, Ticks(1700), 3);
    recorder.change(0, Ticks(1500), 2);
    recorder.change(0, Ticks(1600), 4);  // a glitch of no length
    recorder.change(0, Ticks(1600), 2);
    recorder.sample(Cycles(1));
    recorder.change(0, Ticks(2000), 5);
    recorder.sample(Cycles(2));
    recorder.end();
    CHECK(notes.lines == Lines{"1000: 0=1", "1500: 0=2", "1700: 0=3", "2000: 0=5", "2300: 0=9", "end 3000"});
}

TEST_CASE("a clock of another frequency keeps its own edges, to the tick") {
    Notes notes;
    WaveRecorder recorder(SignalFilter({}), window(1, 3), notes);
    recorder.add(clock_signal("t.dram.clock", Hertz(1'500'000'000)), {});  // edges 666, 1333, 2000, 2666
    recorder.begin();
    recorder.sample(Cycles(1));
    recorder.sample(Cycles(2));
    recorder.end();
    CHECK(notes.lines == Lines{"1000: 0=0", "1333: 0=1", "1666: 0=0", "2000: 0=1", "2333: 0=0", "2666: 0=1",
                               "2999: 0=0", "end 3000"});
}

TEST_CASE("what would become too large is refused with what to write instead, and that is accepted") {
    CHECK(refusal(1000, {}, 10).empty());
    const std::string message = refusal(1'000'000, {}, 1000);
    INFO(message);
    CHECK_THAT(message,
               Catch::Contains("2,000 signals over 1,000,000 cycles could become a VCD of 78.00 GB"));
    const std::string cycles = between(message, "--cycles 10:", ",");
    CHECK(refusal(std::stoll(cycles) - 10, {}, 1000).empty());
    CHECK_FALSE(refusal(std::stoll(cycles) - 9, {}, 1000).empty());
    CHECK(refusal(1'000'000, {between(message, "--signals '", "'")}, 1000).empty());
}

TEST_CASE("more signals than can be kept are refused for any window") {
    const std::string message = refusal(1, {}, 600'000);
    INFO(message);
    CHECK_THAT(message, Catch::StartsWith("systole: error: 1,200,000 signals over 1 cycles"));
    CHECK(message.find("--cycles") == std::string::npos);
    CHECK(refusal(1, {between(message, "--signals '", "'")}, 600'000).empty());
}

TEST_CASE("patterns that match nothing are refused before anything is written") {
    Notes notes;
    WaveRecorder recorder(SignalFilter({"*.x"}), window(0, 1), notes);
    recorder.add(signal("t.a", Form::Bit), [] { return 0; });
    CHECK_THROWS_AS(recorder.begin(), UserError);
    CHECK(notes.count == 0);
}

}  // namespace systole
