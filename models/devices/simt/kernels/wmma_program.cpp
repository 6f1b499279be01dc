// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/wmma_program.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "models/devices/simt/kernels/gemm_epilogue.h"
#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/sm/sm.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

constexpr int kSetUp = 40;  // instructions: tile coordinates, pointers, masks
// Instructions besides loads, stores, reads and products, counted in what nvcc 13.0 makes for sm_80 and sm_89
// of a loop written like CUTLASS's: of a load a bit of its mask is brought out and tested (SHF, LOP3, ISETP),
// its 64-bit pointer goes on (IADD3, IADD3.X), and its registers are cleared (two CS2R); of a step, the
// loop's, the stage's and the mask's: 136 of two stages and 120 of one with 16 loads.
constexpr int kOfLoad = 7, kOfStep = 16;
// Of gathered rows besides, as of mma.sync's other programs (gemm_program.cpp).
constexpr int kGatherOfLoad = 3, kGatherOfStep = 8;
// A fragment's load brings four bytes a thread (LD, not LDSM), eight rows of 16 bytes.
constexpr std::int64_t kReadBytes = 128;
constexpr std::int64_t kLoadBytes = kWarpThreads * kThreadBytes;
constexpr std::int64_t kSide = 16, kMmaColumns = 8;
constexpr std::int64_t kPadding = 16;  // bytes

class WmmaProgram {
public:
    WmmaProgram(const CtaTile& tile, const GemmFormats& formats)
        : tile_(tile),
          formats_(formats),
          rows_(tile.m / tile.groups_m),
          cols_(tile.n / tile.groups_n),
          warps_(tile.groups_m * tile.groups_n),
          loads_(bytes_of(formats.in, (tile.m + tile.n) * tile.k) / (kLoadBytes * warps_)),
          parts_(tile.k / k_of_fragment(formats.in)) {}

    CtaProgram program(std::int64_t steps) const {
        CtaProgram cta;
        cta.barriers = {{warps_, false}};
        const bool one = tile_.stages == 1;
        WarpProgram program{begin(), one ? step_of_one_stage() : step_of_two_stages(), last_step()};
        program[1].trips = std::max<std::int64_t>(0, steps - 1);
        program[2].trips = std::min<std::int64_t>(1, steps);
        for (Section& section : warp_epilogue({rows_, cols_, formats_.out, formats_.epilogue}))
            program.push_back(std::move(section));
        cta.roles = {{warps_, std::move(program)}};
        const std::int64_t fragments = tile_.stages * (rows_ + cols_) * kFragmentBytes / (4 * kWarpThreads);
        cta.registers_of_thread =
            static_cast<int>(rows_ * cols_ / kWarpThreads + fragments + loads_ * kThreadBytes / 4) +
            kOtherRegisters;
        return cta;
    }
    std::int64_t loads() const { return loads_; }

private:
    // Groups of registers: fragments of four parts, eight loads each; a step's loads; sums.
    static constexpr int kParts = 4, kReadsOfPart = 8, kLoadBits = 16, kSumBits = 16;
    static constexpr int kFirstLoad = kParts * kReadsOfPart, kFirstSum = kFirstLoad + kLoadBits;
    using Instructions = std::vector<Instruction>;

