// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/specialized_attention_program.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/devices/simt/kernels/decode_kernel.h"
#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/kernels/online_softmax.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kRowBytes = kWarpThreads * kThreadBytes;  // of a warp's copy or load
constexpr std::int64_t kRowsOfMma = 16, kColumnsOfMma = 8;
constexpr int kWarps = 4;  // of each kind, at most
// Instructions until warps part: places of warps and items, pointers, barriers. Counted, as those of a copy,
// in the library's own kernel (xqa_kernel_dt_bf16_d_128_beam_1_kvt_bf16_pagedKV_64_nqpkv_8_m_8_sm_90.cubin:
// up to 0x8c0).
constexpr std::int64_t kSetUp = 140;
/// Of each copy: its row of the page, whether the sequence has it, where it goes in shared memory; half of
/// them multiply and add on the FP32 pipe. Eight copies of a tile at the sequence's end take 104
/// instructions, of one that is whole 91.
struct CopyAddresses {
    std::int64_t fp32, integer;
};
constexpr CopyAddresses kAtEnd{6, 6}, kWhole{5, 5};
// Queries are brought by four warps, also where fewer have keys: each has as many copies less.
constexpr CopyAddresses kOfQueries{0, 2};
constexpr std::int64_t kAddresses = 2;    // of a store
constexpr std::int64_t kExponential = 8;  // of a row: expf, its range taken care of
constexpr int kScoresThere = 0, kScoresFree = 1, kMeet = 2;
constexpr RegisterGroups kPage = RegisterGroups{1} << 15;

RegisterGroups fragment(std::int64_t part, std::int64_t number) {
    return RegisterGroups{1} << (part % 2 * 7 + number % 7);
}
constexpr RegisterGroups kRowFragment = RegisterGroups{1} << 14;

/// What all of a CTA's warps know.
struct Shape {
    std::int64_t rows, keys, parts, element, table;
    int scores, values;  // warps that have keys, and their values
    int groups;          // of all warps of values, whose results meet in the end
    int tiles_of_group;

    Shape(const AttentionTile& tile, const AttentionFormats& formats)
        : rows(tile.m),
          keys(kWarpKeys),
          parts(tile.dim / kWarpColumns),
          element(element_bytes(formats.in)),
          table(tile.table),
          scores(score_warps(tile)),
          values(value_warps(tile)),
          groups(static_cast<int>(kWarps / parts)),
          tiles_of_group(static_cast<int>(ceil_div(scores, values / parts))) {}

    /// Scores, and results, of a thread; rows of a quad's thread.
    std::int64_t of_thread() const { return rows * kWarpKeys / kWarpThreads; }
    std::int64_t rows_of_thread() const { return rows / 8; }
};

class Writer {
public:
    Writer(const Shape& shape, Section& section) : shape_(shape), section_(section) {}

    void op(Op op, RegisterGroups reads, RegisterGroups writes, std::int64_t times = 1) {
        for (std::int64_t i = 0; i < times; ++i)
            section_.body.push_back({.op = op, .reads = reads, .writes = writes});
    }
    void shared(Op op, RegisterGroups reads, RegisterGroups writes, std::int64_t bytes,
                std::int64_t times = 1) {
        for (std::int64_t i = 0; i < times; ++i)
            section_.body.push_back({.op = op, .reads = reads, .writes = writes, .bytes = bytes});
    }
    void table_load(RegisterGroups reads) {
        section_.body.push_back(
            {.op = Op::TableLoad, .reads = reads, .writes = kPage, .amount = shape_.table});
    }
    /// So many bytes by this warp, of a page whose number is there.
    void copy(std::int64_t bytes, CopyAddresses addresses) {
        for (std::int64_t i = 0; i < ceil_div(bytes, kRowBytes); ++i) {
            for (std::int64_t n = 0; n < std::max(addresses.fp32, addresses.integer); ++n) {
                if (n < addresses.fp32) op(Op::Fp32, kPage, 0);
                if (n < addresses.integer) op(Op::Integer, kPage, 0);
            }
            section_.body.push_back({.op = Op::AsyncCopy, .reads = kPage, .bytes = kRowBytes});
        }
    }
    void barrier(Op op, int number, RegisterGroups reads = 0) {
        section_.body.push_back({.op = op, .reads = reads, .barrier = number});
    }
    void meet(RegisterGroups reads = 0) {
        barrier(Op::Arrive, kMeet, reads);
        barrier(Op::Await, kMeet);
    }
    void wait_for_copies(std::int64_t under_way) {
        section_.body.push_back({.op = Op::WaitCopies, .amount = under_way});
    }
    void commit() { section_.body.push_back({.op = Op::CommitCopies}); }

