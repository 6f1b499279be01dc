// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/tile_loader.h"

#include "sim/base/check.h"

namespace systole {

void TileLoader::arrive(Cycles at) {
    SYSTOLE_CHECK(fifo_.empty() || fifo_.back() <= at, "a tile for cycle {} overtook another", at.value());
    fifo_.push_back(at);
}

void TileLoader::use() {
    SYSTOLE_CHECK(full(), "a pass took a tile that is not in");
    register_ = shadow_ ? Register::Free : Register::InUse;
}

void TileLoader::release() {
    SYSTOLE_CHECK(register_ == Register::InUse, "a tile register was released twice");
    register_ = Register::Free;
}

std::int32_t TileLoader::clock(Cycles now) {
    if (register_ == Register::Free && !fifo_.empty() && fifo_.front() <= now) {
        fifo_.pop_front();
        register_ = Register::Filling;
        step_ = 0;
    } else if (register_ == Register::Filling) {
        ++step_;
    } else {
        return kNone;
    }
    if (step_ == rows_ - 1) register_ = Register::Full;
    return step_;
}

Cycles TileLoader::next_shift() const {
    return register_ == Register::Free && !fifo_.empty() ? fifo_.front() : kNever;
}

}  // namespace systole
