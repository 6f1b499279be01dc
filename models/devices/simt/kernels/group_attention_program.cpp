// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/group_attention_program.h"

#include <algorithm>
#include <utility>

#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/kernels/online_softmax.h"
#include "models/devices/simt/sm/coalesce.h"

namespace systole::simt {
namespace {

constexpr int kGroupWarps = 4;
constexpr std::int64_t kRowsOfWarp = 16;  // of the 64 of an instruction
// Registers of threads that copy and that compute, of keys and values in pages (setup.py, get_reg_count).
constexpr int kCopierRegisters = 56, kComputeRegisters = 224;
constexpr int kSetUp = 30;
constexpr int kTablesOfTile = 2, kTablesOfPages = 1;
constexpr RegisterGroups kTable = RegisterGroups{1} << 1;
constexpr std::int64_t kRowsOfStore = 8, kColumnsOfStore = 8;  // two neighbours of each thread

/// Of a row, that an instruction stores.
std::int64_t bytes_of_store_row(DType out) {
    return round_up(kColumnsOfStore * element_bytes(out), kSectorBytes);
}

class GroupAttentionProgram {
public:
    GroupAttentionProgram(const AttentionTile& tile, const AttentionFormats& formats)
        : tile_(tile),
          element_(element_bytes(formats.in)),
          k_of_mma_(kFragmentBytes / element_),
          formats_(formats) {}

    CtaProgram program(const std::vector<AttentionWork>& tiles) const {
        CtaProgram cta;
        const auto ring = [&](int arrivals, bool open) {
            for (int i = 0; i < tile_.stages; ++i) cta.barriers.push_back({arrivals, open});
        };
        ring(1, false);                                // keys are there
        ring(tile_.warps, true);                       // their place is free
        ring(1, false);                                // values are there
        ring(tile_.warps, true);                       // their place is free
        cta.barriers.push_back({1, false});            // queries are there
        cta.barriers.push_back({tile_.warps, true});   // their place is free
        cta.barriers.push_back({tile_.warps, false});  // both groups have got to a block
        cta.roles = {{tile_.warps, consumer(tiles)}, {1, producer(tiles)}};
        cta.registers_of_thread = kComputeRegisters;
        cta.registers_of_copier = kCopierRegisters;
        cta.shared = Bytes((tile_.m + 2 * tile_.stages * tile_.n) * tile_.dim * element_);
        return cta;
    }

private:
    int keys_there() const { return 0; }
    int keys_free() const { return tile_.stages; }
    int values_there() const { return 2 * tile_.stages; }
    int values_free() const { return 3 * tile_.stages; }
    int queries_there() const { return 4 * tile_.stages; }
    int queries_free() const { return 4 * tile_.stages + 1; }
    int in_step() const { return 4 * tile_.stages + 2; }

