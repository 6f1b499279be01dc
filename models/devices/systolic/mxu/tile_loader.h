// SPDX-License-Identifier: Apache-2.0
// The control of the path of stationary tiles: takes them from their FIFO in order and shifts each in over R
// steps, as soon as the register it goes to (the shadow register, or without one the live register) is free.
#pragma once

#include <cstdint>
#include <deque>

#include "models/devices/systolic/mxu/column_runs.h"
#include "models/devices/systolic/mxu/matrix_engine.h"

namespace systole {

class TileLoader {
public:
    /// No row of a tile enters in this cycle.
    static constexpr std::int32_t kNone = kNoStep;

    TileLoader(int rows, bool shadow_register) : rows_(rows), shadow_(shadow_register) {}

    void arrive(Cycles at);
    /// A whole tile waits in the register.
    bool full() const { return register_ == Register::Full; }
    /// A tile that no pass has taken yet is in the register, on its way there, or told.
    bool holds_tile() const {
        return !fifo_.empty() || register_ == Register::Filling || register_ == Register::Full;
    }
    /// A pass takes the tile: a shadow register is swapped out and free, a live one is in use until
    /// release().
    void use();
    void release();
    /// One clock: the step 0 … R - 1 of the shift done in cycle `now` (step k brings tile row R - 1 - k), or
    /// kNone.
    std::int32_t clock(Cycles now);

    /// The first cycle in which the next shift can begin if nothing else happens; kNever: none can.
    Cycles next_shift() const;

private:
    enum class Register { Free, Filling, Full, InUse };

    int rows_;
    bool shadow_;
    std::deque<Cycles> fifo_;
    Register register_ = Register::Free;
    std::int32_t step_ = 0;
};

}  // namespace systole
