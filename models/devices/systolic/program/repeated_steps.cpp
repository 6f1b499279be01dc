// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/repeated_steps.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace systole::systolic {
namespace {

/// Lengths of steps that are tried.
constexpr std::size_t kMostLengths = 48;
/// Ranges of a smaller part of the program are not worth it; so there are few to choose from.
constexpr std::size_t kLeastPart = 64;

/// All that counts of a command, as one number: equal for equal ones, and hardly ever for others, which would
/// only lead to steps that do not come to agree.
class Likeness {
public:
    explicit Likeness(std::int64_t seed) { add(seed); }
    template <class... Values>
    Likeness& add(Values... values) {
        (mix(static_cast<std::uint64_t>(values)), ...);
        return *this;
    }
    std::uint64_t value() const { return value_; }

private:
    void mix(std::uint64_t value) {
        value_ ^= value + 0x9e3779b97f4a7c15U + (value_ << 6) + (value_ >> 2);
        value_ *= 0xbf58476d1ce4e5b9U;
        value_ ^= value_ >> 31;
    }
    std::uint64_t value_ = 0;
};

std::int64_t number(std::optional<DType> dtype) {
    return dtype ? static_cast<std::int64_t>(*dtype) : -1;
}

void add(Likeness& like, const EdgeRead& edge) {
    like.add(edge.stream, edge.vectors, edge.fold_step);
}

void add(Likeness& like, const Transfer& transfer) {
    like.add(transfer.from.place, transfer.to.place, transfer.from.stride, transfer.to.stride, transfer.rows,
             transfer.row_bytes, transfer.operand);
}

void add(Likeness& like, const MatrixPass& pass) {
    add(like, pass.left);
    add(like, pass.top);
    like.add(pass.m, pass.n, pass.k, pass.folds, pass.accumulate, pass.new_tile, pass.dtype,
             number(pass.second_dtype), pass.second, pass.masked, pass.unpacked, pass.sparsity);
}

void add(Likeness& like, const VectorWork& work) {
    like.add(work.source, work.elements, work.lane_cycles, work.scratchpad_read, work.scratchpad_written,
             work.macs, work.mxu, work.accumulator_rows, work.cols, work.operand);
    for (const EdgeRead& read : work.reads) add(like, read);
    add(like, work.write);
}

/// Of each command.
std::vector<std::uint64_t> likenesses(const Program& program) {
    std::vector<std::uint64_t> all;
    all.reserve(program.commands.size());
    std::unordered_map<UnitIndex, std::int64_t> issued;
    for (const Command& command : program.commands) {
        Likeness like(command.unit);
        like.add(command.layer);
        switch (unit_kind(command.unit)) {
            case UnitKind::Matrix:
                add(like, program.pass(command));
                break;
            case UnitKind::Vector:
                add(like, program.vector(command));
                break;
            default:
                add(like, program.transfer(command));
                if (program.transfer(command).lookup.rows > 0) like.add(all.size());
        }
        for (std::uint32_t i = 0; i < command.token_count; ++i) {
            const Token& token = program.tokens[command.first_token + i];
            like.add(token.unit, issued[token.unit] - token.count);
        }
        ++issued[command.unit];
        all.push_back(like.value());
    }
    return all;
}

/// By how much commands that look the same mostly lie apart: of each kind of command that there is often
/// enough the most frequent distance, ascending.
std::vector<std::size_t> likely_lengths(const std::vector<std::uint64_t>& like, std::size_t least) {
    struct Kind {
        std::size_t last = 0, count = 0;
        std::map<std::size_t, std::size_t> distances;
    };
    std::unordered_map<std::uint64_t, Kind> kinds;
    for (std::size_t at = 0; at < like.size(); ++at) {
        Kind& kind = kinds[like[at]];
        if (kind.count++ > 0) ++kind.distances[at - kind.last];
        kind.last = at;
    }
    std::map<std::size_t, std::size_t> lengths;  // and how many kinds of commands say so
    for (const auto& [value, kind] : kinds) {
        if (kind.count < least) continue;
        const auto most =
            std::ranges::max_element(kind.distances, {}, [](const auto& d) { return d.second; });
        ++lengths[most->first];
    }
    std::vector<std::pair<std::size_t, std::size_t>> by_count;
    for (const auto& [length, count] : lengths) by_count.emplace_back(count, length);
    std::ranges::sort(by_count, std::greater());
    if (by_count.size() > kMostLengths) by_count.resize(kMostLengths);
    std::vector<std::size_t> likely;
    for (const auto& [count, length] : by_count) likely.push_back(length);
    std::ranges::sort(likely);
    return likely;
}

/// Whether a step may be left out: all of it is one layer's, and its passes use as many tiles of the weight
/// FIFOs as it loads, so that those of others find theirs.
bool stands_alone(const Program& program, std::size_t first, std::size_t count) {
    std::map<UnitIndex, int> tiles;  // by unit that loads them
    for (std::size_t i = first; i < first + count; ++i) {
        const Command& command = program.commands[i];
        if (command.layer != program.commands[first].layer) return false;
        if (unit_kind(command.unit) == UnitKind::Weights) ++tiles[command.unit];
        if (unit_kind(command.unit) != UnitKind::Matrix) continue;
        const MatrixPass& pass = program.pass(command);
        if (pass.new_tile && pass.top.none())
            --tiles[unit_index(UnitKind::Weights, mxu_of(command.unit), core_of(command.unit))];
    }
    return std::ranges::all_of(tiles, [](const auto& unit) { return unit.second == 0; });
}

/// All ranges of steps of this length.
void find_ranges(const Program& program, const std::vector<std::uint64_t>& like, std::size_t length,
                 std::size_t least, std::vector<RepeatedSteps>& ranges) {
    for (std::size_t at = 0; at + length < like.size();) {
        std::size_t equal = 0;
        while (at + equal + length < like.size() && like[at + equal] == like[at + equal + length]) ++equal;
        const std::size_t steps = equal / length + 1;
        if (steps >= least && steps * length * kLeastPart >= like.size() && stands_alone(program, at, length))
            ranges.push_back({program.commands[at].layer, at, length, steps});
        at += equal + 1;
    }
}

}  // namespace

std::vector<RepeatedSteps> find_repeated_steps(const Program& program, std::size_t least) {
    const std::vector<std::uint64_t> like = likenesses(program);
    std::vector<RepeatedSteps> ranges;
    for (const std::size_t length : likely_lengths(like, least))
        find_ranges(program, like, length, least, ranges);
    const auto covered = [](const RepeatedSteps& range) { return range.steps * range.commands; };
    std::ranges::stable_sort(ranges, std::greater(), covered);
    std::vector<RepeatedSteps> chosen;
    const auto meets = [](const RepeatedSteps& a, const RepeatedSteps& b) {
        return a.first < b.end() && b.first < a.end();
    };
    for (const RepeatedSteps& longest : ranges) {
        if (std::ranges::any_of(chosen, [&](const auto& other) { return meets(longest, other); })) continue;
        // Of steps, pairs of steps and so on, which all cover about the same, the shortest.
        RepeatedSteps best = longest;
        for (const RepeatedSteps& other : ranges)
            if (other.commands < best.commands && meets(other, longest) &&
                covered(other) * 20 >= covered(longest) * 19 &&
                std::ranges::none_of(chosen, [&](const auto& taken) { return meets(other, taken); }))
                best = other;
        chosen.push_back(best);
    }
    std::ranges::sort(chosen, {}, &RepeatedSteps::first);
    return chosen;
}

}  // namespace systole::systolic
