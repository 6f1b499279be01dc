// SPDX-License-Identifier: Apache-2.0
// The obviously right twin of DramChannel: it walks clock by clock over single bursts and asks the constraint
// table about every command by looking at the commands before it. It shares with the code under test only
// the table and the address map.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/controller/bus_account.h"
#include "models/memory/standards/dram_command.h"
#include "models/memory/standards/dram_spec.h"
#include "tests/unit/memory/slow_channel_judge.h"

namespace systole::test {

/// A request for the local bursts [first, first + count) of a pseudo-channel. Several may carry one id.
struct Arrival {
    std::int64_t clock;
    int pseudo_channel;
    std::int64_t id, first, count;
    Direction direction;
};

class SlowChannel {
public:
    /// `map` must outlive the channel.
    SlowChannel(const DramSpec& spec, const AddressMap& map);

    /// Runs all arrivals (by clock) to their end; answers the clock at which the last data of every id has
    /// moved. For a view of single clocks: push() what arrives at now(), then step().
    const std::map<std::int64_t, std::int64_t>& run(std::deque<Arrival> arrivals);
    void push(const Arrival& arrival);
    void step();

    std::int64_t now() const { return now_; }
    bool idle() const;
    /// Bursts that may be pushed at now(): they would enter the window at once, or, where the pseudo-channels
    /// share a queue, one waits before it.
    std::int64_t room(int pseudo_channel, Direction direction) const;
    /// Requests of which bursts will wait before the window when those that find an entry at now() are in it.
    std::int64_t at_door(int pseudo_channel, Direction direction) const;
    const std::map<std::int64_t, std::int64_t>& done() const { return done_; }
    /// All commands so far; of PreAll, Refresh and RefreshBank `row`, of the first two also `bank` is 0.
    const std::vector<GivenCommand>& commands() const { return judge_.history(); }
    /// Who owned the data bus in [0, until), evaluated clock by clock (slow_channel_account.cpp).
    BusAccount account(int pseudo_channel, std::int64_t until) const;

private:
    struct Burst {
        std::int64_t sequence, id;
        Direction direction;
        int bank;
        std::int64_t row, entered = 0;
    };
    struct Bank {
        std::optional<std::int64_t> row;    // that is open
        std::optional<std::int64_t> bound;  // the burst its activation was made for
        int over_older = 0;                 // columns given over the head of an older burst since then
        std::size_t activated = 0;          // place of its last Act among the commands
    };
    struct Bus {  // a pseudo-channel
        std::array<std::deque<Burst>, 2> door;
        std::array<std::vector<Burst>, 2> window;  // oldest first
        std::vector<Bank> banks;
        Direction active = Direction::Read;
        std::int64_t active_since = 0;
        int floor = 0;
        std::optional<std::int64_t> last_write;  // of this phase: hits among those up to it are still written
        std::optional<std::int64_t> oldest, urgent;  // bursts, by sequence number
        int passed = 0;
        std::int64_t refreshes = 0;     // given
        std::optional<int> refreshing;  // this bank, or all (0), is blocked for its refresh
    };
    enum class Class { Refresh, Column, Row };
    struct Candidate {
        Class order;
        std::int64_t age;
        GivenCommand command;
        std::optional<Burst> burst;  // that it serves or is made for
    };
    /// A burst that has got its column, and what the account must know of it.
    struct Served {
        Burst burst;
        GivenCommand column;
        std::size_t place, activated;  // of its column and of the Act before it, among the commands
        std::int64_t active_since;     // its direction; 0 if it did not wait for that
    };
    struct Blocked {
        int bank;  // kAll
        std::int64_t from, until;
    };
    static constexpr int kAll = -1;

    void admit(Bus& bus);
    void admit_shared();
    void judge_urgency(Bus& bus);
    void turn(Bus& bus);
    bool hits_to_write(Bus& bus);
    void begin_refresh(int pseudo_channel);
    bool give_one();

    std::size_t in_windows(Direction direction) const;
    const Burst* urgent(const Bus& bus) const;
    bool reserved(const Bus& bus, int bank) const;
    bool capped(const Bank& bank) const;
    bool barred(const Bus& bus, int bank) const;
    void refresh_candidates(int pseudo_channel, std::vector<Candidate>& found) const;
    void urgent_candidates(int pseudo_channel, std::vector<Candidate>& found) const;
    void column_candidates(int pseudo_channel, std::vector<Candidate>& found) const;
    void row_candidates(int pseudo_channel, std::vector<Candidate>& found) const;
    bool would_delay_refresh(const GivenCommand& command) const;
    Candidate column_of(int pseudo_channel, const Burst& burst) const;
    Candidate row_command_for(int pseudo_channel, const Burst& burst) const;

    void give(const Candidate& choice);
    void serve(const Candidate& choice);
    void end_refresh(const GivenCommand& given);

    BusTime owner(const Served& served, std::int64_t tau) const;
    BusTime before_activation(const Served& served, std::int64_t clock) const;
    std::optional<std::size_t> precharge_before(std::size_t activated) const;
    BusTime before_row_command(const Served& served, std::size_t place, std::int64_t clock,
                               BusTime shared) const;

    const DramSpec spec_;
    const AddressMap& map_;
    TableJudge judge_;
    std::vector<Bus> buses_;
    std::int64_t now_ = 0, pushed_ = 0;
    std::int64_t refresh_interval_ = 0, first_refresh_ = 0;
    std::map<std::int64_t, std::int64_t> left_, done_;
    std::vector<Served> served_;
    std::vector<std::vector<Blocked>> blocked_;  // by pseudo-channel
};

}  // namespace systole::test