    /// 64 elements (or keys) deep: fragments of a part are loaded while the one before is multiplied. Rows
    /// that are shares take a multiplication each.
    void multiply(bool into_scores) {
        const std::int64_t k_of_mma = kFragmentBytes / shape_.element, deep = kWarpColumns / k_of_mma;
        const auto load = [&](std::int64_t part) {
            shared(Op::SharedLoad, 0, kRowFragment, kRowBytes, shape_.rows / kRowsOfMma);
            for (std::int64_t i = 0; i < kWarpKeys * kFragmentBytes / kRowBytes; ++i)
                shared(Op::SharedLoad, 0, fragment(part, i), kRowBytes);
            if (!into_scores) op(Op::Fp32, kRowFragment, kRowFragment, shape_.rows / kRowsOfMma * 4);
        };
        load(0);
        for (std::int64_t part = 0; part < deep; ++part) {
            if (part + 1 < deep) load(part + 1);
            std::int64_t number = 0;
            for (std::int64_t m = 0; m < shape_.rows / kRowsOfMma; ++m)
                for (std::int64_t n = 0; n < kWarpColumns / kColumnsOfMma; ++n, ++number) {
                    const RegisterGroups sums = into_scores ? score_group(number) : result_group(number);
                    section_.body.push_back(
                        {.op = Op::Mma,
                         .reads = kRowFragment |
                                  fragment(part, n * kColumnsOfMma * kFragmentBytes / kRowBytes) | sums,
                         .writes = sums,
                         .amount = kRowsOfMma * kColumnsOfMma * k_of_mma});
                }
        }
    }
    void each_score(Op pipe) {
        for (std::int64_t i = 0; i < shape_.of_thread(); ++i) op(pipe, score_group(i), score_group(i));
    }
    void each_result(RegisterGroups factor) {
        for (std::int64_t i = 0; i < shape_.of_thread(); ++i)
            op(Op::Fp32, result_group(i) | factor, result_group(i));
    }
    RegisterGroups row(std::int64_t i) const { return kOfRows << (i % 8); }
    /// From the threads that have them to all of a row.
    void spread_rows(RegisterGroups from) {
        for (std::int64_t i = 0; i < shape_.rows_of_thread(); ++i)
            shared(Op::SharedLoad, from, row(i), kWarpThreads * 4);
    }
    RegisterGroups all_rows() const { return kOfRows * 0xff; }

private:
    const Shape& shape_;
    Section& section_;
};

/// exp(s - max) of a warp's scores, what the others need of them, and where these find it.
void softmax(const Shape& shape, bool masked, Writer& writer) {
    const std::int64_t scores = shape.of_thread(), rows = shape.rows_of_thread();
    writer.each_score(Op::Fp32);  // the scale
    writer.barrier(Op::Await, kScoresFree);
    writer.shared(Op::SharedLoad, 0, writer.all_rows(), kWarpThreads * 4, ceil_div(rows, 4));
    if (masked) writer.each_score(Op::Integer), writer.each_score(Op::Integer);
    for (std::int64_t i = 0; i < scores; ++i)
        writer.op(Op::Integer, score_group(i) | writer.row(i % rows), writer.row(i % rows));
    for (int threads = 2; threads > 0; threads /= 2)
        for (std::int64_t i = 0; i < rows; ++i) {
            writer.shared(Op::SharedLoad, writer.row(i), writer.row(i), kWarpThreads * 4);
            writer.op(Op::Integer, writer.row(i), writer.row(i));
        }
    writer.op(Op::Fp32, writer.all_rows(), writer.all_rows(), rows);
    for (std::int64_t i = 0; i < scores; ++i) {
        writer.op(Op::Fp32, score_group(i) | writer.row(i % rows), score_group(i));
        if (i > 0) writer.op(Op::Special, score_group(i - 1), score_group(i - 1));
    }
    writer.op(Op::Special, score_group(scores - 1), score_group(scores - 1));
    for (std::int64_t i = 0; i < scores; i += 2)
        writer.op(Op::Fp32, score_group(i) | score_group(i + 1), score_group(i / 2));
}

