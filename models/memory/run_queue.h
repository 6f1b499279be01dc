// SPDX-License-Identifier: Apache-2.0
// The waiting bursts of one direction (reads or writes) of a channel: an unbounded door, then a window of
// `depth` bursts that the scheduler sees. Bursts have sequence numbers in order of arrival; those below
// `admitted` are in the window. They are kept as runs of equal row, so cost grows with rows, not with bursts.
// Requests that continue each other form one run: how a stream is cut into requests changes nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "models/memory/address_map.h"
#include "sim/base/units.h"

namespace systole {

class RunQueue {
public:
    static constexpr std::int64_t kNoRow = -1;

    RunQueue(const AddressMap& map, int banks, int depth);

    /// Request `id` for the local bursts [first, first + count) joins the door.
    void push(std::int64_t id, std::int64_t first, std::int64_t count);
    /// Lets bursts into the freed entries of the window.
    void admit();
    /// The open row of `bank` is now `row`, or kNoRow.
    void set_row(int bank, std::int64_t row);

    std::int64_t visible() const { return admitted_ - served_; }
    /// How many bursts pushed now would enter the window at once.
    std::int64_t free_entries() const { return std::max<std::int64_t>(served_ + depth_ - pushed_, 0); }
    bool empty() const { return pushed_ == served_; }
    /// Banks (bit per bank) whose open row the window wants; and those it wants, but not in their open row.
    std::uint64_t hits() const { return hits_; }
    std::uint64_t misses() const { return misses_; }
    /// Sequence number of the oldest hit of `bank`, one of hits().
    std::int64_t oldest_hit(int index) const {
        const Bank& bank = banks_[static_cast<std::size_t>(index)];
        return bank.runs[bank.hit].next;
    }
    /// The oldest burst of `bank`, one of hits() or misses(): its sequence number, and its row.
    std::int64_t oldest(int bank) const { return banks_[static_cast<std::size_t>(bank)].runs.front().next; }
    std::int64_t oldest_row(int bank) const {
        return banks_[static_cast<std::size_t>(bank)].runs.front().row;
    }

    struct Served {
        std::int64_t id;
        bool last;  ///< of its request
    };
    /// The oldest hit of `bank` leaves the window.
    Served serve(int bank);

    // --- streaming: the window is one unbroken range of hits, served in order ---

    std::int64_t head() const { return served_; }
    /// How many bursts can be served in order before the window might hold anything but the present runs; 0
    /// if the window has holes, misses, or columns that are not evenly spaced.
    std::int64_t stream_length() const;
    /// Whether consecutive bursts of the window rotate through the bank groups.
    bool rotates(std::int64_t groups) const;
    /// Bursts from one of a bank to its next.
    std::int64_t stream_stride() const { return map_.column_stride(); }
    /// How many of the next `count` bursts of a stream lie in `bank`.
    std::int64_t stream_share(int bank, std::int64_t count) const;
    /// Serves the next `count` bursts of a stream; `done(id, k)` for each request whose last is the k-th.
    void serve_stream(std::int64_t count, const std::function<void(std::int64_t id, std::int64_t k)>& done);

    // --- what waits ---

    /// Requests for which the window has no room yet, wholly or in part (as if admit() had been called).
    std::int64_t at_door() const;
    /// Bursts that must still enter until one request less stands at the door, of which there must be one.
    std::int64_t until_door_moves() const;
    /// The fewest bursts that any request still waits for; there must be one.
    std::int64_t least_remaining() const;

private:
    struct Run {
        std::int64_t row, column, end;
        std::int64_t base;   // sequence number of column c: base + scatter(c)
        std::int64_t next;   // that of `column`
        std::int64_t phase;  // sequence number less local burst number: equal for what continues
    };
    struct Bank {
        std::vector<Run> runs;    // in order of arrival
        std::size_t visible = 0;  // leading runs whose next burst is in the window
        std::size_t hit = 0;      // the first visible run of the open row, if the bank is one of hits()
        std::int64_t row = kNoRow;
    };
    struct Request {
        std::int64_t id, end, remaining;  // sequence numbers below `end`
    };

    void append(const RowRun& run, std::int64_t phase);
    void reveal();
    void find_hit(int bank, std::size_t from);
    void advance(int bank, std::int64_t columns);
    std::int64_t room() const { return std::min(pushed_, served_ + depth_); }
    std::size_t first_request_beyond(std::int64_t sequence) const;

    const AddressMap& map_;
    const std::int64_t depth_;
    std::vector<Bank> banks_;
    std::deque<Request> requests_;  // in order; answered ones leave at the front
    std::vector<RowRun> cut_;       // scratch
    std::int64_t pushed_ = 0, admitted_ = 0, served_ = 0;
    std::int64_t reach_ = 0;  // one more than the highest number served; served_ if the window has no holes
    std::int64_t wake_;       // the least sequence number that turns a run visible
    std::uint64_t used_ = 0, hits_ = 0, misses_ = 0;  // bit per bank: has runs, see hits() and misses()
};

}  // namespace systole
