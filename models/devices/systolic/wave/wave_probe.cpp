// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/wave/wave_probe.h"

#include <fmt/format.h>

#include "models/devices/systolic/wave/array_signals.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {
namespace {

using Form = WaveSignal::Form;

enum SequencerState : std::int64_t { kIdle, kIssuing, kWaiting };

std::shared_ptr<const std::vector<std::string>> names_of(std::vector<std::string> names) {
    return std::make_shared<const std::vector<std::string>>(std::move(names));
}

}  // namespace

WaveProbe::WaveProbe(Machine& machine, const SystolicSpec& spec, SignalSink& sink)
    : machine_(machine), spec_(spec), dram_(machine.memory.dram()) {
    sink.add({std::string(machine.name()) + ".clock", Form::Clock, 1, WaveTint::Control, "the core clock",
              nullptr, spec.core_clock},
             {});
    add_sequencer(sink);
    for (int index = 0; index < spec.mxu.count; ++index) add_matrix_unit(index, sink);
    const std::string vector = machine.vector.name();
    add_level(vector + ".queue", "commands that wait", sink, [this] { return machine_.vector.queue.size(); });
    add_bit(vector + ".busy", "a command occupies the lanes", sink,
            [this] { return machine_.vector.busy(cycle_); });
    for (std::size_t port = 0; port < machine.scratchpad.streams().count(); ++port)
        add_bit(fmt::format("{}.stream_port_{}", machine.scratchpad.name(), port), "a stream passes the port",
                sink, [this, port] { return machine_.scratchpad.streams().busy(port, cycle_); });
    for (const TransferUnit* unit : machine.transfer_units()) add_transfer_unit(*unit, sink);
    dram_.add_signals(sink);
}

void WaveProbe::add_level(const std::string& path, const char* meaning, SignalSink& sink, WaveReader read) {
    sink.add({path, Form::Unsigned, 32, WaveTint::Level, meaning, nullptr, {}}, std::move(read));
}

void WaveProbe::add_bit(const std::string& path, const char* meaning, SignalSink& sink, WaveReader read) {
    sink.add({path, Form::Bit, 1, WaveTint::Control, meaning, nullptr, {}}, std::move(read));
}

void WaveProbe::add_sequencer(SignalSink& sink) {
    const std::string path = machine_.sequencer().name();
    const auto& commands = machine_.record.program().commands;
    const auto next = [this, &commands]() -> const Command* {
        const std::size_t number = machine_.sequencer().next_command();
        return number < commands.size() ? &commands[number] : nullptr;
    };
    sink.add({path + ".state",
              Form::Text,
              1,
              WaveTint::Control,
              "idle: all issued; waiting: the queue of the next command's unit is full",
              names_of({"idle", "issuing", "waiting"}),
              {}},
             [this, next]() -> std::int64_t {
                 if (!next()) return kIdle;
                 return machine_.sequencer().blocked(machine_.clock.edge(cycle_ + Cycles(1))) ? kWaiting
                                                                                              : kIssuing;
             });
    add_level(path + ".command", "number of the next command in the program", sink, [this, next] {
        return next() ? static_cast<std::int64_t>(machine_.sequencer().next_command()) : kNoWaveValue;
    });
    std::vector<std::string> units{"none"};
    for (int unit = 0; unit < kSharedUnits + 2 * spec_.mxu.count; ++unit)
        units.push_back(unit_name(static_cast<UnitIndex>(unit)));
    sink.add({path + ".unit", Form::Text, 1, WaveTint::Control, "its unit", names_of(std::move(units)), {}},
             [next]() -> std::int64_t { return next() ? next()->unit + 1 : 0; });
}

void WaveProbe::add_transfer_unit(const TransferUnit& unit, SignalSink& sink) {
    const std::string path = unit.name();
    add_level(path + ".queue", "commands that wait", sink, [&unit] { return unit.queue.size(); });
    add_bit(path + ".busy", "a descriptor is not complete", sink,
            [&unit] { return unit.dma.unfinished() > 0; });
    add_level(path + ".in_flight", "bytes requested and not yet written", sink,
              [&unit] { return unit.dma.in_flight().value(); });
}

void WaveProbe::add_matrix_unit(int index, SignalSink& sink) {
    const MatrixUnit& unit = *machine_.mxus[static_cast<std::size_t>(index)];
    const std::string path = unit.name();
    add_level(path + ".queue", "passes that wait", sink, [&unit] { return unit.queue.size(); });
    if (!spec_.mxu.direct())
        add_level(path + ".fifo", "tiles that wait to be shifted in", sink,
                  [&unit] { return unit.tiles_waiting(); });
    add_level(path + ".passes", "passes between their start and their last sum", sink,
              [&unit] { return unit.passes_running(); });
    add_bit(path + ".streaming", "a pass holds the stream port", sink,
            [this, &unit] { return unit.streaming(cycle_).has_value(); });
    add_level(path + ".pass", "number in the program of the pass that streams", sink, [this, &unit] {
        const auto pass = unit.streaming(cycle_);
        return pass ? std::int64_t{*pass} : kNoWaveValue;
    });
    add_transfer_unit(unit.weights, sink);
    add_array_signals(path, spec_, machine_.record.program(), index, &unit, sink);
}

void WaveProbe::record(WaveRecorder& wave) {
    const WaveWindow& window = wave.window();
    wave.begin();
    dram_.follow(wave);
    for (auto& mxu : machine_.mxus) mxu->stay_in_time();
    run_until(window.begin_time());
    for (const auto& mxu : machine_.mxus) passes_before_.push_back(mxu->stats().passes);
    for (cycle_ = window.first; cycle_ < window.end; cycle_ += Cycles(1)) {
        const Ticks over = window.clock.edge(cycle_ + Cycles(1));
        run_until(over);
        if (spec_.mxu.engine == EngineKind::Grid)
            for (auto& mxu : machine_.mxus) mxu->look_ahead(cycle_ + Cycles(1));
        dram_.settle(over);
        wave.sample(cycle_);
        if (!focused_) find_first_pass(wave);
    }
    wave.end();
}

void WaveProbe::find_first_pass(WaveRecorder& wave) {
    for (std::size_t i = 0; i < machine_.mxus.size() && !first_pass_; ++i)
        if (machine_.mxus[i]->stats().passes > passes_before_[i]) first_pass_ = {i, cycle_};
    if (!first_pass_) return;
    const auto unit = unit_index(UnitKind::Matrix, static_cast<int>(first_pass_->mxu));
    focused_ = machine_.record.completed(unit) > passes_before_[first_pass_->mxu];
    wave.focus(machine_.clock.edge(first_pass_->start), machine_.clock.edge(cycle_ + Cycles(1)));
}

}  // namespace systole::systolic
