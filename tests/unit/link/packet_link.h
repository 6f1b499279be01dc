// SPDX-License-Identifier: Apache-2.0
// PCI Express packet by packet, for tests: every packet of either direction is an entry of a queue and takes
// the wire by itself, in double picoseconds. Slow, and close to the words of the specification.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "models/link/link_spec.h"

namespace systole::test {

class PacketLink {
public:
    struct Transaction {
        std::int64_t at;  ///< ps
        std::int64_t address, bytes;
        bool write;
    };

    PacketLink(const PcieSpec& spec, std::int64_t latency);

    /// When the last byte of each transaction arrives, in ps. Transactions come in order of time.
    std::vector<double> run(const std::vector<Transaction>& transactions);

private:
    struct Packet {
        double bytes;                   // on the wire
        std::function<void()> arrived;  // `latency` after its last byte
    };
    /// One direction: short packets (requests, acknowledgements) go before packets of writes or completions.
    struct Wire {
        std::deque<Packet> first, then;
        bool taken = false;
    };

    void at(double time, std::function<void()> what) { events_.emplace(time, std::move(what)); }
    void pump(Wire& wire);
    void acknowledge(Wire& wire);
    void ask(std::size_t transaction, std::int64_t address, std::int64_t bytes);
    void send_requests();
    void send_writes();
    void complete(std::size_t transaction, std::int64_t address, std::int64_t bytes);
    void begin(std::size_t index, const Transaction& transaction);
    void arrived(std::size_t transaction, std::int64_t bytes);

    struct Piece {
        std::size_t transaction;
        std::int64_t address, bytes;
    };

    const PcieSpec spec_;
    const double latency_, host_latency_, byte_, framing_, header_, acknowledge_;
    Wire up_, down_;
    std::deque<Piece> requests_, writes_;  // before a free tag; before credits
    int tags_;
    std::int64_t headers_, data_;  // credits; data in bytes
    std::multimap<double, std::function<void()>> events_;
    double now_ = 0;
    std::vector<std::int64_t> left_;
    std::vector<double> done_;
};

}  // namespace systole::test
