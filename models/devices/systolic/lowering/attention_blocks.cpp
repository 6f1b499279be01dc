// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/attention_blocks.h"

#include <algorithm>
#include <vector>

#include "models/devices/systolic/lowering/gemm_block.h"

namespace systole::systolic {
namespace {

/// A step takes at most this part of the ring that it is staged in: one at work, two ahead, and the values of
/// the one before.
constexpr std::int64_t kStepShare = 4;
/// Every tile finds room between those that are held, wherever these lie: four gaps, of which one is as long
/// as the longest tile.
constexpr std::int64_t kGaps = 4;

class Candidate {
public:
    Candidate(Workspace& workspace, const AttentionOperands& operands, const RowBlocking& blocking,
              std::int64_t keys)
        : w_(workspace), spec_(workspace.spec), a_(operands), op_(operands.op), b_(blocking), keys_(keys) {
        const std::int64_t all = ceil_div(op_.items() * b_.blocks, w_.core.count);
        units_ = std::min<std::int64_t>(spec_.mxu.count, all);
        rounds_ = ceil_div(all, spec_.mxu.count);
        items_ = std::min(op_.items(), 1 + (units_ - 1 + b_.blocks - 1) / b_.blocks);
        rate_ = spec_.mxu.rate_of(w_.dtype(a_.q), w_.dtype(a_.k)).value_or(MacRate{1});
    }

    bool fits() const {
        const OutputShape tile = output_shape(spec_.mxu);
        const std::int64_t room = spec_.mxu.accumulator_room();
        if (tile.accumulator_rows(b_.rows, keys_) > room ||
            tile.accumulator_rows(b_.rows, op_.value_dim()) > room)
            return false;
        return staged() <= staging_ring(w_).capacity() / kStepShare &&
               scratch() <= scratch_ring(w_).capacity();
    }

    double cycles() const {
        const double steps = static_cast<double>(rounds_) * blocks_met();
        const double times[] = {matrix(), vector(), memory()};
        const double most = *std::ranges::max_element(times), sum = times[0] + times[1] + times[2];
        const double step = std::max(most, issue()) + (sum - most) / 8;
        return steps * step + matrix() + vector() + memory();
    }

private:
    bool in_place(TensorId tensor) const {
        return w_.flow.resident(tensor) ||
               (tensor != a_.q && spec_.mxu.weight_source == Space::Dram && !spec_.mxu.direct());
    }
    /// Of queries and keys, or of values and outputs.
    std::int64_t bytes(TensorId tensor, std::int64_t rows) const {
        const std::int64_t dim = tensor == a_.q || tensor == a_.k ? op_.head_dim : op_.value_dim();
        return rows * row_bytes(w_.dtype(tensor), dim).value();
    }
    /// What steps read, each tensor once.
    std::vector<TensorId> seconds() const { return op_.shared ? std::vector{a_.k} : std::vector{a_.k, a_.v}; }
    /// Of a step, all matrix units together.
    std::int64_t staged() const {
        const BufferRing& ring = staging_ring(w_);
        std::int64_t sum = in_place(a_.q) ? 0 : units_ * ring.aligned(bytes(a_.q, b_.rows));
        for (const TensorId tensor : seconds())
            if (!in_place(tensor)) sum += items_ * ring.aligned(bytes(tensor, keys_));
        return sum;
    }
    std::int64_t scratch() const {
        const BufferRing& ring = scratch_ring(w_);
        const std::int64_t shares = units_ * ring.aligned(b_.rows * row_bytes(w_.dtype(a_.q), keys_).value());
        const std::int64_t statistics = units_ * ring.aligned(b_.rows * kStatisticsBytes);
        const std::int64_t partial = units_ * ring.aligned(b_.rows * op_.value_dim() * kPartialBytes);
        const std::int64_t out = w_.flow.resident(a_.out) ? 0 : ring.aligned(bytes(a_.out, b_.rows));
        return 2 * (shares + statistics) + partial + kGaps * std::max({shares, statistics, partial, out});
    }
    /// Blocks of keys that a block of queries meets, on average: under a mask those up to its last query's.
    double blocks_met() const {
        const auto all = static_cast<double>(ceil_div(op_.kv_len, keys_));
        if (!op_.causal) return all;
        const std::int64_t positions = std::max<std::int64_t>(1, b_.rows / op_.group());
        const double seen =
            static_cast<double>(op_.kv_len - op_.q_len) + static_cast<double>(op_.q_len + positions) / 2;
        return std::min(all, seen / static_cast<double>(keys_) + 0.5);
    }
    struct Passes {
        std::int64_t count = 0, streamed = 0;
    };
    /// Of a product of m x k x n on an array.
    Passes passes(std::int64_t k, std::int64_t n) const {
        const MxuSpec& mxu = spec_.mxu;
        const std::int64_t m_tiles =
            ceil_div(b_.rows, mxu.dataflow == Dataflow::InputStationary ? mxu.cols : mxu.rows);
        const std::int64_t n_tiles = ceil_div(n, mxu.cols), k_tiles = ceil_div(k, mxu.rows * rate_.macs);
        if (mxu.dataflow == Dataflow::OutputStationary) return {m_tiles * n_tiles, ceil_div(k, rate_.macs)};
        if (mxu.dataflow == Dataflow::InputStationary) return {m_tiles * k_tiles, n};
        return {n_tiles * k_tiles, b_.rows};
    }
    double product(std::int64_t k, std::int64_t n) const {
        const Passes p = passes(k, n);
        return static_cast<double>(p.count) *
               static_cast<double>(std::max<std::int64_t>(p.streamed * rate_.cycles, spec_.mxu.rows));
    }
    /// Of a step, the commands of all units, which one sequencer issues: passes and their tiles, maximum,
    /// shares and outputs of each tile of results, and loads.
    double issue() const {
        const MxuSpec& mxu = spec_.mxu;
        const std::int64_t scores = ceil_div(keys_, mxu.cols), outputs = ceil_div(op_.value_dim(), mxu.cols);
        const std::int64_t multiplied =
            passes(op_.head_dim, keys_).count + passes(keys_, op_.value_dim()).count;
        const std::int64_t unit = multiplied * (mxu.direct() ? 1 : 2) + 2 * scores + outputs;
        const std::int64_t loads = items_ * static_cast<std::int64_t>(seconds().size());
        return static_cast<double>((units_ * unit + loads) * spec_.sequencer.issue_cycles.value());
    }
    double matrix() const { return product(op_.head_dim, keys_) + product(keys_, op_.value_dim()); }
    double vector() const {
        const AttentionCosts cost = attention_costs(spec_.vector.cost);
        const double scores = static_cast<double>(keys_ * (cost.maximum + cost.share) + cost.rescale_row);
        const double outputs = static_cast<double>(op_.value_dim() * cost.accumulate);
        const double commands = 3.0 * static_cast<double>(spec_.vector.startup.value());
        return static_cast<double>(units_ * b_.rows) * (scores + outputs) /
                   static_cast<double>(spec_.vector.lanes) +
               commands;
    }
    double memory() const {
        if (spec_.memory.kind != DramSpec::Kind::Dram) return 0;
        std::int64_t moved = 0;
        for (const TensorId tensor : seconds())
            if (!w_.flow.resident(tensor)) moved += items_ * bytes(tensor, keys_);
        return static_cast<double>(moved) * static_cast<double>(spec_.core_clock.value()) /
               static_cast<double>(spec_.memory.peak().value());
    }

