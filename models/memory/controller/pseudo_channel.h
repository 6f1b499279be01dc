// SPDX-License-Identifier: Apache-2.0
// One pseudo-channel of DRAM and its scheduler: first-ready, first-come over bounded windows of reads and
// writes. It says what it would do next (next()); its channel, which sees all pseudo-channels and their
// shared command buses, lets one of them do it (take()). A plain class; time is an argument, in command
// clocks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/controller/bank_timing.h"
#include "models/memory/controller/bus_ledger.h"
#include "models/memory/controller/choice.h"
#include "models/memory/controller/command_bus.h"
#include "models/memory/controller/door.h"
#include "models/memory/controller/dram_stats.h"
#include "models/memory/controller/fifo.h"
#include "models/memory/controller/page_rows.h"
#include "models/memory/controller/queue_entries.h"
#include "models/memory/controller/refresh_plan.h"
#include "models/memory/controller/request_book.h"
#include "models/memory/controller/row_history.h"
#include "models/memory/controller/stream.h"
#include "models/memory/controller/window.h"
#include "models/memory/controller/wishes.h"
#include "models/memory/standards/dram_command.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

class PseudoChannel {
public:
    /// The last byte of `request` is on the data bus at `clock`.
    struct Completion {
        std::int64_t request;
        Cycles clock;
    };
    using Stats = DramStats;

    /// `map` must outlive it; `number` says which of its channel it is. Its bursts take `entries`, perhaps
    /// together with those of others.
    PseudoChannel(const DramSpec& spec, const AddressMap& map, int number,
                  std::shared_ptr<QueueEntries> entries);

    /// A copy of `other` comes to stand on its own feet; it takes `entries`, or none but its own.
    void follow(const PseudoChannel& other, std::shared_ptr<QueueEntries> entries);

    /// Nothing waits here or there, and whatever arrives from `now` on, both do the same at the same clocks,
    /// and book the same owners of their data bus.
    bool same_from(const PseudoChannel& other, Cycles now) const;

    /// A request for the local bursts [first, first + count), whose sequence numbers begin at `sequence`,
    /// arrives at `now`, before which everything is done.
    void push(std::int64_t request, std::int64_t first, std::int64_t count, Direction direction,
              std::int64_t sequence, Cycles now);

    /// What comes next at `now` or later. Stays as it is until it is taken and next() asked again.
    const Choice& next(const CommandBus& bus, Cycles now) {
        const bool delayed = next_->when < bus.free(next_->command);
        if (either(!next_known_, both(next_->kind != Choice::Kind::Change, delayed))) {
            next_ = &find_next(bus, now);
            next_known_ = true;
        }
        return *next_;
    }
    /// Does it. Answers the row that the command concerns.
    std::int64_t take(const Choice& choice);

    // --- streams: bursts in order at an even cadence (pseudo_channel_stream.cpp). While one is open, all
    // that waits in its direction is at the door, and nothing above is asked. ---

