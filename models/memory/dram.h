// SPDX-License-Identifier: Apache-2.0
// A DRAM behind TLM-2.0 sockets: all channels of one address space. A transaction is a contiguous range of
// global addresses (at most DramSpec::max_payload); it is split by the address map into one share per data
// bus and answered when its last share is. Timing only: data pointers are not followed. When a door is full
// the request phase stays open (END_REQ comes later), so back-pressure reaches the initiator by itself.
//
// Channels are asked as late as possible. A transaction watches one of its unfinished shares at a time, and
// only channels that are watched wake the module: what finishes elsewhere meanwhile is found when it matters.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <deque>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/addresses/bus_set.h"
#include "models/memory/addresses/share_patterns.h"
#include "models/memory/alike_channels.h"
#include "models/memory/controller/dram_channel.h"
#include "models/memory/standards/command_checker.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/account/run_result.h"
#include "sim/base/clock.h"
#include "sim/timeline/binned_counter.h"

namespace systole {

class Dram : public sc_core::sc_module {
public:
    /// The approximately-timed base protocol, for any number of initiators. BEGIN_REQ is answered with
    /// TLM_UPDATED and END_REQ, or with TLM_ACCEPTED and END_REQ later; BEGIN_RESP comes at the clock edge at
    /// which the last byte is on the data bus (an ideal memory: at the same time); initiators answer it with
    /// TLM_COMPLETED or with END_RESP later. Time annotations must be zero. A range outside the memory, a
    /// larger payload than allowed, streaming or byte enables are answered at once with TLM_COMPLETED and an
    /// error response. b_transport waits as long as the phases would take.
    tlm_utils::multi_passthrough_target_socket<Dram> in{"in"};

    Dram(sc_core::sc_module_name name, const DramSpec& spec);

    const DramSpec& spec() const { return spec_; }

    /// Payload bytes of all answered reads and writes: the memory's end of the byte ledger.
    Bytes bytes_read() const { return bytes_read_; }
    Bytes bytes_written() const { return bytes_written_; }
    /// Every transaction was answered.
    bool idle() const { return in_flight_ == 0; }

    /// For waveforms; an ideal memory has no channels. Commands reach listeners late, when they are fixed;
    /// settle() fixes all before `time`, before which everything has happened, and changes nothing else.
    int channels() const { return channels_.count(); }
    const ClockDomain& clock() const { return clock_; }
    bool one_command_bus() const { return channels_.groups().front().timing.one_command_bus(); }
    void listen(int channel, DramChannel::Listener listener);
    void settle(Ticks time);
    /// From now on no channel runs ahead of time while a request is held, so that accounts can be asked for
    /// at any time, not only when all requests have been answered. Changes no clock.
    void stay_in_time() { in_time_ = true; }

    /// From now on a checker listens to every channel: a command that its standard forbids ends the program.
    void check_commands();

    /// Counters of the whole memory, summed over channels, up to the current time.
    std::vector<Stat> stats();
    /// Who owned the clocks of all data buses up to the current time; empty for what is no DRAM.
    BusAccount bus_account();
    /// For a timeline: from now on, keeps when bytes passed.
    void keep_traffic() { traffic_.emplace(); }
    /// Bandwidth of reads and of writes over time until `end`; nothing if it was not kept.
    std::vector<CounterTrack> traffic(Ticks end) const;
    /// Enters what the same commands took, and the background until now.
    void account_energy(EnergyLedger& ledger);

private:
    using Payload = tlm::tlm_generic_payload;

    struct Transaction {
        Payload* payload = nullptr;
        std::int64_t number = 0;  // by age
        int initiator = 0;
        Direction direction = Direction::Read;
        sc_core::sc_event* done = nullptr;  // a b_transport that waits, instead of a response phase
        RangeShares shares;                 // what each data bus has to do for it; none of what is no DRAM
        BusSet left;                        // buses that have not done it
        int watched = 0;                    // the first of them, as last looked
    };
    struct Port {
        std::deque<Payload*> responses;
        bool busy = false;  // a BEGIN_RESP waits for its END_RESP
    };
    struct Traffic {
        BinnedCounter read, written;
    };
    void count(bool write, Bytes bytes);
    /// A transaction of SRAM, and when it is answered.
    struct Passing {
        Ticks time;
        std::size_t slot = 0;
    };
    using Group = AlikeChannels::Group;

    void end_of_elaboration() override { ports_.resize(in.size()); }
    tlm::tlm_sync_enum nb_transport_fw(int initiator, Payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay);
    void b_transport(int initiator, Payload& payload, sc_core::sc_time& delay);

    void serve();  // SC_METHOD: sleeps until the earliest event of any watched channel
    bool refuse(Payload& payload) const;
    std::size_t enter(Payload& payload, int initiator, sc_core::sc_event* done);
    bool place(std::size_t transaction);
    void place_flat(std::size_t transaction);
    bool has_room(const Transaction& transaction);
    void place_held();
    void watch(const Transaction& transaction);
    Cycles next_of(Group& group);
    void catch_up(Cycles now);
    void advance(Group& group, Cycles now);
    void move_watchers();
    void answer(std::size_t transaction);
    void send_responses(int initiator);
    void sleep();
    void wake_at(Ticks time);
    /// The clock of an edge at or before the current time, and at or after it.
    struct Clocks {
        Ticks time = Ticks(-1);
        Cycles before, after;
    };
    const Clocks& clocks();
    Cycles clock_now() { return clocks().before; }
    int channel_of(int bus) const { return bus / spec_.pseudo_channels; }
    void fix_until_now();
    DramChannel::Stats counts();

    const DramSpec spec_;
    const ClockDomain clock_;
    std::unique_ptr<const AddressMap> map_;  // none for what is no DRAM
    std::optional<SharePatterns> patterns_;
    AlikeChannels channels_;
    std::deque<CommandChecker> checkers_;  // one a channel, or none; they must not move

    std::vector<Transaction> transactions_;  // slots, reused
    std::vector<std::size_t> free_;
    std::int64_t entered_ = 0, in_flight_ = 0;
    std::optional<Traffic> traffic_;
    std::deque<std::size_t> held_;  // transactions before full doors, in order of arrival
    Cycles door_ = Cycles::max();   // when the door before which the first of them stands may move
    std::deque<Passing> passing_;   // of SRAM, in order of time
    Ticks passes_until_;            // when the bytes of all of them have passed
    std::int64_t passes_rest_ = 0;  // and the part of a picosecond, in bytes times picoseconds
    std::vector<Port> ports_;       // per initiator
    std::vector<DramChannel::Completion> completed_;  // scratch
    std::vector<std::size_t> passed_;  // transactions whose watched share has finished, not yet handled
    std::vector<std::size_t> done_;    // those that are to be answered
    const Ticks least_latency_;        // of any burst
    bool in_time_ = false;             // stay_in_time()
    bool serving_ = false;             // serve() runs, and will sleep
    Ticks wake_time_ = Ticks::max();   // for which serve() is notified
    Clocks clocks_;                    // as last asked: dividing is what takes long
    sc_core::sc_event wake_{"wake"};
    Bytes bytes_read_, bytes_written_;
};

}  // namespace systole
