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
    for (const auto& core : machine.cores) add_core(*core, sink);
    dram_.add_signals(sink);
}

void WaveProbe::add_core(Core& core, SignalSink& sink) {
    add_sequencer(core.sequencer(), core.index, sink);
    for (std::size_t i = 0; i < core.mxus.size(); ++i)
        add_matrix_unit(*core.mxus[i], unit_index(UnitKind::Matrix, static_cast<int>(i), core.index), sink);
    const std::string vector = core.vector.name();
    add_level(vector + ".queue", "commands that wait", sink, [&core] { return core.vector.queue.size(); });
    add_bit(vector + ".busy", "a command occupies the lanes", sink,
            [this, &core] { return core.vector.busy(cycle_); });
    for (std::size_t port = 0; port < core.scratchpad.streams().count(); ++port)
        add_bit(fmt::format("{}.stream_port_{}", core.scratchpad.name(), port), "a stream passes the port",
                sink, [this, &core, port] { return core.scratchpad.streams().busy(port, cycle_); });
    for (const TransferUnit* unit : core.transfer_units()) add_transfer_unit(*unit, sink);
}

void WaveProbe::add_level(const std::string& path, const char* meaning, SignalSink& sink, WaveReader read) {
    sink.add({path, Form::Unsigned, 32, WaveTint::Level, meaning, nullptr, {}}, std::move(read));
}

void WaveProbe::add_bit(const std::string& path, const char* meaning, SignalSink& sink, WaveReader read) {
    sink.add({path, Form::Bit, 1, WaveTint::Control, meaning, nullptr, {}}, std::move(read));
}

void WaveProbe::add_sequencer(const Sequencer& sequencer, int core, SignalSink& sink) {
    const std::string path = sequencer.name();
    const auto& commands = machine_.record.program().commands;
    const auto next = [&sequencer, &commands]() -> const Command* {
        const std::size_t number = sequencer.next_command();
        return number < commands.size() ? &commands[number] : nullptr;
    };
    sink.add({path + ".state",
              Form::Text,
              1,
              WaveTint::Control,
              "idle: all issued; waiting: the queue of the next command's unit is full",
              names_of({"idle", "issuing", "waiting"}),
              {}},
             [this, next, &sequencer]() -> std::int64_t {
                 if (!next()) return kIdle;
                 return sequencer.blocked(machine_.clock.edge(cycle_ + Cycles(1))) ? kWaiting : kIssuing;
             });
    add_level(path + ".command", "number of the next command in the program", sink, [next, &sequencer] {
        return next() ? static_cast<std::int64_t>(sequencer.next_command()) : kNoWaveValue;
    });
    std::vector<std::string> units{"none"};
    for (int unit = 0; unit < kSharedUnits + 2 * spec_.mxu.count; ++unit)
        units.push_back(unit_name(static_cast<UnitIndex>(core * kUnitsOfCore + unit), spec_.cores));
    sink.add({path + ".unit", Form::Text, 1, WaveTint::Control, "its unit", names_of(std::move(units)), {}},
             [next]() -> std::int64_t { return next() ? next()->unit % kUnitsOfCore + 1 : 0; });
}

void WaveProbe::add_transfer_unit(const TransferUnit& unit, SignalSink& sink) {
    const std::string path = unit.name();
    add_level(path + ".queue", "commands that wait", sink, [&unit] { return unit.queue.size(); });
    add_bit(path + ".busy", "a descriptor is not complete", sink,
            [&unit] { return unit.dma.unfinished() > 0; });
    add_level(path + ".in_flight", "bytes requested and not yet written", sink,
              [&unit] { return unit.dma.in_flight().value(); });
}

void WaveProbe::add_matrix_unit(const MatrixUnit& unit, UnitIndex index, SignalSink& sink) {
    const std::string path = unit.name();
    add_level(path + ".queue", "passes that wait", sink, [&unit] { return unit.queue.size(); });
    const Program& program = machine_.record.program();
    const bool sometimes = program.mixes_dataflows() && !spec_.mxu.direct(Dataflow::WeightStationary);
    if (!spec_.mxu.direct(program.dataflow) || sometimes)
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
    add_block(unit, sink);
    add_transfer_unit(unit.weights, sink);
    add_array_signals(path, spec_, program, index, &unit, sink);
}

