// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/wave_mma_program.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/devices/simt/kernels/gemm_epilogue.h"
#include "models/devices/simt/kernels/mma_shapes.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kWaveThreads = 64;
constexpr std::int64_t kLoadBytes = kWaveThreads * kThreadBytes;  // buffer_load_dwordx4, ds_read_b128
constexpr int kSetUp = 40;                                        // instructions: tile coordinates, pointers
// Registers of a thread besides sums, fragments and loads: addresses, offsets of loads (assumed).
constexpr int kOthers = 30;
// Of gathered rows, integer instructions for each load and for all of a step's: as of mma.sync's programs
// (gemm_program.cpp): a pointer goes on, masks are tested.
constexpr int kGatherOfLoad = 4, kGatherOfStep = 8;

class WaveMmaProgram {
public:
    WaveMmaProgram(const CtaTile& tile, const GemmFormats& formats)
        : tile_(tile),
          formats_(formats),
          element_(element_bytes(formats.in)),
          rows_(tile.m / tile.groups_m),
          cols_(tile.n / tile.groups_n),
          side_(rows_ % 32 == 0 && cols_ % 32 == 0 ? 32 : 16),
          warps_(tile.groups_m * tile.groups_n),
          loads_((tile.m + tile.n) * tile.k * element_ / (kLoadBytes * warps_)),
          parts_(tile.k * element_ / kFragmentBytes) {}

    CtaProgram program(std::int64_t steps) const {
        CtaProgram cta;
        cta.barriers = {{warps_, false}};
        WarpProgram program{begin(), step()};
        program.back().trips = steps;
        for (Section& section : wave_epilogue({rows_, cols_, formats_.out, formats_.epilogue, kWaveThreads}))
            program.push_back(std::move(section));
        cta.roles = {{warps_, std::move(program)}};
        const std::int64_t fragments = 2 * (rows_ + cols_) * kFragmentBytes / (4 * kWaveThreads);
        const std::int64_t loaded = loads_ * kThreadBytes / 4;
        cta.registers_of_thread =
            static_cast<int>(rows_ * cols_ / kWaveThreads + fragments + loaded) + kOthers;
        return cta;
    }
    /// An instruction of 32 x 32 takes 16 bytes of K, of 16 x 16 32.
    std::int64_t products_of_part() const {
        return rows_ / side_ * (cols_ / side_) * (side_ == 32 ? kFragmentBytes / 16 : 1);
    }
    std::int64_t products_of_step() const { return products_of_part() * parts_; }
    /// Behind so many of the last part's products the next step's data have been stored.
    std::int64_t storing_products() const { return ceil_div(products_of_part(), 2); }
    std::int64_t loads() const { return loads_; }

private:
    static constexpr int kBufferBits = 8, kLoadBits = 16, kSumBits = 32;

    static RegisterGroups fragment(std::int64_t buffer, std::int64_t number) {
        return RegisterGroups{1} << (buffer * kBufferBits + number % kBufferBits);
    }
    static RegisterGroups loaded(std::int64_t load) {
        return RegisterGroups{1} << (2 * kBufferBits + load % kLoadBits);
    }
    std::int64_t reads_a() const { return ceil_div(rows_ * kFragmentBytes, kLoadBytes); }
    std::int64_t reads_b() const { return ceil_div(cols_ * kFragmentBytes, kLoadBytes); }

    using Instructions = std::vector<Instruction>;
    static void append(Instructions& to, const Instructions& what) {
        to.insert(to.end(), what.begin(), what.end());
    }
    static void meet(Instructions& to) {
        to.push_back({.op = Op::Arrive});
        to.push_back({.op = Op::Await});
    }
    /// The next step's operands, A's first: into registers that hold as many loads as they are.
    Instructions loads_of_step() const {
        Instructions all;
        for (std::int64_t i = 0; i < loads_; ++i) {
            const bool gathered = formats_.gathers && i * (tile_.m + tile_.n) < loads_ * tile_.m;
            for (int count = gathered ? kGatherOfLoad : 1; count > 0; --count)
                all.push_back({.op = Op::Integer});
            all.push_back({.op = Op::StepLoad, .writes = loaded(i), .bytes = kLoadBytes});
        }
        for (int i = 0; formats_.gathers && i < kGatherOfStep; ++i) all.push_back({.op = Op::Integer});
        all.push_back({.op = Op::CommitCopies});
        return all;
    }
    Instructions stores() const {
        Instructions all;
        for (std::int64_t i = 0; i < loads_; ++i)
            all.push_back({.op = Op::SharedStore, .reads = loaded(i), .bytes = kLoadBytes});
        return all;
    }
    Instructions reads(std::int64_t buffer) const {
        Instructions all;
        for (std::int64_t i = 0; i < reads_a() + reads_b(); ++i)
            all.push_back({.op = Op::SharedLoad,
                           .writes = fragment(buffer, i),
                           .bytes = std::min(kLoadBytes, (i < reads_a() ? rows_ : cols_) * kFragmentBytes)});
        return all;
    }
    Instructions products(std::int64_t buffer) const {
        Instructions all;
        const std::int64_t k_halves = side_ == 32 ? kFragmentBytes / 16 : 1;
        const std::int64_t macs = side_ * side_ * kFragmentBytes / k_halves / element_;
        std::int64_t number = 0;
        for (std::int64_t m = 0; m < rows_ / side_; ++m)
            for (std::int64_t n = 0; n < cols_ / side_; ++n, ++number)
                for (std::int64_t half = 0; half < k_halves; ++half) {
                    const RegisterGroups sums = RegisterGroups{1} << (kSumBits + number % kSumBits);
                    all.push_back(
                        {.op = Op::Mma,
                         .reads = fragment(buffer, m * side_ * kFragmentBytes / kLoadBytes) |
                                  fragment(buffer, reads_a() + n * side_ * kFragmentBytes / kLoadBytes) |
                                  sums,
                         .writes = sums,
                         .amount = macs});
                }
        return all;
    }
    /// `others` between products [from, until), evenly, or `at_once` behind each.
    static void interleave(Instructions& to, const Instructions& products, std::size_t from,
                           std::size_t until, const Instructions& others, std::size_t at_once = 0) {
        std::size_t placed = 0;
        for (std::size_t i = from; i < until; ++i) {
            to.push_back(products[i]);
            const std::size_t evenly = others.size() * (i + 1 - from) / (until - from);
            const std::size_t end =
                at_once > 0 ? std::min(others.size(), placed + at_once) : std::max(placed, evenly);
            for (; placed < end; ++placed) to.push_back(others[placed]);
        }
        for (; placed < others.size(); ++placed) to.push_back(others[placed]);
    }