    static RegisterGroups fragment(std::int64_t part, std::int64_t read) {
        return RegisterGroups{1} << (part % kParts * kReadsOfPart + read % kReadsOfPart);
    }
    static RegisterGroups fragments(std::int64_t part) {
        return RegisterGroups{(1 << kReadsOfPart) - 1} << (part % kParts * kReadsOfPart);
    }
    static RegisterGroups loaded(std::int64_t load) {
        return RegisterGroups{1} << (kFirstLoad + load % kLoadBits);
    }
    static void append(Instructions& to, const Instructions& what) {
        to.insert(to.end(), what.begin(), what.end());
    }
    static void meet(Instructions& to) {
        to.push_back({.op = Op::Arrive});
        to.push_back({.op = Op::Await});
    }
    static void integers(Instructions& to, int count) {
        for (int i = 0; i < count; ++i) to.push_back({.op = Op::Integer});
    }
    /// A step's operands, A's first.
    Instructions loads_of_step() const {
        Instructions all;
        for (std::int64_t i = 0; i < loads_; ++i) {
            const bool gathered = formats_.gathers && i * (tile_.m + tile_.n) < loads_ * tile_.m;
            integers(all, kOfLoad + (gathered ? kGatherOfLoad : 0));
            all.push_back({.op = Op::StepLoad, .writes = loaded(i), .bytes = kLoadBytes});
        }
        integers(all, kOfStep + (formats_.gathers ? kGatherOfStep : 0));
        all.push_back({.op = Op::CommitCopies});
        return all;
    }
    void store(Instructions& to) const {
        to.push_back({.op = Op::WaitCopies});  // forgets them: the stores wait for registers
        for (std::int64_t i = 0; i < loads_; ++i)
            to.push_back({.op = Op::SharedStore, .reads = loaded(i), .bytes = kLoadBytes});
        meet(to);
    }
    /// Fragments of a part of a step.
    Instructions reads(std::int64_t part) const {
        Instructions all;
        for (std::int64_t i = 0; i < (rows_ + cols_) * kFragmentBytes / kReadBytes; ++i)
            all.push_back({.op = Op::SharedLoad, .writes = fragment(part, i), .bytes = kReadBytes});
        return all;
    }
    Instructions products(std::int64_t part) const {
        Instructions all;
        for (std::int64_t i = 0; i < rows_ / kSide * (cols_ / kMmaColumns); ++i) {
            const RegisterGroups sums = RegisterGroups{1} << (kFirstSum + i % kSumBits);
            all.push_back({.op = Op::Mma,
                           .reads = fragments(part) | sums,
                           .writes = sums,
                           .amount = kSide * kMmaColumns * k_of_fragment(formats_.in)});
        }
        return all;
    }
    void multiply(Instructions& to, std::int64_t part) const { append(to, products(part)); }

    /// One stage: its fragments are read when they are needed.
    void multiply_all(Instructions& to) const {
        for (std::int64_t part = 0; part < parts_; ++part) {
            append(to, reads(part));
            multiply(to, part);
        }
    }
    Section begin() const {
        Section section;
        for (int i = 0; i < kSetUp; ++i) section.body.push_back({.op = Op::Integer, .reads = 1, .writes = 1});
        append(section.body, loads_of_step());
        if (tile_.stages == 1) return section;
        store(section.body);
        append(section.body, reads(0));
        return section;
    }
    Section step_of_one_stage() const {
        Section section;
        section.steps = true;
        store(section.body);
        multiply_all(section.body);
        meet(section.body);
        append(section.body, loads_of_step());
        return section;
    }
    /// Fragments of each part are read ahead of the products of the one before.
    Section step_of_two_stages() const {
        Section section;
        section.steps = true;
        for (std::int64_t part = 0; part < parts_; ++part) {
            if (part + 1 == parts_) store(section.body);
            append(section.body, reads((part + 1) % parts_));
            if (part == 0) append(section.body, loads_of_step());
            multiply(section.body, part);
        }
        return section;
    }
    /// Behind the last step nothing is loaded.
    Section last_step() const {
        Section section;
        section.steps = true;
        if (tile_.stages == 1) {
            store(section.body);
            multiply_all(section.body);
            return section;
        }
        for (std::int64_t part = 0; part < parts_; ++part) {
            if (part + 1 < parts_) append(section.body, reads(part + 1));
            multiply(section.body, part);
        }
        return section;
    }

    const CtaTile tile_;
    const GemmFormats formats_;
    const std::int64_t rows_, cols_;  // of a warp
    const int warps_;
    const std::int64_t loads_;  // instructions of a warp for a step
    const std::int64_t parts_;  // of a step, along K
};

constexpr std::int64_t kSteps = 12, kMiddle = 6;
// Later than all that a step does besides waiting for its data.
constexpr std::int64_t kFar = 20'000;

