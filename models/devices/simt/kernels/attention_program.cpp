// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/attention_program.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/devices/simt/kernels/gemm_epilogue.h"
#include "models/devices/simt/kernels/group_attention_program.h"
#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/kernels/online_softmax.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kLoadBytes = 512;  // ldmatrix.x4: 16 x 32 bytes
constexpr std::int64_t kCopyBytes = kWarpThreads * kThreadBytes;
constexpr std::int64_t kRowsOfMma = 16, kColumnsOfMma = 8;
constexpr int kSetUp = 60;  // instructions: coordinates, pointers and predicates of four matrices

/// One of the two products of a warp with a block: `parts` along what is summed over.
struct Product {
    std::int64_t columns = 0, parts = 0;
    bool loads_rows = false;  ///< the first operand comes out of shared memory, too
    bool into_scores = false;
};

class WarpAttentionProgram {
public:
    WarpAttentionProgram(const AttentionTile& tile, const AttentionFormats& formats)
        : tile_(tile),
          element_(element_bytes(formats.in)),
          k_of_mma_(kFragmentBytes / element_),
          warps_m_(std::min<std::int64_t>(tile.warps, tile.m / kRowsOfMma)),
          warps_n_(tile.warps / warps_m_),
          rows_(tile.m / warps_m_),
          keys_(tile.n / warps_n_),
          formats_(formats) {}

    CtaProgram program(const AttentionWork& work) const {
        CtaProgram cta;
        cta.barriers = {{tile_.warps, false}};
        WarpProgram program{begin()};
        const auto add_steps = [&](std::int64_t trips, bool masked, bool last) {
            if (trips <= 0) return;
            program.push_back(step(masked, last));
            program.back().trips = trips;
        };
        // From the last block backwards: those that are masked come first. Behind the last, none is copied.
        const bool all_masked = work.masked >= work.steps;
        add_steps(work.masked - (all_masked ? 1 : 0), true, false);
        add_steps(work.steps - work.masked - 1, false, false);
        add_steps(work.steps > 0 ? 1 : 0, all_masked, true);
        add_epilogue(program);
        cta.roles = {{tile_.warps, std::move(program)}};
        // Scores, results, and two fragments of an operand and one of the other.
        const std::int64_t fragments =
            (2 * std::max(keys_, tile_.dim) + 2 * rows_) * kFragmentBytes / (4 * kWarpThreads);
        cta.registers_of_thread = static_cast<int>(std::min<std::int64_t>(
            255, (rows_ * (keys_ + tile_.dim)) / kWarpThreads + fragments / 2 + kOtherRegisters));
        const std::int64_t blocks = tile_.slice > 0 ? 2 * (tile_.n + tile_.dim) * tile_.slice
                                                    : 2 * tile_.stages * tile_.n * tile_.dim;
        cta.shared = Bytes((tile_.m * tile_.dim + blocks) * element_);
        return cta;
    }

private:
    void copy(Section& section, std::int64_t elements) const {
        for (std::int64_t i = 0; i < ceil_div(elements * element_, kCopyBytes * tile_.warps); ++i) {
            section.body.push_back({.op = Op::Integer});
            section.body.push_back({.op = Op::AsyncCopy, .bytes = kCopyBytes});
        }
        section.body.push_back({.op = Op::CommitCopies});
    }
    /// All have read what may be written over now.
    static void meet(Section& section) {
        section.body.push_back({.op = Op::Arrive});
        section.body.push_back({.op = Op::Await});
    }
    /// All that was copied but for so many groups is there, for all warps to see.
    static void meet(Section& section, std::int64_t under_way) {
        section.body.push_back({.op = Op::WaitCopies, .amount = under_way});
        meet(section);
    }
    Section begin() const {
        Section section;
        for (int i = 0; i < kSetUp; ++i) section.body.push_back({.op = Op::Integer, .reads = 1, .writes = 1});
        copy(section, tile_.m * tile_.dim);
        copy(section, tile_.n * (tile_.slice > 0 ? tile_.slice : tile_.dim));
        return section;
    }
    Section step(bool masked, bool last) const {
        Section section;
        section.steps = true;
        if (tile_.slice > 0) {
            sliced_step(masked, last, section);
            return section;
        }
        meet(section, 0);
        copy(section, tile_.n * tile_.dim);  // values of this block
        multiply({keys_, tile_.dim / k_of_mma_, true, true}, section);
        meet(section, 0);
        if (!last) copy(section, tile_.n * tile_.dim);  // keys of the next one
        add_online_softmax({rows_, keys_, tile_.dim, masked, tile_.base_e}, section);
        multiply({tile_.dim, keys_ / k_of_mma_, false, false}, section);
        return section;
    }
    /// Each slice is copied while the one before is multiplied; its place is free when all have done that.
    void sliced_step(bool masked, bool last, Section& section) const {
        const std::int64_t of_head = tile_.dim / tile_.slice, of_block = tile_.n / tile_.slice;
        for (std::int64_t i = 0; i < of_head; ++i) {
            const bool values = i + 1 == of_head;
            copy(section, values ? tile_.slice * tile_.dim : tile_.n * tile_.slice);
            meet(section, 1);
            multiply({keys_, tile_.slice / k_of_mma_, true, true}, section);
            if (!values) meet(section);
        }
        add_online_softmax({rows_, keys_, tile_.dim, masked, tile_.base_e}, section);
        for (std::int64_t i = 0; i < of_block; ++i) {
            const bool next = i + 1 == of_block;
            if (!next || !last) copy(section, next ? tile_.n * tile_.slice : tile_.slice * tile_.dim);
            meet(section, next && last ? 0 : 1);
            multiply({tile_.dim, tile_.slice / k_of_mma_, false, false}, section);
            meet(section);
        }
    }

