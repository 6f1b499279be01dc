// SPDX-License-Identifier: Apache-2.0
#include "models/memory/alike_channels.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace systole {

AlikeChannels::AlikeChannels(const DramSpec& spec, const AddressMap* map)
    : pseudo_channels_(spec.pseudo_channels),
      bus_bits_(std::bit_width(static_cast<unsigned>(spec.pseudo_channels) - 1)) {
    if (!map) return;
    group_of_.assign(static_cast<std::size_t>(spec.channels), 0);
    watchers_.assign(group_of_.size(), 0);
    groups_.push_back({DramChannel(spec, *map), std::vector<int>(group_of_.size())});
    std::iota(groups_[0].members.begin(), groups_[0].members.end(), 0);
}

void AlikeChannels::find_loads(const std::vector<ChannelShare>& shares) {
    loads_.clear();
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const int channel = shares[i].bus / pseudo_channels_;
        if (loads_.empty() || loads_.back().channel != channel)
            loads_.push_back({channel, i, 1});
        else
            ++loads_.back().count;
    }
}

bool AlikeChannels::same(const std::vector<ChannelShare>& shares, const Load& a, const Load& b) const {
    if (a.count != b.count) return false;
    const int apart = (b.channel - a.channel) * pseudo_channels_;
    for (std::size_t i = 0; i < a.count; ++i) {
        const ChannelShare &one = shares[a.first + i], &other = shares[b.first + i];
        if (one.bus + apart != other.bus || one.first != other.first || one.count != other.count)
            return false;
    }
    return true;
}

/// Those of a group that get something else, or nothing, are set apart.
void AlikeChannels::part(std::size_t group, const std::vector<ChannelShare>& shares) {
    std::vector<const Load*> left;
    for (const Load& load : loads_)
        if (group_of_[static_cast<std::size_t>(load.channel)] == group) left.push_back(&load);
    const bool others = left.size() < groups_[group].members.size();
    for (bool first = !others; !left.empty(); first = false) {
        std::vector<int> alike;
        const Load& of = *left.front();
        std::erase_if(left, [&](const Load* load) {
            const bool is_such = same(shares, of, *load);
            if (is_such) alike.push_back(load->channel);
            return is_such;
        });
        if (!first) move_out(group, alike);  // the first stay, if no others do
    }
}

void AlikeChannels::move_out(std::size_t group, const std::vector<int>& members) {
    groups_.push_back({groups_[group].timing.twin(), members});
    Group &from = groups_[group], &to = groups_.back();
    for (const int channel : members) group_of_[static_cast<std::size_t>(channel)] = groups_.size() - 1;
    std::erase_if(from.members, [&](int channel) { return std::ranges::binary_search(members, channel); });
    to.changed = true;
    count_watchers(from);
    count_watchers(to);
}

void AlikeChannels::count_watchers(Group& group) const {
    group.watchers = 0;
    for (const int channel : group.members) group.watchers += watchers_[static_cast<std::size_t>(channel)];
}

/// How many members of each group get what the first of them that gets something does.
void AlikeChannels::count_alike(const std::vector<ChannelShare>& shares) {
    ++requests_;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
        Group& group = group_of(loads_[i].channel);
        if (group.pushed != requests_) group.pushed = requests_, group.first = i, group.alike = 0;
        if (same(shares, loads_[group.first], loads_[i])) ++group.alike;
    }
}

void AlikeChannels::push(const std::vector<ChannelShare>& shares, std::int64_t id, Direction direction,
                         Cycles now) {
    find_loads(shares);
    count_alike(shares);
    for (std::size_t group = groups_.size(); group-- > 0;)
        if (groups_[group].pushed == requests_ && groups_[group].alike != groups_[group].members.size())
            part(group, shares);
    for (const Load& load : loads_) {
        Group& group = group_of(load.channel);
        if (load.channel != group.members.front()) continue;
        for (std::size_t i = load.first; i < load.first + load.count; ++i) {
            const int bus = shares[i].bus % pseudo_channels_;
            group.timing.push(bus, id << bus_bits_ | bus, shares[i].first, shares[i].count, direction, now);
        }
        group.changed = true;
    }
}

void AlikeChannels::separate() {
    for (std::size_t group = 0; group < groups_.size(); ++group)
        while (groups_[group].members.size() > 1)
            move_out(group, {groups_[group].members.back()});  // appended
}

}  // namespace systole
