// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemm_program.h"

#include <algorithm>
#include <cmath>

#include "models/devices/simt/kernels/gemm_epilogue.h"
#include "models/devices/simt/kernels/gemv_program.h"
#include "models/devices/simt/kernels/group_mma_program.h"
#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/kernels/staged_program.h"
#include "models/devices/simt/kernels/thread_mma_program.h"
#include "models/devices/simt/kernels/wmma_program.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kSectorBytes = 32;
constexpr std::int64_t kLoadBytes = 512;                          // ldmatrix.x4: 16 x 32 bytes
constexpr std::int64_t kCopyBytes = kWarpThreads * kThreadBytes;  // of mma.sync's
// CUTLASS, conv2d_fprop_activation_tile_access_iterator_optimized.h: of each access and step a pointer of 64
// bits goes on (IADD3, IADD3.X), and its masks of filter rows and columns are tested (valid(): two LOP3 into
// predicates). Of all accesses together: column and row of the filter go on, are compared and wrap, their
// bits and the pointers' increment are selected (advance()).
constexpr int kGatherOfCopy = 4, kGatherOfStep = 8;

/// mma.sync: one role, whose warps all do the same.
class WarpMmaProgram {
public:
    WarpMmaProgram(const CtaTile& tile, const GemmFormats& formats)
        : tile_(tile),
          k_of_mma_(k_of_fragment(formats.in)),
          rows_(tile.m / tile.groups_m),
          cols_(tile.n / tile.groups_n),
          warps_(tile.groups_m * tile.groups_n),
          copies_(bytes_of(formats.in, (tile.m + tile.n) * tile.k) / (kCopyBytes * warps_)),
          formats_(formats) {}

    CtaProgram program(std::int64_t steps) const {
        CtaProgram cta;
        cta.barriers = {{warps_, false}};
        WarpProgram program{set_up()};
        for (int stage = 0; stage + 1 < tile_.stages; ++stage) program.push_back(first_copies());
        program.push_back(first_fragments());
        program.push_back(step());
        program.back().trips = steps;
        for (Section& section : warp_epilogue({rows_, cols_, formats_.out, formats_.epilogue}))
            program.push_back(std::move(section));
        cta.roles = {{warps_, std::move(program)}};
        const std::int64_t fragments = 2 * (rows_ + cols_) * kFragmentBytes / (4 * kWarpThreads);
        cta.registers_of_thread =
            static_cast<int>(rows_ * cols_ / kWarpThreads + fragments) + kOtherRegisters;
        return cta;
    }

private:
    static constexpr int kBufferBits = 16, kSumBits = 32;

