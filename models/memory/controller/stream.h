// SPDX-License-Identifier: Apache-2.0
// A stream as the controller plans it: consecutive bursts whose columns follow each other in order at an even
// cadence, and the rows that they need on the way. It stays open as long as arrivals continue it. Positions
// count its bursts from 0. A page is one row of each bank over which consecutive bursts rotate; the part of
// one bank is a run, every `stride`-th burst of the page.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/controller/choice.h"
#include "models/memory/controller/fifo.h"
#include "models/memory/standards/dram_command.h"
#include "sim/base/units.h"

namespace systole {

struct Stream {
    struct Run {
        int bank = 0;
        std::int64_t row = 0, first = 0, last = 0;  ///< positions; the last as if the stream went on
    };
    struct Page {
        std::int64_t begin = 0, end = 0, row = 0;
        int bank = 0;  ///< of its first burst
    };
    /// A run whose row must be opened; `since` is the clock from which the scheduler knows.
    struct Job {
        Run run;
        std::int64_t sequence = 0;
        Cycles since;
    };
    /// The last run of a bank; none if `first` is negative.
    struct Lane {
        std::int64_t first = -1, last = -1;
    };

    /// Pages whose rows are opened, but of which nobody has been told.
    struct PutOff {
        struct Page {
            Cycles sight;            ///< of its first run
            std::int64_t first = 0;  ///< the position of its first burst
            bool open = false;       ///< its banks had other rows
            Stream::Page page;
        };
        Fifo<Page> pages;
        std::int64_t gone = 0;              ///< so many before them are made up for, or given
        std::vector<std::int64_t> of_bank;  ///< 1 + the number of its last page, those counted; 0: none
        std::int16_t lane = 0;              ///< of the first page: the next run that is to be seen, …
        std::size_t step = 0;               ///< … and the next command
    };

    Stream(int banks, const AddressMap& map, std::int64_t bursts_per_row);

    Cycles clock(std::int64_t position) const { return begin + cadence * position; }

    /// Sets out at the run of the first burst.
    void start(const AddressMap& map);
    bool has_run() const { return run.first < bursts; }
    void next_run(const AddressMap& map);

    /// Where consecutive bursts lie, by their local numbers: all of a page have one row, and the bank differs
    /// by what their place in the rotation says.
    Page page_of(const AddressMap& map, std::int64_t burst) const {
        const std::int64_t begin = burst & -page_;
        return {begin, begin + page_, map.row_of(begin), map.bank_of(begin)};
    }
    int bank_in(const Page& page, std::int64_t burst) const { return bank_at(page, burst & (stride_ - 1)); }
    int bank_at(const Page& page, std::int64_t place) const {
        return page.bank ^ banks_[static_cast<std::size_t>(place)];
    }

    /// The part of the bank by place in the rotation.
    const std::vector<int>& rotation() const { return banks_; }
    std::int64_t stride() const { return stride_; }
    /// The run that comes next is the first of a whole page.
    bool at_page() const { return at_ == at_page_.begin; }
    const Page& page() const { return at_page_; }
    /// Behind that page; and back to the run of `page` that has this place in the rotation.
    void skip_page(const AddressMap& map);
    void go_back(const Page& page, std::int64_t lane);

    Direction direction = Direction::Read;
    std::int64_t local = 0;   ///< the first burst's number in its pseudo-channel
    std::int64_t bursts = 0;  ///< so many have arrived
    std::int64_t given = 0;   ///< so many columns are given
    std::int64_t told = 0;    ///< so many a listener knows of
    std::size_t ranked = 0;   ///< so many ranges that wait have their rank
    bool open = false;
    bool continued = false;  ///< others, which do not continue it, wait behind
    bool booked = false;     ///< what came before the first column
    Cycles begin, cadence;
    Cycles limit;       ///< it ends here, or earlier if it runs dry or rows come too late: …
    Cycles certain;     ///< … so far it goes on as things stand
    Cycles next;        ///< clock(given)
    Cycles seen_since;  ///< the clock at which the planning begins

    Run run;                        ///< the next that is not yet a job or open, …
    std::int64_t run_sequence = 0;  ///< … if it has arrived its first burst's sequence number, …
    Cycles sight = Cycles::max();   ///< … and the clock at which it comes into question
    std::vector<Job> jobs;          ///< in order, so by age
    std::vector<Lane> lanes;        ///< by bank
    Choice beside;                  ///< the first command for one of the jobs, …
    std::size_t beside_job = 0;     ///< … for which …
    bool beside_known = false;      ///< … unless something has been given since
    PutOff put_off;                 ///< before the run
    Page refilled;                  ///< of the burst that last entered the window behind it
    std::vector<Cycles> entered;    ///< when those entered that were in the window when it began

private:
    void place_run();

    std::int64_t stride_, page_;  // bursts
    std::vector<int> banks_;      // by place in the rotation: its part of the bank
    Page at_page_;                // that of the run, …
    std::int64_t at_ = 0;         // … and the local number of its first burst there
};

}  // namespace systole
