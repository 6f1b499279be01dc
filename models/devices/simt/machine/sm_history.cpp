// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/sm_history.h"

#include <algorithm>

namespace systole::simt {
namespace {

constexpr auto kUseful = static_cast<std::size_t>(SlotClass::Useful);

/// Work, or a wait of one class only.
bool alike(const ClassTimes& a, const ClassTimes& b) {
    if ((a[kUseful] > 0) != (b[kUseful] > 0)) return false;
    return a[kUseful] > 0 || most_of(a) == most_of(b);
}

}  // namespace

ClassTimes times_between(const ClassTimes& before, const ClassTimes& until) {
    ClassTimes times = until;
    for (std::size_t c = 0; c < kSlotClasses; ++c) times[c] -= before[c];
    return times;
}

SlotClass most_of(const ClassTimes& times) {
    return static_cast<SlotClass>(std::max_element(times.begin(), times.end()) - times.begin());
}

void SmHistory::add(const Piece& piece) {
    const std::size_t size = pieces_.size();
    if (size > 0 && pieces_.back().end == piece.end) {
        pieces_.back() = piece;
        return;
    }
    if (size > 0) {
        const ClassTimes before = size > 1 ? pieces_[size - 2].sum : ClassTimes{};
        const ClassTimes last = times_between(before, pieces_.back().sum);
        if (alike(last, times_between(pieces_.back().sum, piece.sum))) {
            pieces_.back() = piece;
            return;
        }
    }
    pieces_.push_back(piece);
    if (pieces_.size() > most_) thin();
}

// Joins neighbours that together are no longer than a length, which doubles until half of the pieces are
// gone.
void SmHistory::thin() {
    const Fine whole = pieces_.back().end - pieces_.front().end;
    if (least_ == Fine()) least_ = Fine(whole.value() / static_cast<std::int64_t>(4 * most_) + 1);
    while (pieces_.size() > most_ / 2) {
        std::vector<Piece> kept;
        for (const Piece& piece : pieces_) {
            const std::size_t size = kept.size();
            if (size > 1 && piece.end - kept[size - 2].end <= least_)
                kept.back() = piece;
            else
                kept.push_back(piece);
        }
        pieces_ = std::move(kept);
        least_ = least_ * 2;
    }
}

}  // namespace systole::simt