    static Section set_up() {
        Section section;
        // Tile coordinates, pointers and predicates of both operands.
        for (int i = 0; i < 40; ++i) section.body.push_back({.op = Op::Integer, .reads = 1, .writes = 1});
        return section;
    }
    Section first_copies() const {
        Section section;
        copy(section, 0, copies_);
        section.body.push_back({.op = Op::CommitCopies});
        return section;
    }
    /// Copies `from` to `until` of a step: A's come first.
    void copy(Section& section, std::int64_t from, std::int64_t until) const {
        for (std::int64_t i = from; i < until; ++i) {
            const bool gathered = formats_.gathers && i * (tile_.m + tile_.n) < copies_ * tile_.m;
            integer(section, gathered ? kGatherOfCopy : 1);
            section.body.push_back({.op = Op::AsyncCopy, .bytes = kCopyBytes});
        }
        if (formats_.gathers && until == copies_ && from < until) integer(section, kGatherOfStep);
    }
    static void integer(Section& section, int count) {
        for (int i = 0; i < count; ++i) section.body.push_back({.op = Op::Integer});
    }
    /// Data of the next stage are in shared memory, for all warps to see.
    void meet(Section& section) const {
        section.body.push_back({.op = Op::WaitCopies, .amount = tile_.stages - 2});
        section.body.push_back({.op = Op::Arrive});
        section.body.push_back({.op = Op::Await});
    }
    Section first_fragments() const {
        Section section;
        const std::vector<Instruction> first = loads(0);
        meet(section);
        section.body.insert(section.body.end(), first.begin(), first.end());
        return section;
    }
    std::int64_t loads_a() const { return ceil_div(rows_ * kFragmentBytes, kLoadBytes); }
    std::int64_t loads_b() const { return ceil_div(cols_ * kFragmentBytes, kLoadBytes); }
    RegisterGroups fragment(std::int64_t buffer, std::int64_t number) const {
        return RegisterGroups{1} << (buffer * kBufferBits + number % kBufferBits);
    }
    std::vector<Instruction> loads(std::int64_t buffer) const {
        std::vector<Instruction> all;
        for (std::int64_t i = 0; i < loads_a() + loads_b(); ++i)
            all.push_back({.op = Op::SharedLoad, .writes = fragment(buffer, i), .bytes = kLoadBytes});
        return all;
    }
    std::vector<Instruction> products(std::int64_t buffer) const {
        std::vector<Instruction> all;
        for (std::int64_t m = 0; m < rows_ / 16; ++m)
            for (std::int64_t n = 0; n < cols_ / 8; ++n) {
                const RegisterGroups sums =
                    RegisterGroups{1} << (2 * kBufferBits + static_cast<std::int64_t>(all.size()) % kSumBits);
                all.push_back({.op = Op::Mma,
                               .reads = fragment(buffer, m * kFragmentBytes * 16 / kLoadBytes) |
                                        fragment(buffer, loads_a() + n / 2) | sums,
                               .writes = sums,
                               .amount = 16 * 8 * k_of_mma_});
            }
        return all;
    }
    /// As compilers schedule them: what brings the next operands stands evenly between the products.
    static void interleave(Section& section, const std::vector<Instruction>& products,
                           const std::vector<Instruction>& others) {
        std::size_t placed = 0;
        for (std::size_t i = 0; i < products.size(); ++i) {
            const std::size_t until = others.size() * (i + 1) / products.size();
            section.body.push_back(products[i]);
            for (; placed < until; ++placed) section.body.push_back(others[placed]);
        }
    }
    /// The fragments of a part are loaded while the one before is multiplied; the last one loads the next
    /// stage's first, for which all warps have met.
    Section step() const {
        Section section;
        section.steps = true;
        const std::int64_t parts = tile_.k / k_of_mma_;
        std::int64_t copied = 0;
        for (std::int64_t part = 0; part < parts; ++part) {
            if (part + 1 == parts) {
                section.body.push_back({.op = Op::CommitCopies});
                meet(section);
            }
            std::vector<Instruction> others = loads((part + 1) % 2);
            const std::int64_t until = copies_ * (part + 1) / (parts - 1);
            Section copies;
            if (part + 1 < parts) copy(copies, copied, until), copied = until;
            others.insert(others.end(), copies.body.begin(), copies.body.end());
            interleave(section, products(part % 2), others);
        }
        return section;
    }

    const CtaTile tile_;
    const std::int64_t k_of_mma_, rows_, cols_;
    const int warps_;
    const std::int64_t copies_;  // instructions of a warp for a step
    const GemmFormats formats_;
};

/// What a CTA keeps in shared memory: its stages, and from Hopper on results on their way out.
Bytes shared_bytes(const CtaTile& tile, const GemmFormats& formats, TensorIssue issue) {
    if (is_wmma(tile, issue)) return wmma_shared_bytes(tile, formats);
    const std::int64_t columns = tile.pair ? tile.n / 2 : tile.n;
    const std::int64_t stages =
        tile.stages * (bytes_of(formats.in, (tile.m + columns) * tile.k) + scale_bytes(tile, formats.blocks));
    const std::int64_t result = tile.m * tile.n * element_bytes(formats.out);
    if (issue == TensorIssue::WarpGroup) return Bytes(stages + std::min<std::int64_t>(result, 16 * 1024));
    if (issue == TensorIssue::Thread) return Bytes(stages + std::min<std::int64_t>(result, 8 * 1024));
    return Bytes(stages);
}

}  // namespace

GemmFormats formats_of(const GemmKernel& kernel) {
    const GemmShape& shape = kernel.shape;
    return {shape.dtype, kernel.split_k > 1 ? DType::Fp32 : shape.output, kernel.epilogue(),
            shape.gather.has_value(), shape.blocks};
}

