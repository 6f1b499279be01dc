// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "sim/base/check.h"
#include "sim/base/checked.h"
#include "sim/base/text.h"
#include "sim/workload/first_fit.h"
#include "sim/workload/residency.h"

namespace systole {
namespace {

/// A stored weight matrix as implicit GEMM sees it: `groups` matrices (of experts, too) of k rows and n
/// columns.
struct MatrixView {
    std::int64_t groups, k, n;
};

std::vector<MatrixView> matrices_of(const Operator& op) {
    if (const auto* c = std::get_if<Conv2d>(&op); c && !c->depthwise())
        return {{c->groups, c->taps() * (c->in_c / c->groups), c->out_c / c->groups}};
    if (const auto* m = std::get_if<MatMul>(&op); m && m->shared_weights)
        return {{std::max<std::int64_t>(1, m->experts), m->k, m->n}};
    std::vector<MatrixView> all;
    if (const auto* c = std::get_if<ConvTranspose>(&op))
        for (const ConvPhase& rows : c->phases_h())
            for (const ConvPhase& columns : c->phases_w())
                all.push_back({1, rows.taps * columns.taps * c->in_c, c->out_c});
    return all;
}

/// Whether stored weights have the shape [n, k], of the view [k, n].
bool stores_columns(const Operator& op) {
    const auto* matmul = std::get_if<MatMul>(&op);
    return matmul ? matmul->transposed_b : true;
}

/// "16 GiB (17.18 GB)": as memories are sold, and beside it as needs are counted.
std::string capacity_text(Bytes capacity) {
    constexpr std::int64_t kGibi = std::int64_t{1} << 30;
    if (capacity.value() == 0 || capacity.value() % kGibi != 0) return format_bytes(capacity);
    return fmt::format("{} GiB ({})", capacity.value() / kGibi, format_bytes(capacity));
}

/// Weights, and what outlives the run as they do: a KV cache, an optimizer's state.
bool stays(const Tensor& tensor) {
    return tensor.role == TensorRole::Weights || tensor.role == TensorRole::KvCache ||
           tensor.role == TensorRole::OptimizerState;
}

class Allocator {
public:
    Allocator(const Graph& graph, const AllocationRules& rules)
        : graph_(graph), rules_(rules), placements_(graph.tensors.size()), padded_(graph.tensors.size()) {}

    std::vector<Placement> run() {
        lay_out();
        if (rules_.resident_where_it_pays) place_residents();
        measure();
        place_weights();
        place_activations();
        place_views();
        check_capacity();
        return std::move(placements_);
    }

private:
    bool is_view(TensorId id) const { return graph_.tensors[id].view_of.has_value(); }
    TensorId root(TensorId id) const { return graph_.tensors[id].view_of.value_or(id); }
    bool may_reside(TensorId id) const;
    /// Lives where activations live by rule, and not elsewhere as an exception.
    bool is_placed(TensorId id) const { return placements_[id].space != rules_.activations; }
    std::int64_t alignment(TensorId id) const {
        const bool dram = placements_[id].space == Space::Dram;
        return (dram ? rules_.dram_alignment : rules_.scratchpad_alignment).value();
    }

    void lay_out();
    std::int64_t column_bytes(const Placement& placement, const MatrixView& matrix) const;
    std::int64_t tile_bytes(const Placement& placement, const MatrixView& matrix) const;
    void measure();
    void place_residents();
    void place_weights();
    void place_activations();
    void place_views();
    std::vector<std::size_t> last_readers() const;
    void check_capacity() const;
    [[noreturn]] void fail_overflow() const;

