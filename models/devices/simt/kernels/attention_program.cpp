// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/attention_program.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/devices/simt/kernels/gemm_epilogue.h"
#include "models/devices/simt/kernels/group_attention_program.h"
#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/kernels/online_softmax.h"
#include "models/devices/simt/kernels/specialized_attention_program.h"
#include "models/devices/simt/kernels/thread_attention_program.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kRowsOfMma = 16, kColumnsOfMma = 8;
// buffer_load_dword … lds: what a thread copies straight into shared memory, where operands are MFMA's.
constexpr std::int64_t kWaveCopyBytes = 4;
constexpr RegisterGroups kTable = RegisterGroups{1} << 63;
// Of each copy of rows in pages (fmha_v2, gmem_tile_qkv_packed.h, Gmem_tile_paged_kv::load), integer
// instructions: the row, its page's place in the table, in 64 bits; and its page's begin and its place there
// in 64 bits, and whether there is such a row and column.
constexpr int kPlaceInTable = 4, kPlaceInPage = 11;
constexpr int kSetUp = 60;  // instructions: coordinates, pointers and predicates of four matrices

/// One of the two products of a warp with a block: `parts` along what is summed over.
struct Product {
    std::int64_t columns = 0, parts = 0;
    bool loads_rows = false;  ///< the first operand comes out of shared memory, too
    bool into_scores = false;
};

class WarpAttentionProgram {
public:
    WarpAttentionProgram(const AttentionTile& tile, const AttentionFormats& formats, const SmSpec& sm)
        : tile_(tile),
          wave_(sm.tensor.issue == TensorIssue::Wave),
          threads_(sm.warp_threads),
          most_registers_(wave_ ? sm.registers_of_thread : 255),
          load_bytes_(threads_ * kThreadBytes),
          copy_bytes_(threads_ * (wave_ ? kWaveCopyBytes : kThreadBytes)),
          element_(element_bytes(formats.in)),
          k_of_mma_(kFragmentBytes / element_),
          warps_m_(std::min<std::int64_t>(tile.warps, tile.m / kRowsOfMma)),
          warps_n_(tile.warps / warps_m_),
          rows_(tile.m / warps_m_),
          keys_(tile.n / warps_n_),
          side_(rows_ % 32 == 0 && keys_ % 32 == 0 ? 32 : 16),
          l1_latency_(sm.l1_latency.value()),
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
            (2 * std::max(keys_, tile_.dim) + 2 * rows_) * kFragmentBytes / (4 * threads_);
        const std::int64_t queries = wave_ ? rows_ * tile_.dim * element_ / (4 * threads_) : 0;
        cta.registers_of_thread = static_cast<int>(std::min<std::int64_t>(
            most_registers_,
            (rows_ * (keys_ + tile_.dim)) / threads_ + queries + fragments / 2 + kOtherRegisters));
        const std::int64_t blocks = tile_.slice > 0 ? 2 * (tile_.n + tile_.dim) * tile_.slice
                                                    : 2 * tile_.stages * tile_.n * tile_.dim;
        // MFMA's kernels keep queries in registers (ck_tile, block_fmha_pipeline_qr_ks_vs_async.hpp).
        cta.shared = Bytes(((wave_ ? 0 : tile_.m * tile_.dim) + blocks) * element_);
        return cta;
    }

