// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses split over data buses, each way of it once. An address map moves bits and XORs them, so
// ranges that lie alike within aligned blocks have the same shares, further up in each bus's numbers, if
// the bits above send their blocks to the same bus. Rows of a matrix are split a few ways only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/addresses/bus_set.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

/// Shares whose first bursts are counted from the number of the block's first burst.
struct SharePattern {
    /// The shares of one channel: of each data bus one at most.
    struct Load {
        int channel;
        std::size_t first, count;  ///< of the shares
        std::size_t like;          ///< the first load that is the same for its channel
    };
    std::vector<ChannelShare> shares;  ///< in the order of buses
    std::vector<Load> loads;           ///< in the order of channels
    BusSet buses;                      ///< that have a share
    bool even = false;                 ///< every channel has the same load
};

/// The shares of one range: share i is bursts [shares[i].first + origin, … + shares[i].count).
struct RangeShares {
    std::shared_ptr<const SharePattern> pattern;
    std::int64_t origin = 0;
};

/// The least aligned range, a power of two, of which every channel gets the same: ranges of whole stripes
/// keep channels alike. 0 for an ideal memory, and where not even the largest transaction is one.
Bytes even_stripe(const DramSpec& spec);

class SharePatterns {
public:
    /// `map`, of `spec`, must outlive it.
    SharePatterns(const DramSpec& spec, const AddressMap& map);

    /// What AddressMap::split() answers for the bytes [address, address + bytes).
    RangeShares split(std::int64_t address, Bytes bytes);

private:
    /// Where a range lies in its block, in bursts, and the bus of the block's first burst.
    struct Way {
        std::int64_t first = 0, count = 0;
        int bus = 0;
        friend bool operator==(const Way&, const Way&) = default;
    };
    struct Entry {
        Way way;
        std::shared_ptr<const SharePattern> pattern;
    };
    static constexpr int kEntryBits = 10;
    static std::size_t index(const Way& way);
    std::shared_ptr<const SharePattern> make(std::int64_t address, Bytes bytes, std::int64_t origin) const;
    void group_by_channel(SharePattern& pattern) const;

    const AddressMap& map_;
    const int burst_shift_, pseudo_channels_, channels_;
    std::vector<Entry> entries_;  // of several ways at one place the last
};

}  // namespace systole
