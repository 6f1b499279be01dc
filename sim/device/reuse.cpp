// SPDX-License-Identifier: Apache-2.0
#include "sim/device/reuse.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/checked.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

namespace systole {
namespace {

/// Turns that are simulated: at first, and once more if those have not agreed. Two turns before the last two
/// are compared, and what they do depends on those before them.
constexpr std::size_t kSimulated[] = {5, 9};
/// With fewer turns than all of these together it is as cheap to simulate them all.
constexpr std::size_t kWorthIt = 16;

/// So many turns of each block that are to be simulated.
std::vector<std::size_t> turns_of(const Graph& graph, std::size_t simulated) {
    std::vector<std::size_t> turns;
    for (const RepeatedBlock& block : graph.blocks)
        turns.push_back(block.turns >= kWorthIt && turns_alike(graph, block) ? simulated : block.turns);
    return turns;
}

/// The turns of a shortened block that are compared: layers before the first, between them, and up to the end
/// of the second, which is the last before those that were left out.
std::vector<std::size_t> marks_of(const RepeatedBlock& block) {
    std::vector<std::size_t> marks;
    for (std::size_t turn = block.turns - kLastTurns - 2; turn <= block.turns - kLastTurns; ++turn)
        marks.push_back(block.first_layer + turn * block.layers);
    return marks;
}

/// The layers of the turns that are left out.
std::vector<std::string> names_left_out(const Graph& graph, const RepeatedBlock& block,
                                        std::size_t simulated) {
    std::vector<std::string> names;
    const std::size_t first = block.first_layer + (simulated - kLastTurns) * block.layers;
    const std::size_t end = block.first_layer + (block.turns - kLastTurns) * block.layers;
    for (std::size_t layer = first; layer < end; ++layer) names.push_back(graph.layers[layer].name);
    return names;
}

void refuse_too_long(const MarkedRun& run, Ticks turn, std::size_t times) {
    const auto more = checked_mul(turn.value(), static_cast<std::int64_t>(times));
    const auto all = more ? checked_add(*more, run.checked.result.total.end.value()) : std::nullopt;
    if (!all || *all > run.longest.value())
        throw UserError(
            fmt::format("'{}' takes more than {} of simulated time on this machine; that is more "
                        "than can be accounted for",
                        run.checked.result.trace, format_time(run.longest)));
}

/// A shorter network, of which some blocks have lost turns.
struct Attempt {
    std::vector<std::size_t> turns;   // by block
    std::vector<std::size_t> blocks;  // those that have lost some
    std::vector<std::size_t> marks;   // three a block
    ShorterGraph shorter;
};

Attempt shorten_to(const Graph& graph, std::size_t simulated) {
    Attempt attempt{turns_of(graph, simulated), {}, {}, {}};
    attempt.shorter = shorten(graph, attempt.turns);
    for (std::size_t b = 0; b < attempt.turns.size(); ++b) {
        if (attempt.turns[b] == graph.blocks[b].turns) continue;
        attempt.blocks.push_back(b);
        std::ranges::copy(marks_of(attempt.shorter.graph.blocks[b]), std::back_inserter(attempt.marks));
    }
    return attempt;
}

TurnMarks marks_of_block(const MarkedRun& run, std::size_t number) {
    const auto first = run.marks.begin() + static_cast<std::ptrdiff_t>(3 * number);
    return {first, first + 3};
}

/// The result made as long as the whole network's; nothing if turns that were compared do not agree.
std::optional<DeviceResult> try_with(const Graph& graph, const Attempt& attempt, const RunShorter& run) {
    MarkedRun marked = run(attempt.shorter, attempt.marks);
    for (std::size_t i = 0; i < attempt.blocks.size(); ++i)
        if (!turns_agree(marked.checked.result, marks_of_block(marked, i), marked.jitter))
            return std::nullopt;
    for (std::size_t i = attempt.blocks.size(); i-- > 0;) {  // from the last on: marks before it stay true
        const std::size_t b = attempt.blocks[i];
        const TurnMarks marks = marks_of_block(marked, i);
        const std::size_t times = graph.blocks[b].turns - attempt.turns[b];
        refuse_too_long(marked, marks[2].time - marks[1].time, times);
        std::vector<std::size_t> one_less = attempt.turns;
        --one_less[b];
        repeat_turn(marked.checked, marks, run(shorten(graph, one_less), {}).checked, times,
                    names_left_out(graph, graph.blocks[b], attempt.turns[b]));
    }
    check_invariants(marked.checked.result, marked.checked.expected);
    return std::move(marked.checked.result);
}

}  // namespace

std::optional<DeviceResult> run_reusing(const Graph& graph, const RunShorter& run) {
    for (const std::size_t simulated : kSimulated) {
        const Attempt attempt = shorten_to(graph, simulated);
        if (attempt.blocks.empty()) return std::nullopt;
        if (auto result = try_with(graph, attempt, run)) return result;
    }
    return std::nullopt;
}

}  // namespace systole