private:
    void copy(Section& section, std::int64_t elements) const {
        for (std::int64_t i = 0; i < copies_of(elements); ++i) copy_one(section, 1);
        section.body.push_back({.op = Op::CommitCopies});
    }
    /// Of keys or values, which lie in pages: the number of each row's page comes out of the L1.
    void copy_rows(Section& section, std::int64_t elements) const {
        if (tile_.table == 0 || !tile_.paged) return copy(section, elements);
        const std::int64_t copies = copies_of(elements);
        // Each has registers of its own; the last number is there when all are.
        for (std::int64_t i = 0; i < copies; ++i) {
            for (int count = 0; count < kPlaceInTable; ++count) section.body.push_back({.op = Op::Integer});
            section.body.push_back(
                {.op = Op::TableLoad, .writes = i + 1 == copies ? kTable : 0, .amount = l1_latency_});
        }
        for (std::int64_t i = 0; i < copies; ++i) copy_one(section, kPlaceInPage);
        section.body.push_back({.op = Op::CommitCopies});
    }
    std::int64_t copies_of(std::int64_t elements) const {
        return ceil_div(elements * element_, copy_bytes_ * tile_.warps);
    }
    void copy_one(Section& section, int integers) const {
        for (int count = 0; count < integers; ++count)
            section.body.push_back({.op = Op::Integer, .reads = kTable});
        section.body.push_back({.op = Op::AsyncCopy, .reads = kTable, .bytes = copy_bytes_});
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
        // Where its sequence begins, and then the page of its keys.
        const auto look_up = [&] {
            if (tile_.table > 0)
                section.body.push_back(
                    {.op = Op::TableLoad, .reads = kTable, .writes = kTable, .amount = tile_.table});
            section.body.push_back({.op = Op::Integer, .reads = kTable, .writes = kTable});
        };
        look_up();
        copy(section, tile_.m * tile_.dim);
        if (tile_.paged) look_up();
        copy_rows(section, tile_.n * (tile_.slice > 0 ? tile_.slice : tile_.dim));
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
        copy_rows(section, tile_.n * tile_.dim);  // values of this block
        multiply({keys_, tile_.dim / k_of_mma_, !wave_, true}, section);
        meet(section, 0);
        if (!last) copy_rows(section, tile_.n * tile_.dim);  // keys of the next one
        add_online_softmax(block(masked), section);
        multiply({tile_.dim, keys_ / k_of_mma_, false, false}, section);
        return section;
    }
    /// Each slice is copied while the one before is multiplied; its place is free when all have done that.
    void sliced_step(bool masked, bool last, Section& section) const {
        const std::int64_t of_head = tile_.dim / tile_.slice, of_block = tile_.n / tile_.slice;
        for (std::int64_t i = 0; i < of_head; ++i) {
            const bool values = i + 1 == of_head;
            copy_rows(section, values ? tile_.slice * tile_.dim : tile_.n * tile_.slice);
            meet(section, 1);
            multiply({keys_, tile_.slice / k_of_mma_, !wave_, true}, section);
            if (!values) meet(section);
        }
        add_online_softmax(block(masked), section);
        for (std::int64_t i = 0; i < of_block; ++i) {
            const bool next = i + 1 == of_block;
            if (!next || !last) copy_rows(section, next ? tile_.n * tile_.slice : tile_.slice * tile_.dim);
            meet(section, next && last ? 0 : 1);
            multiply({tile_.dim, tile_.slice / k_of_mma_, false, false}, section);
            meet(section);
        }
    }

    ScoreBlock block(bool masked) const {
        if (wave_) return {rows_, keys_, tile_.dim, masked, tile_.base_e, threads_, threads_ / side_};
        return {rows_, keys_, tile_.dim, masked, tile_.base_e};
    }
    static RegisterGroups fragment(std::int64_t part, std::int64_t number) {
        return RegisterGroups{1} << (part % 2 * 7 + number % 7);
    }
    static RegisterGroups row_fragment(std::int64_t part) { return RegisterGroups{1} << (14 + part % 2); }

    std::vector<Instruction> loads(const Product& product, std::int64_t part) const {
        std::vector<Instruction> all;
        if (product.loads_rows)
            for (std::int64_t i = 0; i < ceil_div(rows_ * kFragmentBytes, load_bytes_); ++i)
                all.push_back({.op = Op::SharedLoad, .writes = row_fragment(part), .bytes = load_bytes_});
        for (std::int64_t i = 0; i < ceil_div(product.columns * kFragmentBytes, load_bytes_); ++i)
            all.push_back({.op = Op::SharedLoad, .writes = fragment(part, i), .bytes = load_bytes_});
        return all;
    }
    std::vector<Instruction> products(const Product& product, std::int64_t part) const {
        std::vector<Instruction> all;
        const std::int64_t rows = wave_ ? side_ : kRowsOfMma, columns = wave_ ? side_ : kColumnsOfMma;
        for (std::int64_t m = 0; m < rows_ / rows; ++m)
            for (std::int64_t n = 0; n < product.columns / columns; ++n) {
                const auto number = static_cast<std::int64_t>(all.size());
                const RegisterGroups sums = product.into_scores ? score_group(number) : result_group(number);
                const bool in_scores = !product.loads_rows && !product.into_scores;
                const RegisterGroups first = in_scores ? score_group(part) : row_fragment(part);
                all.push_back(
                    {.op = Op::Mma,
                     .reads = first | fragment(part, n * columns * kFragmentBytes / load_bytes_) | sums,
                     .writes = sums,
                     .amount = rows * columns * k_of_mma_});
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
        add_normalization(block(false), last);
        if (warps_n_ > 1) join_warps(last);
        program.push_back(std::move(last));
        const std::int64_t columns = tile_.dim / warps_n_;
        const WarpResults results{rows_, columns, formats_.out, {}, threads_};
        for (Section& section : wave_ ? wave_epilogue(results) : warp_epilogue(results))
            program.push_back(std::move(section));
    }
    /// Warps with parts of the keys leave their results, and each adds all others' of its columns.
    void join_warps(Section& section) const {
        const std::int64_t bytes = rows_ * tile_.dim * 4;
        for (std::int64_t i = 0; i < bytes / load_bytes_; ++i)
            section.body.push_back({.op = Op::SharedStore, .reads = kAllResults, .bytes = load_bytes_});
        section.body.push_back({.op = Op::Arrive});
        section.body.push_back({.op = Op::Await});
        for (std::int64_t i = 0; i < bytes / load_bytes_; ++i) {
            section.body.push_back({.op = Op::SharedLoad, .writes = fragment(0, i), .bytes = load_bytes_});
            for (int sum = 0; sum < 4; ++sum)
                section.body.push_back(
                    {.op = Op::Fp32, .reads = fragment(0, i) | result_group(i), .writes = result_group(i)});
        }
    }

    const AttentionTile tile_;
    const bool wave_;
    const std::int64_t threads_, most_registers_, load_bytes_, copy_bytes_;
    const std::int64_t element_, k_of_mma_, warps_m_, warps_n_, rows_, keys_;
    const std::int64_t side_;  // of what an MFMA instruction leaves
    const std::int64_t l1_latency_;
    const AttentionFormats formats_;
};

}  // namespace

bool by_groups(const AttentionTile& tile, const SmSpec& sm) {
    return sm.tensor.issue == TensorIssue::WarpGroup && tile.stages > 1;
}

CtaProgram attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                             const AttentionWork& work, const SmSpec& sm) {
    if (tile.design == AttentionDesign::Specialized)
        return specialized_attention_program(tile, formats, work, sm);
    if (tile.design == AttentionDesign::Threads) return thread_attention_program(tile, formats, work, sm);
    if (by_groups(tile, sm)) return group_attention_program(tile, formats, {work});
    return WarpAttentionProgram(tile, formats, sm).program(work);
}

CtaProgram attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                             const std::vector<AttentionWork>& tiles, const SmSpec& sm) {
    if (by_groups(tile, sm)) return group_attention_program(tile, formats, tiles);
    SYSTOLE_CHECK(tiles.size() == 1, "{} tiles of a CTA that is not persistent", tiles.size());
    return attention_program(tile, formats, tiles.front(), sm);
}

}  // namespace systole::simt
