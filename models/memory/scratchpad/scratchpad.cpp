// SPDX-License-Identifier: Apache-2.0
#include "models/memory/scratchpad/scratchpad.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {

Ticks PortTiming::serve(Ticks now, Bytes address, Bytes bytes, bool write) {
    const Cycles asked = clock_.at_or_after(now), begin = std::max(asked, free_);
    Cycles taken(ceil_div(bytes.value(), width_.value()));
    if (banks_.shared()) {
        const ScratchpadBanks::Work work{client_, asked, begin, taken};
        const BankLoad& lines = banks_.range(address, bytes);
        taken = write ? banks_.write(work, lines) : banks_.read(work, lines);
    }
    free_ = begin + taken;
    (write ? written_ : read_) += bytes;
    return clock_.edge(free_ + latency_);
}

StreamPorts::StreamPorts(int ports, int clients)
    : free_(static_cast<std::size_t>(ports)), served_(static_cast<std::size_t>(clients), Cycles(-1)) {}

Cycles StreamPorts::earliest() const {
    return *std::min_element(free_.begin(), free_.end());
}

void StreamPorts::reserve(int client, Cycles begin, Cycles end, Bytes bytes) {
    // Of the ports that are free, the one that was busy last: a client that reserves ahead keeps to one port.
    auto port = free_.end();
    for (auto at = free_.begin(); at != free_.end(); ++at)
        if (*at <= begin && (port == free_.end() || *at > *port)) port = at;
    SYSTOLE_CHECK(port != free_.end() && begin <= end, "stream [{}, {}), with no port free before {}",
                  begin.value(), end.value(), earliest().value());
    *port = end;
    served_[static_cast<std::size_t>(client)] = begin;
    read_ += bytes;
}

Scratchpad::Port::Port(const char* name, PortTiming port, Turns& turns, Turns::Rank rank, bool in_turn)
    : timing(port),
      target(name, ServedTarget::Taker{
                       [this, &turns, rank, in_turn](Ticks arrival, tlm::tlm_generic_payload& payload) {
                           if (!in_turn) return serve({arrival, &payload});
                           waiting_.push_back({arrival, &payload});
                           turns.ask(rank, [this] {  // those of one rank go in the order in which they asked
                               const Request request = waiting_.front();
                               waiting_.pop_front();
                               serve(request);
                           });
                       }}) {}

void Scratchpad::Port::serve(const Request& request) {
    tlm::tlm_generic_payload& payload = *request.payload;
    target.answer(payload,
                  timing.serve(request.arrival, Bytes(static_cast<std::int64_t>(payload.get_address())),
                               Bytes(payload.get_data_length()), payload.is_write()));
}

Scratchpad::Scratchpad(sc_core::sc_module_name name, const ScratchpadSpec& spec, ClockDomain clock,
                       const std::vector<std::string>& dma_ports, int matrix_units)
    : sc_module(name), spec_(spec), banks_(spec), streams_(spec.activation_ports, matrix_units) {
    const auto add = [&](auto& ports, const std::string& port, Bytes width, BankClient client,
                         BankRank rank) {
        const auto number = static_cast<std::int64_t>(ports.size());
        ports.push_back(std::make_unique<Port>(port.c_str(),
                                               PortTiming(clock, width, spec.latency, banks_, client), turns_,
                                               Turns::Rank{rank, 0, number}, banks_.shared()));
    };
    for (const std::string& port : dma_ports)
        add(dma_ports_, port, spec.dma_port_bytes, BankClient::Dma, kDmaRank);
    for (int mxu = 0; mxu < matrix_units; ++mxu)
        add(weight_ports_, "weights" + std::to_string(mxu), spec.weight_port_bytes, BankClient::Tiles,
            kTileRank);
}

Bytes Scratchpad::bytes_out() const {
    Bytes total = streams_.read();
    for (const auto& port : weight_ports_) total += port->timing.read();
    for (const auto& port : dma_ports_) total += port->timing.read();
    return total;
}

Bytes Scratchpad::bytes_in() const {
    Bytes total;
    for (const auto& port : dma_ports_) total += port->timing.written();
    return total;
}

std::vector<Stat> Scratchpad::stats() const {
    std::vector<Stat> all;
    if (!banks_.shared()) return all;
    for (std::size_t i = 0; i < kBankClients; ++i) {
        const auto client = static_cast<BankClient>(i);
        const ScratchpadBanks::Stats& stats = banks_.stats(client);
        all.push_back({name(), std::string(to_string(client)) + "_accesses", "lines",
                       "lines of banks read and written", stats.accesses});
        all.push_back({name(), std::string(to_string(client)) + "_conflict_cycles", "cycles",
                       "cycles lost in the banks, beyond what the client's ports take", stats.lost.value()});
    }
    return all;
}

std::optional<BankLines> Scratchpad::lines_per_cycle() const {
    if (!banks_.shared()) return std::nullopt;
    const int ways = spec_.bank_access == BankAccess::Split ? 2 : 1;
    return BankLines{name(), std::int64_t{spec_.banks} * spec_.bank_ports * ways};
}

}  // namespace systole
