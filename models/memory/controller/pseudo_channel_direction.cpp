// SPDX-License-Identifier: Apache-2.0
// Which way the data bus of a pseudo-channel moves data, and which burst has waited too long. Reads go first;
// the bus turns to writes when they fill their queue or when no read waits, and back when few are left and
// none of them hits an open row: the reads would close it, and the next batch open it again.
#include <algorithm>
#include <bit>

#include "models/memory/controller/pseudo_channel.h"

namespace systole {

Direction PseudoChannel::urgent_direction() const {
    return window_.oldest_sequence(Direction::Read) == oldest_ ? Direction::Read : Direction::Write;
}

bool PseudoChannel::urgent_hits() const {
    const Direction direction = urgent_direction();
    return window_.oldest_hit(direction, window_.oldest(direction).bank) == oldest_;
}

/// The urgent burst could be given its column but for the direction. Until then the others go on.
bool PseudoChannel::urgent_is_ready() const {
    return urgent_hits() && !(barred_ & urgent_bank());
}

bool PseudoChannel::many_writes() const {
    return entries_->used(Direction::Write) >= policy_.high;
}

/// Of the writes that waited when the bus was first to turn back some hit open rows.
bool PseudoChannel::hits_to_write() const {
    const std::int64_t* const sequences = window_.hits_by_age(Direction::Write);
    for (std::uint64_t left = window_.hits(Direction::Write) & ~(barred_ | capped_); left != 0;
         left &= left - 1)
        if (sequences[std::countr_zero(left)] <= last_write_) return true;
    return false;
}

/// Whether the direction, or what is urgent, changes when the next clock begins as things stand.
bool PseudoChannel::turns() const {
    if (urgent_ != waited_too_long()) return true;
    if (urgent_ && urgent_direction() == active_) return false;
    const bool forced = urgent_ && urgent_is_ready();
    const int reads = window_.size(Direction::Read), writes = window_.size(Direction::Write);
    if (active_ == Direction::Read) return writes > 0 && (reads == 0 || forced || many_writes());
    if (writes == 0 || forced) return true;
    return reads > 0 && writes <= write_floor_ && (last_write_ == Window::kNone || !hits_to_write());
}

void PseudoChannel::choose_direction(Cycles now) {
    if (urgent_ != waited_too_long()) {
        urgent_ = !urgent_;
        forget_choices();
        if (!turns()) return;
    }
    const int reads = window_.size(Direction::Read), writes = window_.size(Direction::Write);
    const bool forced = urgent_ && urgent_is_ready();
    if (active_ == Direction::Read) {
        active_ = Direction::Write;
        write_floor_ = reads > 0 && writes <= policy_.low ? 0 : policy_.low;
        last_write_ = Window::kNone;
    } else {
        if (writes > 0 && !forced && last_write_ == Window::kNone) {
            last_write_ = window_.youngest(Direction::Write).sequence;
            if (hits_to_write()) return;
        }
        active_ = Direction::Read;
    }
    active_since_ = now;
    forget_choices();
}

}  // namespace systole
