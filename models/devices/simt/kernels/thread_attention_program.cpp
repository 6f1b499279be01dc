// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/thread_attention_program.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "models/devices/simt/kernels/instruction_mix.h"
#include "models/devices/simt/kernels/program_writer.h"

namespace systole::simt {
namespace {

constexpr int kAll = 0;  // the barrier
constexpr int kWordBytes = 4;
// What all warps do ahead of the keys, counted in what nvcc makes for sm_80 of code written like the kernel's
// (for sm_90 a tenth more): tests for what a model may have besides, and five divisions by numbers known at
// run time, each with a conversion, a reciprocal, and a conversion back. Multiplications of integers are on
// the FP32 pipe, and there are counted, too, those that only take a turn of the scheduler: branches, the
// uniform pipe's, predicated ones that do nothing.
struct Counted {
    std::int64_t integer, fp32, special;
};
constexpr Counted kToLength{6, 8, 0};      // whether the sequence is finished, where its length lies
constexpr Counted kHeads{14, 40, 6};       // meanwhile: heads that share keys, and which of these
constexpr Counted kToPlace{21, 15, 3};     // where the new key goes: modulo the cache's length
constexpr Counted kItem{32, 42, 6};        // the sequence of its beams; which half of a head a thread turns
constexpr Counted kBehindTurn{18, 28, 0};  // a bias, a mask
constexpr Counted kToKeys{8, 10, 0};       // a scale of lengths, a slope
// Of the warp that has the query: where it and the new key lie, and any biases; where halves of them lie.
constexpr Counted kLoads{35, 45, 0}, kHalves{12, 10, 0};
// Integer instructions for where a row lies (kvCacheUtils.h, getKBlockPtr and getKVLocalIdx): its number cut
// to the last one, its page's place in the table in 64 bits (5); the page's pool and begin in 64 bits (7);
// its row, head and element in the page, and the address (6).
constexpr std::int64_t kPlaces = 18;
constexpr std::int64_t kFastExponential = 1;  // __expf: a multiplication beside ex2

int log2_of(std::int64_t number) {
    return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(1, number))) - 1;
}

/// What a warp takes part in besides waiting for the others.
struct Part {
    int warps = 0;
    bool leads = false, keys = false, values = false, scores = false;
};

class Program {
public:
    Program(const AttentionTile& tile, const AttentionFormats& formats, const AttentionWork& work,
            const SmSpec& sm)
        : tile_(tile),
          formats_(formats),
          blocks_(work.steps / 2),
          lanes_(sm.warp_threads),
          load_bytes_(lanes_ * kThreadBytes),
          elements_(kThreadBytes * 8 / bits_of(formats.in).value()),
          row_threads_(std::max<std::int64_t>(1, tile.dim / elements_)),
          rows_(std::max<std::int64_t>(1, tile.warps * lanes_ / row_threads_)) {}

    CtaProgram cta() const {
        CtaProgram cta;
        cta.barriers = {{tile_.warps, false}};
        for (const Part& part : parts()) cta.roles.push_back({part.warps, program(part)});
        cta.registers_of_thread = kThreadRegisters;
        // Scores in fp32 and as shares, or results that are joined; the query and the new key.
        const std::int64_t scores = blocks_ * tile_.keys * 6, results = rows_ * tile_.dim;
        cta.shared = Bytes(std::max(scores, results) + 2 * tile_.dim * 2);
        return cta;
    }

private:
    using Writer = SectionWriter;

    std::vector<Part> parts() const {
        const WarpsOfRows rows = warps_of_rows(tile_, formats_.in, static_cast<int>(lanes_));
        const auto scores = static_cast<int>(score_warps());
        std::vector<Part> parts{{1, true, true, true, true}};
        for (int warp = 1; warp < tile_.warps; ++warp) {
            const Part own{1, false, warp < rows.keys, warp < rows.values, warp < scores};
            Part& last = parts.back();
            if (!last.leads && last.keys == own.keys && last.values == own.values &&
                last.scores == own.scores)
                ++last.warps;
            else
                parts.push_back(own);
        }
        return parts;
    }
    WarpProgram program(const Part& part) const {
        Section keys = part.keys ? of_keys() : Section{{{.op = Op::Integer}}};
        Section values = part.values ? of_values() : Section{{{.op = Op::Integer}}};
        keys.trips = values.trips = blocks_;
        keys.steps = values.steps = true;
        WarpProgram program{begin(part), std::move(keys), largest()};
        if (part.scores) program.push_back(scores());
        program.push_back(normalized(part));
        program.push_back(std::move(values));
        program.push_back(end(part));
        return program;
    }

