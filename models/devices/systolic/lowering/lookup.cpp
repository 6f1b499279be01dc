// SPDX-License-Identifier: Apache-2.0
// Embedding and gather: rows of a table by indices. Which rows is not known here, for indices are data; they
// are spread evenly over the table, or met at random by a hash of the lookup's number. The DMA fetches rows
// of a table in DRAM; the vector unit copies those of a table on chip, and sums and converts.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/vector_steps.h"
#include "sim/base/check.h"

namespace systole::systolic {
namespace {

/// What an embedding and a gather have in common.
struct LookupWork {
    TensorId table = 0, indices = 0;
    std::int64_t rows = 1, width = 1, lookups = 1, bag = 1;
    Spread spread = Spread::Even;
};

LookupWork work_of(const Layer& layer) {
    if (const auto* e = std::get_if<Embedding>(&layer.op))
        return {*layer.weights, layer.inputs.at(0), e->vocabulary, e->width, e->lookups, e->bag, e->spread};
    const auto& g = std::get<Gather>(layer.op);
    return {layer.inputs.at(0), layer.inputs.at(1), g.rows, g.width, g.lookups, 1, g.spread};
}

enum LookupTile : std::int64_t { kIndices, kRows };

class LookupSteps : public Steps {
public:
    LookupSteps(Workspace& workspace, std::int32_t layer, const LookupWork& op)
        : workspace_(workspace),
          index_(layer),
          layer_(workspace.graph.layers[static_cast<std::size_t>(layer)]),
          op_(op),
          row_(row_bytes(workspace.dtype(op.table), op.width).value()),
          out_row_(row_bytes(workspace.dtype(layer_.output), op.width).value()),
          step_(std::max<std::int64_t>(1, op.rows / op.lookups)),
          reach_((op.rows - 1) / step_ + 1) {
        cut();
    }

    std::int64_t count() const override { return ceil_div(op_.lookups / op_.bag, chunk_); }
    bool stage_weights(std::int64_t step, Holds& holds) override;
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;
    /// Rows are summed or converted on their way.
    bool computes() const {
        return op_.bag > 1 || workspace_.dtype(op_.table) != workspace_.dtype(layer_.output);
    }

private:
    /// Where results go: a tile of the output buffer, or in place.
    struct Target {
        BufferTile* tile = nullptr;
        std::int64_t address = 0;
    };

    bool resident(TensorId tensor) const { return workspace_.flow.resident(tensor); }
    bool stored() const { return workspace_.graph.tensors[op_.table].role == TensorRole::Weights; }
    TileKey key(LookupTile kind, std::int64_t step) const { return {index_, kind, step, 0}; }
    /// Rows of the output.
    Range results(std::int64_t step) const {
        return {step * chunk_, std::min(chunk_, op_.lookups / op_.bag - step * chunk_)};
    }
    Range lookups(std::int64_t step) const {
        return {results(step).begin * op_.bag, results(step).count * op_.bag};
    }
    TensorBox index_box(Range part) const {
        const DType dtype = workspace_.dtype(op_.indices);
        return {row_bytes(dtype, part.begin).value(), 1, row_bytes(dtype, part.count).value(), 0};
    }
    void cut();
    std::vector<Range> runs(Range part) const;
    BufferTile* await_indices(std::int64_t step, Tokens& after);
    Token load(Range part, std::int64_t address, const Tokens& after);
    std::vector<EdgeRead> reads_in_place(Range part) const;
    Target open(Range results, Tokens& after);
    void close(const Target& target, Range results, Token written);
    Token compute(Range results, std::vector<EdgeRead> reads, std::int64_t cost, const Target& target,
                  const Tokens& after);

