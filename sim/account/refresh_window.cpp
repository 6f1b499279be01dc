// SPDX-License-Identifier: Apache-2.0
#include "sim/account/refresh_window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace systole {
namespace {

/// Of fewer turns nobody knows how much they differ.
constexpr std::size_t kLeastTurns = 6;
/// Of the time of a turn at most one part in so many may be wrong: a quarter of what is promised, for turns
/// may still settle.
constexpr double kWindowFineness = 4000;
/// Places where turns begin are at most so much of a period apart.
constexpr double kWidestGap = 0.25;

/// A mark outside what a refresh may delay.
struct QuietMark {
    std::size_t turn = 0;        ///< that begins there
    std::int64_t time = 0;       ///< ps
    std::int64_t refreshes = 0;  ///< that fell due by then
    std::int64_t place = 0;      ///< ps since the last one
};

std::vector<QuietMark> quiet_marks(const TurnMarks& marks, const Refreshes& refreshes) {
    std::vector<QuietMark> quiet;
    for (std::size_t turn = 0; turn < marks.size(); ++turn) {
        const std::int64_t since = (marks[turn].time - refreshes.first).value();
        if (since < 0) continue;
        const std::int64_t every = refreshes.every.value();
        const QuietMark mark{turn, marks[turn].time.value(), since / every, since % every};
        // What waits behind one that a refresh delays is later, too.
        if (mark.place >= 2 * refreshes.takes.value()) quiet.push_back(mark);
    }
    return quiet;
}

/// Turns between two quiet marks.
struct Piece {
    double turns = 0, refreshes = 0, time = 0;
};

/// What a refresh costs, if each turn takes as long besides: by least squares.
double cost_of_refresh(const std::vector<Piece>& pieces, double most) {
    double nn = 0, nk = 0, kk = 0, nt = 0, kt = 0;
    for (const Piece& piece : pieces) {
        nn += piece.turns * piece.turns, nk += piece.turns * piece.refreshes;
        kk += piece.refreshes * piece.refreshes, nt += piece.turns * piece.time;
        kt += piece.refreshes * piece.time;
    }
    // Where all pieces meet as many a turn, what one costs makes no difference.
    const double determinant = nn * kk - nk * nk;
    if (determinant <= 1e-9 * nn * kk) return 0;
    return std::clamp((nn * kt - nk * nt) / determinant, 0.0, most);
}

/// By how much turns differ from piece to piece, but for what refreshes cost.
double spread(const std::vector<Piece>& pieces, double cost) {
    double least = std::numeric_limits<double>::max(), most = 0;
    for (const Piece& piece : pieces) {
        const double each = (piece.time - piece.refreshes * cost) / piece.turns;
        least = std::min(least, each);
        most = std::max(most, each);
    }
    return most - least;
}

/// Where turns begin, between one refresh and the next.
class Places {
public:
    Places(const TurnMarks& marks, const Refreshes& refreshes) : marks_(marks), refreshes_(refreshes) {}

    /// From `turn` on, all over the period; of earlier turns at every call.
    bool spread_from(std::size_t turn) {
        for (; first_ > turn; --first_) {
            const std::int64_t place =
                (marks_[first_ - 1].time - refreshes_.first).value() % refreshes_.every.value();
            places_.insert(std::ranges::upper_bound(places_, place), place);
        }
        std::int64_t widest = places_.front() + refreshes_.every.value() - places_.back();
        for (std::size_t i = 1; i < places_.size(); ++i)
            widest = std::max(widest, places_[i] - places_[i - 1]);
        return static_cast<double>(widest) <= kWidestGap * static_cast<double>(refreshes_.every.value());
    }

private:
    const TurnMarks& marks_;
    const Refreshes& refreshes_;
    std::size_t first_ = turns_of(marks_);
    std::vector<std::int64_t> places_;  // ascending, of turns from `first_` on
};

}  // namespace

RefreshWindow refresh_window(const TurnMarks& marks, const Refreshes& refreshes, std::size_t blocks) {
    RefreshWindow best;
    if (refreshes.every <= Ticks(0) || marks.size() <= kLeastTurns) return best;
    const std::vector<QuietMark> quiet = quiet_marks(marks, refreshes);
    if (quiet.empty() || quiet.back().turn + 1 < marks.size()) return best;
    const auto takes = static_cast<double>(refreshes.takes.value());
    const QuietMark& end = quiet.back();
    double best_share = std::sqrt(static_cast<double>(blocks)) / kWindowFineness;
    std::vector<Piece> pieces;
    Places places(marks, refreshes);
    for (std::size_t i = quiet.size() - 1; i-- > 0;) {
        const QuietMark &begin = quiet[i], &next = quiet[i + 1];
        pieces.push_back({static_cast<double>(next.turn - begin.turn),
                          static_cast<double>(next.refreshes - begin.refreshes),
                          static_cast<double>(next.time - begin.time)});
        const std::size_t turns = end.turn - begin.turn;
        if (turns < kLeastTurns || pieces.size() < kLeastTurns / 2) continue;
        if (!places.spread_from(begin.turn)) continue;
        const double cost = cost_of_refresh(pieces, 2 * takes);
        const double apart = static_cast<double>(std::abs(end.place - begin.place)) /
                             static_cast<double>(refreshes.every.value());
        const double off = spread(pieces, cost) + apart * std::max(cost, takes);
        const double share = off / static_cast<double>(end.time - begin.time);
        if (share > best_share) continue;
        best_share = share;
        best = {turns, Ticks(static_cast<std::int64_t>(std::ceil(off)))};
    }
    return best;
}

}  // namespace systole
