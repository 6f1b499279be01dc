// SPDX-License-Identifier: Apache-2.0
// All channels of one DRAM behind one address space, without SystemC: for whoever drives single bursts
// against it clock by clock or event by event. The module `Dram` is its counterpart on TLM sockets.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/controller/dram_channel.h"
#include "models/memory/standards/dram_spec.h"

namespace systole {

class DramSystem {
public:
    /// Where a burst lives: a data bus (channel * pseudo_channels + pseudo-channel) and its number there.
    struct Place {
        int bus;
        std::int64_t burst;
    };

    /// `spec` must be of a real DRAM, not of an ideal memory.
    explicit DramSystem(const DramSpec& spec);
    DramSystem(const DramSystem&) = delete;  // its channels point to its map
    DramSystem& operator=(const DramSystem&) = delete;

    const DramSpec& spec() const { return spec_; }
    int channels() const { return static_cast<int>(channels_.size()); }
    int buses() const { return spec_.data_buses(); }
    /// The place of the burst at `address`, which must lie inside the memory.
    Place locate(std::int64_t address) const;

    DramChannel& channel(int channel) { return channels_[static_cast<std::size_t>(channel)]; }
    const DramChannel& channel(int channel) const { return channels_[static_cast<std::size_t>(channel)]; }
    int channel_of(int bus) const { return bus / spec_.pseudo_channels; }

    /// As DramChannel, by data bus: one burst arrives at `now`.
    void push(Place place, std::int64_t request, Direction direction, Cycles now) {
        channel(channel_of(place.bus))
            .push(place.bus % spec_.pseudo_channels, request, place.burst, 1, direction, now);
    }
    bool has_room(int bus, Direction direction, Cycles now) {
        return channel(channel_of(bus)).has_room(bus % spec_.pseudo_channels, direction, now);
    }
    Cycles wait_for_room(int bus, Direction direction, Cycles now, Cycles limit) {
        return channel(channel_of(bus)).wait_for_room(bus % spec_.pseudo_channels, direction, now, limit);
    }
    const DramChannel::Stats& stats(int bus) const {
        return channel(channel_of(bus)).stats(bus % spec_.pseudo_channels);
    }
    BusAccount account(int bus, Cycles now) const {
        return channel(channel_of(bus)).account(bus % spec_.pseudo_channels, now);
    }

private:
    const DramSpec spec_;
    const AddressMap map_;
    std::vector<DramChannel> channels_;
};

}  // namespace systole
