// SPDX-License-Identifier: Apache-2.0
#include "models/memory/run_queue.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "sim/base/check.h"

namespace systole {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

constexpr std::uint64_t bit(int bank) {
    return std::uint64_t{1} << bank;
}

}  // namespace

RunQueue::RunQueue(const AddressMap& map, int banks, int depth)
    : map_(map), depth_(depth), banks_(static_cast<std::size_t>(banks)), wake_(kNever) {
    SYSTOLE_CHECK(banks <= 64, "{} banks in a channel", banks);
}

void RunQueue::push(std::int64_t id, std::int64_t first, std::int64_t count) {
    cut_.clear();
    map_.cut(first, count, cut_);
    for (const RowRun& run : cut_) append(run, pushed_ - first);
    pushed_ += count;
    requests_.push_back({id, pushed_, count});
}

void RunQueue::append(const RowRun& run, std::int64_t phase) {
    Bank& bank = banks_[static_cast<std::size_t>(run.bank)];
    if (!bank.runs.empty()) {
        Run& last = bank.runs.back();
        if (last.row == run.row && last.end == run.column && last.phase == phase) {
            last.end += run.columns;
            return;
        }
    }
    const std::int64_t base = phase + run.origin, next = base + map_.scatter(run.column);
    // A bank's runs do not overlap in time of arrival: the first that is not visible hides those behind it.
    if (bank.visible == bank.runs.size()) wake_ = std::min(wake_, next);
    bank.runs.push_back({run.row, run.column, run.column + run.columns, base, next, phase});
    used_ |= bit(run.bank);
}

void RunQueue::admit() {
    admitted_ = room();
    if (admitted_ > wake_) reveal();
}

void RunQueue::reveal() {
    wake_ = kNever;
    for (std::uint64_t left = used_; left != 0; left &= left - 1) {
        const int index = std::countr_zero(left);
        Bank& bank = banks_[static_cast<std::size_t>(index)];
        const std::size_t before = bank.visible;
        while (bank.visible < bank.runs.size() && bank.runs[bank.visible].next < admitted_) ++bank.visible;
        if (bank.visible < bank.runs.size()) wake_ = std::min(wake_, bank.runs[bank.visible].next);
        if (bank.visible != before && !(hits_ & bit(index))) find_hit(index, before);
    }
}

/// Looks for a hit among the visible runs of `bank` from `from` on; before it there is none.
void RunQueue::find_hit(int index, std::size_t from) {
    Bank& bank = banks_[static_cast<std::size_t>(index)];
    while (from < bank.visible && bank.runs[from].row != bank.row) ++from;
    bank.hit = from;
    const bool hit = from < bank.visible;
    hits_ = hit ? hits_ | bit(index) : hits_ & ~bit(index);
    misses_ = !hit && bank.visible > 0 ? misses_ | bit(index) : misses_ & ~bit(index);
}

void RunQueue::set_row(int index, std::int64_t row) {
    banks_[static_cast<std::size_t>(index)].row = row;
    find_hit(index, 0);
}

RunQueue::Served RunQueue::serve(int index) {
    const std::int64_t sequence = oldest_hit(index);
    advance(index, 1);
    ++served_;
    reach_ = std::max(reach_, sequence + 1);
    Request& request = requests_[first_request_beyond(sequence)];
    const Served served{request.id, --request.remaining == 0};
    while (!requests_.empty() && requests_.front().remaining == 0) requests_.pop_front();
    return served;
}

/// The hit run of `bank` has moved on by `columns`.
void RunQueue::advance(int index, std::int64_t columns) {
    Bank& bank = banks_[static_cast<std::size_t>(index)];
    Run& run = bank.runs[bank.hit];
    run.column += columns;
    if (run.column == run.end) {
        bank.runs.erase(bank.runs.begin() + static_cast<std::ptrdiff_t>(bank.hit));
        --bank.visible;
        if (bank.runs.empty()) used_ &= ~bit(index);
        find_hit(index, bank.hit);
        return;
    }
    run.next = run.base + map_.scatter(run.column);
    if (run.next < admitted_) return;
    wake_ = std::min(wake_, run.next);
    bank.visible = bank.hit;
    find_hit(index, bank.hit);
}

std::int64_t RunQueue::stream_length() const {
    if (misses_ != 0 || reach_ != served_ || map_.column_stride() == 0) return 0;
    for (std::uint64_t left = hits_; left != 0; left &= left - 1)
        if (banks_[static_cast<std::size_t>(std::countr_zero(left))].visible != 1) return 0;
    const std::int64_t waiting = pushed_ - served_;
    return wake_ == kNever ? waiting : std::clamp<std::int64_t>(wake_ - depth_ - served_, 0, waiting);
}

bool RunQueue::rotates(std::int64_t groups) const {
    if (!map_.groups_lowest()) return false;
    const auto phase = [this](std::uint64_t banks) {
        return banks_[static_cast<std::size_t>(std::countr_zero(banks))].runs.front().phase;
    };
    for (std::uint64_t left = hits_; left != 0; left &= left - 1)
        if (((phase(left) ^ phase(hits_)) & (groups - 1)) != 0) return false;
    return true;
}

std::int64_t RunQueue::stream_share(int index, std::int64_t count) const {
    const Run& run = banks_[static_cast<std::size_t>(index)].runs.front();
    const std::int64_t end = served_ + count;
    if (run.next >= end) return 0;
    return std::min((end - 1 - run.next) / map_.column_stride() + 1, run.end - run.column);
}

void RunQueue::serve_stream(std::int64_t count,
                            const std::function<void(std::int64_t id, std::int64_t k)>& done) {
    // What the window holds when the last of them leaves: all entries freed before are filled again.
    admitted_ = std::max(admitted_, std::min(pushed_, served_ + count - 1 + depth_));
    std::int64_t left = count;
    for (std::uint64_t banks = hits_; banks != 0; banks &= banks - 1) {
        const int index = std::countr_zero(banks);
        const std::int64_t share = stream_share(index, count);
        left -= share;
        if (share > 0) advance(index, share);
    }
    SYSTOLE_CHECK(left == 0, "{} of {} streamed bursts are in no run", left, count);
    served_ += count;
    reach_ = served_;
    while (!requests_.empty() && requests_.front().end <= served_) {
        done(requests_.front().id, count - 1 - (served_ - requests_.front().end));
        requests_.pop_front();
    }
    if (!requests_.empty())
        requests_.front().remaining = std::min(requests_.front().remaining, requests_.front().end - served_);
}

std::size_t RunQueue::first_request_beyond(std::int64_t sequence) const {
    const auto found =
        std::upper_bound(requests_.begin(), requests_.end(), sequence,
                         [](std::int64_t s, const Request& request) { return s < request.end; });
    return static_cast<std::size_t>(found - requests_.begin());
}

std::int64_t RunQueue::at_door() const {
    return static_cast<std::int64_t>(requests_.size() - first_request_beyond(room()));
}

std::int64_t RunQueue::until_door_moves() const {
    return requests_[first_request_beyond(room())].end - room();
}

std::int64_t RunQueue::least_remaining() const {
    std::int64_t least = kNever;
    for (const Request& request : requests_) {
        if (request.remaining > 0) least = std::min(least, request.remaining);
        if (least == 1) break;
    }
    return least;
}

}  // namespace systole
