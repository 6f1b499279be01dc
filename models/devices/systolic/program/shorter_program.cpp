// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/shorter_program.h"

#include <algorithm>
#include <span>

#include "sim/base/check.h"
#include "sim/workload/shorter_graph.h"

namespace systole::systolic {
namespace {

/// Makes room for commands, so that nothing is moved when they are added.
class Room {
public:
    void add(const Command& command) {
        ++commands_;
        tokens_ += command.token_count;
        const UnitKind kind = unit_kind(command.unit);
        ++(kind == UnitKind::Matrix ? passes_ : kind == UnitKind::Vector ? vectors_ : transfers_);
    }
    void make(Program& program) const {
        program.commands.reserve(commands_);
        program.tokens.reserve(tokens_);
        program.passes.reserve(passes_);
        program.vector_work.reserve(vectors_);
        program.transfers.reserve(transfers_);
    }

private:
    std::size_t commands_ = 0, tokens_ = 0, passes_ = 0, vectors_ = 0, transfers_ = 0;
};

/// Adds the work of commands of a program to another.
class Works {
public:
    Works(const Program& from, Program& to) : from_(from), to_(to) {}

    /// Answers its number.
    std::uint32_t add(const Command& command, LayerInfo& layer) {
        switch (unit_kind(command.unit)) {
            case UnitKind::Matrix:
                layer.macs += from_.pass(command).macs().value();
                return append(to_.passes, from_.pass(command));
            case UnitKind::Vector:
                layer.macs += from_.vector(command).macs;
                return append(to_.vector_work, from_.vector(command));
            default:
                return append(to_.transfers, from_.transfer(command));
        }
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

ShorterPrograms::ShorterPrograms(const Program& program, const std::vector<RepeatedSteps>& blocks)
    : program_(program), blocks_(blocks), parts_(parts_of(program, blocks)) {
    count_units();
}

void ShorterPrograms::count_units() {
    std::vector<std::uint32_t> issued;
    std::size_t b = 0;
    for (std::size_t i = 0; i < program_.commands.size() && b < blocks_.size(); ++i) {
        if (i >= blocks_[b].end() && ++b == blocks_.size()) break;
        const UnitIndex unit = program_.commands[i].unit;
        if (unit >= issued.size()) issued.resize(unit + 1U), units_.resize(unit + 1U);
        const std::uint32_t number = ++issued[unit];
        if (i < blocks_[b].first || i >= blocks_[b].first + blocks_[b].commands) continue;
        std::vector<OfBlock>& own = units_[unit];
        if (own.empty() || own.back().block != b) own.push_back({b, number});
        ++own.back().of_step;
    }
}

std::vector<ShorterPrograms::Kept> ShorterPrograms::kept(const std::vector<std::size_t>& turns) const {
    std::vector<Kept> kept;
    std::size_t behind = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const RepeatedSteps& block = blocks_[b];
        SYSTOLE_CHECK(turns[b] > kLastTurns && turns[b] <= block.steps, "{} of {} steps", turns[b],
                      block.steps);
        kept.push_back({behind, block.first + (turns[b] - kLastTurns) * block.commands});
        behind = block.end() - kLastTurns * block.commands;
    }
    kept.push_back({behind, program_.commands.size()});
    return kept;
}

/// Which part the command `number` of the program belongs to.
std::size_t ShorterPrograms::part_of(const Command& command, std::size_t number) const {
    std::size_t part = parts_.first_of_layer[static_cast<std::size_t>(command.layer)];
    for (std::size_t b = 0; b < blocks_.size() && blocks_[b].first <= number; ++b)
        if (blocks_[b].layer == command.layer)
            part = parts_.first_of_block[b] +
                   std::min((number - blocks_[b].first) / blocks_[b].commands, blocks_[b].steps);
    return part;
}

std::vector<bool> ShorterPrograms::parts_left(const std::vector<std::size_t>& turns) const {
    std::vector<bool> left(parts_.layers.size(), true);
    for (std::size_t b = 0; b < blocks_.size(); ++b)
        for (std::size_t step = turns[b] - kLastTurns; step < blocks_[b].steps - kLastTurns; ++step)
            left[parts_.first_of_block[b] + step] = false;
    return left;
}

/// By unit.
ShorterPrograms::OfUnits ShorterPrograms::left_out(const std::vector<std::size_t>& turns) const {
    OfUnits all(units_.size());
    for (std::size_t unit = 0; unit < units_.size(); ++unit)
        for (const OfBlock& own : units_[unit]) {
            const auto some = static_cast<std::uint32_t>(turns[own.block] - kLastTurns);
            const auto others = static_cast<std::uint32_t>(blocks_[own.block].steps - turns[own.block]);
            if (others > 0)
                all[unit].push_back({own.first, own.first + some * own.of_step, others * own.of_step});
        }
    return all;
}

/// The number that the awaited command has when those of its unit are left out, or that of the one that
/// stands in its place.
std::uint32_t ShorterPrograms::renumbered(std::uint32_t awaited, const std::vector<LeftOut>& of_unit) {
    std::uint32_t before = 0;
    for (const auto& [block_first, first, count] : of_unit) {
        if (awaited < first) break;  // it comes before all that follows, too
        if (awaited < first + count) {
            const std::uint32_t behind = awaited - block_first;  // of the block's first one
            return block_first + (behind > count ? behind - count : 0) - before;
        }
        before += count;
    }
    return awaited - before;
}

Program ShorterPrograms::with(const std::vector<std::size_t>& turns) const {
    const std::vector<Kept> kept = this->kept(turns);
    const OfUnits left_out = this->left_out(turns);
    Program shorter;
    shorter.trace = program_.trace;
    shorter.inputs_at = program_.inputs_at, shorter.outputs_to = program_.outputs_to;
    shorter.dataflow = program_.dataflow;
    shorter.cores = program_.cores;
    shorter.compulsory_dram = program_.compulsory_dram;
    shorter.streams = program_.streams;
    const std::vector<bool> left = parts_left(turns);
    std::vector<std::int32_t> numbers;  // by part
    for (std::size_t part = 0; part < left.size(); ++part) {
        numbers.push_back(static_cast<std::int32_t>(shorter.layers.size()));
        if (!left[part]) continue;
        LayerInfo& info = shorter.layers.emplace_back(program_.layers[parts_.layers[part]]);
        info.macs = 0;
        if (part > 0 && parts_.layers[part - 1] == parts_.layers[part]) info.compulsory_dram = 0;
    }
    Room room;
    for (const auto& [begin, end] : kept)
        for (std::size_t i = begin; i < end; ++i) room.add(program_.commands[i]);
    room.make(shorter);
    Works works(program_, shorter);
    for (const auto& [begin, end] : kept)
        for (std::size_t i = begin; i < end; ++i) {
            Command command = program_.commands[i];
            const std::size_t tokens = shorter.tokens.size();
            for (std::uint32_t t = 0; t < command.token_count; ++t) {
                const auto [unit, awaited] = program_.tokens[command.first_token + t];
                shorter.tokens.push_back(
                    {unit, unit < left_out.size() ? renumbered(awaited, left_out[unit]) : awaited});
            }
            command.first_token = static_cast<std::uint32_t>(tokens);
            command.layer = numbers[part_of(command, i)];
            command.work = works.add(command, shorter.layers[static_cast<std::size_t>(command.layer)]);
            shorter.commands.push_back(command);
        }
    return shorter;
}

Program shorten(const Program& program, const std::vector<RepeatedSteps>& blocks,
                const std::vector<std::size_t>& turns) {
    return ShorterPrograms(program, blocks).with(turns);
}

bool same_until(const Program& a, const Program& b, std::size_t commands) {
    if (commands > std::min(a.commands.size(), b.commands.size())) return false;
    for (std::size_t i = 0; i < commands; ++i)
        if (a.commands[i] != b.commands[i] || !same_work_and_waits(a, b, a.commands[i])) return false;
    return true;
}

}  // namespace systole::systolic
