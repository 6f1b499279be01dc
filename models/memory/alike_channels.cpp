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
    std::vector<int> all(static_cast<std::size_t>(spec.channels));
    std::iota(all.begin(), all.end(), 0);
    watchers_.assign(all.size(), 0);
    groups_.push_back({DramChannel(spec, *map), all, {}});
    group_of_.assign(all.size(), &groups_.front());
    recount(groups_.front());
}

/// Those of a group that get something else, or nothing, are set apart.
void AlikeChannels::part(Group& group, const SharePattern& pattern) {
    using Load = SharePattern::Load;
    std::vector<const Load*> left;
    for (const Load& load : pattern.loads)
        if (&group_of(load.channel) == &group) left.push_back(&load);
    const bool others = left.size() < group.members.size();
    for (bool first = !others; !left.empty(); first = false) {
        std::vector<int> alike;
        std::erase_if(left, [&alike, like = left.front()->like](const Load* load) {
            const bool is_such = load->like == like;
            if (is_such) alike.push_back(load->channel);
            return is_such;
        });
        if (!first) move_out(group, alike);  // the first stay, if no others do
    }
}

void AlikeChannels::move_out(Group& group, const std::vector<int>& members) {
    Group& to = groups_.emplace_back(Group{group.timing.twin(), members, {}});
    for (const int channel : members) group_of_[static_cast<std::size_t>(channel)] = &to;
    std::erase_if(group.members, [&](int channel) { return std::ranges::binary_search(members, channel); });
    to.changed = true;
    recount(group);
    recount(to);
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
    recount(group);
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

/// What is counted over its members, or follows from which they are.
void AlikeChannels::recount(Group& group) const {
    group.watchers = 0;
    group.buses.assign(static_cast<std::size_t>(pseudo_channels_), BusSet(count() * pseudo_channels_));
    for (const int channel : group.members) {
        group.watchers += watchers_[static_cast<std::size_t>(channel)];
        for (int bus = 0; bus < pseudo_channels_; ++bus)
            group.buses[static_cast<std::size_t>(bus)].insert(channel * pseudo_channels_ + bus);
    }
}

/// How many members of each group get what the first of them that gets something does.
void AlikeChannels::count_alike(const SharePattern& pattern) {
    for (std::size_t i = 0; i < pattern.loads.size(); ++i) {
        Group& group = group_of(pattern.loads[i].channel);
        if (group.pushed != requests_) group.pushed = requests_, group.first = i, group.alike = 0;
        if (pattern.loads[group.first].like == pattern.loads[i].like) ++group.alike;
    }
}

void AlikeChannels::push(const RangeShares& shares, std::int64_t id, Direction direction, Cycles now) {
    const SharePattern& pattern = *shares.pattern;
    ++requests_;
    const bool one_for_all = pattern.even && groups_.size() == 1;
    if (!one_for_all) {
        count_alike(pattern);
        uneven_.clear();
        for (Group& group : groups_)
            if (group.pushed == requests_ && group.alike != group.members.size()) uneven_.push_back(&group);
        for (Group* group : uneven_) part(*group, pattern);
    }
    for (const SharePattern::Load& load : pattern.loads) {
        Group& group = group_of(load.channel);
        if (load.channel != group.members.front()) continue;
        for (std::size_t i = load.first; i < load.first + load.count; ++i) {
            const ChannelShare& share = pattern.shares[i];
            const int bus = share.bus % pseudo_channels_;
            group.timing.push(bus, id << bus_bits_ | bus, shares.origin + share.first, share.count, direction,
                              now);
        }
        group.changed = true;
        if (one_for_all) break;
    }
}

void AlikeChannels::separate() {
    separate_ = true;
    for (Group& group : groups_)  // to which are appended
        while (group.members.size() > 1) move_out(group, {group.members.back()});
}

}  // namespace systole