/// A CTA of one step takes, besides waiting for its data, this and the step's interval: what lies between
/// its first load and its last counts, too.
void take_fill(const CtaTile& tile, const GemmFormats& formats, const SmSpec& sm, CtaTiming& timing) {
    const CtaProgram program = gemm_program(tile, formats, 1, sm);
    Sm alone(sm, sm.macs(formats.in), [](const Sm::Access& access) {
        return access.op == Op::StepLoad ? access.at + kFar : access.at;
    });
    alone.launch(program, 0);
    alone.run();
    const Sm::CtaTrace& trace = alone.trace(0);
    const std::int64_t all =
        trace.requests.front() - trace.first_request + trace.last_mma_end - trace.first_data;
    timing.fill =
        Cycles(std::max<std::int64_t>(0, all - static_cast<std::int64_t>(std::ceil(timing.interval_alone))));
}

}  // namespace

bool is_wmma(const CtaTile& tile, TensorIssue issue) {
    return tile.wmma && issue == TensorIssue::Warp;
}

bool wmma_divides(const CtaTile& tile, const GemmFormats& formats) {
    const auto whole = [](std::int64_t a, std::int64_t b) { return b > 0 && a > 0 && a % b == 0; };
    const std::int64_t depth = bytes_of(formats.in, tile.k);
    if (tile.stages < 1 || tile.stages > 2 || tile.slices != 1 || !whole(tile.m, tile.groups_m) ||
        !whole(tile.n, tile.groups_n))
        return false;
    return whole(tile.m / tile.groups_m, kSide) && whole(tile.n / tile.groups_n, kSide) &&
           whole(depth, kFragmentBytes) && depth >= 2 * kFragmentBytes &&
           whole((tile.m + tile.n) * depth, kLoadBytes * tile.groups_m * tile.groups_n);
}

Bytes wmma_shared_bytes(const CtaTile& tile, const GemmFormats& formats) {
    return Bytes(tile.stages * (tile.m + tile.n) * (bytes_of(formats.in, tile.k) + kPadding));
}

CtaProgram wmma_program(const CtaTile& tile, const GemmFormats& formats, std::int64_t steps) {
    return WmmaProgram(tile, formats).program(steps);
}

// A step's data are asked for when the last load leaves, and from their arrival until the next step's last
// load leaves passes what no load is under way in: all of the interval but what lies between `loaded` and
// `meet`.
void take_wmma_turns(const CtaTile& tile, const GemmFormats& formats, const SmSpec& sm, CtaTiming& timing) {
    const std::int64_t loads = WmmaProgram(tile, formats).loads();
    std::vector<std::int64_t> last(static_cast<std::size_t>(kSteps));
    const CtaProgram program = gemm_program(tile, formats, kSteps, sm);
    Sm alone(sm, sm.macs(formats.in), [&](const Sm::Access& access) {
        if (access.op != Op::StepLoad) return access.at;
        std::int64_t& left = last.at(static_cast<std::size_t>(access.number / loads));
        left = std::max(left, access.at);
        return access.at + kFar;
    });
    alone.launch(program, 0);
    alone.run();
    const Sm::CtaTrace& trace = alone.trace(0);
    const std::int64_t without = last[kMiddle + 1] - last[kMiddle] - kFar;
    SYSTOLE_CHECK(without > 0, "loads of two steps leave {} cycles apart", without + kFar);
    // The step in which the loads of the one behind it leave begins with the data that it stores, or where
    // the one before ended.
    const std::int64_t begin =
        tile.stages == 1 ? last[kMiddle] + kFar : trace.steps[static_cast<std::size_t>(kMiddle - 1)];
    const auto loaded = static_cast<double>(last[kMiddle + 1] - begin);
    timing.interval_alone = std::max({timing.interval_alone, loaded, static_cast<double>(without)});
    timing.loaded = loaded;
    timing.meet = std::clamp(loaded + timing.interval_alone - static_cast<double>(without), loaded,
                             timing.interval_alone);
    take_fill(tile, formats, sm, timing);
}

}  // namespace systole::simt
