// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/explore/warp_tile.h"

#include <algorithm>
#include <unordered_map>

#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/sm/sm.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

/// Of mma.sync's results.
constexpr std::int64_t kRows = 16, kCols = 8;
/// Groups of registers that the scoreboard tells apart.
constexpr std::int64_t kGroups = 64;

/// One warp, a step as deep as two instructions: the least that the kernel's double buffers take.
CtaTile tile_of(const WarpTileShape& shape) {
    CtaTile tile;
    tile.m = shape.m;
    tile.n = shape.n;
    tile.k = 2 * k_of_fragment(shape.dtype);
    tile.stages = 2;
    tile.groups_m = tile.groups_n = 1;
    return tile;
}

std::int64_t blocks_of(const WarpTileShape& shape) {
    return shape.m / kRows * (shape.n / kCols);
}

/// Of a thread, with all operands in them and sums of 32 bits.
std::int64_t registers_of_thread(const WarpTileShape& shape) {
    constexpr std::int64_t kBytes = 4 * kWarpThreads;
    return shape.m * shape.n / kWarpThreads + bytes_of(shape.dtype, (shape.m + shape.n) * shape.k) / kBytes +
           kOtherRegisters;
}

/// The products and nothing else: along n, then m, then k, as in the kernel.
CtaProgram products_of(const WarpTileShape& shape) {
    const std::int64_t blocks = blocks_of(shape), k_of_mma = k_of_fragment(shape.dtype);
    SYSTOLE_CHECK(blocks <= kGroups, "sums of {} blocks cannot be told apart", blocks);
    Section section;
    section.trips = shape.k / k_of_mma;
    for (std::int64_t block = 0; block < blocks; ++block) {
        const RegisterGroups sums = RegisterGroups{1} << block;
        section.body.push_back(
            {.op = Op::Mma, .reads = sums, .writes = sums, .amount = kRows * kCols * k_of_mma});
    }
    CtaProgram program;
    program.roles = {{1, {std::move(section)}}};
    program.registers_of_thread = static_cast<int>(registers_of_thread(shape));
    return program;
}

CtaProgram program_of(const WarpTileShape& shape, const SmSpec& spec) {
    if (shape.fragments == Fragments::Registers) return products_of(shape);
    const CtaTile tile = tile_of(shape);
    return gemm_program(tile, {shape.dtype, shape.dtype}, shape.k / tile.k, spec);
}

/// An instruction of the warp, and when it issued.
struct Issued {
    const Instruction* instruction;
    std::int64_t at;
};

/// Runs the one warp of `program` to its end. It issues in order.
std::vector<Issued> run_in_order(Sm& sm, const CtaProgram& program) {
    std::vector<Issued> all;
    for (const Section& section : program.roles.front().program)
        for (std::int64_t trip = 0; trip < section.trips; ++trip)
            for (const Instruction& instruction : section.body) {
                const auto before = static_cast<std::int64_t>(all.size());
                std::int64_t at = 0;
                while (sm.instructions() == before) {
                    at = sm.next_issue();
                    sm.advance(at + 1);
                }
                SYSTOLE_CHECK(sm.instructions() == before + 1, "a warp issues twice in cycle {}", at);
                all.push_back({&instruction, at});
            }
    SYSTOLE_CHECK(sm.finished(), "a warp goes on behind its program");
    return all;
}

/// Tells of each clock what the warp's next instruction waits for.
class Waits {
public:
    Waits(const std::vector<Issued>& issued, std::int64_t cycles_of_mma, std::int64_t latency)
        : issued_(issued) {
        std::unordered_map<RegisterGroups, std::int64_t> sums;
        std::int64_t core = 0;  // the tensor core is free from here on
        for (const Issued& one : issued) {
            sums_at_.push_back(0);
            if (one.instruction->op != Op::Mma) continue;
            sums_at_.back() = sums[one.instruction->writes];
            core = std::max(core, one.at) + cycles_of_mma;
            sums[one.instruction->writes] = core + latency;
        }
    }

    /// Of a clock in which the tensor core does not work; ascending from call to call.
    WarpClock at(std::int64_t clock) {
        while (issued_[next_].at < clock) ++next_;
        switch (issued_[next_].instruction->op) {
            case Op::Mma: {
                const std::int64_t sums = sums_at_[next_];
                if (sums >= issued_[next_].at) return WarpClock::Sums;
                return clock < sums ? WarpClock::FragmentsAndSums : WarpClock::Fragments;
            }
            case Op::Arrive:
            case Op::Await:
                return WarpClock::Barrier;
            case Op::WaitCopies:
                return WarpClock::Copies;
            default:
                return WarpClock::Issue;
        }
    }

private:
    const std::vector<Issued>& issued_;
    std::vector<std::int64_t> sums_at_;  // by instruction: when those that it adds to can be read; 0: at once
    std::size_t next_ = 0;
};

}  // namespace

const char* problem_of(const WarpTileShape& shape, const SmSpec& sm) {
    if (!sm.tensor.macs[static_cast<std::size_t>(shape.dtype)])
        return "its tensor cores do not take this type";
    if (sm.issue_of(shape.dtype) != TensorIssue::Warp)
        return "its tensor cores are not those of mma.sync, which one warp issues (a100, l40s and l4 are)";
    const CtaTile tile = tile_of(shape);
    if (shape.k < tile.k || shape.k % tile.k != 0)
        return "k must be a multiple of two instructions' (32 in fp16)";
    if (!divides(tile, {shape.dtype, shape.dtype}, TensorIssue::Warp))
        return "m must be a multiple of 16, n of 8, and both of them at most 128 x 64 together";
    if (shape.fragments == Fragments::Registers && registers_of_thread(shape) > sm.registers_of_thread)
        return "its operands do not fit a warp's registers; take a smaller k, or fragments: shared";
    return nullptr;
}

WarpTileRecording record_warp_tile(const WarpTileShape& shape, const SmSpec& spec) {
    SYSTOLE_CHECK(problem_of(shape, spec) == nullptr, "{}", problem_of(shape, spec));
    const std::int64_t macs = spec.macs(shape.dtype);
    const CtaProgram program = program_of(shape, spec);
    Sm sm(spec, macs, Sm::Memory([](Op, std::int64_t, std::int64_t at) { return at; }));
    sm.launch(program, 0);
    const std::vector<Issued> issued = run_in_order(sm, program);
    const Sm::CtaTrace& trace = sm.trace(0);
    WarpTileRecording recording;
    recording.shape = shape;
    recording.mma_k = k_of_fragment(shape.dtype);
    recording.instructions = blocks_of(shape) * (shape.k / recording.mma_k);
    recording.macs_per_cycle = macs;
    recording.latency = spec.tensor.latency.value();
    recording.busy = sm.busy(trace.first_mma, trace.last_mma_end);
    recording.cycles_of_mma = recording.busy / recording.instructions;
    SYSTOLE_CHECK(recording.cycles_of_mma * recording.instructions == recording.busy,
                  "{} instructions keep a tensor core for {} cycles", recording.instructions, recording.busy);
    Waits waits(issued, recording.cycles_of_mma, recording.latency);
    for (std::int64_t clock = trace.first_mma; clock < trace.last_mma_end; ++clock)
        recording.clocks.push_back(sm.busy(clock, clock + 1) > 0 ? WarpClock::Works : waits.at(clock));
    return recording;
}

}  // namespace systole::simt
