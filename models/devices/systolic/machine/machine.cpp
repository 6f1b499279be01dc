// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/machine.h"

#include <fmt/format.h>

#include "models/devices/systolic/mxu/witnessed_engine.h"
#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/kernel/kernel.h"
#include "sim/kernel/stuck.h"

namespace systole::systolic {
namespace {

/// DMA ports of the scratchpad, in the order of their indices.
enum DmaPort : std::size_t { kHostInPort, kHostOutPort, kLoadPort, kStorePort, kLinkInPort, kLinkOutPort };

std::vector<std::string> dma_ports(const SystolicSpec& spec) {
    std::vector<std::string> ports{"host_in", "host_out", "load", "store"};
    if (spec.chip_link) ports.insert(ports.end(), {"link_in", "link_out"});
    return ports;
}

/// Neighbours send unasked: beside its own buffer, an engine has on its way what is on the link.
DmaSpec link_dma(const SystolicSpec& spec) {
    DmaSpec dma = spec.dma;
    dma.in_flight += spec.chip_link->in_flight();
    return dma;
}

std::unique_ptr<MatrixEngine> make_engine(const SystolicSpec& spec) {
    if (spec.mxu.engine == EngineKind::Grid) return std::make_unique<WitnessedEngine>(spec.array());
    return make_tile_engine(spec.array());
}

}  // namespace

DramSpec memory_of(const SystolicSpec& spec, const Protocol& protocol) {
    DramSpec memory = spec.memory;
    memory.refresh_phase = protocol.refresh_phase;
    return memory;
}

Machine::Chips::Chips(const SystolicSpec& spec, ClockDomain clock, RunRecord& record)
    : link("chip_link", *spec.chip_link),
      in("link_in", link_dma(spec), clock, spec.sequencer.queue_depth, record),
      out("link_out", link_dma(spec), clock, spec.sequencer.queue_depth, record) {}

Machine::Machine(sc_core::sc_module_name name, const SystolicSpec& spec, const Program& program,
                 const RunOptions& options, const ForeignMemory* foreign)
    : sc_module(name),
      clock(spec.core_clock),
      record(program, static_cast<std::size_t>(kSharedUnits + 2 * spec.mxu.count), options.timeline),
      memory(memory_of(spec, options.protocol), foreign),
      scratchpad("scratchpad", spec.scratchpad, clock, dma_ports(spec), spec.mxu.count),
      loads(spec.scratchpad, program),
      host_link("host_link", spec.host),
      host_in("host_in", spec.dma, clock, spec.sequencer.queue_depth, record),
      host_out("host_out", spec.dma, clock, spec.sequencer.queue_depth, record),
      load("load", spec.dma, clock, spec.sequencer.queue_depth, record),
      store("store", spec.dma, clock, spec.sequencer.queue_depth, record),
      chips(spec.chip_link ? std::make_unique<Chips>(spec, clock, record) : nullptr),
      vector("vector", spec.vector, clock, spec.sequencer.queue_depth, record,
             {scratchpad.banks(), loads, scratchpad.turns()}),
      spec_(spec) {
    const BankSeat seat{scratchpad.banks(), loads, scratchpad.turns()};
    for (int i = 0; i < spec.mxu.count; ++i)
        mxus.push_back(std::make_unique<MatrixUnit>(
            fmt::format("mxu{}", i).c_str(), spec, clock,
            MatrixUnit::Ports{scratchpad.streams(),
                              scratchpad.weight_port(static_cast<std::size_t>(i)).timing, seat},
            record, make_engine(spec)));
    sequencer_ = std::make_unique<Sequencer>("sequencer", spec.sequencer, clock, options.protocol.launch,
                                             record, queues());
    bind();
    SC_METHOD(mark);
    dont_initialize();
    sensitive << layers_ended_;
    if (options.check_dram && !foreign) memory.dram().check_commands();
    if (spec.mxu.engine == EngineKind::Grid)
        vector.on_drain([this, check = DrainCheck(program)](const Command& drain) {
            const auto mxu = static_cast<std::size_t>(record.program().vector(drain).mxu);
            if (!value_fault) value_fault = check.fault(drain, mxus[mxu]->grid());
        });
}

void Machine::mark_after(const std::vector<std::size_t>& layers) {
    if (!layers.empty()) memory.stay_in_time();
    record.watch_layers(layers, [this](Ticks time) { layers_ended_.notify(to_sc_time(time - now())); });
}

void Machine::mark() {
    Mark mark;
    mark.time = now();
    mark.memory_bus = memory_bus();
    marks_.push_back(std::move(mark));
}

std::vector<EndCount> Machine::ends() const {
    const Bytes vector_written = record.ledger().total(Place::Vector, Place::Scratchpad);
    const Bytes vector_read = Bytes(vector.stats().scratchpad_bytes) - vector_written;
    Bytes tiles_in, tiles_out, edges, sums;
    for (const auto& mxu : mxus) {
        tiles_in += Bytes(mxu->weights.dma.stats().bytes);
        tiles_out += Bytes(mxu->stats().tile_bytes);
        edges += Bytes(mxu->stats().edge_bytes);
        sums += Bytes(mxu->stats().sum_bytes);
    }
    std::vector<EndCount> all{
        {Place::WeightFifo, tiles_out, tiles_in},
        {Place::Array, sums, edges + tiles_out},
        {Place::Dram, memory.bytes_read(), memory.bytes_written()},
        {Place::Host, host_link.bytes_down(), host_link.bytes_up()},
        {Place::Scratchpad, scratchpad.bytes_out() + vector_read, scratchpad.bytes_in() + vector_written}};
    if (chips) all.push_back({Place::ChipLink, chips->link.bytes_in(), chips->link.bytes_out()});
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

std::vector<CommandQueue*> Machine::queues() {
    std::vector<CommandQueue*> all(static_cast<std::size_t>(kSharedUnits + 2 * spec_.mxu.count));
    all[unit_index(UnitKind::HostIn)] = &host_in.queue;
    all[unit_index(UnitKind::HostOut)] = &host_out.queue;
    all[unit_index(UnitKind::Load)] = &load.queue;
    all[unit_index(UnitKind::Store)] = &store.queue;
    all[unit_index(UnitKind::Vector)] = &vector.queue;
    if (chips) {
        all[unit_index(UnitKind::LinkIn)] = &chips->in.queue;
        all[unit_index(UnitKind::LinkOut)] = &chips->out.queue;
    }
    for (int i = 0; i < spec_.mxu.count; ++i) {
        all[unit_index(UnitKind::Weights, i)] = &mxus[static_cast<std::size_t>(i)]->weights.queue;
        all[unit_index(UnitKind::Matrix, i)] = &mxus[static_cast<std::size_t>(i)]->queue;
    }
    return all;
}

void Machine::bind() {
    const auto to_memories = [this](TransferUnit& unit, DmaPort port) {
        memory.serve(unit.dma.dram);
        unit.dma.scratchpad.bind(scratchpad.dma_port(port).target.in);
    };
    to_memories(host_in, kHostInPort);
    to_memories(host_out, kHostOutPort);
    to_memories(load, kLoadPort);
    to_memories(store, kStorePort);
    host_in.dma.host.bind(host_link.down.in);
    host_out.dma.host.bind(host_link.up.in);
    if (chips) {
        to_memories(chips->in, kLinkInPort);
        to_memories(chips->out, kLinkOutPort);
        chips->in.dma.chip_link.bind(chips->link.in.in);
        chips->out.dma.chip_link.bind(chips->link.out.in);
    }
    for (std::size_t i = 0; i < mxus.size(); ++i) {
        memory.serve(mxus[i]->weights.dma.dram);
        mxus[i]->weights.dma.scratchpad.bind(scratchpad.weight_port(i).target.in);
    }
}

void Machine::run() {
    if (!run_to_the_end(spec_.longest_run()))
        throw UserError(
            fmt::format("'{}' takes more than {} of simulated time on this machine; that is more than can be "
                        "accounted for",
                        record.program().trace, format_time(spec_.longest_run())));
    if (!record.finished()) throw Stuck(waits());
    for (auto& mxu : mxus) mxu->finish(record.last());
}

std::vector<const TransferUnit*> Machine::transfer_units() const {
    std::vector<const TransferUnit*> all{&host_in, &host_out, &load, &store};
    if (chips) all.insert(all.end(), {&chips->in, &chips->out});
    return all;
}

std::vector<std::string> Machine::waits() const {
    std::vector<std::string> lines;
    const auto look = [&](const CommandQueue& queue) {
        if (!queue.empty()) lines.push_back(record.describe_wait(*queue.front().command));
    };
    for (const auto* unit : transfer_units()) look(unit->queue);
    look(vector.queue);
    for (const auto& mxu : mxus) {
        look(mxu->weights.queue);
        look(mxu->queue);
    }
    return lines;
}

std::vector<Stat> Machine::stats() {
    std::vector<Stat> all;
    const auto add = [&](const std::string& path, const char* stat, const char* unit, const char* meaning,
                         std::int64_t value) {
        all.push_back({path, stat, unit, meaning, value});
    };
    const auto& issued = sequencer_->stats();
    add(sequencer_->name(), "issued", "commands", "commands issued", issued.issued);
    add(sequencer_->name(), "launches", "launches", "launches paid", issued.launches);
    const auto transfers = [&](const TransferUnit& unit) {
        const auto& stats = unit.dma.stats();
        add(unit.name(), "descriptors", "descriptors", "descriptors executed", stats.descriptors);
        add(unit.name(), "payloads", "payloads", "transactions they were cut into", stats.payloads);
        add(unit.name(), "bytes", "B", "bytes copied", stats.bytes);
    };
    for (const auto* unit : transfer_units()) transfers(*unit);
    const auto& v = vector.stats();
    add(vector.name(), "commands", "commands", "vector commands executed", v.commands);
    add(vector.name(), "busy_cycles", "cycles", "cycles in which the lanes were occupied", v.busy_cycles);
    add(vector.name(), "macs", "MACs", "multiply-accumulates of operators mapped here", v.macs);
    for (const auto& mxu : mxus) {
        const auto& m = mxu->stats();
        add(mxu->name(), "passes", "passes", "passes streamed", m.passes);
        add(mxu->name(), "tiles", "tiles", "tiles that took their place in the array", m.tiles);
        add(mxu->name(), "macs", "MACs", "multiply-accumulates on real data", m.macs);
        add(mxu->name(), "stream_cycles", "cycles", "cycles in which vectors streamed", m.stream_cycles);
        add(mxu->name(), "port_wait_cycles", "cycles", "cycles a ready pass waited for a stream port",
            m.port_wait_cycles);
        add(mxu->name(), "ifmap_reads", "elements", "elements of the inputs read by the array",
            m.ifmap_reads);
        add(mxu->name(), "filter_reads", "elements", "elements of the weights read by the array",
            m.filter_reads);
        add(mxu->name(), "ofmap_writes", "elements", "results written for the first time (see faults)",
            m.ofmap_writes);
        for (const Stat& stat : pending_stats(mxu->name(), mxu->pending())) all.push_back(stat);
        transfers(mxu->weights);
    }
    for (const Stat& stat : scratchpad.stats()) all.push_back(stat);
    for (const Stat& stat : host_link.stats()) all.push_back(stat);
    if (chips)
        for (const Stat& stat : chips->link.stats()) all.push_back(stat);
    for (const Stat& stat : memory.stats()) all.push_back(stat);
    return all;
}

}  // namespace systole::systolic
