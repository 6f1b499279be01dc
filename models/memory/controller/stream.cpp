// SPDX-License-Identifier: Apache-2.0
#include "models/memory/controller/stream.h"

namespace systole {

/// The parts of a bank's number are XORed, and no row bit lies in a page.
Stream::Stream(int banks, const AddressMap& map, std::int64_t bursts_per_row)
    : lanes(static_cast<std::size_t>(banks)), stride_(map.column_stride()), page_(stride_ * bursts_per_row) {
    for (std::int64_t place = 0; place < stride_; ++place) banks_.push_back(map.bank_of(place));
    put_off.of_bank.resize(static_cast<std::size_t>(banks));
}

void Stream::start(const AddressMap& map) {
    jobs.clear();
    std::fill(lanes.begin(), lanes.end(), Lane{});
    given = told = 0;
    ranked = 0;
    next = begin;
    open = true;
    booked = false;
    beside = Choice();
    beside.direction = direction;
    beside_known = true;
    // The bursts of one rotation belong to as many runs, which are met in this order.
    at_ = local;
    at_page_ = page_of(map, at_);
    place_run();
}

/// The run that begins, as far as the stream is concerned, with local burst at_.
void Stream::place_run() {
    const std::int64_t last = at_page_.end - stride_ + (at_ & (stride_ - 1));
    run = {bank_in(at_page_, at_), at_page_.row, at_ - local, last - local};
}

/// After the runs that begin within the first rotation come those of the next page, in order.
void Stream::next_run(const AddressMap& map) {
    if (++at_ >= std::max(local, at_page_.begin) + stride_ || at_ == at_page_.end) {
        at_ = at_page_.end;
        at_page_ = page_of(map, at_);
    }
    place_run();
}

void Stream::skip_page(const AddressMap& map) {
    at_ = at_page_.end;
    at_page_ = page_of(map, at_);
    place_run();
}

void Stream::go_back(const Page& page, std::int64_t lane) {
    at_page_ = page;
    at_ = page.begin + lane;
    place_run();
}

}  // namespace systole
