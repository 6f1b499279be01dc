// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/link/packet_link.h"

#include <algorithm>

namespace systole::test {
namespace {

/// Picoseconds of one byte: line rate, encoding, lanes; of flits, 236 of 256 bytes are packets'.
double byte_time(const PcieSpec& spec) {
    const double rates[] = {2.5, 5, 8, 16, 32, 64};  // GT/s
    const double rate = rates[spec.generation - 1];
    const double encoding = spec.generation <= 2   ? 10.0 / 8
                            : spec.generation <= 5 ? 130.0 / 128
                                                   : 256.0 / 236;
    return 8 / rate * 1000 * encoding / spec.lanes;
}

std::int64_t whole_words(std::int64_t address, std::int64_t bytes) {
    std::int64_t count = 0;
    for (std::int64_t word = address / 4; word * 4 < address + bytes; ++word) count += 4;
    return count;
}

}  // namespace

PacketLink::PacketLink(const PcieSpec& spec, std::int64_t latency)
    : spec_(spec),
      latency_(static_cast<double>(latency)),
      host_latency_(static_cast<double>(spec.host_latency.value())),
      byte_(byte_time(spec)),
      framing_(spec.generation == 6 ? 0 : 8),
      header_(spec.long_addresses ? 16 : 12),
      acknowledge_(spec.generation == 6 ? 0 : 16.0 / spec.packets_per_ack),
      tags_(spec.tags),
      headers_(spec.posted_headers),
      data_(spec.posted_data.value()) {}

std::vector<double> PacketLink::run(const std::vector<Transaction>& transactions) {
    left_.resize(transactions.size());
    done_.resize(transactions.size());
    for (std::size_t i = 0; i < transactions.size(); ++i) {
        left_[i] = transactions[i].bytes;
        at(static_cast<double>(transactions[i].at), [this, i, &transactions] { begin(i, transactions[i]); });
    }
    while (!events_.empty()) {
        const auto event = events_.begin();
        now_ = event->first;
        const auto what = std::move(event->second);
        events_.erase(event);
        what();
    }
    return done_;
}

void PacketLink::begin(std::size_t index, const Transaction& transaction) {
    const std::int64_t size = (transaction.write ? spec_.max_payload : spec_.max_read_request).value();
    const std::int64_t end = transaction.address + transaction.bytes;
    for (std::int64_t from = transaction.address; from < end;) {
        const std::int64_t to = std::min(end, (from / size + 1) * size);
        (transaction.write ? writes_ : requests_).push_back({index, from, to - from});
        from = to;
    }
    transaction.write ? send_writes() : send_requests();
}

void PacketLink::pump(Wire& wire) {
    if (wire.taken || (wire.first.empty() && wire.then.empty())) return;
    auto& queue = wire.first.empty() ? wire.then : wire.first;
    Packet packet = std::move(queue.front());
    queue.pop_front();
    wire.taken = true;
    at(now_ + packet.bytes * byte_, [this, &wire, arrived = std::move(packet.arrived)] {
        wire.taken = false;
        if (arrived) at(now_ + latency_, arrived);
        pump(wire);
    });
}

void PacketLink::acknowledge(Wire& wire) {
    if (acknowledge_ > 0) wire.first.push_back({acknowledge_, {}});
    pump(wire);
}

void PacketLink::send_requests() {
    for (; tags_ > 0 && !requests_.empty(); --tags_) {
        const Piece piece = requests_.front();
        requests_.pop_front();
        up_.first.push_back({header_ + framing_, [this, piece] {
                                 at(now_ + host_latency_, [this, piece] {
                                     complete(piece.transaction, piece.address, piece.bytes);
                                 });
                             }});
    }
    pump(up_);
}

/// The acknowledgement of the request rides before its first completion.
void PacketLink::complete(std::size_t transaction, std::int64_t address, std::int64_t bytes) {
    const std::int64_t end = address + bytes, boundary = spec_.read_completion_boundary.value();
    double before = acknowledge_;
    for (std::int64_t from = address; from < end;) {
        std::int64_t to = from + spec_.completion_payload.value();
        to = to >= end ? end : to / boundary * boundary;
        const bool last = to == end;
        const std::int64_t part = to - from;
        const double wire = 12 + framing_ + static_cast<double>(whole_words(from, part)) + before;
        down_.then.push_back({wire, [this, transaction, part, last] {
                                  arrived(transaction, part);
                                  if (last) {
                                      ++tags_;
                                      send_requests();
                                  }
                                  acknowledge(up_);
                              }});
        before = 0;
        from = to;
    }
    pump(down_);
}

void PacketLink::send_writes() {
    while (!writes_.empty() && headers_ > 0 && data_ >= writes_.front().bytes) {
        const Piece piece = writes_.front();
        writes_.pop_front();
        --headers_;
        data_ -= piece.bytes;
        const double wire = header_ + framing_ + static_cast<double>(whole_words(piece.address, piece.bytes));
        up_.then.push_back({wire, [this, piece] {
                                acknowledge(down_);
                                arrived(piece.transaction, piece.bytes);
                                at(now_ + host_latency_ + latency_, [this, piece] {
                                    ++headers_;
                                    data_ += piece.bytes;
                                    send_writes();
                                });
                            }});
    }
    pump(up_);
}

void PacketLink::arrived(std::size_t transaction, std::int64_t bytes) {
    left_[transaction] -= bytes;
    if (left_[transaction] == 0) done_[transaction] = now_;
}

}  // namespace systole::test
