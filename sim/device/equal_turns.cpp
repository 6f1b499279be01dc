// SPDX-License-Identifier: Apache-2.0
#include "sim/device/equal_turns.h"

#include <algorithm>
#include <cmath>

#include "sim/workload/shorter_graph.h"

namespace systole {
namespace {

/// The last turns are simulated in the place of others, perhaps in another one of their round: by how much so
/// many in a row differ, wherever in it they begin.
Ticks last_turns_differ(const TurnMarks& marks, const Agreement& agreed) {
    if (agreed.round == 1) return Ticks(0);
    Ticks least = Ticks::max(), most;
    for (std::size_t end = marks.size() - agreed.turns - 1 + kLastTurns; end < marks.size(); ++end) {
        const Ticks time = marks[end].time - marks[end - kLastTurns].time;
        least = std::min(least, time);
        most = std::max(most, time);
    }
    return most - least;
}

}  // namespace

TurnsLeft with_turns(const EqualTurns& all, std::vector<std::size_t> turns) {
    std::vector<std::size_t> marked;
    for (std::size_t b = 0; b < turns.size(); ++b)
        marked.push_back(all.blocks[b].worth_it() ? turns[b] - kLastTurns : 0);
    return with_turns(all, std::move(turns), std::move(marked));
}

TurnsLeft with_turns(const EqualTurns& all, std::vector<std::size_t> turns, std::vector<std::size_t> marked) {
    TurnsLeft left{std::move(turns), std::move(marked), {}};
    std::size_t left_out = 0;  // layers, before the block
    for (std::size_t b = 0; b < left.turns.size(); ++b) {
        const EqualTurns::Block& block = all.blocks[b];
        for (std::size_t turn = 1; turn <= left.marked[b]; ++turn)
            left.marks.push_back(block.first_layer - left_out + turn * block.layers);
        left_out += (block.turns - left.turns[b]) * block.layers;
    }
    return left;
}

std::vector<TurnMarks> by_block(const std::vector<std::size_t>& marked, const std::vector<Mark>& met) {
    std::vector<TurnMarks> marks;
    auto mark = met.begin();
    for (const std::size_t count : marked) {
        const auto end = mark + std::min(static_cast<std::ptrdiff_t>(count), met.end() - mark);
        marks.emplace_back(mark, end);
        mark = end;
    }
    return marks;
}

Ticks doubt_of(const TurnMarks& marks, const Agreement& agreed, std::size_t times, TurnsDiffer how) {
    return uncertainty(marks, agreed, times, how) + last_turns_differ(marks, agreed);
}

Ticks doubt_of_ends(std::size_t blocks, Ticks jitter) {
    const double ends = 2 * std::sqrt(static_cast<double>(blocks)) * static_cast<double>(jitter.value());
    return Ticks(static_cast<std::int64_t>(std::ceil(ends)));
}

}  // namespace systole
