// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/core.h"

#include <fmt/format.h>

#include "models/devices/systolic/mxu/witnessed_engine.h"

namespace systole::systolic {
namespace {

/// DMA ports of the scratchpad, in the order of their indices.
enum DmaPort : std::size_t { kHostInPort, kHostOutPort, kLoadPort, kStorePort, kLinkInPort, kLinkOutPort };

std::vector<std::string> dma_ports(bool linked) {
    std::vector<std::string> ports{"host_in", "host_out", "load", "store"};
    if (linked) ports.insert(ports.end(), {"link_in", "link_out"});
    return ports;
}

/// Neighbours send unasked: beside its own buffer, an engine has on its way what is on the link.
DmaSpec link_dma(const SystolicSpec& spec) {
    DmaSpec dma = spec.dma;
    dma.in_flight += spec.chip_link->in_flight();
    return dma;
}

std::unique_ptr<MatrixEngine> make_engine(const SystolicSpec& spec, const Program& program) {
    ArraySpec array = spec.array();
    array.dataflow = program.dataflow;
    array.reconfigurable = program.mixes_dataflows();
    if (spec.mxu.engine == EngineKind::Grid) return std::make_unique<WitnessedEngine>(array);
    return make_tile_engine(array);
}

/// Collectives are the first core's: the chip has one pair of engines for its link.
bool linked(int index, const Core::Shared& shared) {
    return shared.chip_link != nullptr && index == 0;
}

}  // namespace

Core::Core(const SystolicSpec& spec, int index_, Protocol::Launch launch, const Shared& shared)
    : index(index_),
      scratchpad("scratchpad", spec.scratchpad, shared.clock, dma_ports(linked(index_, shared)),
                 spec.mxu.count),
      loads(spec.scratchpad, shared.record.program()),
      host_in("host_in", spec.dma, shared.clock, spec.sequencer.queue_depth, shared.record),
      host_out("host_out", spec.dma, shared.clock, spec.sequencer.queue_depth, shared.record),
      load("load", spec.dma, shared.clock, spec.sequencer.queue_depth, shared.record),
      store("store", spec.dma, shared.clock, spec.sequencer.queue_depth, shared.record),
      link(linked(index_, shared) ? std::make_unique<Link>(spec, shared) : nullptr),
      vector("vector", spec.vector, shared.clock, spec.sequencer.queue_depth, shared.record,
             {scratchpad.banks(), loads, scratchpad.turns()}),
      record_(shared.record) {
    const BankSeat seat{scratchpad.banks(), loads, scratchpad.turns()};
    for (int i = 0; i < spec.mxu.count; ++i)
        mxus.push_back(std::make_unique<MatrixUnit>(
            fmt::format("mxu{}", i).c_str(), spec, shared.clock, unit_index(UnitKind::Matrix, i, index),
            MatrixUnit::Ports{scratchpad.streams(),
                              scratchpad.weight_port(static_cast<std::size_t>(i)).timing, seat},
            shared.record, make_engine(spec, shared.record.program())));
    sequencer_ = std::make_unique<Sequencer>("sequencer", spec.sequencer, shared.clock, launch, index,
                                             shared.record, queues(spec));
    bind(shared);
}

Core::Link::Link(const SystolicSpec& spec, const Shared& shared)
    : in("link_in", link_dma(spec), shared.clock, spec.sequencer.queue_depth, shared.record),
      out("link_out", link_dma(spec), shared.clock, spec.sequencer.queue_depth, shared.record) {}

std::vector<CommandQueue*> Core::queues(const SystolicSpec& spec) {
    std::vector<CommandQueue*> all(unit_numbers(1, spec.mxu.count));
    all[unit_index(UnitKind::HostIn)] = &host_in.queue;
    all[unit_index(UnitKind::HostOut)] = &host_out.queue;
    all[unit_index(UnitKind::Load)] = &load.queue;
    all[unit_index(UnitKind::Store)] = &store.queue;
    all[unit_index(UnitKind::Vector)] = &vector.queue;
    if (link) {
        all[unit_index(UnitKind::LinkIn)] = &link->in.queue;
        all[unit_index(UnitKind::LinkOut)] = &link->out.queue;
    }
    for (int i = 0; i < spec.mxu.count; ++i) {
        all[unit_index(UnitKind::Weights, i)] = &mxus[static_cast<std::size_t>(i)]->weights.queue;
        all[unit_index(UnitKind::Matrix, i)] = &mxus[static_cast<std::size_t>(i)]->queue;
    }
    return all;
}

void Core::bind(const Shared& shared) {
    const auto to_memories = [&](TransferUnit& unit, DmaPort port) {
        shared.memory.serve(unit.dma.dram);
        unit.dma.scratchpad.bind(scratchpad.dma_port(port).target.in);
    };
    to_memories(host_in, kHostInPort);
    to_memories(host_out, kHostOutPort);
    to_memories(load, kLoadPort);
    to_memories(store, kStorePort);
    host_in.dma.host.bind(shared.host_link.port(index).down.in);
    host_out.dma.host.bind(shared.host_link.port(index).up.in);
    if (link) {
        to_memories(link->in, kLinkInPort);
        to_memories(link->out, kLinkOutPort);
        link->in.dma.chip_link.bind(shared.chip_link->in.in);
        link->out.dma.chip_link.bind(shared.chip_link->out.in);
    }
    for (std::size_t i = 0; i < mxus.size(); ++i) {
        shared.memory.serve(mxus[i]->weights.dma.dram);
        mxus[i]->weights.dma.scratchpad.bind(scratchpad.weight_port(i).target.in);
    }
}

void Core::go_on() {
    sequencer_->go_on();
    for (const auto& mxu : mxus) mxu->go_on();
}

std::vector<const TransferUnit*> Core::transfer_units() const {
    std::vector<const TransferUnit*> all{&host_in, &host_out, &load, &store};
    if (link) all.insert(all.end(), {&link->in, &link->out});
    return all;
}

void Core::waits(std::vector<std::string>& lines) const {
    const auto look = [&](const CommandQueue& queue) {
        if (!queue.empty()) lines.push_back(record_.describe_wait(record_.command(queue.front().number)));
    };
    for (const auto* unit : transfer_units()) look(unit->queue);
    look(vector.queue);
    for (const auto& mxu : mxus) {
        look(mxu->weights.queue);
        look(mxu->queue);
    }
}

std::vector<Stat> Core::stats() const {
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
        if (record_.program().mixes_dataflows())
            add(mxu->name(), "dataflow_switches", "times", "times it was set up for another dataflow",
                m.dataflow_switches);
        for (const Stat& stat : pending_stats(mxu->name(), mxu->pending())) all.push_back(stat);
        transfers(mxu->weights);
    }
    for (const Stat& stat : scratchpad.stats()) all.push_back(stat);
    return all;
}

}  // namespace systole::systolic
