// SPDX-License-Identifier: Apache-2.0
// The gradient of an embedding's table: rows of it, chunk by chunk, each the sum of the gradients of the
// lookups that met it, or zeros. Which lookups these are is data; they are those of the embedding
// (lookup.cpp). The list of lookups is taken to come in the order of the rows that they met, so that each
// chunk reads a part of it; the DMA fetches the gradients that it names, the vector unit adds them up.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/running_sum.h"
#include "models/devices/systolic/lowering/staging.h"
#include "models/devices/systolic/lowering/vector_steps.h"
#include "sim/base/check.h"

namespace systole::systolic {
namespace {

enum GradientTile : std::int64_t { kGradientIndices, kGradients };

/// One command of the vector unit: some lookups of a chunk of rows.
struct Part {
    Range rows;                  ///< of the table
    std::vector<Range> lookups;  ///< that met them: their numbers; at random: places in the list
    RunningSum::Turn turn;

    std::int64_t count() const {
        std::int64_t sum = 0;
        for (const Range& run : lookups) sum += run.count;
        return sum;
    }
};

/// Which lookups met which rows.
class Lookups {
public:
    explicit Lookups(const EmbeddingGradient& op)
        : op_(op),
          step_(std::max<std::int64_t>(1, op.vocabulary / op.lookups)),
          reach_((op.vocabulary - 1) / step_ + 1) {
        if (op.spread == Spread::Even) return;
        met_.resize(static_cast<std::size_t>(op.vocabulary) + 1);
        for (std::int64_t i = 0; i < op.lookups; ++i)
            ++met_[static_cast<std::size_t>(Lookup{op.vocabulary, 0}.row(i)) + 1];
        for (std::size_t row = 1; row < met_.size(); ++row) met_[row] += met_[row - 1];
    }

    /// Of those that met the rows.
    std::vector<Range> of(Range rows) const {
        if (op_.spread == Spread::Random) {
            const std::int64_t begin = met_[static_cast<std::size_t>(rows.begin)];
            const std::int64_t end = met_[static_cast<std::size_t>(rows.end())];
            if (begin == end) return {};
            return {{begin, end - begin}};
        }
        std::vector<Range> all;
        const std::int64_t first = ceil_div(rows.begin, step_);
        const std::int64_t behind = std::min(ceil_div(rows.end(), step_), reach_);
        for (std::int64_t turn = 0; turn < op_.lookups; turn += reach_) {
            const std::int64_t begin = turn + first, end = std::min(turn + behind, op_.lookups);
            if (begin >= end) continue;
            if (!all.empty() && all.back().end() == begin)
                all.back().count += end - begin;
            else
                all.push_back({begin, end - begin});
        }
        return all;
    }

private:
    const EmbeddingGradient& op_;
    std::int64_t step_, reach_;  ///< evenly: rows between successive lookups, lookups until the table ends
    std::vector<std::int64_t> met_ = {};  ///< at random, by row: lookups of all rows before it
};

class EmbeddingGradientSteps : public Steps {
public:
    EmbeddingGradientSteps(Workspace& workspace, std::int32_t layer)
        : workspace_(workspace),
          index_(layer),
          layer_(workspace.graph.layers[static_cast<std::size_t>(layer)]),
          op_(std::get<EmbeddingGradient>(layer_.op)),
          row_(row_bytes(workspace.dtype(gradient()), op_.width).value()),
          out_row_(row_bytes(workspace.dtype(layer_.output), op_.width).value()),
          sum_(workspace, layer_) {
        cut();
    }

    std::int64_t count() const override { return static_cast<std::int64_t>(parts_.size()); }
    bool stage_weights(std::int64_t, Holds&) override { return true; }
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;

private:
    TensorId gradient() const { return layer_.inputs.at(0); }
    TensorId indices() const { return layer_.inputs.at(1); }
    bool resident(TensorId tensor) const { return workspace_.flow.resident(tensor); }
    TileKey key(GradientTile kind, std::int64_t step) const { return {index_, kind, step, 0}; }
    const Part& part(std::int64_t step) const { return parts_[static_cast<std::size_t>(step)]; }
    /// Rows of the gradient of a run of lookups: those of a bag share one.
    Range rows_of(Range run) const {
        if (op_.spread == Spread::Random) return run;
        const std::int64_t begin = run.begin / op_.bag;
        return {begin, (run.end() - 1) / op_.bag + 1 - begin};
    }
    std::int64_t rows_of(const Part& part) const {
        std::int64_t sum = 0;
        for (const Range& run : part.lookups) sum += rows_of(run).count;
        return sum;
    }
    /// So many of the next `room` lookups that the gradient of no bag is read by two parts; all of them where
    /// they are of one bag.
    std::int64_t whole_bags(std::int64_t begin, std::int64_t room) const {
        const std::int64_t cut = op_.spread == Spread::Random ? 0 : (begin + room) % op_.bag;
        return cut < room ? room - cut : room;
    }
    TensorBox index_box(Range run) const {
        const DType dtype = workspace_.dtype(indices());
        return {row_bytes(dtype, run.begin).value(), 1, row_bytes(dtype, run.count).value(), 0};
    }
    void cut();
    void cut_lookups(Range rows, const std::vector<Range>& lookups, std::int64_t most);
    bool stage_list(std::int64_t step, Holds& holds);
    Token fetch(Range run, std::int64_t address, const Tokens& after);
    void read_in_place(const Part& part, VectorWork& work, Tokens& after);
    void read_tile(const Part& part, std::int64_t step, VectorWork& work, Tokens& after);

