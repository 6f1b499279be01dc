// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/shorter_program.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "sim/base/check.h"
#include "sim/workload/shorter_graph.h"

namespace systole::systolic {
namespace {

/// Commands of a block that are left out, and which of each unit's these are: the first of them, counted from
/// 1, and how many; and the first of the block.
struct Gap {
    struct OfUnit {
        std::uint32_t block_first = 0, first = 0, count = 0;
    };
    std::size_t begin = 0, end = 0;
    std::map<UnitIndex, OfUnit> units = {};

    bool has(std::size_t command) const { return command >= begin && command < end; }
};

std::vector<Gap> gaps_of(const std::vector<RepeatedSteps>& blocks, const std::vector<std::size_t>& turns) {
    std::vector<Gap> gaps;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const RepeatedSteps& block = blocks[b];
        SYSTOLE_CHECK(turns[b] > kLastTurns && turns[b] <= block.steps, "{} of {} steps", turns[b],
                      block.steps);
        gaps.push_back({block.first + (turns[b] - kLastTurns) * block.commands,
                        block.end() - kLastTurns * block.commands});
    }
    return gaps;
}

/// Which part the command `number` of the program belongs to.
std::size_t part_of(const Command& command, std::size_t number, const Parts& parts,
                    const std::vector<RepeatedSteps>& blocks) {
    std::size_t part = parts.first_of_layer[static_cast<std::size_t>(command.layer)];
    for (std::size_t b = 0; b < blocks.size() && blocks[b].first <= number; ++b)
        if (blocks[b].layer == command.layer)
            part = parts.first_of_block[b] +
                   std::min((number - blocks[b].first) / blocks[b].commands, blocks[b].steps);
    return part;
}

std::vector<bool> parts_left(const Parts& parts, const std::vector<RepeatedSteps>& blocks,
                             const std::vector<std::size_t>& turns) {
    std::vector<bool> left(parts.layers.size(), true);
    for (std::size_t b = 0; b < blocks.size(); ++b)
        for (std::size_t step = turns[b] - kLastTurns; step < blocks[b].steps - kLastTurns; ++step)
            left[parts.first_of_block[b] + step] = false;
    return left;
}

/// Fills in which commands of each unit are left out.
void count_units(const Program& program, const std::vector<RepeatedSteps>& blocks, std::vector<Gap>& gaps) {
    std::map<UnitIndex, std::uint32_t> issued;
    std::size_t b = 0;
    for (std::size_t i = 0; i < program.commands.size() && b < gaps.size(); ++i) {
        if (i >= blocks[b].end()) ++b;
        if (b == gaps.size()) break;
        const UnitIndex unit = program.commands[i].unit;
        const std::uint32_t number = ++issued[unit];
        if (i < blocks[b].first) continue;
        Gap::OfUnit& own = gaps[b].units.try_emplace(unit, Gap::OfUnit{number}).first->second;
        if (!gaps[b].has(i)) continue;
        if (own.count++ == 0) own.first = number;
    }
}

/// The number that the command has when commands are left out, or the one that stands in its place.
std::uint32_t renumbered(const Token& token, const std::vector<Gap>& gaps) {
    std::uint32_t left_out = 0;
    for (const Gap& gap : gaps) {
        const auto own = gap.units.find(token.unit);
        if (own == gap.units.end() || own->second.count == 0) continue;
        const auto [block_first, first, count] = own->second;
        if (token.count < first) break;  // it comes before all that follows, too
        if (token.count < first + count) {
            const std::uint32_t behind = token.count - block_first;  // of the block's first one
            return block_first + (behind > count ? behind - count : 0) - left_out;
        }
        left_out += count;
    }
    return token.count - left_out;
}

/// Commands as they are kept, with their work.
class Writer {
public:
    Writer(const Program& from, Program& to) : from_(from), to_(to) {}