    Workspace& w_;
    const SystolicSpec& spec_;
    const AttentionOperands& a_;
    const Attention& op_;
    const RowBlocking& b_;
    std::int64_t keys_;
    std::int64_t units_ = 1, rounds_ = 1;
    std::int64_t items_ = 1;  ///< whose keys a round reads
    MacRate rate_{1};
};

}  // namespace

BufferRing& staging_ring(Workspace& workspace) {
    return workspace.inputs.capacity() > 0 ? workspace.inputs : workspace.weights;
}

BufferRing& scratch_ring(Workspace& workspace) {
    return workspace.outputs.capacity() > 0 ? workspace.outputs : workspace.weights;
}

AttentionCosts attention_costs(const VectorSpec::Cost& cost) {
    AttentionCosts c{};
    c.maximum = cost.reduce;
    c.share = cost.simple + cost.transcendental + cost.reduce + cost.simple;  // subtract, exp, sum, convert
    c.mask = cost.simple;
    c.first = cost.simple;
    c.accumulate = cost.mac;
    c.finish = std::int64_t{2} * cost.simple;  // times the inverse of the sum, convert
    c.rescale_row = cost.transcendental + cost.mac;
    c.finish_row = cost.transcendental;
    return c;
}

std::optional<AttentionBlocks> choose_blocks(Workspace& workspace, const AttentionOperands& operands) {
    const Attention& op = operands.op;
    const MxuSpec& mxu = workspace.spec.mxu;
    const HeadsInput queries(operands.q, workspace.dtype(operands.q), op,
                             workspace.flow.resident(operands.q));
    const std::int64_t all_rows = op.q_len * op.group();
    const OutputShape tile = output_shape(mxu);
    const std::int64_t most =
        tile.rows_are_m ? mxu.accumulator_room() : tile.m * std::max<std::int64_t>(1, mxu.accumulator_room());
    std::optional<AttentionBlocks> best;
    for (std::int64_t rows = std::min(all_rows, most); rows >= 1; rows /= 2) {
        const RowBlocking blocking = queries.blocking(rows, op.head_dim);
        for (std::int64_t keys = std::min<std::int64_t>(op.kv_len, mxu.cols);;
             keys = std::min(2 * keys, op.kv_len)) {
            const Candidate candidate(workspace, operands, blocking, keys);
            if (!candidate.fits()) break;
            const double cycles = candidate.cycles();
            if (!best || cycles < best->cycles) best = AttentionBlocks{rows, keys, cycles};
            if (keys == op.kv_len) break;
        }
    }
    return best;
}

}  // namespace systole::systolic
