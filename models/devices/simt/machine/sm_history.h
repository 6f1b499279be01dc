// SPDX-License-Identifier: Apache-2.0
// What the time of an SM (of a group of alike ones) went to, piece by piece, for a timeline. Bounded: when
// there are too many pieces, short neighbours become one, and no time is lost.
#pragma once

#include <cstddef>
#include <vector>

#include "models/devices/simt/machine/cta_times.h"

namespace systole::simt {

class SmHistory {
public:
    /// Keeps at most so many pieces, at least 4; 0: none.
    explicit SmHistory(std::size_t most = 0) : most_(most == 0 ? 0 : std::max<std::size_t>(most, 4)) {}

    /// From the end of the piece before to `end`.
    struct Piece {
        Fine end;
        ClassTimes sum{};  ///< time of one SM by class, from the kernel's begin to `end`
    };
    /// All time until `end` is charged: `sum` by class. Waits of one class follow each other as one piece,
    /// and so does work.
    void until(Fine end, const ClassTimes& sum) {
        if (most_ > 0) add({end, sum});
    }
    const std::vector<Piece>& pieces() const { return pieces_; }

private:
    void add(const Piece& piece);
    void thin();

    std::size_t most_;
    Fine least_;  // pieces shorter than this were joined
    std::vector<Piece> pieces_;
};

/// Of the SMs with numbers `first_sm` on. Numbers of a kernel go GPC by GPC, without SMs that its clusters
/// cannot use; those, if any, have the highest ones.
struct GroupHistory {
    std::int64_t first_sm = 0, sms = 1;
    std::vector<SmHistory::Piece> pieces;
};

/// The one class that a stretch of time belongs to, Useful where tensor cores work in it at all, if it has
/// but one otherwise; of several, the one with most.
SlotClass most_of(const ClassTimes& times);

/// `piece` less what was before it.
ClassTimes times_between(const ClassTimes& before, const ClassTimes& until);

}  // namespace systole::simt
