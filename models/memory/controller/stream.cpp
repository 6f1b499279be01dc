// SPDX-License-Identifier: Apache-2.0
#include "models/memory/controller/stream.h"

namespace systole {

void Stream::start(const AddressMap& map, std::int64_t bursts_per_row) {
    stride_ = map.column_stride();
    page_ = stride_ * bursts_per_row;
    jobs.clear();
    std::fill(lanes.begin(), lanes.end(), Lane{});
    given = told = 0;
    ranked = 0;
    next = begin;
    open = true;
    booked = beside_known = false;
    // The bursts of one rotation belong to as many runs, which are met in this order.
    at_ = local;
    place_run(map);
}

/// The run that begins, as far as the stream is concerned, with local burst at_.
void Stream::place_run(const AddressMap& map) {
    const RowRun place = map.locate(at_);
    const std::int64_t page_begin = at_ & ~(page_ - 1), within = at_ & (stride_ - 1);
    run = {place.bank, place.row, at_ - local, page_begin + page_ - stride_ + within - local};
}

/// After the runs that begin within the first rotation come those of the next page, in order.
void Stream::next_run(const AddressMap& map) {
    const std::int64_t next_at = at_ + 1, page_begin = at_ & ~(page_ - 1);
    const std::int64_t rotation_end = std::max(local, page_begin) + stride_;
    at_ = next_at < rotation_end ? next_at : page_begin + page_;
    place_run(map);
}

}  // namespace systole
