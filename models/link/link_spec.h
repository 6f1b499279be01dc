// SPDX-License-Identifier: Apache-2.0
// What moves data outside the DRAM: DMA engines and the host link.
#pragma once

#include <cstdint>

#include "sim/base/units.h"

namespace systole {

/// A descriptor-driven copy engine.
struct DmaSpec {
    Cycles setup_cycles;  ///< of the core clock, per descriptor
    Bytes in_flight;      ///< read and not yet written at a time: the engine's buffer; at least one payload
    Bytes payload;        ///< largest chunk of one contiguous run that travels as one transaction
};

/// PCI Express between the device (an endpoint) and the host (root complex and host memory). Sizes in bytes
/// are powers of two, as the configuration registers hold them.
struct PcieSpec {
    int generation = 3;                    ///< 1–6
    int lanes = 16;                        ///< 1, 2, 4, 8 or 16
    Bytes max_payload{256};                ///< of one packet's data: 128 B – 4 KiB
    Bytes max_read_request{512};           ///< what one read request may ask for: 128 B – 4 KiB
    Bytes read_completion_boundary{64};    ///< where the host cuts completions: 64 or 128 B
    Bytes completion_payload{256};         ///< data the host puts into one completion: up to max_payload
    bool long_addresses = true;            ///< 64-bit addresses: request headers of 4 words, not 3
    int tags = 256;                        ///< read requests that wait for their completions
    int posted_headers = 64;               ///< packets of writes that the host has credits for …
    Bytes posted_data = Bytes(16 * 1024);  ///< … and their data
    int packets_per_ack = 4;               ///< received packets for one acknowledgement and one credit update
    Ticks host_latency;  ///< from a request's arrival to its data; from a write's to its credits
};

/// The link to the host, full duplex: each direction has the whole bandwidth.
struct HostLinkSpec {
    enum class Kind : std::uint8_t {
        Fixed,  ///< a bandwidth and a latency
        Pcie    ///< packets, tags and credits
    };
    BytesPerSecond bandwidth;  ///< Kind::Fixed: effective, per direction
    Ticks latency;             ///< one way, from the last byte sent to its arrival
    Kind kind = Kind::Fixed;
    PcieSpec pcie = {};  ///< Kind::Pcie

    /// No direction carries more data than this.
    BytesPerSecond peak() const;
};

/// Links to other chips, full duplex.
struct ChipLinkSpec {
    enum class Network : std::uint8_t {
        Ring,   ///< a link to each of two neighbours
        Switch  ///< one way into a network that carries all of it to any chip
    };
    BytesPerSecond bandwidth;  ///< each direction: of the link to one neighbour, or into the switch
    Ticks latency;             ///< from the last byte sent to its arrival at the other chip
    Network network = Network::Ring;

    /// Of each direction of data, out and in: a ring runs both ways round, over both links.
    BytesPerSecond peak() const {
        return BytesPerSecond((network == Network::Ring ? 2 : 1) * bandwidth.value());
    }
    /// What is on its way when a ring is busy.
    Bytes in_flight() const;
};

}  // namespace systole
