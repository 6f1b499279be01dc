// SPDX-License-Identifier: Apache-2.0
#include "sim/device/equal_turns.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/base/check.h"
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

/// A block in rows, which hold `joined` layers each and begin at those layers.
EqualTurns::Block in_rows(const RepeatedBlock& block, const std::vector<std::size_t>& joined,
                          const std::vector<std::size_t>& begins) {
    std::vector<std::size_t> bounds;  // of turns: the row that begins there
    for (std::size_t turn = 0; turn <= block.turns; ++turn) {
        const auto row = std::ranges::lower_bound(begins, block.first_layer + turn * block.layers);
        if (*row != block.first_layer + turn * block.layers) return {0, 0, block.turns, false};
        bounds.push_back(static_cast<std::size_t>(row - begins.begin()));
    }
    const auto rows = [&](std::size_t turn) {
        return std::span(joined).subspan(bounds[turn], bounds[turn + 1] - bounds[turn]);
    };
    for (std::size_t turn = 1; turn < block.turns; ++turn)
        if (!std::ranges::equal(rows(turn), rows(0))) return {0, 0, block.turns, false};
    return {bounds[0], rows(0).size(), block.turns, true};
}

}  // namespace

EqualTurns turns_of(const Graph& graph, const std::vector<std::size_t>& joined) {
    EqualTurns turns;
    std::vector<std::size_t> begins{0};
    for (const std::size_t layers : joined) {
        turns.names.push_back(graph.layers[begins.back()].name);
        begins.push_back(begins.back() + layers);
    }
    SYSTOLE_CHECK(begins.back() == graph.layers.size(), "rows of {} of {} layers", begins.back(),
                  graph.layers.size());
    for (const RepeatedBlock& block : graph.blocks) {
        EqualTurns::Block& in = turns.blocks.emplace_back(in_rows(block, joined, begins));
        in.alike = in.alike && in.worth_it() && turns_alike(graph, block);
    }
    return turns;
}

EqualTurns turns_of(const Graph& graph) {
    return turns_of(graph, std::vector<std::size_t>(graph.layers.size(), 1));
}

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

Ticks doubt_of(const TurnMarks& marks, const Agreement& agreed, std::size_t times, const TurnRule& rule) {
    return uncertainty(marks, agreed, times, rule) + last_turns_differ(marks, agreed);
}

Ticks doubt_of_ends(std::size_t blocks, Ticks jitter) {
    const double ends = 2 * std::sqrt(static_cast<double>(blocks)) * static_cast<double>(jitter.value());
    return Ticks(static_cast<std::int64_t>(std::ceil(ends)));
}

}  // namespace systole