bool divides(const CtaTile& tile, const GemmFormats& formats, TensorIssue issue) {
    if (is_staged(issue)) return staged_divides(tile, formats, issue);
    if (is_wmma(tile, issue)) return wmma_divides(tile, formats);
    if (issue == TensorIssue::Thread) return tile.slices == 1 && thread_mma_divides(tile, formats);
    if (tile.slices != 1) return false;
    const std::int64_t depth = bytes_of(formats.in, tile.k);
    const auto whole = [](std::int64_t a, std::int64_t b) { return b > 0 && a > 0 && a % b == 0; };
    if (tile.groups_m < 1 || tile.groups_n < 1 || tile.stages < 2 || !whole(tile.m, tile.groups_m) ||
        !whole(tile.n, tile.groups_n) || !whole(depth, kFragmentBytes))
        return false;
    const std::int64_t rows = tile.m / tile.groups_m, cols = tile.n / tile.groups_n;
    if (issue == TensorIssue::WarpGroup) return whole(rows, 64) && whole(cols, 8) && cols <= 256;
    const std::int64_t copied = (tile.m + tile.n) * depth;
    return whole(rows, 16) && whole(cols, 8) && depth >= 2 * kFragmentBytes &&
           whole(copied, kCopyBytes * tile.groups_m * tile.groups_n) && rows * cols <= 128 * 64;
}

CtaProgram gemm_program(const CtaTile& tile, const GemmFormats& formats, std::int64_t steps,
                        const SmSpec& sm) {
    if (tile.pipes == Pipes::Fp32) return gemv_program(tile, formats, steps);
    const TensorIssue issue = sm.issue_of(formats.in);
    if (issue == TensorIssue::WarpGroup || issue == TensorIssue::Thread)
        return persistent_program(tile, formats, {steps}, sm);
    CtaProgram program = is_staged(issue)       ? staged_program(tile, formats, steps, issue)
                         : is_wmma(tile, issue) ? wmma_program(tile, formats, steps)
                                                : WarpMmaProgram(tile, formats).program(steps);
    program.shared = shared_bytes(tile, formats, issue);
    return program;
}

CtaProgram persistent_program(const CtaTile& tile, const GemmFormats& formats,
                              const std::vector<std::int64_t>& steps, const SmSpec& sm) {
    const TensorIssue issue = sm.issue_of(formats.in);
    CtaProgram program = issue == TensorIssue::Thread ? thread_mma_program(tile, formats, steps)
                                                      : group_mma_program(tile, formats, steps);
    program.shared = shared_bytes(tile, formats, issue);
    return program;
}

CtaProgram storing(CtaProgram program, double share) {
    if (share >= 1) return program;
    for (Role& role : program.roles)
        for (Section& section : role.program)
            for (Instruction& instruction : section.body)
                if (instruction.op == Op::GlobalStore ||
                    (instruction.op == Op::BulkStore && program.tensor > Bytes(0)))
                    instruction.bytes =
                        round_up(std::max<std::int64_t>(
                                     1, std::llround(share * static_cast<double>(instruction.bytes))),
                                 kSectorBytes);
    return program;
}

double before_last_part(const CtaTile& tile, const GemmFormats& formats) {
    return 1 - static_cast<double>(kFragmentBytes) / static_cast<double>(bytes_of(formats.in, tile.k));
}

int steps_ahead(const CtaTile& tile, TensorIssue issue) {
    if (is_staged(issue) || is_wmma(tile, issue)) return 1;
    return issue == TensorIssue::Warp ? tile.stages - 1 : tile.stages;
}

int occupancy(const CtaProgram& program, const SmSpec& sm, bool by_warp) {
    if (program.registers_of_thread > sm.registers_of_thread || program.shared > sm.shared.most_of_cta)
        return 0;
    // A group that copies is as wide as the others, though one warp of it works.
    const std::int64_t warps = round_up(program.warps(), sm.sub_cores);
    const auto registers_of = [&](std::int64_t number, int of_thread) {
        return number * round_up(std::int64_t{of_thread} * sm.warp_threads, sm.register_unit);
    };
    const std::int64_t copiers = program.registers_of_copier > 0 ? sm.sub_cores : 0;
    const std::int64_t registers = by_warp ? registers_of(program.warps(), program.registers_of_thread)
                                           : registers_of(warps - copiers, program.registers_of_thread) +
                                                 registers_of(copiers, program.registers_of_copier);
    const std::int64_t shared = program.shared.value() + sm.shared.reserved_of_cta.value();
    std::int64_t fit = std::min({std::int64_t{sm.ctas}, sm.warps / warps, sm.registers / registers});
    if (program.tensor > Bytes(0)) fit = std::min(fit, sm.tensor.memory.capacity / program.tensor);
    return static_cast<int>(shared > 0 ? std::min(fit, sm.shared.capacity.value() / shared) : fit);
}

}  // namespace systole::simt
