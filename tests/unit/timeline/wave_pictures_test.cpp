// SPDX-License-Identifier: Apache-2.0
// The pictures of a waveform: WaveDrom drawings and GTKWave's save file.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/timeline/gtkwave_save.h"
#include "sim/timeline/wavedrom_writer.h"
#include "tests/unit/timeline/wave_signals.h"

namespace systole {
namespace {

using namespace test;

/// A recorder with a few signals of every form; `cycle` is what they count.
void add_some(WaveRecorder& recorder, const std::int64_t& cycle) {
    recorder.add(clock_signal("t.clock", Hertz(1'000'000'000)), {});
    recorder.add(clock_signal("t.dram.clock", Hertz(1'200'000'000)), {});
    recorder.add(signal("t.mxu0.busy", Form::Bit), [&] { return cycle > 3; });
    recorder.add(signal("t.mxu0.pass", Form::Unsigned, 32), [&] { return cycle > 3 ? 7 : kNoWaveValue; });
    recorder.add(signal("t.mxu0.pe_0_0.sum", Form::Signed, 32), [&] { return -(cycle / 2); });
    recorder.add(text_signal("t.seq.state", {"idle", "busy"}), [&] { return cycle % 2; });
}

}  // namespace

TEST_CASE("a WaveDrom drawing, byte for byte") {
    WaveDromWriter writer;
    std::int64_t cycle = 2;
    WaveRecorder recorder(SignalFilter({}), window(2, 6), writer);
    add_some(recorder, cycle);
    recorder.begin();
    for (; cycle < 6; ++cycle) recorder.sample(Cycles(cycle));
    recorder.end();
    CHECK(writer.text() == R"({"signal": [
  ["t",
    {"name": "clock", "wave": "p..."},
    ["mxu0",
      {"name": "busy", "wave": "0.1."},
      {"name": "pass", "wave": "z.2.", "data": ["7"]},
      ["pe_0_0",
        {"name": "sum", "wave": "2.2.", "data": ["-1", "-2"]}]],
    ["seq",
      {"name": "state", "wave": "2222", "data": ["idle", "busy", "idle", "busy"]}]]
], "head": {"tick": 2}}
)");
    CHECK(nlohmann::json::parse(writer.text()).contains("signal"));
}

TEST_CASE("a drawing that nobody could read is refused with what to write instead") {
    WaveDromWriter writer;
    std::vector<WaveSignal> signals;
    for (int pe = 0; pe < 30; ++pe)
        for (const char* name : {".sum", ".moving"})
            signals.push_back(signal("t.mxu0.pe_" + std::to_string(pe) + name, Form::Signed, 8));
    CHECK_THROWS_WITH(writer.begin(signals, window(100, 500)),
                      Catch::Contains("60 signals over 400 cycles") &&
                          Catch::Contains("--signals 't.mxu0.pe_0.*' --cycles 100:164"));
    signals.resize(2);
    CHECK_THROWS_AS(writer.begin(signals, window(0, 65)), UserError);
    CHECK_NOTHROW(writer.begin(signals, window(0, 64)));
}

TEST_CASE("GTKWave's save file groups by unit and looks at the first pass") {
    WaveDromWriter writer;
    const std::int64_t cycle = 0;
    WaveRecorder recorder(SignalFilter({}), window(0, 64), writer);
    add_some(recorder, cycle);
    recorder.focus(Ticks(4000), Ticks(4000 + 72'000));  // 16,000 in 200 of 900 pixels
    CHECK(gtkwave_save(recorder, "wave.vcd") == R"([dumpfile] "wave.vcd"
[timestart] 4000
[size] 1400 900
[pos] -1 -1
*-13.965784 4000 -1
[sst_expanded] 1
@28
[color] 2
t.clock
@800200
-dram
@28
[color] 2
t.dram.clock
@1000200
-dram
@800200
-mxu0
@28
[color] 4
t.mxu0.busy
@24
[color] 2
t.mxu0.pass[31:0]
@800200
-pe_0_0
@420
[color] 2
t.mxu0.pe_0_0.sum[31:0]
@1000200
-pe_0_0
@1000200
-mxu0
@800200
-seq
@820
[color] 2
t.seq.state
@1000200
-seq
)");
}

TEST_CASE("inner groups start closed once the screen is full") {
    WaveDromWriter writer;
    WaveRecorder recorder(SignalFilter({}), window(0, 64), writer);
    for (int pe = 0; pe < 30; ++pe)
        for (const char* name : {".sum", ".moving"})
            recorder.add(signal("t.mxu0.pe_" + std::to_string(pe) + name, Form::Signed, 8), [] { return 0; });
    const std::string save = gtkwave_save(recorder, "wave.vcd");
    CHECK_THAT(save, Catch::Contains("@800200\n-pe_23\n") && Catch::Contains("@1000200\n-pe_23\n"));
    CHECK_THAT(save, Catch::Contains("@c00200\n-pe_24\n") && Catch::Contains("@1401200\n-pe_24\n"));
}

TEST_CASE("a save file of very many signals stays small") {
    WaveDromWriter writer;
    WaveRecorder recorder(SignalFilter({}), window(0, 64), writer);
    for (int pe = 0; pe < 100'000; ++pe)
        recorder.add(signal("t.mxu0.pe_" + std::to_string(pe) + ".sum", Form::Signed, 8), [] { return 0; });
    CHECK(gtkwave_save(recorder, "wave.vcd").size() < 1'000'000);
}

}  // namespace systole
