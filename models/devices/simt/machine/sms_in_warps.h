// SPDX-License-Identifier: Apache-2.0
// SMs warp instruction by warp instruction, whose copies, loads and stores leave for the L2 as addresses, and
// are told when they were answered. Plain C++: time is a number of cycles.
//
//   Sm, Sm, … ─► accesses, by the time at which they leave ─► L2 … answered(number) ─► Sm
//
// Copies of whole blocks (bulk copies) leave in pieces, one copy behind the other, as fast as the SM's port
// takes them: none keeps the ports of the L2 from other SMs for long.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "models/devices/simt/machine/tile_access.h"
#include "models/devices/simt/sm/sm.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

class SmsInWarps {
public:
    /// Asked when an instruction of an SM accesses the memory: where. No blocks: nothing (it is predicated
    /// off). Of `tiles`, blocks, bytes_of_sm and short_rows count.
    using Where = std::function<TileAccess(std::size_t sm, const Sm::Access& access)>;
    struct Leaving {
        std::int64_t at = 0, number = 0;  ///< `number` comes back with the answer
        bool write = false;
        TileAccess tiles;
    };

    /// `macs_per_cycle`: of one tensor core.
    SmsInWarps(const SimtSpec& spec, std::size_t sms, std::int64_t macs_per_cycle, Where where);
    SmsInWarps(const SmsInWarps&) = delete;  // its SMs call it
    SmsInWarps& operator=(const SmsInWarps&) = delete;

    std::size_t count() const { return sms_.size(); }
    Sm& sm(std::size_t number) { return sms_[number]; }
    const Sm& sm(std::size_t number) const { return sms_[number]; }

    /// The cycle of the next instruction or departure; Sm::kNever: only an answer or a CTA can bring one.
    std::int64_t next();
    /// All that issues until the end of `cycle`; appends what leaves by then.
    void advance(std::int64_t cycle, std::vector<Leaving>& leaving);
    void answered(std::int64_t number, std::int64_t cycle);
    /// Of what a CTA stores, as launch() numbered it, something is not answered.
    bool storing(std::size_t sm, std::size_t cta) const;
    /// Nothing waits for its departure or its answer.
    bool quiet() const { return departures_.empty() && under_way_ == 0; }

private:
    /// A request of an SM, of which so many pieces were not answered. Nobody waits for stores of threads.
    struct Request {
        std::size_t sm = 0;
        std::int64_t request = 0;
        std::int64_t pieces = 0;
        bool write = false, awaited = true;
        std::size_t cta = 0;
    };
    struct Departure {
        Leaving leaving;
        std::int64_t order;
    };
    struct Later {
        bool operator()(const Departure& a, const Departure& b) const {
            return a.leaving.at != b.leaving.at ? a.leaving.at > b.leaving.at : a.order > b.order;
        }
    };

    std::int64_t leave(std::size_t sm, const Sm::Access& access);
    std::int64_t leave(std::size_t sm, const std::vector<std::int64_t>& sectors, std::int64_t at,
                       std::int64_t request);
    std::int64_t new_request(const Request& request);
    void depart(std::int64_t number, std::int64_t at, std::size_t sm, TileAccess tiles);
    void depart_in_pieces(std::int64_t number, std::int64_t at, std::size_t sm, const TileAccess& tiles);

    const Where where_;
    const std::int64_t read_width_, write_width_;  // bytes a cycle of an SM's ports
    std::deque<Sm> sms_;
    /// Of each SM, when all its bulk copies so far have left: into it, and out of it.
    struct BulkCopies {
        std::int64_t in = 0, out = 0;
    };
    std::vector<BulkCopies> bulk_copies_;
    std::priority_queue<Departure, std::vector<Departure>, Later> departures_;
    std::int64_t departed_ = 0;
    std::vector<Request> requests_;                                       // by number; used again
    std::vector<std::int64_t> free_;                                      // numbers
    std::int64_t under_way_ = 0;                                          // pieces
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> stored_;  // pieces of an SM's CTA, if any
};

}  // namespace systole::simt