    Workspace& workspace_;
    std::int32_t index_;
    const Layer& layer_;
    LookupWork op_;
    std::int64_t row_, out_row_;
    std::int64_t step_;       ///< evenly: rows of the table between successive lookups
    std::int64_t reach_;      ///< evenly: lookups until the table ends
    std::int64_t chunk_ = 1;  ///< rows of the output per step
};

void LookupSteps::cut() {
    ChunkLimits limits = chunk_limits(workspace_, layer_, 1);
    if (computes() && workspace_.weights.capacity() == 0)
        limits.output = std::min(limits.output, limits.stored);
    const std::int64_t list = op_.bag * row_bytes(workspace_.dtype(op_.indices), 1).value();
    chunk_ = std::min(limits.output / out_row_, limits.input / list);
    if (computes()) chunk_ = std::min(chunk_, limits.stored / row_ / op_.bag);
    if (chunk_ == 0) {
        refuse(layer_, fmt::format("a row of the result has {} B and is made of {} of the table, {} B each; "
                                   "chunks may have {} B of placement.output_buffer for results, {} B of "
                                   "placement.input_buffer for indices and {} B for rows to sum or convert",
                                   out_row_, op_.bag, row_, limits.output, limits.input, limits.stored));
    }
    if (op_.spread == Spread::Even && op_.bag == 1) chunk_ = std::min(chunk_, reach_);
    if (count() > static_cast<std::int64_t>(Emitter::kMaxCommands))
        refuse(layer_,
               fmt::format("it takes {} steps of {} row(s) of the result; at most {} commands are simulated",
                           count(), chunk_, Emitter::kMaxCommands));
}

/// Room for the rows, which are fetched once the indices are there.
bool LookupSteps::stage_weights(std::int64_t step, Holds& holds) {
    if (!computes()) return true;
    return stage(workspace_, workspace_.parameters(), key(kRows, step), holds, [&] {
        return Staging{op_.table, Operand::Weights, lookups(step).count * row_, {}};
    });
}

bool LookupSteps::stage_inputs(std::int64_t step, Holds& holds) {
    if (resident(op_.indices)) return true;
    return stage(workspace_, workspace_.inputs, key(kIndices, step), holds, [&] {
        const TensorBox box = index_box(lookups(step));
        return Staging{op_.indices, Operand::Activations, box.row_bytes, {{box, 0, 0}}};
    });
}

/// Pieces of lookups that evenly spread ones make without turning back to the table's first row.
std::vector<Range> LookupSteps::runs(Range part) const {
    std::vector<Range> all;
    for (std::int64_t done = 0; done < part.count; done += all.back().count) {
        const std::int64_t count = std::min(part.count - done, reach_);
        all.push_back({std::min((part.begin + done) % reach_, reach_ - count), count});
    }
    return all;
}

BufferTile* LookupSteps::await_indices(std::int64_t step, Tokens& after) {
    const TensorBox box = index_box(lookups(step));
    if (resident(op_.indices)) {
        workspace_.flow.before_read(op_.indices, box.offset, box.end(), after);
        return nullptr;
    }
    BufferTile* list = workspace_.inputs.find(key(kIndices, step));
    SYSTOLE_CHECK(list != nullptr, "indices of step {} of layer {} are not staged", step, index_);
    after.add(list->ready);
    return list;
}

/// Rows from DRAM to `address`, one behind the other.
Token LookupSteps::load(Range part, std::int64_t address, const Tokens& after) {
    Transfer transfer;
    transfer.from = workspace_.flow.region(op_.table, {0, 1, row_, row_});
    transfer.to = {Place::Scratchpad, address, row_};
    transfer.row_bytes = row_;
    transfer.operand = stored() ? Operand::Weights : workspace_.operand(op_.table);
    const UnitIndex loader = unit_index(UnitKind::Load);
    if (op_.spread == Spread::Random) {
        transfer.rows = part.count;
        transfer.lookup = {op_.rows, part.begin};
        return workspace_.emitter.gather(loader, transfer, after);
    }
    const std::int64_t table = transfer.from.address;
    Token last;
    for (const Range run : runs(part)) {
        transfer.rows = run.count;
        transfer.from.address = table + run.begin * step_ * row_;
        transfer.from.stride = step_ * row_;
        last = workspace_.emitter.gather(loader, transfer, after);
        transfer.to.address += run.count * row_;
    }
    return last;
}

/// Rows of a table on chip.
std::vector<EdgeRead> LookupSteps::reads_in_place(Range part) const {
    constexpr std::int64_t kRowsAtOnce = 256;
    const std::int64_t table = workspace_.flow.region(op_.table, {}).address;
    std::vector<EdgeRead> all;
    const auto read = [&](const AddressStream& pattern, std::int64_t address) {
        all.push_back({workspace_.emitter.stream(pattern), address, 0, pattern.vectors(), 0});
    };
    if (op_.spread == Spread::Even) {
        for (const Range run : runs(part))
            read(rows_pattern(run.count, step_ * row_, row_), table + run.begin * step_ * row_);
        return all;
    }
    for (std::int64_t first = part.begin; first < part.end(); first += kRowsAtOnce) {
        AddressStream pattern = piece_pattern(row_);
        pattern.segments.clear();
        for (std::int64_t i = first; i < std::min(first + kRowsAtOnce, part.end()); ++i)
            pattern.segments.push_back({Bytes(Lookup{op_.rows, i}.row(0) * row_), Bytes(row_)});
        read(pattern, table);
    }
    return all;
}

LookupSteps::Target LookupSteps::open(Range results, Tokens& after) {
    const TensorBox box{results.begin * out_row_, 1, results.count * out_row_, 0};
    if (resident(layer_.output)) {
        workspace_.flow.before_write(layer_.output, after);
        return {nullptr, workspace_.flow.region(layer_.output, box).address};
    }
    BufferTile* tile = workspace_.outputs.allocate(box.row_bytes, std::nullopt, after);
    if (tile == nullptr) {
        refuse(layer_, fmt::format("its results do not fit into placement.output_buffer ({} B) beside what "
                                   "is staged there",
                                   workspace_.outputs.capacity()));
    }
    return {tile, tile->address};
}

void LookupSteps::close(const Target& target, Range results, Token written) {
    const TensorBox box{results.begin * out_row_, 1, results.count * out_row_, 0};
    if (target.tile == nullptr) return workspace_.flow.wrote(layer_.output, box, written);
    target.tile->ready.add(written);
    unstage(workspace_, *target.tile, layer_.output, {{box, 0, 0}});
}

Token LookupSteps::compute(Range results, std::vector<EdgeRead> reads, std::int64_t cost,
                           const Target& target, const Tokens& after) {
    const AddressStream written = piece_pattern(results.count * out_row_);
    VectorWork work;
    work.elements = results.count * op_.width;
    work.lane_cycles = work.elements * cost;
    work.scratchpad_read = results.count * op_.bag * row_;
    work.scratchpad_written = results.count * out_row_;
    work.reads = std::move(reads);
    work.write = {workspace_.emitter.stream(written), target.address, 0, written.vectors(), 0};
    return workspace_.emitter.vector(work, after);
}

void LookupSteps::work(std::int64_t step) {
    const VectorSpec::Cost& cost = workspace_.spec.vector.cost;
    const Range part = lookups(step), rows = results(step);
    Tokens after;
    BufferTile* list = await_indices(step, after);
    workspace_.flow.before_read(op_.table, 0, op_.rows * row_, after);
    Token fetched;
    if (computes()) {
        BufferTile* tile = workspace_.parameters().find(key(kRows, step));
        SYSTOLE_CHECK(tile != nullptr, "no room for the rows of step {} of layer {}", step, index_);
        after.add(tile->ready);
        fetched = load(part, tile->address, after);
        tile->ready.add(fetched);
        Tokens ready = fetched;
        const Target target = open(rows, ready);
        const AddressStream all = piece_pattern(part.count * row_);
        const Token summed =
            compute(rows, {{workspace_.emitter.stream(all), tile->address, 0, all.vectors(), 0}},
                    op_.bag > 1 ? op_.bag * cost.reduce : cost.simple, target, ready);
        tile->users.add(summed);
        close(target, rows, summed);
    } else {
        const Target target = open(rows, after);
        fetched = resident(op_.table) ? compute(rows, reads_in_place(part), cost.simple, target, after)
                                      : load(part, target.address, after);
        close(target, rows, fetched);
    }
    if (list != nullptr) list->users.add(fetched);
    workspace_.flow.read_by(op_.indices, fetched);
    workspace_.flow.read_by(op_.table, fetched);
}

}  // namespace

LayerPlan plan_lookup(Workspace& workspace, std::int32_t index) {
    const Layer& layer = workspace.graph.layers[static_cast<std::size_t>(index)];
    const LookupWork op = work_of(layer);
    const auto steps = std::make_shared<LookupSteps>(workspace, index, op);
    LayerPlan result;
    result.mapping = fmt::format("{}: one table row per lookup, {}{}",
                                 workspace.flow.resident(op.table) ? "vector unit, on chip" : "DMA",
                                 op.spread == Spread::Even ? "spread evenly over the table" : "met at random",
                                 op.bag > 1          ? fmt::format("; vector unit: sums of {}", op.bag)
                                 : steps->computes() ? "; vector unit: converts"
                                                     : "");
    result.dtype = workspace.dtype(layer.output);
    const std::int64_t row = row_bytes(workspace.dtype(op.table), op.width).value();
    result.touched.push_back({op.indices, row_bytes(workspace.dtype(op.indices), op.lookups).value()});
    result.touched.push_back({op.table, std::min(op.lookups, op.rows) * row});
    result.steps = steps;
    return result;
}

}  // namespace systole::systolic