    const Graph& graph_;
    const AllocationRules& rules_;
    std::vector<Placement> placements_;
    std::vector<std::int64_t> padded_;  // bytes of each tensor, rounded up to its space's alignment
    std::int64_t weights_end_ = 0;      // and of caches and states
    std::int64_t cache_bytes_ = 0, state_bytes_ = 0;
    std::int64_t activations_peak_ = 0;
};

void Allocator::fail_overflow() const {
    throw UserError(fmt::format("'{}': its tensors, laid out in tiles of {}x{}, have more than 2^63 bytes",
                                graph_.name, rules_.tile_rows, rules_.tile_cols));
}

std::int64_t Allocator::column_bytes(const Placement& placement, const MatrixView& matrix) const {
    const auto columns = checked_mul(matrix.groups, matrix.n);
    const auto bytes = columns ? checked_mul(*columns, row_bytes(placement.each, matrix.k).value()) : columns;
    if (!bytes) fail_overflow();
    return *bytes;
}

std::int64_t Allocator::tile_bytes(const Placement& placement, const MatrixView& matrix) const {
    std::optional<std::int64_t> bytes = row_bytes(placement.each, rules_.tile_cols).value();
    for (const std::int64_t factor : {rules_.tile_rows, matrix.groups, ceil_div(matrix.k, rules_.tile_rows),
                                      ceil_div(matrix.n, rules_.tile_cols)})
        if (bytes) bytes = checked_mul(*bytes, factor);
    if (!bytes) fail_overflow();
    return *bytes;
}

/// Space, layout and bytes of every tensor.
void Allocator::lay_out() {
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
        const Tensor& tensor = graph_.tensors[id];
        placements_[id].space = stays(tensor) ? Space::Dram : rules_.activations;
        placements_[id].bytes = stored_bytes(tensor);
    }
    std::vector<bool> decided(graph_.tensors.size());
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
        const Layer& layer = graph_.layers[i];
        if (!layer.weights || decided[*layer.weights]) continue;
        decided[*layer.weights] = true;
        const std::vector<MatrixView> matrices = matrices_of(layer.op);
        if (matrices.empty()) continue;
        Placement& placement = placements_[*layer.weights];
        const Tensor& weights = graph_.tensors[*layer.weights];
        placement.each = bits_per_weight(weights.dtype, weights.format, rules_.tile_rows);
        placement.layout = rules_.layer_weights.empty() ? rules_.weights : rules_.layer_weights.at(i);
        placement.turned = stores_columns(layer.op);
        const bool tiled = placement.layout == Layout::Tiled;
        if (tiled) placement.tile_rows = rules_.tile_rows, placement.tile_cols = rules_.tile_cols;
        std::optional<std::int64_t> sum = 0;
        for (const MatrixView& matrix : matrices) {
            if (!sum) fail_overflow();
            if (matrices.size() > 1) placement.parts.push_back(*sum);
            sum = checked_add(*sum, tiled ? tile_bytes(placement, matrix) : column_bytes(placement, matrix));
        }
        if (!sum) fail_overflow();
        placement.bytes = Bytes(*sum);
    }
}

/// Padded sizes, whose sum bounds every address below.
void Allocator::measure() {
    std::optional<std::int64_t> sum = 0;
    for (TensorId id = 0; id < padded_.size(); ++id) {
        const std::int64_t step = alignment(id);
        const auto widened = checked_add(placements_[id].bytes.value(), step - 1);
        if (!widened) fail_overflow();
        padded_[id] = *widened / step * step;
        sum = checked_add(*sum, padded_[id]);
        if (!sum) fail_overflow();
    }
}

void Allocator::place_weights() {
    for (TensorId id = 0; id < padded_.size(); ++id) {
        if (!stays(graph_.tensors[id]) || is_view(id)) continue;
        placements_[id].address = weights_end_;
        weights_end_ += padded_[id];
        if (graph_.tensors[id].role == TensorRole::KvCache) cache_bytes_ += padded_[id];
        if (graph_.tensors[id].role == TensorRole::OptimizerState) state_bytes_ += padded_[id];
    }
}

/// The last layer in which each tensor's bytes must be left alone: that of its last reader, or of a reader of
/// its views; one past the last layer for an output.
std::vector<std::size_t> Allocator::last_readers() const {
    std::vector<std::size_t> last(graph_.tensors.size(), 0);
    const auto extend = [&](TensorId id, std::size_t layer) {
        std::size_t& known = last[root(id)];
        known = std::max(known, layer);
    };
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
        extend(graph_.layers[i].output, i);
        for (const TensorId input : graph_.layers[i].inputs) extend(input, i);
    }
    for (const TensorId output : graph_.outputs) extend(output, graph_.layers.size());
    return last;
}

bool Allocator::may_reside(TensorId id) const {
    const bool never = id < rules_.never_resident.size() && rules_.never_resident[id];
    return !stays(graph_.tensors[id]) && !is_view(id) && !never;
}