    /// No burst waits, and no refresh.
    bool rests() const { return waiting() == 0 && !refresh_.pending() && change_ == Cycles::max(); }
    /// A look at whether it could: enough of what came last was in order.
    bool may_stream() const {
        return both(in_order_, streak_[static_cast<std::size_t>(active_)] >= kWorthIt);
    }
    /// What waits will be given in order at an even cadence from its next column on. Only between clocks.
    bool can_stream(Cycles due, const CommandBus& bus, Cycles now);
    /// Their columns never want the column bus at the same clock.
    bool streams_beside(const PseudoChannel& other) const;
    /// Opens a stream at `now`; no column before that is left. `first`: of those that share entries. Then all
    /// that waits is ranked, in order over those that share entries, and the rows are planned.
    void begin_stream(Cycles now, Cycles due, bool first);
    std::int64_t next_to_rank() const;
    void rank_next();
    void plan_stream();
    /// Books what came before its first column, if that is before `limit`; the clock of that column, or
    /// Cycles::max() if it is booked.
    Cycles book_begin(Cycles limit);
    /// As push(). False if the stream cannot go on then.
    bool join_stream(std::int64_t request, std::int64_t first, std::int64_t count, Direction direction,
                     std::int64_t sequence, Cycles now);
    /// Up to here it is certain as things stand: it runs dry, or rows that are not yet opened may come too
    /// late. Arrivals never make it earlier than their own clock.
    Cycles stream_limit() const { return stream_.certain; }
    /// The clock at which the scheduler sees the next run of one row; and what happens then.
    Cycles next_in_sight() const { return stream_.sight; }
    void sight_run(const CommandBus& bus);
    /// The next row command beside the columns of the stream, as next() and take().
    const Choice& next_beside_stream(const CommandBus& bus) {
        const Choice& beside = stream_.beside;
        if (either(!stream_.beside_known, beside.when < bus.free(beside.command))) find_beside(bus);
        return beside;
    }
    std::int64_t take_beside_stream();
    /// The next page comes in sight before `until` and its rows are opened as page_rows.h says: that is put
    /// off until somebody must know. `forget`: those that later pages make up for are counted alone.
    bool put_off_page(const CommandBus& bus, Cycles until, bool forget);
    bool puts_off() const { return !stream_.put_off.pages.empty(); }
    /// What was put off is given: if nobody listens, that of all but the last page at once; then the first
    /// command before `limit`, as long as there is one; and in the end the stream is as if nothing had been.
    void give_old_pages();
    const Choice* first_put_off(Cycles limit);
    std::int64_t take_put_off();
    void end_put_off();
    /// All columns before `until` are given.
    void serve_stream(Cycles until);
    /// The last of them; not if there is none.
    bool stream_began() const { return stream_.given > 0; }
    Cycles stream_begin() const { return stream_.begin; }
    Cycles last_of_stream() const { return stream_.clock(stream_.given - 1); }
    Direction stream_direction() const { return stream_.direction; }
    Command stream_command() const;
    /// Its columns one after the other, for listeners: when the next is given, and which.
    Cycles next_told() const { return stream_.clock(stream_.told); }
    GivenCommand tell_column();
    /// Nothing more is given. Then the windows are put back as they are before `limit`, in order over those
    /// that share entries: the next burst enters, if it has by then; and the common way goes on.
    void end_stream();
    bool enter_after_stream(Cycles limit, std::int64_t most);
    void resume(Cycles limit);
    /// While nothing else arrives: the first clock at which there is room for another burst, Cycles::max() if
    /// the stream must end first, and completion_bound() and door_bound().
    Cycles room_in_stream(Direction direction) const;
    Cycles completion_in_stream() const;
    Cycles door_in_stream(Direction direction) const;
    /// The same where entries are shared, as everything before `fixed` is; and so many bursts are in the
    /// window.
    Cycles room_in_shared_stream(Direction direction) const;
    Cycles door_in_shared_stream(Direction direction, Cycles fixed) const;
    std::int64_t entered_in_shared_stream(Direction direction, Cycles fixed) const;
    /// Nothing but what waits can make it do something before this clock.
    Cycles refresh_due() const { return refresh_.due(); }

    // --- pauses: nothing but refreshes of closed banks, one as the other ---

    bool pauses() const { return rests() && !refresh_.owes() && window_.open_banks() == 0; }
    /// How many refreshes before `until` may be skipped so that those left behave as if none had been.
    std::int64_t refreshes_to_skip(Cycles until) const;
    void skip_refreshes(std::int64_t count);

    /// When the first completion is that is not yet collected; Cycles::max() if there is none.
    Cycles first_completion() const { return book_.first_end(); }
    Completion collect_first() {
        const Cycles end = book_.first_end();
        return {book_.collect_first(), end};
    }

