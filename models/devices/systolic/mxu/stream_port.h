// SPDX-License-Identifier: Apache-2.0
// The operand port at the left edge: feeds the vectors of one pass after another into row 0, spaced by the
// pass's port schedule. A register counts how far the vectors fed are ahead of the cycles passed; no
// multiplication.
#pragma once

#include <cstdint>

#include "models/devices/systolic/mxu/matrix_engine.h"

namespace systole {

class StreamPort {
public:
    /// No vector enters in this cycle.
    static constexpr std::int64_t kNone = -1;

    bool free() const { return !busy_; }
    /// Feeds `pass` from the coming clock on; the port must be free.
    void start(const Pass& pass);
    /// One clock: the number of the vector that enters row 0, or kNone.
    std::int64_t clock();

private:
    bool busy_ = false;
    std::int64_t next_ = 0;
    std::int64_t vectors_ = 0;
    Rational rate_;
    std::int64_t ahead_ = 0;  // next_ * rate - cycles passed, in units of 1 / rate_.den cycles
};

/// feed(vector, cycle) for every vector as the port would feed it if `pass` started in cycle `start`, until
/// one answers false. Answers whether none did.
template <class Feed>
bool every_feed(const Pass& pass, Cycles start, const Feed& feed) {
    StreamPort rehearsal;
    rehearsal.start(pass);
    for (Cycles cycle = start; !rehearsal.free(); cycle += Cycles(1)) {
        const std::int64_t vector = rehearsal.clock();
        if (vector != StreamPort::kNone && !feed(vector, cycle)) return false;
    }
    return true;
}

}  // namespace systole
