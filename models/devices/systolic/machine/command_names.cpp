// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/command_names.h"

#include <fmt/format.h>

namespace systole::systolic {
namespace {

const std::string& layer_name(const Program& program, const Command& command) {
    return program.layers[static_cast<std::size_t>(command.layer)].name;
}

std::string batch_of(const PassOrigin& origin) {
    return origin.batch > 0 ? fmt::format(" b {}", origin.batch) : "";
}

std::string pass_name(const Program& program, const Command& command) {
    const MatrixPass& pass = program.pass(command);
    const PassOrigin& at = pass.origin;
    return fmt::format("{}{} m {}+{} k {}+{} n {}+{}", layer_name(program, command), batch_of(at), at.m0,
                       pass.m, at.k0, pass.k * pass.folds, at.n0, pass.n);
}

std::string vector_name(const Program& program, const Command& command) {
    const VectorWork& work = program.vector(command);
    const std::string& layer = layer_name(program, command);
    if (work.source == VectorWork::Source::Scratchpad) return "vector " + layer;
    const PassOrigin& at = work.origin;
    return fmt::format("drain {}{} m {} n {}, {}x{}", layer, batch_of(at), at.m0, at.n0,
                       work.accumulator_rows, work.cols);
}

std::string transfer_name(const Program& program, const Command& command) {
    return fmt::format("{} of {}", to_string(program.transfer(command).operand),
                       layer_name(program, command));
}

}  // namespace

std::string command_name(const Program& program, const Command& command) {
    switch (unit_kind(command.unit)) {
        case UnitKind::Matrix:
            return pass_name(program, command);
        case UnitKind::Vector:
            return vector_name(program, command);
        default:
            return transfer_name(program, command);
    }
}

std::string wait_name(const Program& program, const Command& command, SlotClass owner) {
    if (owner == SlotClass::Tail) return "tail";
    const std::string& layer = layer_name(program, command);
    const auto with = [&](const std::string& what) { return fmt::format("{}: {}", to_string(owner), what); };
    if (owner == SlotClass::Launch) return with("issue of " + layer);
    switch (unit_kind(command.unit)) {
        case UnitKind::Matrix:
            if (owner == SlotClass::Ramp) return with("tile or sums of " + layer);
            if (owner == SlotClass::OnChip) return with("ports or accumulators for " + layer);
            return with("pass of " + layer);
        case UnitKind::Vector:
            return with((program.vector(command).source == VectorWork::Source::Accumulator ? "drain of "
                                                                                           : "work of ") +
                        layer);
        default:
            return with(transfer_name(program, command));
    }
}

std::string command_track(const std::string& machine, const Program& program, UnitIndex unit) {
    std::string name = unit_name(unit, program.cores);
    if (unit_kind(unit) == UnitKind::Matrix) name += ".passes";
    if (unit_kind(unit) == UnitKind::Weights) {
        // Modules of weight loaders lie in their matrix unit's.
        const std::size_t dot = name.rfind('.');
        const std::string core = dot == std::string::npos ? "" : name.substr(0, dot + 1);
        name = fmt::format("{}mxu{}.weights", core, mxu_of(unit));
    }
    return fmt::format("{}.{}", machine, name);
}

}  // namespace systole::systolic
