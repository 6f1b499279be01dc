// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/machine/operand_values.h"
#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/kernel/kernel.h"
#include "sim/kernel/stuck.h"

namespace systole::systolic {
namespace {

/// Gives the units of one of several cores a name of their own to lie below.
struct CoreModule : sc_core::sc_module {
    Core core;
    CoreModule(sc_core::sc_module_name name, const SystolicSpec& spec, int index, Protocol::Launch launch,
               const Core::Shared& shared)
        : sc_module(name), core(spec, index, launch, shared) {}
};

}  // namespace

DramSpec memory_of(const SystolicSpec& spec, const Protocol& protocol) {
    DramSpec memory = spec.memory;
    memory.refresh_phase = protocol.refresh_phase;
    return memory;
}

Machine::Machine(sc_core::sc_module_name name, const SystolicSpec& spec, const Program& program,
                 const RunOptions& options, const ForeignMemory* foreign)
    : sc_module(name),
      clock(spec.core_clock),
      record(program, unit_numbers(spec.cores, spec.mxu.count), options.timeline != WantTimeline::No,
             options.work_done),
      memory(memory_of(spec, options.protocol), foreign),
      host_link("host_link", spec.host, spec.cores),
      chip_link(spec.chip_link ? std::make_unique<ChipLink>("chip_link", *spec.chip_link) : nullptr),
      spec_(spec) {
    SYSTOLE_CHECK(program.cores == spec.cores, "a program for {} cores on {}", program.cores, spec.cores);
    for (int index = 0; index < spec.cores; ++index) add_core(index, options.protocol.launch);
    SC_METHOD(mark);
    dont_initialize();
    sensitive << layers_ended_;
    if (options.timeline != WantTimeline::No) memory.keep_traffic();
    if (options.check_dram && !foreign) memory.dram().check_commands();
    if (spec.mxu.engine == EngineKind::Grid) check_drains(program);
}

void Machine::add_core(int index, Protocol::Launch launch) {
    const Core::Shared shared{clock, record, memory, host_link, chip_link.get()};
    if (spec_.cores == 1) {
        cores.push_back(std::make_shared<Core>(spec_, index, launch, shared));
        return;
    }
    const auto module =
        std::make_shared<CoreModule>(fmt::format("core{}", index).c_str(), spec_, index, launch, shared);
    cores.push_back(std::shared_ptr<Core>(module, &module->core));
}

void Machine::check_drains(const Program& program) {
    const auto check = std::make_shared<const DrainCheck>(program);
    for (const auto& core : cores)
        core->vector.on_drain([this, check, &mxus = core->mxus](const Command& drain) {
            const auto mxu = static_cast<std::size_t>(record.program().vector(drain).mxu);
            if (!value_fault) value_fault = check->fault(drain, mxus[mxu]->grid());
        });
}

void Machine::mark_after(const std::vector<std::size_t>& layers, GoOnWith go_on_with) {
    go_on_with_ = std::move(go_on_with);
    if (!layers.empty()) memory.stay_in_time();
    record.watch_layers(layers, [this](Ticks time) { layers_ended_.notify(to_sc_time(time - now())); });
}

void Machine::mark() {
    if (to_skip_ > 0) {
        --to_skip_;
        return;
    }
    Mark mark;
    mark.time = now();
    mark.memory_bus = memory_bus();
    for (const Stat& stat : stats()) mark.counts.push_back(stat.value);
    marks_.push_back(std::move(mark));
    if (!go_on_with_) return;
    std::size_t issued = 0;
    for (const auto& core : cores) issued = std::max(issued, core->sequencer().issued_end());
    const std::optional<Other> other = go_on_with_(marks_, issued);
    if (!other) return;
    to_skip_ = record.go_on_with(*other->program, issued, other->marks);
    for (const auto& core : cores) core->go_on();
}

std::vector<const MatrixUnit*> Machine::mxus() const {
    std::vector<const MatrixUnit*> all;
    for (const auto& core : cores)
        for (const auto& mxu : core->mxus) all.push_back(mxu.get());
    return all;
}

std::int64_t Machine::vector_macs() const {
    std::int64_t macs = 0;
    for (const auto& core : cores) macs += core->vector.stats().macs;
    return macs;
}

std::vector<EndCount> Machine::ends() const {
    const Bytes vector_written = record.ledger().total(Place::Vector, Place::Scratchpad);
    Bytes vector_bytes, pad_in, pad_out, tiles_in, tiles_out, edges, sums;
    for (const auto& core : cores) {
        vector_bytes += Bytes(core->vector.stats().scratchpad_bytes);
        pad_in += core->scratchpad.bytes_in();
        pad_out += core->scratchpad.bytes_out();
        for (const auto& mxu : core->mxus) {
            tiles_in += Bytes(mxu->weights.dma.stats().bytes);
            tiles_out += Bytes(mxu->stats().tile_bytes);
            edges += Bytes(mxu->stats().edge_bytes);
            sums += Bytes(mxu->stats().sum_bytes);
        }
    }
    std::vector<EndCount> all{
        {Place::WeightFifo, tiles_out, tiles_in},
        {Place::Array, sums, edges + tiles_out},
        {Place::Dram, memory.bytes_read(), memory.bytes_written()},
        {Place::Host, host_link.bytes_down(), host_link.bytes_up()},
        {Place::Scratchpad, pad_out + (vector_bytes - vector_written), pad_in + vector_written}};
    if (chip_link) all.push_back({Place::ChipLink, chip_link->bytes_in(), chip_link->bytes_out()});
    return all;
}

std::vector<BusClocks> Machine::memory_bus() {
    const BusAccount account = memory.bus_account();
    std::vector<BusClocks> owners;
    if (account.total() == 0) return owners;
    for (int i = 0; i < kBusTimes; ++i) {
        const auto time = static_cast<BusTime>(i);
        owners.push_back({std::string(to_string(time)), account[time]});
    }
    return owners;
}

void Machine::run() {
    if (!run_to_the_end(spec_.longest_run()))
        throw UserError(
            fmt::format("'{}' takes more than {} of simulated time on this machine; that is more than can be "
                        "accounted for",
                        record.program().trace, format_time(spec_.longest_run())));
    if (!record.finished()) throw Stuck(waits());
    for (const auto& core : cores)
        for (auto& mxu : core->mxus) mxu->finish(record.last());
}

std::vector<std::string> Machine::waits() const {
    std::vector<std::string> lines;
    for (const auto& core : cores) core->waits(lines);
    return lines;
}

std::vector<Stat> Machine::stats() {
    std::vector<Stat> all;
    const auto add = [&](const std::vector<Stat>& stats) {
        all.insert(all.end(), stats.begin(), stats.end());
    };
    for (const auto& core : cores) add(core->stats());
    add(host_link.stats());
    if (chip_link) add(chip_link->stats());
    add(memory.stats());
    return all;
}

}  // namespace systole::systolic