    /// The least clock at which a request can be complete, as things stand at `now`; Cycles::max() if idle.
    /// Entries of a shared queue may become free at `freed`, not earlier.
    Cycles completion_bound(const CommandBus& bus, Cycles now, Cycles freed) const;
    /// No column is given before this clock, as things stand at `now`.
    Cycles column_bound(const CommandBus& bus, Cycles now) const;
    int free_entries(Direction direction) const { return entries_->free(direction); }
    /// Requests that are not yet wholly in the window when so many bursts enter it as there are `free`
    /// entries; so many more are needed until there is one less; and the least clock at which that can be if
    /// no queue is shared, Cycles::max() if there is none.
    std::int64_t at_door(Direction direction, std::int64_t free) const;
    std::int64_t missing_entries(Direction direction, std::int64_t free) const;
    Cycles door_bound(Direction direction, const CommandBus& bus, Cycles now) const;
    /// When something last came to its door, or entered from there; negative if nothing has.
    Cycles last_use(Direction direction) const { return door(direction).last; }
    /// Bursts that have not yet entered the window, and the sequence number of the first.
    std::int64_t bursts_at_door(Direction direction) const { return door(direction).bursts; }
    std::int64_t first_at_door(Direction direction) const {
        return door(direction).ranges.front().sequence();
    }
    /// Of the burst behind `before` others; Window::kNone if there is none.
    std::int64_t sequence_at_door(Direction direction, std::int64_t before) const;
    /// The first of them enters.
    void admit_one(Direction direction, Cycles now);
    /// From `clock` on it may decide otherwise, because entries of a shared queue were freed or taken.
    void wake(Cycles clock) {
        change_ = std::min(change_, clock);
        next_known_ = false;
    }
    /// As above, if it would.
    void notice(Cycles clock) {
        if (turns()) wake(clock);
    }

    bool idle() const { return waiting() == 0 && book_.nothing_finished(); }
    const Stats& stats() const { return stats_; }
    /// Who owned the data bus before `now`, up to which everything is fixed.
    BusAccount account(Cycles now) const { return ledger_.until(now); }

private:
    static constexpr std::int64_t kWorthIt = 12;  // columns: beginning and ending a stream costs as much
    static constexpr Choice kUndecided{};
    struct Reach {
        std::int64_t bursts, columns;
    };

    void queue_up(std::int64_t request, std::int64_t first, std::int64_t count, Direction direction,
                  std::int64_t sequence, std::int64_t rank, Cycles now);
    static void put_back(Door& door, const Window::Burst& burst);
    Reach reach_of_stream() const;
    bool first_rows_are_ready() const;
    std::array<Cycles, 2> soonest_for_jobs(const CommandBus& bus) const;
    Cycles clock_of(const Stream::Job& job, const std::array<Cycles, 2>& soonest) const;
    void find_beside(const CommandBus& bus);
    void set_beside(Cycles when, std::size_t number);
    void find_limit();
    const PageRows& rows_of(bool open) const {
        return page_rows_[static_cast<std::size_t>(stream_.direction)][static_cast<std::size_t>(open)];
    }
    void wait_for_row(const Stream::Run& run, Cycles since);
    void see_put_off(const Stream::PutOff::Page& page, std::int64_t place);
    bool seen_at_once(Cycles sight) const;
    bool at_rest(const CommandBus& bus, Cycles sight) const;
    bool is_free(int bank, bool open, Cycles sight) const;
    bool lanes_are_free(bool open, Cycles sight) const;
    void forget_pages();
    std::int64_t left_by_stream(bool opposed) const;
    bool bears(std::int64_t count, Direction idle) const;
    void limit_patience();
    Cycles turn_in_stream() const;
    void limit_stream(const Stream::Run& run);
    void look_for_run();
    void limit_entry(std::int64_t position, std::int64_t rank);
    Cycles entry_in_stream(std::int64_t position, std::int64_t rank, Cycles arrived) const;
    void look_out(std::int64_t sequence, std::int64_t rank, Cycles arrived);
    std::int64_t precharge_row(const Choice& choice);
    void activate_row(const Choice& choice, std::int64_t row);
    void issue_lane(int bank, std::int64_t last);
    void issue_lanes();

