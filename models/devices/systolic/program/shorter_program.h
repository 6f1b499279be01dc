// SPDX-License-Identifier: Apache-2.0
// A program without most of the steps that it repeats, as sim/workload/shorter_graph.h does it to networks.
#pragma once

#include <cstddef>
#include <vector>

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/program/repeated_steps.h"

namespace systole::systolic {

/// A program in parts: of each layer what lies before the first of its blocks, each of their steps, and what
/// lies behind each block.
struct Parts {
    std::vector<std::size_t> layers;          ///< by part: the layer that it belongs to
    std::vector<std::size_t> first_of_layer;  ///< by layer: its first part
    std::vector<std::size_t> first_of_block;  ///< by block: that of its first step
};
Parts parts_of(const Program& program, const std::vector<RepeatedSteps>& blocks);

/// A program without steps of its blocks, again and again with others: what does not depend on how many is
/// counted once.
class ShorterPrograms {
public:
    /// Both must outlive it.
    ShorterPrograms(const Program& program, const std::vector<RepeatedSteps>& blocks);

    /// The program with those parts for layers, and so many steps of each block left (`turns`), the first
    /// ones and the last kLastTurns. What a command waited for that is left out, is what stands in its place
    /// in the steps before. Parts have their layer's name and operator; its compulsory bytes are the first
    /// part's.
    Program with(const std::vector<std::size_t>& turns) const;

private:
    /// Of a unit: the number of its first command in a block, counted from 1, and how many a step has.
    struct OfBlock {
        std::size_t block = 0;
        std::uint32_t first = 0, of_step = 0;
    };
    /// Commands of a unit that are left out: the first of them, how many, and the first of their block.
    struct LeftOut {
        std::uint32_t block_first = 0, first = 0, count = 0;
    };
    using OfUnits = std::vector<std::vector<LeftOut>>;
    /// Commands that are kept, from one to behind another.
    struct Kept {
        std::size_t begin, end;
    };

    void count_units();
    std::vector<Kept> kept(const std::vector<std::size_t>& turns) const;
    std::vector<bool> parts_left(const std::vector<std::size_t>& turns) const;
    OfUnits left_out(const std::vector<std::size_t>& turns) const;
    std::size_t part_of(const Command& command, std::size_t number) const;
    static std::uint32_t renumbered(std::uint32_t awaited, const std::vector<LeftOut>& of_unit);

    const Program& program_;
    const std::vector<RepeatedSteps>& blocks_;
    const Parts parts_;
    std::vector<std::vector<OfBlock>> units_;  // by unit, in order
};

/// One of them.
Program shorten(const Program& program, const std::vector<RepeatedSteps>& blocks,
                const std::vector<std::size_t>& turns);

/// Whether both begin with the same `commands` commands, which do the same work for the same layer and wait
/// for the same. Not where commands of later layers come before a block of which the two have other turns:
/// these layers have other numbers.
bool same_until(const Program& a, const Program& b, std::size_t commands);

}  // namespace systole::systolic
