// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/activity.h"

#include <cmath>
#include <variant>

#include "models/devices/simt/machine/cta_program.h"

namespace systole::simt {
namespace {

constexpr double kRegister = 4;  // bytes

/// Of tensor instructions that keep their sums in registers or tensor memory: a step along K is 32 bytes of
/// an operand's row (PTX ISA, wgmma.mma_async and tcgen05.mma: k is 256 bits), in which each sum is read and
/// written once.
double bytes_of_sums(double macs, double element) {
    const double k = 32 / element;
    return 2 * kRegister * macs / k;
}

/// Registers of a warp's mma: m16n8 (PTX ISA, mma.sync) or 32x32 (CDNA ISA, v_mfma) with all of its operands.
double bytes_of_fragments(double macs, double element, TensorIssue issue) {
    const double m = issue == TensorIssue::Wave ? 32 : 16, n = issue == TensorIssue::Wave ? 32 : 8;
    const double k = macs / (m * n);
    return (m + n) * k * element + 2 * kRegister * m * n;
}

WarpActivity of_instruction(const Instruction& one, const SmSpec& sm, double element, TensorIssue issue) {
    const double threads = sm.warp_threads;
    const auto bytes =
        static_cast<double>(one.addresses ? one.addresses->bytes * sm.warp_threads : one.bytes);
    const auto macs = static_cast<double>(one.amount);
    WarpActivity activity;
    activity.instructions = threads;
    // Three operands and a result.
    const double plain = 4 * kRegister * threads;
    switch (one.op) {
        case Op::Integer:
            activity.integer = threads, activity.register_bytes = plain;
            break;
        case Op::Fp32:
            activity.fp32 = threads, activity.register_bytes = plain;
            break;
        case Op::Special:
            activity.special = threads, activity.register_bytes = 2 * kRegister * threads;
            break;
        case Op::Fma:
            activity.register_bytes = plain;
            break;
        case Op::Mma:
            activity.register_bytes = bytes_of_fragments(macs, element, issue);
            break;
        case Op::GroupMma:
        case Op::TensorMma:
            activity.register_bytes = bytes_of_sums(macs, element), activity.shared_bytes = bytes;
            break;
        case Op::TensorLoad:
            activity.register_bytes = 2 * bytes;
            break;
        case Op::TensorCopy:
        case Op::SharedLoad:
        case Op::SharedStore:
            activity.register_bytes = bytes, activity.shared_bytes = bytes;
            break;
        case Op::GlobalLoad:
        case Op::TableLoad:
        case Op::StepLoad:
        case Op::GlobalStore:
            activity.register_bytes = bytes;
            break;
        default:  // copies past the registers, barriers
            break;
    }
    return activity;
}

}  // namespace

WarpActivity& WarpActivity::operator+=(const WarpActivity& other) {
    instructions += other.instructions;
    register_bytes += other.register_bytes;
    shared_bytes += other.shared_bytes;
    fp32 += other.fp32;
    integer += other.integer;
    special += other.special;
    return *this;
}

WarpActivity operator*(double n, const WarpActivity& one) {
    return {n * one.instructions, n * one.register_bytes, n * one.shared_bytes,
            n * one.fp32,         n * one.integer,        n * one.special};
}

WarpActivity activity_of(const CtaProgram& program, const SmSpec& sm, DType operands) {
    const double element = static_cast<double>(bits_of(operands).value()) / 8;
    WarpActivity all;
    for (const Role& role : program.roles)
        for (const Section& section : role.program)
            for (const Instruction& one : section.body)
                all += static_cast<double>(role.warps * section.trips) *
                       of_instruction(one, sm, element, sm.issue_of(operands));
    return all;
}

WarpActivity activity_of(const KernelPlan& plan, std::int64_t ctas, std::int64_t steps, const SmSpec& sm,
                         DType operands) {
    if (std::holds_alternative<CollectivePlan>(plan) || ctas == 0) return {};
    const auto of_steps = [&](std::int64_t count) {
        return activity_of(cta_program(plan, {{count, 0}}, sm), sm, operands);
    };
    const std::int64_t fewer = steps / ctas, more = steps % ctas;
    WarpActivity all = static_cast<double>(ctas - more) * of_steps(fewer);
    if (more > 0) all += static_cast<double>(more) * of_steps(fewer + 1);
    return all;
}

}  // namespace systole::simt