    static RegisterGroups fragment(std::int64_t part, std::int64_t number) {
        return RegisterGroups{1} << (part % 2 * 7 + number % 7);
    }
    static RegisterGroups row_fragment(std::int64_t part) { return RegisterGroups{1} << (14 + part % 2); }

    std::vector<Instruction> loads(const Product& product, std::int64_t part) const {
        std::vector<Instruction> all;
        if (product.loads_rows)
            for (std::int64_t i = 0; i < rows_ / kRowsOfMma; ++i)
                all.push_back({.op = Op::SharedLoad, .writes = row_fragment(part), .bytes = kLoadBytes});
        for (std::int64_t i = 0; i < ceil_div(product.columns * kFragmentBytes, kLoadBytes); ++i)
            all.push_back({.op = Op::SharedLoad, .writes = fragment(part, i), .bytes = kLoadBytes});
        return all;
    }
    std::vector<Instruction> products(const Product& product, std::int64_t part) const {
        std::vector<Instruction> all;
        for (std::int64_t m = 0; m < rows_ / kRowsOfMma; ++m)
            for (std::int64_t n = 0; n < product.columns / kColumnsOfMma; ++n) {
                const auto number = static_cast<std::int64_t>(all.size());
                const RegisterGroups sums = product.into_scores ? score_group(number) : result_group(number);
                const RegisterGroups rows = product.loads_rows ? row_fragment(part) : score_group(part);
                all.push_back({.op = Op::Mma,
                               .reads = rows | fragment(part, n / 2) | sums,
                               .writes = sums,
                               .amount = kRowsOfMma * kColumnsOfMma * k_of_mma_});
            }
        return all;
    }
    /// The fragments of a part are loaded while the one before is multiplied.
    void multiply(const Product& product, Section& section) const {
        for (Instruction& load : loads(product, 0)) section.body.push_back(load);
        for (std::int64_t part = 0; part < product.parts; ++part) {
            const std::vector<Instruction> own = products(product, part);
            const std::vector<Instruction> next =
                part + 1 < product.parts ? loads(product, part + 1) : std::vector<Instruction>{};
            std::size_t placed = 0;
            for (std::size_t i = 0; i < own.size(); ++i) {
                section.body.push_back(own[i]);
                for (const std::size_t until = next.size() * (i + 1) / own.size(); placed < until; ++placed)
                    section.body.push_back(next[placed]);
            }
        }
    }
    void add_epilogue(WarpProgram& program) const {
        Section last;
        last.body.push_back({.op = Op::WaitCopies});
        add_normalization({rows_, keys_, tile_.dim}, last);
        if (warps_n_ > 1) join_warps(last);
        program.push_back(std::move(last));
        const std::int64_t columns = tile_.dim / warps_n_;
        for (Section& section : warp_epilogue({rows_, columns, formats_.out, {}}))
            program.push_back(std::move(section));
    }
    /// Warps with parts of the keys leave their results, and each adds all others' of its columns.
    void join_warps(Section& section) const {
        const std::int64_t bytes = rows_ * tile_.dim * 4;
        for (std::int64_t i = 0; i < bytes / kLoadBytes; ++i)
            section.body.push_back({.op = Op::SharedStore, .reads = kAllResults, .bytes = kLoadBytes});
        section.body.push_back({.op = Op::Arrive});
        section.body.push_back({.op = Op::Await});
        for (std::int64_t i = 0; i < bytes / kLoadBytes; ++i) {
            section.body.push_back({.op = Op::SharedLoad, .writes = fragment(0, i), .bytes = kLoadBytes});
            for (int sum = 0; sum < 4; ++sum)
                section.body.push_back(
                    {.op = Op::Fp32, .reads = fragment(0, i) | result_group(i), .writes = result_group(i)});
        }
    }

    const AttentionTile tile_;
    const std::int64_t element_, k_of_mma_, warps_m_, warps_n_, rows_, keys_;
    const AttentionFormats formats_;
};

}  // namespace

bool by_groups(const AttentionTile& tile, const SmSpec& sm) {
    return sm.tensor.issue == TensorIssue::WarpGroup && tile.stages > 1;
}

CtaProgram attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                             const AttentionWork& work, const SmSpec& sm) {
    if (by_groups(tile, sm)) return group_attention_program(tile, formats, {work});
    return WarpAttentionProgram(tile, formats).program(work);
}

CtaProgram attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                             const std::vector<AttentionWork>& tiles, const SmSpec& sm) {
    if (by_groups(tile, sm)) return group_attention_program(tile, formats, tiles);
    SYSTOLE_CHECK(tiles.size() == 1, "{} tiles of a CTA that is not persistent", tiles.size());
    return WarpAttentionProgram(tile, formats).program(tiles.front());
}

}  // namespace systole::simt
