// SPDX-License-Identifier: Apache-2.0
// The L2 with its way to the SMs and to the memory; or one of several dies' L2s, or the cache between these
// and the memory (CacheRole). A block is read from the memory once, whoever asks while
// it is on its way; what was written stays here until it makes room. It accepts every request at once and
// pushes back by answering late: its ports serve in order. Reads of the memory go ahead of what has made
// room, which waits in a queue of its own: a few writes are under way at a time.
//
//   SmArray ─► in: reads and writes of blocks ─► L2Blocks ─► Fabric ─► answers
//                                                    └─► queues ─► memory: reads of what is missing,
//                                                                  writes of what made room
//
// Of several dies, each L2 asks the memory-side cache for its own copy of a line, and what one of them writes
// back the others no longer hold (`drop`). When a kernel ends, all that is dirty in them is
// written back, for the next one's CTAs lie on other dies.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/devices/simt/machine/tile_access.h"
#include "models/devices/simt/memory/fabric.h"
#include "models/devices/simt/memory/l2_blocks.h"
#include "models/devices/simt/spec/spec.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/account/byte_ledger.h"
#include "sim/account/invariants.h"
#include "sim/account/run_result.h"
#include "sim/base/clock.h"
#include "sim/kernel/payload_pool.h"
#include "sim/kernel/served_target.h"

namespace systole::simt {

/// What a cache stands between.
struct CacheRole {
    Place above = Place::SharedMemory, own = Place::L2, below = Place::Dram;
    /// Of an L2 in front of another cache: the number of its die, as whose its requests go on. That cache
    /// enters the transfers between them.
    std::optional<std::int64_t> die = {};
    /// Of one of several L2s: a miss brings what was asked for and no more, as neighbours are asked for by
    /// other dies.
    bool one_of_several = false;
};

/// Its target socket `in` takes transactions with a TileAccess, without time annotation. A read is answered
/// when all blocks are at all SMs that take them; a write when the L2 has it, and the memory has what had to
/// make room for it. Dirty sectors that stay to the end of a run are not written.
class L2 : public ServedTarget {
public:
    /// Initiator of the approximately-timed base protocol; payloads are ranges of whole sectors that cross no
    /// multiple of the largest payload that the memory takes.
    tlm_utils::simple_initiator_socket<L2> memory{"memory"};

    /// `clock`: that of SMs, fabric and L2. Of `dram`, the largest payload, queues, doors and peak count.
    L2(sc_core::sc_module_name name, const L2Spec& spec, Hertz clock, const DramSpec& dram,
       ByteLedger& ledger, const CacheRole& role = {});

    /// Tells of what is about to be written back.
    void on_write_back(std::function<void(std::int64_t address, std::int64_t bytes)> listener) {
        writing_back_ = std::move(listener);
    }
    /// It goes by another clock from now on; what is on its way comes as it would have.
    void run_at(Hertz clock);
    /// Another die's L2 writes this range back.
    void drop(std::int64_t address, std::int64_t bytes) { blocks_.drop(address, bytes); }
    /// Writes all that is dirty back; it stays here. `done` is told when the cache below has it.
    void clean(std::function<void()> done);

    /// The last store was answered: what still waits to be written stays, as dirty sectors do.
    void end();

    std::vector<Stat> stats() const;
    /// What passed its ports and what it asked of the memory, counted apart from the ledger.
    std::vector<EndCount> ends() const;
    /// Everything was answered, and nothing is on its way from or to the memory.
    bool idle() const { return jobs_.empty() && reads_.empty() && writes_.empty() && on_their_way_.empty(); }

private:
    using Payload = tlm::tlm_generic_payload;

