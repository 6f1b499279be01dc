// SPDX-License-Identifier: Apache-2.0
// Writes the program: appends commands in issue order, numbers each unit's commands, drops waits that are
// implied by the unit's own order, and keeps one copy of every address pattern.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/devices/systolic/lowering/tokens.h"
#include "models/devices/systolic/program/program.h"

namespace systole::systolic {

class Emitter {
public:
    Emitter(int cores, int mxus, std::string trace);

    /// The layer that the following commands belong to.
    void set_layer(std::int32_t layer) { layer_ = layer; }
    std::int32_t layer() const { return layer_; }
    /// The core whose units the following commands are for.
    void set_core(int core) { core_ = core; }
    int core() const { return core_; }

    /// Units are named as those of the first core are; tokens say which core's they are.
    /// Each appends one command that starts after `after`, and answers the token of its completion. Throws
    /// UserError when the program outgrows kMaxCommands.
    /// Rows that follow each other without a gap at both ends travel as one.
    Token transfer(UnitIndex unit, Transfer transfer, const Tokens& after);
    /// Rows that are looked up: one by one, wherever they lie.
    Token gather(UnitIndex unit, const Transfer& transfer, const Tokens& after);
    Token pass(int mxu, const MatrixPass& pass, const Tokens& after);
    Token vector(const VectorWork& work, const Tokens& after);

    /// The index of an address pattern in Program::streams.
    std::uint32_t stream(const AddressStream& pattern);

    void add_layer(LayerInfo info) { program_.layers.push_back(std::move(info)); }
    Program take() { return std::move(program_); }

    /// A program beyond this many commands (about 2.5 GB) is refused rather than left to exhaust the host.
    static constexpr std::size_t kMaxCommands = std::size_t{1} << 24;

private:
    Token append(UnitIndex own, std::size_t work, const Tokens& after);

    Program program_;
    std::int32_t layer_ = 0;
    int core_ = 0;
    std::size_t units_;
    std::vector<std::uint32_t> issued_;  ///< by unit: commands so far
    std::vector<std::uint32_t> waited_;  ///< [unit][other]: the greatest count that `unit` already waited for
    std::unordered_multimap<std::uint64_t, std::uint32_t> stream_index_;  ///< hash of a pattern -> its index
};

}  // namespace systole::systolic