    static void table_load(Section& section, RegisterGroups reads, RegisterGroups writes,
                           std::int64_t cycles) {
        section.body.push_back({.op = Op::TableLoad, .reads = reads, .writes = writes, .amount = cycles});
    }
    static void shared(Section& section, Op op, RegisterGroups what, std::int64_t bytes) {
        if (op == Op::SharedLoad)
            section.body.push_back({.op = op, .writes = what, .bytes = bytes});
        else
            section.body.push_back({.op = op, .reads = what, .bytes = bytes});
    }
    void shuffle(Section& section, RegisterGroups what, std::int64_t threads, Op joins) const {
        for (; threads > 1; threads /= 2) {
            section.body.push_back(
                {.op = Op::SharedLoad, .reads = what, .writes = kOther, .bytes = lanes_ * kWordBytes});
            section.body.push_back({.op = joins, .reads = what | kOther, .writes = what});
        }
    }
    void through_shared(Section& section, RegisterGroups what, std::int64_t bytes) const {
        shared(section, Op::SharedStore, what, bytes);
        Writer(section).wait(kAll);
        shared(section, Op::SharedLoad, what, bytes);
    }

    /// One behind the other, pipes in turn.
    static void count(const Counted& counted, Section& section) {
        Writer writer(section);
        const std::int64_t all = counted.integer + counted.fp32 + counted.special;
        std::int64_t special = 0, fp32 = 0;
        for (std::int64_t i = 1; i <= all; ++i) {
            if (special * all < counted.special * i)
                writer.op(Op::Special, kAddress, kAddress), ++special;
            else if (fp32 * all < counted.fp32 * i)
                writer.op(Op::Fp32, kAddress, kAddress), ++fp32;
            else
                writer.op(Op::Integer, kAddress, kAddress);
        }
    }
    /// The first warp's threads have the query and the new key, turn them in pairs, and multiply them.
    Section begin(const Part& part) const {
        Section section;
        Writer writer(section);
        count(kToLength, section);
        table_load(section, kAddress, value(0), tile_.table);  // the length
        count(kHeads, section);
        writer.op(Op::Integer, kAddress | value(0), kAddress);
        count(kToPlace, section);
        if (part.leads) {
            count(kLoads, section);
            section.body.push_back({.op = Op::GlobalLoad,
                                    .reads = kAddress,
                                    .writes = loaded(0),
                                    .bytes = tile_.dim * bits_of(formats_.in).value() / 8});
        }
        count(kItem, section);
        if (part.leads) shared(section, Op::SharedStore, loaded(0), 2 * lanes_ * kWordBytes);
        writer.wait(kAll);
        if (part.leads) {
            count(kHalves, section);
            shared(section, Op::SharedLoad, loaded(0), 2 * lanes_ * kWordBytes);
            table_load(section, kAddress, value(0), tile_.table);  // frequencies
            const std::int64_t pairs = std::max<std::int64_t>(1, tile_.dim / lanes_ / 2);
            for (std::int64_t pair = 0; pair < pairs; ++pair) {
                writer.op(Op::Fp32, value(0), value(0), sine_and_cosine().fp32);
                writer.op(Op::Integer, value(0), value(0), sine_and_cosine().integer);
                // Of both: x cos - y sin, y cos + x sin.
                writer.op(Op::Fp32, value(0) | loaded(0), loaded(0), 2 * 4);
            }
            shared(section, Op::SharedStore, loaded(0), 2 * lanes_ * kWordBytes);
        }
        writer.wait(kAll);
        if (part.leads) shared(section, Op::SharedLoad, loaded(0), 2 * lanes_ * kWordBytes);
        writer.wait(kAll);
        count(kBehindTurn, section);
        if (part.leads) {
            shared(section, Op::SharedStore, loaded(0), 2 * lanes_ * kWordBytes);
            writer.op(Op::Fp32, loaded(0), kSum, 2 * std::max<std::int64_t>(1, tile_.dim / lanes_));
            shuffle(section, kSum, lanes_, Op::Fp32);
        }
        writer.wait(kAll, part.leads ? kSum : 0);
        count(kToKeys, section);
        shared(section, Op::SharedLoad, value(1), load_bytes_);
        writer.op(Op::Integer, value(1), value(1), elements_);  // the query in fp32
        return section;
    }
    /// Rows of a thread, each of its own page.
    void loads(std::int64_t rows, Section& section) const {
        Writer writer(section);
        for (std::int64_t row = 0; row < rows; ++row) {
            writer.op(Op::Integer, kAddress, value(row), kPlaces / 2);
            table_load(section, value(row), value(row), tile_.table);
        }
        for (std::int64_t row = 0; row < rows; ++row) {
            writer.op(Op::Integer, value(row), value(row), kPlaces - kPlaces / 2);
            section.body.push_back(
                {.op = Op::GlobalLoad, .reads = value(row), .writes = loaded(row), .bytes = load_bytes_});
        }
    }
    Section of_keys() const {
        Section section;
        const std::int64_t all = warps_of_rows(tile_, formats_.in, static_cast<int>(lanes_)).loads_of_keys;
        for (std::int64_t done = 0; done < all; done += kKeysAtOnce) add_keys(section);
        return section;
    }
    void add_keys(Section& section) const {
        Writer writer(section);
        loads(kKeysAtOnce, section);
        for (std::int64_t row = 0; row < kKeysAtOnce; ++row) {
            const RegisterGroups score = value(8 + row);
            multiply(section, row, score);
            shuffle(section, score, row_threads_, Op::Fp32);
            for (std::int64_t i = 1; i < elements_; ++i) writer.op(Op::Fp32, score, score);
            // The scale, and a slope for where it stands, which is 0: a number becomes one in fp32.
            writer.op(Op::Special, score, value(16));
            writer.op(Op::Fp32, score | value(16), score, 3);
            writer.op(Op::Integer, score, kCount,
                      5);  // whether it is one, and of this part; the largest so far
            shared(section, Op::SharedStore, score,
                   std::max<std::int64_t>(kWordBytes, lanes_ * kWordBytes / row_threads_));
        }
        writer.loop();
    }
    /// Elements to fp32, and a multiply-add each.
    void multiply(Section& section, std::int64_t row, RegisterGroups sum) const {
        Writer writer(section);
        for (std::int64_t i = 0; i < elements_; ++i) {
            writer.op(formats_.in == DType::Bf16 ? Op::Integer : Op::Fp32, loaded(row), value(16 + i % 8));
            writer.op(Op::Fp32, value(16 + i % 8) | sum, sum);
        }
    }
    /// The largest score of all.
    Section largest() const {
        Section section;
        Writer writer(section);
        shuffle(section, kCount, std::max<std::int64_t>(1, lanes_ / row_threads_), Op::Integer);
        through_shared(section, kCount, tile_.warps * kWordBytes);
        shuffle(section, kCount, tile_.warps, Op::Integer);
        writer.op(Op::Integer, kAddress, kAddress, 8);  // where the new key goes
        return section;
    }
    /// As many as a block has keys for: all parts of the keys have the same roles.
    std::int64_t score_warps() const {
        return std::min<std::int64_t>(tile_.warps, ceil_div(tile_.keys + 1, lanes_));
    }
    std::int64_t rounds() const {
        return std::max<std::int64_t>(1, ceil_div(blocks_ * tile_.keys, score_warps() * lanes_));
    }
    Section scores() const {
        Section section;
        section.trips = rounds();
        Writer writer(section);
        shared(section, Op::SharedLoad, value(0), lanes_ * kWordBytes);
        writer.op(Op::Fp32, value(0) | kCount, value(0), 1 + kFastExponential);
        writer.op(Op::Special, value(0), value(0));
        writer.op(Op::Fp32, value(0) | kSum, kSum);
        shared(section, Op::SharedStore, value(0), lanes_ * kWordBytes);
        writer.loop();
        return section;
    }
    Section normalized(const Part& part) const {
        Section section;
        Writer writer(section);
        shuffle(section, kSum, lanes_, Op::Fp32);
        through_shared(section, kSum, tile_.warps * kWordBytes);
        shuffle(section, kSum, tile_.warps, Op::Fp32);
        writer.op(Op::Special, kSum, kSum);
        for (std::int64_t round = 0; part.scores && round < rounds(); ++round) {
            shared(section, Op::SharedLoad, value(0), lanes_ * kWordBytes);
            writer.op(Op::Fp32, value(0) | kSum, value(0), 2);  // and to 16 bits
            shared(section, Op::SharedStore, value(0), lanes_ * kWordBytes / 2);
            writer.loop();
        }
        writer.wait(kAll, value(0));
        return section;
    }
    Section of_values() const {
        Section section;
        Writer writer(section);
        loads(kThreadKeys, section);
        for (std::int64_t row = 0; row < kThreadKeys; ++row) {
            shared(section, Op::SharedLoad, value(8), lanes_ * kWordBytes);
            writer.op(Op::Integer, value(8), value(8), 4);  // whether it is one; the share in fp32
            multiply(section, row, kSum);
        }
        writer.loop();
        return section;
    }
    /// The new key's value comes out of memory only now. Half of the groups of threads leave their results to
    /// the other half, again and again, until the first one has all.
    Section end(const Part& part) const {
        Section section;
        Writer writer(section);
        writer.wait(kAll, kSum);
        if (part.leads) {
            writer.op(Op::Integer, kAddress, kAddress, kPlaces);
            table_load(section, kAddress, loaded(0), tile_.table);
            multiply(section, 0, kSum);
        }
        writer.wait(kAll, kSum);
        for (int round = log2_of(rows_); round > 0; --round) {
            if (!part.leads && round == log2_of(rows_)) {
                writer.op(Op::Fp32, kSum, value(0), elements_ / 2);
                shared(section, Op::SharedStore, value(0), load_bytes_ / 2);
            }
            writer.op(Op::Integer, kAddress, kOther, 2);
            writer.wait(kAll);
            if (part.leads) {
                shared(section, Op::SharedLoad, value(0), load_bytes_ / 2);
                writer.op(Op::Integer, value(0), value(0), elements_);
                writer.op(Op::Fp32, value(0) | kSum, kSum, elements_);
            }
            writer.wait(kAll, kSum);
        }
        if (!part.leads) return section;
        writer.op(Op::Fp32, kSum, value(0), elements_ / 2);
        writer.store(value(0), tile_.dim * bits_of(formats_.out).value() / 8);
        return section;
    }