    /// A transaction that is not answered yet.
    struct Job {
        Payload* payload;
        const TileAccess* tiles;
        Bytes bytes, of_sm;  // of a read: that have passed so far, and of them the busiest SM's
        Ticks earliest;      // as far as what has passed is concerned
        int parts = 0;       // that still wait
    };
    using Jobs = std::list<Job>;
    /// Bytes of a read's block that pass together, when the last piece that brings some of them has come. Of
    /// a write: nothing but the wait for pieces.
    struct Part {
        Jobs::iterator job;
        Bytes bytes;
        int pieces = 0;
    };
    using Parts = std::list<Part>;
    /// A request to the memory.
    struct Piece : Payload {
        TileAccess tiles;  // for a cache below
        ~Piece() override { clear_extension(&tiles); }
        Operand operand = Operand::Activations;
        std::size_t layer = 0;
        bool of_rows = false;  // for blocks whose rows are short
        std::vector<Parts::iterator> waiting;
        std::int64_t begin() const { return static_cast<std::int64_t>(get_address()); }
        std::int64_t end() const { return begin() + get_data_length(); }
    };
    struct Departure {
        Ticks at;
        Piece* piece;
    };
    struct Counts {
        std::int64_t reads = 0, writes = 0;          // blocks
        std::int64_t read = 0;                       // bytes of blocks, for every SM that takes them
        std::int64_t fetched = 0, written_back = 0;  // bytes, whole sectors; the latter when they are written
    };

    void take(Ticks arrival, Payload& payload);
    void read(Jobs::iterator job);
    void write(Jobs::iterator job);
    Cycles far(const TileAccess& tiles, const TileAccess::Block& block) const;
    /// Bytes of the block that are not on their way; for the others, a part waits.
    Bytes wait_for_pieces(Jobs::iterator job, const TileAccess::Block& block);
    void wait(Parts::iterator part, Piece& piece);
    void pass(Jobs::iterator job, Bytes bytes);
    void part_done(Parts::iterator part);
    void finish(Jobs::iterator job);

    /// Requests for these ranges leave towards the memory; `part` waits for them, if there is one.
    void depart(const std::vector<SectorRange>& ranges, tlm::tlm_command command, const TileAccess& tiles,
                Parts::iterator part, const MatrixRange& matrix = {});
    void address_below(Piece& piece, const MatrixRange& matrix) const;
    void tell_when_clean();
    void wake();
    void send();                    // SC_METHOD: what has to leave by now, and may
    void pace(const Piece& piece);  // that has just left
    bool send_first(std::deque<Departure>& queue);
    bool may_write();
    /// When the first that may leave has to; max() if there is none.
    Ticks next_departure();
    void came(Piece& piece);
    void arrived(const Piece& piece);  // is no longer on its way
    tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);

    ClockDomain clock_;
    const CacheRole role_;
    const Cycles memory_latency_;
    const std::int64_t largest_;  // payload
    ByteLedger& ledger_;
    L2Blocks blocks_;
    Fabric fabric_;
    L2Blocks::Traffic traffic_;  // scratch
    Jobs jobs_;
    Parts parts_;
    std::deque<Departure> reads_, writes_;  // that have not left, in turn
    const double ticks_a_byte_;             // that lie behind one on the way to the memory; 0: that decides
    const double ticks_a_byte_of_rows_;     // likewise of short rows
    Ticks paced_;                           // none may leave before
    const std::size_t most_writes_;         // under way at a time, while nothing is read
    const Bytes queued_writes_;             // or of so many bytes together
    std::size_t reads_under_way_ = 0, writes_under_way_ = 0;
    Bytes written_under_way_;
    const Bytes most_waiting_;  // to be written
    Bytes waiting_bytes_;
    bool draining_ = false;                             // as much waited as may, and half still does
    std::multimap<std::int64_t, Piece*> on_their_way_;  // all that have not come or been written, by address
    Piece* requesting_ = nullptr;                       // has no END_REQ yet
    PayloadPool<Piece> pool_;
    sc_core::sc_event leave_{"leave"};
    std::function<void(std::int64_t, std::int64_t)> writing_back_;
    std::function<void()> cleaned_;  // to be told, while all that is dirty is written
    std::size_t layer_ = 0;  // of the last transaction: what is written then is its, whoever stored it
    Counts counts_;
};

}  // namespace systole::simt
