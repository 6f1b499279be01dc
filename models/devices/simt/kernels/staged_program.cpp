// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/staged_program.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/devices/simt/kernels/gemm_epilogue.h"
#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/kernels/staged_shape.h"

namespace systole::simt {
namespace {

constexpr int kSetUp = 40;  // instructions: tile coordinates, pointers
// Of gathered rows, integer instructions for each load and for all of a step's: as of mma.sync's programs
// (gemm_program.cpp): a pointer goes on, masks are tested.
constexpr int kGatherOfLoad = 4, kGatherOfStep = 8;

class StagedProgram {
public:
    StagedProgram(const CtaTile& tile, const GemmFormats& formats, TensorIssue issue)
        : tile_(tile),
          formats_(formats),
          issue_(issue),
          shape_(*staged_shape(tile, formats.in, issue)),
          warps_(tile.groups_m * tile.groups_n * tile.slices),
          loads_(bytes_of(formats.in, (tile.m + tile.n) * tile.k) / (shape_.load_bytes() * warps_)),
          parts_(bytes_of(formats.in, tile.k) / shape_.part_bytes / tile.slices) {}

    CtaProgram program(std::int64_t steps) const {
        CtaProgram cta;
        cta.barriers = {{warps_, false}};
        WarpProgram program{begin(), step()};
        program.back().trips = steps;
        if (tile_.slices > 1) program.push_back(add_slices());
        const WarpResults results{shape_.rows / tile_.slices, shape_.cols, formats_.out, formats_.epilogue,
                                  shape_.threads};
        for (Section& section : issue_ == TensorIssue::Wave ? wave_epilogue(results) : warp_epilogue(results))
            program.push_back(std::move(section));
        cta.roles = {{warps_, std::move(program)}};
        const std::int64_t fragments = 2 * (shape_.a.registers + shape_.b.registers);
        cta.registers_of_thread =
            static_cast<int>(sums() + fragments + loads_ * shape_.thread_bytes / 4) + shape_.other_registers;
        return cta;
    }
    std::int64_t products_of_part() const { return shape_.products(); }
    std::int64_t products_of_step() const { return products_of_part() * parts_; }
    /// Behind so many of the last part's products the next step's data have been stored.
    std::int64_t storing_products() const { return ceil_div(products_of_part(), 2); }
    /// Behind so many of the first part's products the last load has left.
    std::int64_t loading_products() const {
        const auto behind = static_cast<std::int64_t>(others_behind_product());
        return std::min(products_of_part(), ceil_div(2 * loads_, std::min<std::int64_t>(2, behind)));
    }

private:
    static constexpr int kBufferBits = 8, kLoadBits = 16, kSumBits = 32;