    const Door& door(Direction direction) const { return doors_[static_cast<std::size_t>(direction)]; }
    static Cycles of(const std::array<Cycles, 2>& both, Direction direction) {
        return both[static_cast<std::size_t>(direction)];
    }
    std::uint64_t& bound(Direction direction) { return bound_[static_cast<std::size_t>(direction)]; }
    std::uint64_t bound(Direction direction) const { return bound_[static_cast<std::size_t>(direction)]; }
    std::int64_t in_windows() const { return window_.size(Direction::Read) + window_.size(Direction::Write); }
    std::int64_t waiting() const { return in_windows() + doors_[0].bursts + doors_[1].bursts; }
    /// Nothing but the refresh is given.
    bool blocked() const { return refresh_.pending() && refresh_.all_banks(); }

    void begin_clock(Cycles now);
    void admit(Direction direction, Cycles now);
    void enter(Direction direction, const Window::Burst& burst);
    bool turns() const;
    void choose_direction(Cycles now);
    bool many_writes() const;
    bool hits_to_write() const;
    bool waited_too_long() const { return passed_ >= patience_ && oldest_ != Window::kNone; }
    Direction urgent_direction() const;
    [[gnu::noinline]] std::uint64_t urgent_bank() const {
        return bank_bit(window_.oldest(urgent_direction()).bank);
    }
    bool urgent_hits() const;
    bool urgent_is_ready() const;
    /// Banks of which rule and age give no command: that of the urgent burst, and the one to be refreshed.
    std::uint64_t reserved() const { return urgent_ ? barred_ | urgent_bank() : barred_; }
    void begin_refresh(Cycles now);
    void end_refresh(const Choice& refresh);

    const Choice& find_next(const CommandBus& bus, Cycles now);
    void find_column(const CommandBus& bus, Cycles now, Choice& best) const;
    void find_wish(const CommandBus& bus, Cycles now, Choice& best) const;
    void search(const CommandBus& bus, Cycles now, Choice& best) const;
    Choice search_row(const CommandBus& bus, Cycles now) const;
    void note(int bank);
    void note_all(Cycles now);
    /// chosen_ is still what find_wish() would choose: no bank has come to want anything else, and nothing
    /// was given but to others of the channel.
    bool chosen_holds(const CommandBus& bus, Cycles now) const {
        return both(chosen_known_, chosen_.when >= std::max(now, bus.free(chosen_.command)));
    }
    void delay_group(int bank, Wishes::Kind kind, Command command) {
        wishes_.delay(timing_.first_of_group(bank), timing_.banks_of_group(), kind,
                      timing_.group(command, bank));
    }
    static Command column_command(Direction direction) {
        return direction == Direction::Read ? Command::Read : Command::Write;
    }
    static std::size_t row_index(Command command) { return command == Command::Act ? 0 : 1; }
    Choice next_refresh(const CommandBus& bus, Cycles now) const;
    void consider_columns(Direction direction, std::uint64_t banks, const CommandBus& bus, Cycles now,
                          Choice& best) const;
    void consider_rows(Command command, Direction direction, std::uint64_t banks, const CommandBus& bus,
                       Cycles now, Choice& best) const;
    void consider_capped(Command command, Direction direction, std::uint64_t banks, Cycles soonest,
                         Choice& best) const;
    void consider_other_columns(Direction idle, const CommandBus& bus, Cycles now, Choice& best) const;
    std::uint64_t urgent_column(Direction direction) const;
    /// No bank can be given `command` before.
    Cycles soonest_of_any(Command command, const CommandBus& bus, Cycles now) const {
        return std::max(std::max(now, bus.free(command)), timing_.anywhere(command));
    }
    std::uint64_t activations_before_refresh(std::uint64_t banks, Cycles soonest) const;
    Command row_command(std::uint64_t bank) const {
        return window_.open_banks() & bank ? Command::Pre : Command::Act;
    }
    void consider(Command command, Direction direction, std::uint64_t banks, Cycles soonest,
                  const std::int64_t* sequences, Choice::Kind kind, Choice& best) const;
    std::uint64_t column_banks(Direction direction) const;
    std::uint64_t row_banks() const;
    void forget_choices() {
        next_known_ = chosen_known_ = false;
        wishes_.drop();
    }