/// Which part of which product the pass that streams computes.
void WaveProbe::add_block(const MatrixUnit& unit, SignalSink& sink) {
    const Program& program = machine_.record.program();
    const auto add = [&](const char* name, const char* meaning,
                         std::int64_t (*of)(const Command&, const MatrixPass&)) {
        add_level(fmt::format("{}.{}", unit.name(), name), meaning, sink,
                  [this, &unit, &program, of]() -> std::int64_t {
                      const auto number = unit.streaming(cycle_);
                      if (!number) return kNoWaveValue;
                      const Command& command = program.commands[*number];
                      return of(command, program.pass(command));
                  });
    };
    add("layer", "number of its layer",
        [](const Command& command, const MatrixPass&) -> std::int64_t { return command.layer; });
    add("batch", "batch item of its block of the product",
        [](const Command&, const MatrixPass& pass) { return pass.origin.batch; });
    add("first_m", "first row of its block of the product",
        [](const Command&, const MatrixPass& pass) { return pass.origin.m0; });
    add("first_k", "first element of K of its block, of its first fold",
        [](const Command&, const MatrixPass& pass) { return pass.origin.k0; });
    add("first_n", "first column of its block of the product",
        [](const Command&, const MatrixPass& pass) { return pass.origin.n0; });
    add("size_m", "rows of its block", [](const Command&, const MatrixPass& pass) { return pass.m; });
    add("size_k", "elements of K of a fold of its block",
        [](const Command&, const MatrixPass& pass) { return pass.k; });
    add("size_n", "columns of its block", [](const Command&, const MatrixPass& pass) { return pass.n; });
    add("new_tile", "1: it brings a tile; 0: that of the pass before stays",
        [](const Command&, const MatrixPass& pass) -> std::int64_t { return pass.new_tile; });
    sink.add({std::string(unit.name()) + ".dataflow",
              Form::Text,
              1,
              WaveTint::Control,
              "what stays in the array, as it is set up",
              names_of({"ws", "os", "is"}),
              {}},
             [&unit] { return static_cast<std::int64_t>(unit.set_up_for()); });
}

void WaveProbe::record(WaveRecorder& wave) {
    const WaveWindow& window = wave.window();
    wave.begin();
    dram_.follow(wave);
    for (const auto& core : machine_.cores)
        for (auto& mxu : core->mxus) mxu->stay_in_time();
    run_until(window.begin_time());
    for (const MatrixUnit* mxu : machine_.mxus()) passes_before_.push_back(mxu->stats().passes);
    for (cycle_ = window.first; cycle_ < window.end; cycle_ += Cycles(1)) {
        const Ticks over = window.clock.edge(cycle_ + Cycles(1));
        run_until(over);
        if (spec_.mxu.engine == EngineKind::Grid)
            for (const auto& core : machine_.cores)
                for (auto& mxu : core->mxus) mxu->look_ahead(cycle_ + Cycles(1));
        dram_.settle(over);
        wave.sample(cycle_);
        if (!focused_) find_first_pass(wave);
    }
    wave.end();
}

void WaveProbe::find_first_pass(WaveRecorder& wave) {
    const std::vector<const MatrixUnit*> mxus = machine_.mxus();
    for (std::size_t i = 0; i < mxus.size() && !first_pass_; ++i)
        if (mxus[i]->stats().passes > passes_before_[i]) first_pass_ = {i, cycle_};
    if (!first_pass_) return;
    const int mxu = static_cast<int>(first_pass_->mxu);
    const auto unit = unit_index(UnitKind::Matrix, mxu % spec_.mxu.count, mxu / spec_.mxu.count);
    focused_ = machine_.record.completed(unit) > passes_before_[first_pass_->mxu];
    wave.focus(machine_.clock.edge(first_pass_->start), machine_.clock.edge(cycle_ + Cycles(1)));
}

}  // namespace systole::systolic