    /// The first step's operands through registers into shared memory, and its first fragments.
    Section begin() const {
        Section section;
        for (int i = 0; i < kSetUp; ++i) section.body.push_back({.op = Op::Integer, .reads = 1, .writes = 1});
        append(section.body, loads_of_step());
        section.body.push_back({.op = Op::WaitCopies});  // forgets them: the stores wait for registers
        append(section.body, stores());
        meet(section.body);
        append(section.body, reads(0));
        return section;
    }
    /// Fragments of a part are read while the one before is multiplied; the last one's products stand between
    /// the stores of the next step's operands, and then the reads of its first fragments.
    Section step() const {
        Section section;
        section.steps = true;
        const Instructions loads = loads_of_step();
        for (std::int64_t part = 0; part + 1 < parts_; ++part) {
            const Instructions own = products(part % 2);
            Instructions others = reads((part + 1) % 2);
            // A product takes as long as several others issue: all loads stand in the first part.
            if (part == 0) {
                Instructions with_loads;
                interleave(with_loads, own, 0, own.size(), loads, others_behind_product());
                merge_reads(with_loads, others);
                append(section.body, with_loads);
            } else {
                interleave(section.body, own, 0, own.size(), others);
            }
        }
        const Instructions last = products((parts_ - 1) % 2);
        const auto storing = static_cast<std::size_t>(storing_products());
        if (tile_.stages == 1) meet(section.body);
        section.body.push_back({.op = Op::WaitCopies});
        interleave(section.body, last, 0, storing, stores());
        meet(section.body);
        interleave(section.body, last, storing, last.size(), reads(0));
        return section;
    }
    /// Of a load, its integer instructions and itself.
    std::size_t others_behind_product() const {
        return formats_.gathers ? static_cast<std::size_t>(kGatherOfLoad + 1) : 2;
    }
    /// Reads evenly among what stands there already.
    static void merge_reads(Instructions& body, const Instructions& reads) {
        Instructions merged;
        std::size_t placed = 0;
        for (std::size_t i = 0; i < body.size(); ++i) {
            merged.push_back(body[i]);
            for (const std::size_t until = reads.size() * (i + 1) / body.size(); placed < until; ++placed)
                merged.push_back(reads[placed]);
        }
        body = std::move(merged);
    }

    const CtaTile tile_;
    const GemmFormats formats_;
    const std::int64_t element_, rows_, cols_, side_;
    const int warps_;
    const std::int64_t loads_;  // instructions of a warp for a step
    const std::int64_t parts_;  // of a step, along K
};

}  // namespace

bool wave_mma_divides(const CtaTile& tile, const GemmFormats& formats) {
    const std::int64_t element = element_bytes(formats.in);
    const auto whole = [](std::int64_t a, std::int64_t b) { return b > 0 && a > 0 && a % b == 0; };
    if (tile.groups_m < 1 || tile.groups_n < 1 || tile.stages < 1 || !whole(tile.m, tile.groups_m) ||
        !whole(tile.n, tile.groups_n) || !whole(tile.k * element, kFragmentBytes))
        return false;
    const std::int64_t rows = tile.m / tile.groups_m, cols = tile.n / tile.groups_n;
    const std::int64_t loaded = (tile.m + tile.n) * tile.k * element;
    return whole(rows, 16) && whole(cols, 16) && tile.k * element >= 2 * kFragmentBytes &&
           whole(loaded, kLoadBytes * tile.groups_m * tile.groups_n);
}

CtaProgram wave_mma_program(const CtaTile& tile, const GemmFormats& formats, std::int64_t steps) {
    return WaveMmaProgram(tile, formats).program(steps);
}

StepShares wave_step_shares(const CtaTile& tile, const GemmFormats& formats) {
    const WaveMmaProgram program(tile, formats);
    const auto all = static_cast<double>(program.products_of_step());
    const auto left = static_cast<double>(program.products_of_part() - program.storing_products());
    return {static_cast<double>(std::min(program.loads(), program.products_of_part())) / all, 1 - left / all};
}

}  // namespace systole::simt