    static RegisterGroups fragment(std::int64_t buffer, std::int64_t number) {
        return RegisterGroups{1} << (buffer * kBufferBits + number % kBufferBits);
    }
    static RegisterGroups loaded(std::int64_t load) {
        return RegisterGroups{1} << (2 * kBufferBits + load % kLoadBits);
    }
    /// Of a thread.
    std::int64_t sums() const { return shape_.rows * shape_.cols / shape_.threads; }

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
            all.push_back({.op = Op::StepLoad, .writes = loaded(i), .bytes = shape_.load_bytes()});
        }
        for (int i = 0; formats_.gathers && i < kGatherOfStep; ++i) all.push_back({.op = Op::Integer});
        all.push_back({.op = Op::CommitCopies});
        return all;
    }
    Instructions stores() const {
        Instructions all;
        for (std::int64_t i = 0; i < loads_; ++i)
            all.push_back({.op = Op::SharedStore, .reads = loaded(i), .bytes = shape_.load_bytes()});
        return all;
    }
    Instructions reads(std::int64_t buffer) const {
        Instructions all;
        for (std::int64_t i = 0; i < shape_.a.count + shape_.b.count; ++i)
            all.push_back({.op = Op::SharedLoad,
                           .writes = fragment(buffer, i),
                           .bytes = i < shape_.a.count ? shape_.a.bytes : shape_.b.bytes});
        return all;
    }
    /// Instruction `i` of the product at `row`, `col`.
    Instruction product(std::int64_t buffer, std::int64_t row, std::int64_t col, std::int64_t i) const {
        const ProductReads reads = shape_.reads_of(row, col);
        const std::int64_t number = row * (shape_.cols / shape_.n) + col;
        const std::int64_t own = shape_.sums_apart ? number * shape_.instructions + i : number;
        const RegisterGroups sums = RegisterGroups{1} << (kSumBits + own % kSumBits);
        return {.op = shape_.op,
                .reads = fragment(buffer, reads.a) | fragment(buffer, shape_.a.count + reads.b) | sums,
                .writes = sums,
                .amount = shape_.macs};
    }
    /// Those that add to the same sums stand as far apart as they can: as Tensile's kernels go over a warp's
    /// tiles for one slice of K after the other. Steps of HMMA, each with sums of its own, follow each other.
    Instructions products(std::int64_t buffer) const {
        Instructions all;
        const std::int64_t turns = shape_.sums_apart ? 1 : shape_.instructions;
        for (std::int64_t turn = 0; turn < turns; ++turn)
            for (std::int64_t row = 0; row < shape_.rows / shape_.m; ++row)
                for (std::int64_t col = 0; col < shape_.cols / shape_.n; ++col)
                    for (std::int64_t i = 0; i < shape_.instructions / turns; ++i)
                        all.push_back(product(buffer, row, col, turns > 1 ? turn : i));
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
        const bool load = shape_.behind_product > 1;
        return formats_.gathers && load ? static_cast<std::size_t>(kGatherOfLoad + 1) : shape_.behind_product;
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

    /// Each of the warps that share K keeps the sums of a part of the rows: it leaves the others' in shared
    /// memory, and adds what they left for it.
    Section add_slices() const {
        Section section;
        const std::int64_t passed = sums() * (tile_.slices - 1) / tile_.slices;
        const std::int64_t moves = ceil_div(passed * 4, kThreadBytes);
        const RegisterGroups all = RegisterGroups{0xffffffff} << kSumBits;
        meet(section.body);
        for (std::int64_t i = 0; i < moves; ++i)
            section.body.push_back({.op = Op::SharedStore, .reads = all, .bytes = shape_.load_bytes()});
        meet(section.body);
        for (std::int64_t i = 0; i < moves; ++i)
            section.body.push_back(
                {.op = Op::SharedLoad, .writes = fragment(0, i), .bytes = shape_.load_bytes()});
        for (std::int64_t i = 0; i < passed; ++i) {
            const RegisterGroups sum = RegisterGroups{1} << (kSumBits + i % kSumBits);
            section.body.push_back(
                {.op = Op::Fp32, .reads = sum | fragment(0, i * 4 / kThreadBytes), .writes = sum});
        }
        return section;
    }

    const CtaTile tile_;
    const GemmFormats formats_;
    const TensorIssue issue_;
    const StagedShape shape_;
    const int warps_;
    const std::int64_t loads_;  // instructions of a warp for a step
    const std::int64_t parts_;  // of a step, along K, that a warp multiplies
};

}  // namespace

bool is_staged(TensorIssue issue) {
    return issue == TensorIssue::Wave || issue == TensorIssue::QuadPair || issue == TensorIssue::Lanes;
}

bool staged_divides(const CtaTile& tile, const GemmFormats& formats, TensorIssue issue) {
    const auto whole = [](std::int64_t a, std::int64_t b) { return b > 0 && a > 0 && a % b == 0; };
    const auto shape = staged_shape(tile, formats.in, issue);
    if (!shape || tile.stages < 1 || tile.stages > 2) return false;
    const std::int64_t k_bytes = bytes_of(formats.in, tile.k);
    const std::int64_t warps = std::int64_t{tile.groups_m} * tile.groups_n * tile.slices;
    const bool rows = tile.slices == 1 || whole(shape->rows, std::int64_t{8} * tile.slices);
    return rows && whole(k_bytes, shape->part_bytes * tile.slices) &&
           k_bytes >= 2 * shape->part_bytes * tile.slices &&
           whole((tile.m + tile.n) * k_bytes, shape->load_bytes() * warps);
}

CtaProgram staged_program(const CtaTile& tile, const GemmFormats& formats, std::int64_t steps,
                          TensorIssue issue) {
    return StagedProgram(tile, formats, issue).program(steps);
}

StepShares staged_step_shares(const CtaTile& tile, const GemmFormats& formats, TensorIssue issue) {
    const StagedProgram program(tile, formats, issue);
    const auto all = static_cast<double>(program.products_of_step());
    const auto left = static_cast<double>(program.products_of_part() - program.storing_products());
    return {static_cast<double>(program.loading_products()) / all, 1 - left / all};
}

}  // namespace systole::simt