    const AttentionTile tile_;
    const AttentionFormats formats_;
    const std::int64_t blocks_, lanes_, load_bytes_;
    const std::int64_t elements_;     // of a thread's load
    const std::int64_t row_threads_;  // that share a row
    const std::int64_t rows_;         // at a time, of all threads
};

}  // namespace

// A warp goes on with keys as long as any of its four rows may be one; with values, as its first one is. Of a
// sequence that is longer than four rows of all threads, each has four more behind them.
WarpsOfRows warps_of_rows(const AttentionTile& tile, DType dtype, int lanes) {
    const std::int64_t of_row =
        std::max<std::int64_t>(1, tile.dim * bits_of(dtype).value() / 8 / kThreadBytes);
    const std::int64_t of_warp = std::max<std::int64_t>(1, lanes / of_row);
    const auto at_most = [&](std::int64_t warps) {
        return static_cast<int>(std::clamp<std::int64_t>(warps, 1, tile.warps));
    };
    const std::int64_t at_once = tile.warps * lanes / of_row * kKeysAtOnce;
    return {at_most(round_up(tile.keys, of_warp * kKeysAtOnce) / of_warp),
            at_most(ceil_div(tile.keys, of_warp)), tile.keys > at_once ? kThreadKeys : kKeysAtOnce};
}

CtaProgram thread_attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                                    const AttentionWork& work, const SmSpec& sm) {
    return Program(tile, formats, work, sm).cta();
}

}  // namespace systole::simt
