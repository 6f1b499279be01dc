// SPDX-License-Identifier: Apache-2.0
// All channels of a memory, of which those that have had the same arrivals at the same times so far, and so
// are in the same state, are simulated once. Long consecutive ranges reach all channels alike; a short one
// sets the few that it reaches apart, until one that was idle is in the same state again. It changes no clock
// and no command (tests/module/memory/dram.cpp).
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/addresses/bus_set.h"
#include "models/memory/addresses/share_patterns.h"
#include "models/memory/controller/dram_channel.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

class AlikeChannels {
public:
    /// Channels in one state.
    struct Group {
        DramChannel timing;
        std::vector<int> members;       ///< channels, ascending
        std::vector<BusSet> buses;      ///< of its members, by pseudo-channel
        std::int64_t watchers = 0;      ///< sum over its members (watch())
        bool changed = false;           ///< since `next` was computed
        Cycles next = Cycles::max();    ///< no completion before
        Cycles collected = Cycles(-1);  ///< completions up to here are
        std::int64_t pushed = 0;        ///< the last request that concerned it …
        std::size_t first = 0;          ///< … its first load in that, …
        std::size_t alike = 0;          ///< … and how many members have the same
    };

    /// None for an ideal memory. `map` must outlive it.
    AlikeChannels(const DramSpec& spec, const AddressMap* map);

    int count() const { return static_cast<int>(group_of_.size()); }
    std::list<Group>& groups() { return groups_; }
    const std::list<Group>& groups() const { return groups_; }
    Group& group_of(int channel) { return *group_of_[static_cast<std::size_t>(channel)]; }

    /// Nothing waits anywhere at `now`: those that are in the same state become one group again. Looks only
    /// where a request has come since it last did.
    void merge(Cycles now);

    /// Of all channels, up to `now`, to which everything is fixed.
    DramChannel::Stats stats() const;
    BusAccount account(Cycles now) const;

    /// A request arrives at `now`. At each channel its number is `id`, with the pseudo-channel in the lowest
    /// bits (bus_bits()).
    void push(const RangeShares& shares, std::int64_t id, Direction direction, Cycles now);
    /// Bits of a channel's request number that say for which pseudo-channel it is.
    int bus_bits() const { return bus_bits_; }

    /// A channel is waited for once more, or once less.
    void watch(int channel, std::int64_t more) {
        watchers_[static_cast<std::size_t>(channel)] += more;
        group_of(channel).watchers += more;
    }

    /// From now on each is simulated by itself: somebody listens to its commands.
    void separate();

private:
    void count_alike(const SharePattern& pattern);
    void part(Group& group, const SharePattern& pattern);
    void move_out(Group& group, const std::vector<int>& members);
    void join(Group& group, const Group& other, Cycles now);
    void recount(Group& group) const;

    const int pseudo_channels_;
    bool separate_ = false;
    int bus_bits_ = 0;
    std::list<Group> groups_;
    std::vector<Group*> group_of_;        // by channel
    std::vector<std::int64_t> watchers_;  // by channel
    std::vector<Group*> uneven_;          // scratch: groups whose members get something else each
    std::int64_t requests_ = 0;           // pushed
    std::int64_t looked_ = 0;             // pushed when merge() last looked
    DramChannel::Stats stats_apart_;      // what those that joined a group had more than those in it
    BusAccount account_apart_;
};

}  // namespace systole