/// Sums of rows are a product with ones.
void hand_over(const Shape& shape, Section& section, Writer& writer) {
    const std::int64_t k_of_mma = kFragmentBytes / shape.element;
    for (std::int64_t part = 0; part < kWarpKeys / k_of_mma; ++part)
        for (std::int64_t m = 0; m < shape.rows / kRowsOfMma; ++m)
            section.body.push_back({.op = Op::Mma,
                                    .reads = score_group(part) | kRowFragment,
                                    .writes = kRowFragment,
                                    .amount = kRowsOfMma * kColumnsOfMma * k_of_mma});
    writer.spread_rows(kRowFragment);
    writer.shared(Op::SharedStore, kAllScores, 0, kRowBytes,
                  ceil_div(shape.rows * kWarpKeys * shape.element, kRowBytes));
    writer.shared(Op::SharedStore, writer.all_rows(), 0, kWarpThreads * 4, 2);
    writer.barrier(Op::Arrive, kScoresThere);
}

/// Of a warp whose tile begins behind the sequence's end: it comes to know that.
Section begin_without_keys(const Shape& shape) {
    Section begin;
    Writer writer(shape, begin);
    writer.op(Op::Integer, 1, 1, kSetUp);
    writer.table_load(0);
    writer.table_load(kPage);
    const std::int64_t copies = ceil_div(kWarpKeys * kWarpColumns * shape.element, kRowBytes);
    writer.op(Op::Fp32, kPage, 0, copies * kAtEnd.fp32);
    writer.op(Op::Integer, kPage, 0, copies * kAtEnd.integer);
    return begin;
}

WarpProgram scores(const Shape& shape, const AttentionWork& work) {
    const std::int64_t part_bytes = kWarpKeys * kWarpColumns * shape.element;
    Section begin;
    Writer writer(shape, begin);
    writer.op(Op::Integer, 1, 1, kSetUp);
    writer.op(Op::Integer, 0, kPage);
    writer.copy(shape.rows * shape.parts * kWarpColumns * shape.element / shape.scores, kOfQueries);
    writer.table_load(0);      // the length
    writer.table_load(kPage);  // the page
    const CopyAddresses addresses = work.steps > 1 ? kWhole : kAtEnd;
    writer.copy(part_bytes, addresses);
    writer.commit();
    WarpProgram program{std::move(begin)};
    const auto add = [&](std::int64_t trips, bool masked) {
        if (trips <= 0) return;
        Section step;
        step.steps = true;
        step.trips = trips;
        Writer own(shape, step);
        for (std::int64_t part = 0; part < shape.parts; ++part) {
            // The page of the next tile's keys is known by then.
            if (part + 1 == shape.parts) own.table_load(kPage);
            own.copy(part_bytes, addresses);
            own.commit();
            own.wait_for_copies(1);
            own.multiply(true);
        }
        softmax(shape, masked, own);
        hand_over(shape, step, own);
        program.push_back(std::move(step));
    };
    add(work.steps - work.masked, false);
    add(work.masked, true);
    return program;
}

/// A warp's results become those of all groups: maxima and sums, results in the format in which they leave.
void join_groups(const Shape& shape, Writer& writer) {
    const std::int64_t own = shape.rows * kWarpColumns * shape.element;
    if (shape.groups > 1) {
        writer.meet(kAllResults);
        writer.shared(Op::SharedStore, writer.all_rows(), 0, kWarpThreads * 4, 2);
        writer.meet();
        for (int other = 1; other < shape.groups; ++other) {
            writer.shared(Op::SharedLoad, 0, writer.row(other), kWarpThreads * 4, 2);
            writer.op(Op::Fp32, writer.row(other), writer.row(other), 2 * kExponential);
            writer.spread_rows(writer.row(other));
            writer.each_result(writer.row(0));
        }
    }
    writer.op(Op::Special, writer.all_rows(), writer.row(0));
    writer.spread_rows(writer.row(0));
    writer.each_result(writer.row(0));
    writer.op(Op::Fp32, kAllResults, result_group(0), shape.of_thread() / 2);  // conversions
    writer.meet();
    writer.shared(Op::SharedStore, kAllResults, 0, kRowBytes, ceil_div(own, kRowBytes));
    writer.meet();
    if (shape.groups > 1) {
        for (std::int64_t i = 0; i < ceil_div(own, kRowBytes * shape.groups); ++i) {
            for (int group = 0; group < shape.groups; ++group) {
                writer.shared(Op::SharedLoad, 0, fragment(group, i), kRowBytes);
                writer.op(Op::Fp32, fragment(group, i) | result_group(i), result_group(i), 4);
            }
            writer.shared(Op::SharedStore, result_group(i), 0, kRowBytes);
        }
        writer.meet();
    }
}

