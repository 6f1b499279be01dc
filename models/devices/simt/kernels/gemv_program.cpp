// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemv_program.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kLanes = 32;  // of a warp of the chips whose libraries have such kernels
constexpr std::int64_t kLoadBytes = kLanes * kThreadBytes;
constexpr std::int64_t kSumBytes = 4;
constexpr int kSetUp = 20;           // instructions: the column, pointers and predicates
constexpr int kOtherRegisters = 24;  // pointers, predicates, counters, what was converted
constexpr int kBuffers = 16;         // groups of registers, at most, of each operand's loads and of the sums

RegisterGroups column(int load) {
    return RegisterGroups{1} << load;
}
RegisterGroups row(int load) {
    return RegisterGroups{1} << (kBuffers + load);
}
/// Each load has a sum of its own: products of one depend on each other only.
RegisterGroups sum(int load) {
    return RegisterGroups{1} << (2 * kBuffers + load);
}
constexpr RegisterGroups kAddress = RegisterGroups{1} << (3 * kBuffers);
constexpr RegisterGroups kColumnValue = RegisterGroups{1} << (3 * kBuffers + 1);
constexpr RegisterGroups kRowValue = RegisterGroups{1} << (3 * kBuffers + 2);
constexpr RegisterGroups kOther = RegisterGroups{1} << (3 * kBuffers + 3);

void add(Section& section, RegisterGroups to, RegisterGroups what) {
    section.body.push_back({.op = Op::Fp32, .reads = to | what, .writes = to});
}

/// An element that was loaded, in fp32: bf16 by moving its bits, fp16 by a conversion.
RegisterGroups convert(Section& section, DType dtype, RegisterGroups from, RegisterGroups to) {
    if (dtype == DType::Fp32) return from;
    section.body.push_back(
        {.op = dtype == DType::Bf16 ? Op::Integer : Op::Fp32, .reads = from, .writes = to});
    return to;
}

/// Results of a warp, which share its threads.
std::int64_t results_of(const CtaTile& tile) {
    return tile.n / tile.groups_n;
}

Section set_up() {
    Section section;
    for (int i = 0; i < kSetUp; ++i)
        section.body.push_back({.op = Op::Integer, .reads = kAddress, .writes = kAddress});
    return section;
}

Section step(const CtaTile& tile, DType dtype) {
    Section section;
    section.steps = true;
    for (int load = 0; load < tile.stages; ++load) {
        section.body.push_back({.op = Op::Integer, .reads = kAddress, .writes = kAddress});
        section.body.push_back(
            {.op = Op::GlobalLoad, .reads = kAddress, .writes = column(load), .bytes = kLoadBytes});
        section.body.push_back({.op = Op::GlobalLoad,
                                .reads = kAddress,
                                .writes = row(load),
                                .bytes = kLoadBytes / results_of(tile)});
    }
    const std::int64_t elements = kThreadBytes * 8 / bits_of(dtype).value();
    for (int load = 0; load < tile.stages; ++load)
        for (std::int64_t i = 0; i < elements; ++i) {
            const RegisterGroups a = convert(section, dtype, column(load), kColumnValue);
            const RegisterGroups b = convert(section, dtype, row(load), kRowValue);
            add(section, sum(load), a | b);
        }
    section.body.push_back({.op = Op::Integer});  // the loop's branch
    return section;
}

/// A thread's sums become one, and then a warp's by shuffles, which pass through the load/store unit.
Section reduce(const CtaTile& tile) {
    Section section;
    for (int load = 1; load < tile.stages; ++load) add(section, sum(0), sum(load));
    for (std::int64_t lanes = kLanes / results_of(tile); lanes > 1; lanes /= 2) {
        section.body.push_back(
            {.op = Op::SharedLoad, .reads = sum(0), .writes = kOther, .bytes = kLanes * kSumBytes});
        add(section, sum(0), kOther);
    }
    return section;
}

/// Of the column's one result.
Section finish(const CtaTile& tile, const GemmFormats& formats) {
    Section section;
    const Epilogue& epilogue = formats.epilogue;
    const auto load = [&](std::int64_t bytes) {
        section.body.push_back({.op = Op::GlobalLoad, .reads = kAddress, .writes = kOther, .bytes = bytes});
        add(section, sum(0), kOther);
    };
    const std::int64_t results = results_of(tile);
    const std::int64_t result = ceil_div(results * bits_of(formats.out).value(), 8);
    if (epilogue.scale_bits > 0) load(results * epilogue.scale_bits / 8);
    if (epilogue.bias) load(results * kBiasBytes);
    if (epilogue.join) load(result);
    const FunctionCost cost = cost_of(epilogue);
    for (int i = 0; i < cost.special; ++i)
        section.body.push_back({.op = Op::Special, .reads = sum(0), .writes = sum(0)});
    for (int i = 0; i < cost.fp32; ++i) add(section, sum(0), sum(0));
    add(section, sum(0), sum(0));  // the conversion
    section.body.push_back({.op = Op::GlobalStore, .reads = sum(0) | kAddress, .bytes = result});
    return section;
}

}  // namespace

std::int64_t gemv_loads(const CtaTile& tile) {
    return std::int64_t{2} * tile.stages;
}

CtaProgram gemv_program(const CtaTile& tile, const GemmFormats& formats, std::int64_t steps) {
    CtaProgram cta;
    Section steps_of_k = step(tile, formats.in);
    steps_of_k.trips = steps;
    cta.roles = {{tile.groups_n, {set_up(), std::move(steps_of_k), reduce(tile), finish(tile, formats)}}};
    // Of each load 16 bytes of both operands, and a sum.
    const std::int64_t of_load = 2 * kThreadBytes / 4 + 1;
    cta.registers_of_thread = static_cast<int>(tile.stages * of_load) + kOtherRegisters;
    return cta;
}

}  // namespace systole::simt