/// Chooses those activations that live in the scratchpad although others do not.
void Allocator::place_residents() {
    const std::vector<std::size_t> last = last_readers();
    std::vector<std::int64_t> passes(graph_.tensors.size(), 1);  // of the DRAM's bus: its write, its readers
    std::vector<std::size_t> born(graph_.tensors.size());
    for (std::size_t i = graph_.layers.size(); i-- > 0;) {
        born[root(graph_.layers[i].output)] = i;  // the first one's that writes a part of it
        for (const TensorId input : graph_.layers[i].inputs) ++passes[root(input)];
    }
    if (rules_.outputs_in_dram) {
        std::set<TensorId> written;  // several outputs may be views of one tensor
        for (const TensorId output : graph_.outputs) written.insert(root(output));
        for (const TensorId tensor : written) --passes[tensor];
    }
    const std::int64_t step = rules_.scratchpad_alignment.value();
    const std::int64_t capacity = rules_.scratchpad_capacity.value();
    std::vector<TensorId> ids;
    std::vector<Lifetime> lives;
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
        const std::int64_t bytes = ceil_div(placements_[id].bytes.value(), rules_.scratchpads);
        if (!may_reside(id) || bytes > capacity - (step - 1)) continue;
        ids.push_back(id);
        lives.push_back({born[id], last[id], round_up(bytes, step), passes[id]});
    }
    const auto addresses = choose_resident(lives, capacity);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (!addresses[i]) continue;
        placements_[ids[i]].space = Space::Scratchpad;
        placements_[ids[i]].bytes = Bytes(ceil_div(placements_[ids[i]].bytes.value(), rules_.scratchpads));
        placements_[ids[i]].address = *addresses[i];
    }
}

/// Walks the layers in order: a layer's output takes the lowest place that fits beside all that lives, its
/// inputs among them; then what was read for the last time leaves.
void Allocator::place_activations() {
    const std::vector<std::size_t> last = last_readers();
    const std::int64_t base = rules_.activations == Space::Dram ? weights_end_ : 0;
    std::vector<std::vector<TensorId>> leaving(graph_.layers.size() + 1);
    std::vector<bool> taken(graph_.tensors.size());
    FirstFit space;
    const auto place = [&](TensorId tensor) {
        const TensorId id = root(tensor);  // layers may write parts of it, one after the other
        if (stays(graph_.tensors[id]) || is_placed(id) || taken[id]) return;
        taken[id] = true;
        placements_[id].address = base + space.take(padded_[id]);
        leaving[last[id]].push_back(id);
    };
    for (const TensorId input : graph_.inputs) place(input);
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
        place(graph_.layers[i].output);
        for (const TensorId id : leaving[i]) space.give_back(placements_[id].address - base, padded_[id]);
    }
    activations_peak_ = space.peak();
}

void Allocator::place_views() {
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
        if (!is_view(id)) continue;
        const Bytes own = placements_[id].bytes;
        placements_[id] = placements_[root(id)];
        placements_[id].address += graph_.tensors[id].view_offset.value();
        placements_[id].bytes = own;
    }
}

void Allocator::check_capacity() const {
    std::vector<Diagnostic> faults;
    const auto fail = [&](std::string message) {
        faults.emplace_back().message = std::move(message);
        if (!graph_.layers.empty()) faults.back().where.file = graph_.layers.front().where.file;
    };
    const bool in_dram = rules_.activations == Space::Dram;
    const std::string activations = format_bytes(Bytes(activations_peak_));
    const std::string weights = format_bytes(Bytes(weights_end_ - cache_bytes_ - state_bytes_));
    const Bytes dram(weights_end_ + (in_dram ? activations_peak_ : 0));
    if (dram > rules_.dram_capacity) {
        std::string parts = weights + " weights";
        if (cache_bytes_ > 0) parts += fmt::format(", {} KV cache", format_bytes(Bytes(cache_bytes_)));
        if (state_bytes_ > 0) parts += fmt::format(", {} optimizer state", format_bytes(Bytes(state_bytes_)));
        if (in_dram) parts += fmt::format(", {} activations", activations);
        fail(fmt::format("the network needs {} of memory: {}; {} has {}", format_bytes(dram), parts,
                         rules_.memory, capacity_text(rules_.dram_capacity)));
    }
    if (!in_dram && activations_peak_ > rules_.scratchpad_capacity.value())
        fail(fmt::format(
            "'{}' does not fit into the scratchpad: activations {} (at their peak), capacity {}; the "
            "weights, {}, lie in DRAM",
            graph_.name, activations, format_bytes(rules_.scratchpad_capacity), weights));
    if (!faults.empty()) throw UserError(std::move(faults));
}

}  // namespace

std::string_view to_string(Space space) {
    return space == Space::Dram ? "dram" : "scratchpad";
}

std::vector<Placement> allocate(const Graph& graph, const AllocationRules& rules) {
    SYSTOLE_CHECK(rules.dram_alignment > Bytes(0) && rules.scratchpad_alignment > Bytes(0) &&
                      rules.tile_rows > 0 && rules.tile_cols > 0,
                  "a device's allocation rules must be positive");
    return Allocator(graph, rules).run();
}

}  // namespace systole
