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
    groups_.push_back({DramChannel(spec, *map), std::vector<int>(static_cast<std::size_t>(spec.channels))});
    std::vector<int>& all = groups_.front().members;
    std::iota(all.begin(), all.end(), 0);
    group_of_.assign(all.size(), &groups_.front());
    watchers_.assign(all.size(), 0);
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
void AlikeChannels::part(Group& group, const std::vector<ChannelShare>& shares) {
    std::vector<const Load*> left;
    for (const Load& load : loads_)
        if (&group_of(load.channel) == &group) left.push_back(&load);
    const bool others = left.size() < group.members.size();
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

void AlikeChannels::move_out(Group& group, const std::vector<int>& members) {
    Group& to = groups_.emplace_back(Group{group.timing.twin(), members});
    for (const int channel : members) group_of_[static_cast<std::size_t>(channel)] = &to;
    std::erase_if(group.members, [&](int channel) { return std::ranges::binary_search(members, channel); });
    to.changed = true;
    count_watchers(group);
    count_watchers(to);
}

/// The members of `other` go on as those of `group`; what had become of them until now is kept.
void AlikeChannels::join(Group& group, const Group& other, Cycles now) {
    const auto count = static_cast<std::int64_t>(other.members.size());
    for (int bus = 0; bus < pseudo_channels_; ++bus) {
        stats_apart_.add(other.timing.stats(bus), count).add(group.timing.stats(bus), -count);
        account_apart_.add(other.timing.account(bus, now), count).add(group.timing.account(bus, now), -count);
    }
    for (const int channel : other.members) group_of_[static_cast<std::size_t>(channel)] = &group;
    std::vector<int> members;
    std::ranges::merge(group.members, other.members, std::back_inserter(members));
    group.members = std::move(members);
    count_watchers(group);
}

void AlikeChannels::merge(Cycles now) {
    if (groups_.size() < 2 || separate_ || requests_ == looked_) return;
    looked_ = requests_;
    for (Group& group : groups_) group.timing.settle(now);
    for (auto group = groups_.begin(); group != groups_.end(); ++group)
        for (auto other = std::next(group); other != groups_.end();) {
            if (!group->timing.same_from(other->timing, now)) {
                ++other;
                continue;
            }
            join(*group, *other, now);
            other = groups_.erase(other);
        }
}

DramChannel::Stats AlikeChannels::stats() const {
    DramChannel::Stats sum = stats_apart_;
    for (const Group& group : groups_)
        for (int bus = 0; bus < pseudo_channels_; ++bus)
            sum.add(group.timing.stats(bus), static_cast<std::int64_t>(group.members.size()));
    return sum;
}

BusAccount AlikeChannels::account(Cycles now) const {
    BusAccount sum = account_apart_;
    for (const Group& group : groups_)
        for (int bus = 0; bus < pseudo_channels_; ++bus)
            sum.add(group.timing.account(bus, now), static_cast<std::int64_t>(group.members.size()));
    return sum;
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
    uneven_.clear();
    for (Group& group : groups_)
        if (group.pushed == requests_ && group.alike != group.members.size()) uneven_.push_back(&group);
    for (Group* group : uneven_) part(*group, shares);
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
    separate_ = true;
    for (Group& group : groups_)  // to which are appended
        while (group.members.size() > 1) move_out(group, {group.members.back()});
}

}  // namespace systole