    std::int64_t take_column(const Choice& choice);
    std::int64_t take_row(const Choice& choice);
    void count_hit(Direction direction, int bank, std::int64_t sequence);
    void take_refresh(const Choice& choice);
    void close(int bank);
    void book_before(const Choice& column, Cycles entered);
    void book(const Choice& column, Cycles entered);
    void book_wait(const Choice& column, Cycles entered);
    void note(const Choice& choice, RowStep& step) const;
    void book_row_wait(const Choice& column, Cycles entered, const RowStep& step, Cycles latency,
                       BusTime shared);
    bool closes_after(Direction direction, int bank) const;
    std::int64_t columns_to_completion(Direction direction) const;
    std::int64_t least_left(Direction direction) const;
    Opening& opened(int bank) { return opened_[static_cast<std::size_t>(bank)]; }

    const AddressMap& map_;
    const int number_;
    const bool shared_queue_;
    const WritePolicy policy_;
    const PagePolicy page_;
    const int row_hit_cap_, patience_;
    const Cycles burst_;
    const int groups_;
    const std::array<Cycles, 2> ccd_;         // between columns of one direction, at least …
    const std::array<Cycles, 2> ccd_long_;    // … and within a bank group
    const std::array<Cycles, 2> latency_;     // from a column command to its last data
    const std::array<Cycles, 2> activation_;  // from ACT to a column command
    const Cycles precharge_;                  // from PRE to ACT
    const Cycles refresh_to_activation_;      // of the pseudo-channel or of the bank
    const Cycles activation_to_refresh_;      // of any bank

    const bool in_order_;  // consecutive bursts may follow each other at once

    std::shared_ptr<QueueEntries> entries_;
    BankTiming timing_;
    Window window_;
    std::array<Door, 2> doors_;
    RequestBook book_;
    RefreshPlan refresh_;
    BusLedger ledger_;
    Fifo<Blocking> blockings_;     // the last, by begin
    std::vector<Opening> opened_;  // of each bank

    Direction active_ = Direction::Read;
    Cycles active_since_;
    int write_floor_ = 0;                      // writes that may be left when the bus turns back to reads
    std::int64_t last_write_ = Window::kNone;  // those up to it that hit open rows are still written
    Cycles change_ = Cycles::max();  // the clock at which arrivals or freed entries next change the windows
    std::int64_t oldest_ = Window::kNone;  // sequence number of the oldest burst of both windows …
    std::int64_t passed_ = 0;              // … and the columns given to others since it is that
    bool urgent_ = false;                  // it has been passed often enough: its bank is kept for it
    std::uint64_t barred_ = 0;             // the bank that is to be refreshed
    std::uint64_t capped_ = 0;  // banks that have served row_hit_cap hits while an older burst waits
    std::array<std::uint64_t, 2>
        bound_{};  // banks opened for a burst of the direction that is not yet served

    std::array<std::int64_t, 2> last_local_{-1, -1};  // the burst that entered last, by direction …
    std::array<std::int64_t, 2> streak_{};            // … how many up to it continued each other …
    std::array<std::int64_t, 2> streak_begin_{};      // … and the sequence number of their first
    Stream stream_;
    std::array<std::array<PageRows, 2>, 2> page_rows_;  // by direction, and whether banks are open
    Cycles no_stream_before_;                           // it was tried and did not last

    Wishes wishes_;
    Choice column_;              // the first, when it was last asked whether a stream can begin with it
    Choice chosen_;              // the best of all columns and rows as last computed …
    bool chosen_known_ = false;  // … since when no bank has come to want anything else
    Choice other_;               // what is neither, or a column changed by the page policy
    const Choice* next_ = &kUndecided;  // the best of all: one of these, as copying costs more than choosing
    bool next_known_ = false;
    Stats stats_;
};

}  // namespace systole