    static Section set_up() {
        Section section;
        for (int i = 0; i < kSetUp; ++i) section.body.push_back({.op = Op::Integer, .reads = 1, .writes = 1});
        return section;
    }
    Instruction in_ring(Op op, int first) const { return {.op = op, .barrier = first, .ring = tile_.stages}; }
    WarpProgram producer(const std::vector<AttentionWork>& tiles) const {
        WarpProgram program{set_up()};
        for (const AttentionWork& tile : tiles) {
            Section queries;
            // Its number is that of a counter in memory (dma.h, get_next_tile_id); where its sequence begins,
            // and, of a cache, the page of its first keys.
            const int tables = kTablesOfTile + (tile_.paged ? kTablesOfPages : 0);
            for (int i = 0; tile_.table > 0 && i < tables; ++i)
                queries.body.push_back(
                    {.op = Op::TableLoad, .reads = kTable, .writes = kTable, .amount = tile_.table});
            const std::vector<Instruction> copies{
                {.op = Op::Await, .reads = kTable, .barrier = queries_free()},
                {.op = Op::BulkCopy, .bytes = tile_.m * tile_.dim * element_, .barrier = queries_there()}};
            queries.body.insert(queries.body.end(), copies.begin(), copies.end());
            program.push_back(std::move(queries));
            Section step;
            step.steps = true;
            step.trips = tile.steps;
            Instruction keys = in_ring(Op::BulkCopy, keys_there()),
                        values = in_ring(Op::BulkCopy, values_there());
            keys.bytes = values.bytes = tile_.n * tile_.dim * element_;
            values.amount = 1;
            step.body = {in_ring(Op::Await, keys_free()),   keys,   {.op = Op::Integer},
                         in_ring(Op::Await, values_free()), values, {.op = Op::Integer}};
            program.push_back(std::move(step));
        }
        return program;
    }
    /// Rows of the first operand come out of shared memory (queries) or are in registers (shares).
    void multiply(std::int64_t columns, std::int64_t parts, bool rows_in_shared, RegisterGroups reads,
                  RegisterGroups writes, Section& section) const {
        for (std::int64_t part = 0; part < parts; ++part)
            section.body.push_back(
                {.op = Op::GroupMma,
                 .reads = reads,
                 .amount = kRowsOfWarp * columns * k_of_mma_,
                 .bytes = ((rows_in_shared ? kRowsOfWarp : 0) + columns / kGroupWarps) * kFragmentBytes});
        section.body.push_back({.op = Op::CommitMmas});
        section.body.push_back({.op = Op::WaitMmas});
        // What the instructions left is there now.
        section.body.push_back({.op = Op::Integer, .writes = writes});
    }
    Section step(bool masked) const {
        Section section;
        section.steps = true;
        section.body.push_back(in_ring(Op::Await, keys_there()));
        section.body.push_back({.op = Op::Arrive, .barrier = in_step()});
        section.body.push_back({.op = Op::Await, .barrier = in_step()});
        multiply(tile_.n, tile_.dim / k_of_mma_, true, 0, 0, section);
        section.body.push_back(in_ring(Op::Arrive, keys_free()));
        add_online_softmax({kRowsOfWarp, tile_.n, tile_.dim, masked, tile_.base_e}, section);
        section.body.push_back(in_ring(Op::Await, values_there()));
        multiply(tile_.dim, tile_.n / k_of_mma_, false, kAllScores | kAllResults, 0, section);
        section.body.push_back(in_ring(Op::Arrive, values_free()));
        return section;
    }
    WarpProgram consumer(const std::vector<AttentionWork>& tiles) const {
        WarpProgram program{set_up()};
        const auto add_steps = [&](std::int64_t trips, bool masked) {
            if (trips == 0) return;
            program.push_back(step(masked));
            program.back().trips = trips;
        };
        for (const AttentionWork& tile : tiles) {
            program.push_back({{{.op = Op::Await, .barrier = queries_there()}}});
            // From the first block on: those that are masked come last.
            add_steps(tile.steps - tile.masked, false);
            add_steps(tile.masked, true);
            Section last;
            last.body.push_back({.op = Op::Arrive, .barrier = queries_free()});
            add_normalization({kRowsOfWarp, tile_.n, tile_.dim}, last);
            store(last);
            program.push_back(std::move(last));
        }
        return program;
    }
    /// Results leave as products left them, two neighbours of each thread: eight rows of half a sector in 16
    /// bits (fmha/hopper/gmem_tile_o_packed.h, STG.32; kernel_traits.h, USE_TMA_STORE is 0), each of which
    /// takes the port as long as a whole sector does.
    void store(Section& section) const {
        const std::int64_t pairs = kRowsOfWarp * tile_.dim / (2 * kWarpThreads);
        for (std::int64_t i = 0; i < pairs; ++i) {
            for (int scaled = 0; scaled < 2; ++scaled)
                section.body.push_back(
                    {.op = Op::Fp32, .reads = result_group(i) | kOfRows, .writes = result_group(i)});
            section.body.push_back({.op = Op::Fp32, .reads = result_group(i), .writes = result_group(i)});
            section.body.push_back({.op = Op::GlobalStore,
                                    .reads = result_group(i),
                                    .bytes = kRowsOfStore * bytes_of_store_row(formats_.out)});
        }
    }

    const AttentionTile tile_;
    const std::int64_t element_, k_of_mma_;
    const AttentionFormats formats_;
};

}  // namespace

std::int64_t passing_port(std::int64_t bytes, DType out) {
    return bytes / (kColumnsOfStore * element_bytes(out)) * bytes_of_store_row(out);
}

CtaProgram group_attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                                   const std::vector<AttentionWork>& tiles) {
    return GroupAttentionProgram(tile, formats).program(tiles);
}

}  // namespace systole::simt