    Workspace& workspace_;
    std::int32_t index_;
    const Layer& layer_;
    const EmbeddingGradient& op_;
    std::int64_t row_, out_row_;
    RunningSum sum_;
    std::vector<Part> parts_;
};

void EmbeddingGradientSteps::cut() {
    const ChunkLimits limits = chunk_limits(workspace_, layer_, 2);
    const std::int64_t sums = op_.width * RunningSum::kSumBytes;
    const std::int64_t rows = std::min(limits.output / out_row_, RunningSum::room(workspace_) / sums);
    const std::int64_t most = std::min(limits.input / row_, limits.input / index_box({0, 1}).row_bytes);
    if (rows == 0 || most == 0)
        refuse(layer_,
               fmt::format(
                   "a row of the table's gradient does not fit: {} B of sums, made of rows of {} B; chunks "
                   "may have {} B of placement.output_buffer (or weight_buffer where there is none) for "
                   "sums, and {} B of placement.input_buffer for gradients",
                   sums, row_, std::min(limits.output, RunningSum::room(workspace_)), limits.input));
    const Lookups lookups(op_);
    const Range own = workspace_.core.of(op_.vocabulary);
    for (std::int64_t at = own.begin; at < own.end(); at += rows) {
        const Range chunk{at, std::min(rows, own.end() - at)};
        cut_lookups(chunk, lookups.of(chunk), most);
    }
}

/// In parts whose gradients fit.
void EmbeddingGradientSteps::cut_lookups(Range rows, const std::vector<Range>& lookups, std::int64_t most) {
    const std::size_t first = parts_.size();
    parts_.push_back({rows, {}, {true, false}});
    std::int64_t room = most;
    for (Range run : lookups) {
        while (run.count > 0) {
            if (room == 0) {
                parts_.push_back({rows, {}, {false, false}});
                room = most;
            }
            const std::int64_t taken = run.count > room ? whole_bags(run.begin, room) : run.count;
            room = run.count > room ? 0 : room - taken;
            parts_.back().lookups.push_back({run.begin, taken});
            run.begin += taken;
            run.count -= taken;
        }
    }
    parts_.back().turn.last = true;
    SYSTOLE_CHECK(parts_[first].turn.first, "the parts of rows {} on", rows.begin);
}

bool EmbeddingGradientSteps::stage_list(std::int64_t step, Holds& holds) {
    if (resident(indices())) return true;
    return stage(workspace_, workspace_.inputs, key(kGradientIndices, step), holds, [&] {
        Staging list{indices(), workspace_.operand(indices()), 0, {}};
        for (const Range& run : part(step).lookups) {
            const TensorBox box = index_box(run);
            list.copies.push_back({box, list.bytes, 0});
            list.bytes += box.row_bytes;
        }
        return list;
    });
}

/// The gradients of a run of lookups, to `address`, one behind the other.
Token EmbeddingGradientSteps::fetch(Range run, std::int64_t address, const Tokens& after) {
    const Range rows = rows_of(run);
    Transfer transfer;
    transfer.to = {Place::Scratchpad, address, row_};
    transfer.rows = rows.count;
    transfer.row_bytes = row_;
    transfer.operand = workspace_.operand(gradient());
    if (op_.spread == Spread::Random) {
        transfer.from = workspace_.flow.region(gradient(), {0, 1, row_, row_});
        transfer.lookup = {op_.lookups / op_.bag, rows.begin, true};
        return workspace_.emitter.gather(unit_index(UnitKind::Load), transfer, after);
    }
    transfer.from = workspace_.flow.region(gradient(), {rows.begin * row_, rows.count, row_, row_});
    return workspace_.emitter.transfer(unit_index(UnitKind::Load), transfer, after);
}

bool EmbeddingGradientSteps::stage_inputs(std::int64_t step, Holds& holds) {
    const Part& own = part(step);
    if (own.lookups.empty()) return true;
    if (!stage_list(step, holds)) return false;
    if (resident(gradient()) || workspace_.inputs.find(key(kGradients, step)) != nullptr) {
        if (BufferTile* tile = workspace_.inputs.find(key(kGradients, step))) holds.hold(*tile);
        return true;
    }
    const bool room = stage(workspace_, workspace_.inputs, key(kGradients, step), holds, [&] {
        return Staging{gradient(), workspace_.operand(gradient()), rows_of(own) * row_, {}};
    });
    if (!room) return false;
    // By the list, which has to be there.
    BufferTile* tile = workspace_.inputs.find(key(kGradients, step));
    Tokens after = tile->ready;
    BufferTile* list = workspace_.inputs.find(key(kGradientIndices, step));
    if (list != nullptr) after.add(list->ready);
    for (const Range& run : own.lookups)
        if (list == nullptr)
            workspace_.flow.before_read(indices(), index_box(run).offset, index_box(run).end(), after);
    const bool random = op_.spread == Spread::Random;
    std::int64_t address = tile->address;
    for (const Range& run : own.lookups) {
        const Range rows = random ? Range{0, op_.lookups / op_.bag} : rows_of(run);
        workspace_.flow.before_read(gradient(), rows.begin * row_, rows.end() * row_, after);
        const Token token = fetch(run, address, after);
        address += rows_of(run).count * row_;
        tile->ready.add(token);
        workspace_.flow.read_by(gradient(), token);
        workspace_.flow.read_by(indices(), token);
        if (list != nullptr) list->users.add(token);
    }
    return true;
}

/// The vector unit picks gradients that live on chip by the list.
void EmbeddingGradientSteps::read_in_place(const Part& part, VectorWork& work, Tokens& after) {
    constexpr std::int64_t kRowsAtOnce = 256;
    const std::int64_t base = workspace_.flow.region(gradient(), {}).address;
    const std::int64_t gradients = op_.lookups / op_.bag;
    workspace_.flow.before_read(gradient(), 0, gradients * row_, after);
    const auto read = [&](const AddressStream& pattern, std::int64_t address) {
        work.reads.push_back({workspace_.emitter.stream(pattern), address, 0, pattern.vectors(), 0});
    };
    for (const Range& run : part.lookups) {
        const Range rows = rows_of(run);
        work.scratchpad_read += rows.count * row_;
        if (op_.spread == Spread::Even) {
            read(piece_pattern(rows.count * row_), base + rows.begin * row_);
            continue;
        }
        for (std::int64_t first = 0; first < rows.count; first += kRowsAtOnce) {
            AddressStream pattern = piece_pattern(row_);
            pattern.segments.clear();
            for (std::int64_t i = first; i < std::min(first + kRowsAtOnce, rows.count); ++i)
                pattern.segments.push_back(
                    {Bytes(Lookup{gradients, rows.begin, true}.row(i) * row_), Bytes(row_)});
            read(pattern, base);
        }
    }
}

void EmbeddingGradientSteps::read_tile(const Part& part, std::int64_t step, VectorWork& work, Tokens& after) {
    const BufferTile* tile = workspace_.inputs.find(key(kGradients, step));
    SYSTOLE_CHECK(tile != nullptr, "the gradients of step {} of layer {} are not staged", step, index_);
    after.add(tile->ready);
    const AddressStream pattern = piece_pattern(rows_of(part) * row_);
    work.reads.push_back({workspace_.emitter.stream(pattern), tile->address, 0, pattern.vectors(), 0});
    work.scratchpad_read += rows_of(part) * row_;
}

void EmbeddingGradientSteps::work(std::int64_t step) {
    const VectorSpec::Cost& cost = workspace_.spec.vector.cost;
    const Part& own = part(step);
    const bool in_place = resident(gradient());
    VectorWork work;
    work.elements = own.rows.count * op_.width;
    work.lane_cycles = own.count() * op_.width * cost.reduce;
    if (own.turn.last) work.lane_cycles += work.elements * cost.simple;
    Tokens after;
    if (!own.lookups.empty()) {
        if (in_place)
            read_in_place(own, work, after);
        else
            read_tile(own, step, work, after);
    }
    BufferTile* list = workspace_.inputs.find(key(kGradientIndices, step));
    if (in_place && list != nullptr) after.add(list->ready);
    if (in_place && resident(indices()))
        for (const Range& run : own.lookups)
            workspace_.flow.before_read(indices(), index_box(run).offset, index_box(run).end(), after);
    const TensorBox result{own.rows.begin * out_row_, 1, own.rows.count * out_row_, 0};
    const Token token = sum_.add(work, after, own.turn, result);
    if (own.lookups.empty()) return;
    if (!in_place) return workspace_.inputs.find(key(kGradients, step))->users.add(token);
    workspace_.flow.read_by(gradient(), token);
    if (list != nullptr) list->users.add(token);
    if (resident(indices())) workspace_.flow.read_by(indices(), token);
}

}  // namespace

LayerPlan plan_embedding_gradient(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const auto& op = std::get<EmbeddingGradient>(layer.op);
    const auto steps = std::make_shared<EmbeddingGradientSteps>(workspace, index);
    LayerPlan result;
    result.mapping = fmt::format("{}; vector unit: sums of gradients by row of the table, {}; {} chunk{}",
                                 workspace.flow.resident(layer.inputs.at(0)) ? "on chip" : "DMA",
                                 op.spread == Spread::Even ? "evenly spread" : "met at random",
                                 steps->count(), steps->count() == 1 ? "" : "s");
    result.dtype = workspace.dtype(layer.inputs.at(0));
    for (const TensorId input : layer.inputs)
        result.touched.push_back({input, stored_bytes(workspace.graph.tensors[input]).value()});
    result.steps = steps;
    result.dealt = true;  // rows of the table
    return result;
}

}  // namespace systole::systolic