    void add(const Command& command, std::int32_t part, const std::vector<Gap>& gaps) {
        Command copy = command;
        copy.layer = part;
        copy.first_token = static_cast<std::uint32_t>(to_.tokens.size());
        for (std::uint32_t i = 0; i < command.token_count; ++i) {
            const Token& token = from_.tokens[command.first_token + i];
            to_.tokens.push_back({token.unit, renumbered(token, gaps)});
        }
        LayerInfo& layer = to_.layers[static_cast<std::size_t>(part)];
        switch (unit_kind(command.unit)) {
            case UnitKind::Matrix:
                copy.work = append(to_.passes, from_.pass(command));
                layer.macs += from_.pass(command).macs().value();
                break;
            case UnitKind::Vector:
                copy.work = append(to_.vector_work, from_.vector(command));
                layer.macs += from_.vector(command).macs;
                break;
            default:
                copy.work = append(to_.transfers, from_.transfer(command));
        }
        to_.commands.push_back(copy);
    }

private:
    template <class Work>
    static std::uint32_t append(std::vector<Work>& all, const Work& work) {
        all.push_back(work);
        return static_cast<std::uint32_t>(all.size() - 1);
    }
    const Program& from_;
    Program& to_;
};

/// Of a command that has the same places in both.
bool same_work_and_waits(const Program& a, const Program& b, const Command& command) {
    const auto waits_for = [&command](const Program& of) {
        return std::span(of.tokens).subspan(command.first_token, command.token_count);
    };
    if (!std::ranges::equal(waits_for(a), waits_for(b))) return false;
    switch (unit_kind(command.unit)) {
        case UnitKind::Matrix:
            return a.pass(command) == b.pass(command);
        case UnitKind::Vector:
            return a.vector(command) == b.vector(command);
        default:
            return a.transfer(command) == b.transfer(command);
    }
}

}  // namespace

Parts parts_of(const Program& program, const std::vector<RepeatedSteps>& blocks) {
    Parts parts;
    std::size_t block = 0;
    for (std::size_t layer = 0; layer < program.layers.size(); ++layer) {
        parts.first_of_layer.push_back(parts.layers.size());
        parts.layers.push_back(layer);  // before the first block
        for (; block < blocks.size() && static_cast<std::size_t>(blocks[block].layer) == layer; ++block) {
            parts.first_of_block.push_back(parts.layers.size());
            parts.layers.insert(parts.layers.end(), blocks[block].steps + 1,
                                layer);  // the last lies behind it
        }
    }
    return parts;
}

Program shorten(const Program& program, const std::vector<RepeatedSteps>& blocks,
                const std::vector<std::size_t>& turns) {
    std::vector<Gap> gaps = gaps_of(blocks, turns);
    count_units(program, blocks, gaps);
    const Parts parts = parts_of(program, blocks);
    Program shorter;
    shorter.trace = program.trace;
    shorter.inputs_at = program.inputs_at, shorter.outputs_to = program.outputs_to;
    shorter.dataflow = program.dataflow;
    shorter.cores = program.cores;
    shorter.compulsory_dram = program.compulsory_dram;
    shorter.streams = program.streams;
    const std::vector<bool> left = parts_left(parts, blocks, turns);
    std::vector<std::int32_t> numbers;  // by part
    for (std::size_t part = 0; part < left.size(); ++part) {
        numbers.push_back(static_cast<std::int32_t>(shorter.layers.size()));
        if (!left[part]) continue;
        LayerInfo& info = shorter.layers.emplace_back(program.layers[parts.layers[part]]);
        info.macs = 0;
        if (part > 0 && parts.layers[part - 1] == parts.layers[part]) info.compulsory_dram = 0;
    }
    Writer writer(program, shorter);
    for (std::size_t i = 0; i < program.commands.size(); ++i)
        if (std::ranges::none_of(gaps, [i](const Gap& gap) { return gap.has(i); }))
            writer.add(program.commands[i], numbers[part_of(program.commands[i], i, parts, blocks)], gaps);
    return shorter;
}

bool same_until(const Program& a, const Program& b, std::size_t commands) {
    if (commands > std::min(a.commands.size(), b.commands.size())) return false;
    for (std::size_t i = 0; i < commands; ++i)
        if (a.commands[i] != b.commands[i] || !same_work_and_waits(a, b, a.commands[i])) return false;
    return true;
}

}  // namespace systole::systolic
