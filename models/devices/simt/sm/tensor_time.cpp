// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/sm/tensor_time.h"

#include <algorithm>

namespace systole::simt {

void remember(std::vector<Stall>& stalls, std::int64_t until, Loss loss) {
    if (!stalls.empty() && until <= stalls.back().until) return;
    if (!stalls.empty() && stalls.back().loss == loss)
        stalls.back().until = until;
    else
        stalls.push_back({until, loss});
}

void TensorTime::add(std::int64_t end, std::int8_t loss) {
    if (!pieces_.empty() && pieces_.back().loss == loss)
        pieces_.back().end = end;
    else
        pieces_.push_back({end, loss});
}

void TensorTime::charge(const std::vector<Stall>& stalls, std::int64_t until) {
    for (const Stall& stall : stalls) {
        const std::int64_t end = std::min(stall.until, until);
        if (end > covered()) add(end, static_cast<std::int8_t>(stall.loss));
    }
    if (until > covered()) add(until, static_cast<std::int8_t>(Loss::Dependency));
}

std::int64_t TensorTime::busy(std::int64_t from, std::int64_t until) const {
    std::int64_t sum = 0, begin = 0;
    for (const Piece& piece : pieces_) {
        if (piece.loss < 0)
            sum += std::max<std::int64_t>(0, std::min(piece.end, until) - std::max(begin, from));
        begin = piece.end;
    }
    return sum;
}

void TensorTime::add_lost(std::int64_t from, std::int64_t until, LostTime& lost) const {
    std::int64_t begin = 0;
    for (const Piece& piece : pieces_) {
        const auto overlap = std::max<std::int64_t>(0, std::min(piece.end, until) - std::max(begin, from));
        if (piece.loss >= 0) lost[static_cast<std::size_t>(piece.loss)] += overlap;
        begin = piece.end;
    }
    lost[static_cast<std::size_t>(Loss::Dependency)] +=
        std::max<std::int64_t>(0, until - std::max(begin, from));
}

}  // namespace systole::simt
