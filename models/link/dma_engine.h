// SPDX-License-Identifier: Apache-2.0
// A descriptor-driven copy engine: reads a payload from one place, writes it to another, keeps several
// payloads in flight and any number of descriptors behind one another. It pushes back in one way only: a
// descriptor starts when every payload of the one before has been requested. Descriptors finish in order.
//
// Sockets are TLM-2.0 initiators, one per place; a socket that no descriptor names may stay unbound. The
// weight FIFO has no socket: it is the engine owner's, which learns of the data when the descriptor is done.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/link/link_spec.h"
#include "models/link/transfer.h"
#include "sim/base/clock.h"
#include "sim/kernel/payload_pool.h"

namespace systole {

class DmaEngine : public sc_core::sc_module {
public:
    using Socket = tlm_utils::simple_initiator_socket_tagged_optional<DmaEngine>;
    Socket dram{"dram"};
    Socket scratchpad{"scratchpad"};
    Socket host{"host"};
    Socket chip_link{"chip_link"};

    /// How much of a descriptor's time, set-up aside, was spent on its source, along the chain of payloads
    /// that made it take as long as it did: each was requested when one before it was written. The rest is
    /// the destination's.
    struct Split {
        Ticks at_source;
    };
    /// What the owner is told: every payload of the current descriptor is requested; the oldest unfinished
    /// descriptor is complete.
    struct Listener {
        std::function<void(Split)> requested;
        std::function<void(Split)> done;
    };

    struct Stats {
        std::int64_t descriptors = 0, payloads = 0, bytes = 0;
    };
    const Stats& stats() const { return stats_; }
    /// Descriptors not yet complete, and bytes on their way.
    std::size_t unfinished() const { return jobs_.size(); }
    Bytes in_flight() const { return in_flight_; }

    DmaEngine(sc_core::sc_module_name name, const DmaSpec& spec, ClockDomain clock, Listener listener);

    /// True if the next descriptor may be given: all payloads of the one before are requested.
    bool accepts() const { return !active_; }
    /// Starts a descriptor now; only when accepts(). Answers when its set-up is over and reading begins.
    Ticks start(const Transfer& transfer);

private:
    /// One chunk on its way: first read from the source, then, the same payload, written to the destination.
    struct Payload : tlm::tlm_generic_payload {
        std::uint64_t job = 0;
        std::uint64_t to_address = 0;
        bool writing = false;
        Ticks requested, sourced;  // the read began and ended
        Ticks at_source;           // of the chain that ends here
    };
    struct Job {
        Transfer transfer;
        std::int64_t payloads_left = 0;  // not yet written; counts those not yet requested too
        Ticks at_source;                 // of the chain of the payload written last
    };
    /// The request side of one socket: one request at a time may be without END_REQ.
    struct Lane {
        Socket* socket = nullptr;
        std::deque<Payload*> waiting;
        Payload* requesting = nullptr;
    };

    void request();  // SC_METHOD: reads as many payloads as may be in flight
    Bytes next_size() const;
    bool may_request() const;
    Payload* next_payload();
    void send(Place place, Payload* payload);
    void pump(Lane& lane);
    tlm::tlm_sync_enum nb_transport_bw(int place, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay);
    void answered(Payload* payload);
    void finish_jobs();
    Job& job(std::uint64_t id) { return jobs_[id - first_job_]; }
    Lane& lane(Place place) { return lanes_[static_cast<std::size_t>(place)]; }

    const DmaSpec spec_;
    const ClockDomain clock_;
    const Listener listener_;
    std::array<Lane, kPlaces> lanes_;
    PayloadPool<Payload> pool_;
    // What payloads point to: contents are not simulated, so nobody writes or reads it, not even to clear it.
    std::unique_ptr<unsigned char[]> data_;
    std::deque<Job> jobs_;               // unfinished, oldest first; the last may be active
    std::uint64_t first_job_ = 0;        // id of jobs_.front()
    bool active_ = false;                // the last job still has payloads to request
    Ticks ready_;                        // the active job's set-up is over
    std::int64_t row_ = 0, offset_ = 0;  // of the active job: next chunk
    Bytes in_flight_;
    Ticks chain_;  // at_source that the next payload inherits: of the one that made room for it
    sc_core::sc_event wake_{"wake"};
    Stats stats_;
};

}  // namespace systole