WarpProgram values(const Shape& shape, const AttentionFormats& formats, const AttentionWork& work) {
    const std::int64_t tile_bytes = kWarpKeys * kWarpColumns * shape.element;
    Section begin;
    Writer writer(shape, begin);
    writer.op(Op::Integer, 1, 1, kSetUp);
    writer.op(Op::Integer, 0, kPage);
    writer.table_load(0);
    writer.table_load(kPage);
    const CopyAddresses addresses = work.steps > 1 ? kWhole : kAtEnd;
    writer.copy(tile_bytes, addresses);
    writer.commit();
    Section step;
    step.steps = true;
    step.trips = work.steps;
    Writer own(shape, step);
    for (int tile = 0; tile < shape.tiles_of_group; ++tile) {
        own.table_load(kPage);
        own.copy(tile_bytes, addresses);
        own.commit();
        if (tile == 0) own.barrier(Op::Await, kScoresThere);
        own.shared(Op::SharedLoad, 0, own.row(0), kWarpThreads * 4, 2);
        own.op(Op::Integer, own.row(0), own.row(0), 4);
        // What the largest has grown by, of all so far and of these: exponentials and a product each.
        own.op(Op::Fp32, own.row(0), own.row(0), 2 * kExponential);
        own.spread_rows(own.row(0));
        own.each_result(own.row(0));
        own.spread_rows(own.row(0));
        own.wait_for_copies(1);
        own.multiply(false);
    }
    own.barrier(Op::Arrive, kScoresFree, kAllResults);
    Section last;
    Writer end(shape, last);
    join_groups(shape, end);
    // One group's warps leave rows of 128 bytes.
    const std::int64_t stored = ceil_div(shape.rows * kWarpColumns * element_bytes(formats.out) * shape.parts,
                                         kRowBytes * shape.values);
    for (std::int64_t i = 0; i < stored; ++i) {
        end.shared(Op::SharedLoad, 0, fragment(0, i), kRowBytes);
        end.op(Op::Integer, 0, 1, kAddresses);
        last.body.push_back({.op = Op::GlobalStore, .reads = fragment(0, i) | 1, .bytes = kRowBytes});
    }
    return {std::move(begin), std::move(step), std::move(last)};
}

/// Warps of values without any: their groups' results, which are zeros, join those of the others.
WarpProgram without_values(const Shape& shape) {
    Section last;
    Writer end(shape, last);
    join_groups(shape, end);
    return {begin_without_keys(shape), std::move(last)};
}

}  // namespace

int score_warps(const AttentionTile& tile) {
    return static_cast<int>(ceil_div(tile.n, kWarpKeys));
}

// Of d elements, d / 64 warps have a tile of keys.
int value_warps(const AttentionTile& tile) {
    const auto columns = static_cast<int>(tile.dim / kWarpColumns);
    return columns * std::min(kWarps / columns, score_warps(tile));
}

CtaProgram specialized_attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                                         const AttentionWork& work, const SmSpec& sm) {
    const Shape shape(tile, formats);
    CtaProgram cta;
    const int of_values = static_cast<int>(shape.groups * shape.parts);
    cta.barriers = {{shape.scores, false}, {shape.values, true}, {of_values, false}};
    cta.roles = {{shape.scores, scores(shape, work)}, {shape.values, values(shape, formats, work)}};
    // Of a sequence of few keys, the others have none (SHORT_SEQ_OPT), and yet are there.
    if (of_values > shape.values) cta.roles.push_back({of_values - shape.values, without_values(shape)});
    if (kWarps > shape.scores)
        cta.roles.push_back({kWarps - shape.scores, WarpProgram{begin_without_keys(shape)}});
    cta.registers_of_thread = 128;  // __launch_bounds__(256, 2)
    // Two parts of keys and two tiles of values of each warp, shares, and queries; half of the depth where an
    // SM has less (__CUDA_ARCH__ 860, 890).
    const std::int64_t rings = 2 * kWarps * 2 * kWarpKeys * kWarpColumns * shape.element;
    const std::int64_t others = tile.m * (tile.dim + kWarps * kWarpKeys) * shape.element;
    const bool whole = Bytes(rings + others) <= sm.shared.most_of_cta;
    cta.shared = Bytes((whole ? rings : rings / 2) + others);
    return cta;
}

}  // namespace systole::simt
