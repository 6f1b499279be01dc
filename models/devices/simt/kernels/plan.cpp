// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "models/devices/simt/kernels/attention_plan.h"
#include "models/devices/simt/kernels/channel_padding.h"
#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/collective_plan.h"
#include "models/devices/simt/kernels/fit.h"
#include "models/devices/simt/kernels/plan_places.h"
#include "models/devices/simt/kernels/plan_rows.h"
#include "models/devices/simt/kernels/product_shape.h"
#include "models/devices/simt/kernels/stream_k.h"
#include "models/devices/simt/kernels/sum_of_parts.h"
#include "models/devices/simt/kernels/supported.h"
#include "models/devices/simt/kernels/unfused_attention.h"
#include "models/devices/simt/kernels/vector_plan.h"
#include "models/devices/simt/kernels/winograd.h"
#include "models/memory/addresses/share_patterns.h"
#include "sim/base/checked.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/workload/allocation.h"
#include "sim/workload/fused_graph.h"

namespace systole::simt {
namespace {

// Of what a kernel moves, the padding of one operand is at most one part in so many.
constexpr std::int64_t kPaddingParts = 256;

// Of all runs together: plan and accounts of a layer take some ten kilobytes.
constexpr std::int64_t kMostLayerRuns = 250'000;

class Planner {
public:
    Planner(const Graph& graph, const PlacedTensors& placed, const SimtSpec& spec, KernelChooser& chooser)
        : graph_(graph),
          spec_(spec),
          placements_(placed.placements),
          chooser_(chooser),
          vectors_(graph, spec, placements_, chooser.kept()),
          attentions_(spec, chooser.kept()),
          alignment_(alignment(spec)),
          stripe_(even_stripe(spec.memory).value()),
          end_(placed.end) {}

    ChipPlan plan(const Protocol& protocol) {
        ChipPlan chip;
        chip.trace = graph_.name;
        std::vector<std::size_t> rows;  // by layer of the graph: its number in the plan
        for (const std::size_t count : layers_of_rows(graph_, spec_.kernels)) {
            chip.layers.push_back(layer_plan({graph_.layers.data() + rows.size(), count}));
            rows.insert(rows.end(), count, chip.layers.size() - 1);
        }
        add_stored(graph_, rows, chip);
        add_runs(protocol, chip);
        for (const TensorId id : graph_.inputs) {
            if (graph_.tensors[id].role == TensorRole::Input) chip.compulsory_dram += placements_[id].bytes;
            if (protocol.inputs_at == Protocol::Where::Host) chip.inputs.push_back(copy(id, true));
        }
        for (const TensorId id : graph_.outputs) {
            if (graph_.tensors[id].role == TensorRole::KvCache) continue;  // it stays
            chip.compulsory_dram += placements_[id].bytes;
            if (protocol.outputs_to == Protocol::Where::Host) chip.outputs.push_back(copy(id, false));
        }
        chip.tensors = places(graph_, placements_);
        return chip;
    }

private:
    std::int64_t weight_bytes() const {
        std::int64_t bytes = 0;
        for (const Tensor& tensor : graph_.tensors)
            if (tensor.role == TensorRole::Weights && !tensor.view_of) bytes += stored_bytes(tensor).value();
        return bytes;
    }

    /// From the first byte of weights to behind the last: what a copy of them takes.
    std::pair<std::int64_t, std::int64_t> weights() const {
        std::int64_t begin = end_, end = 0;
        for (TensorId id = 0; id < placements_.size(); ++id) {
            if (graph_.tensors[id].role != TensorRole::Weights) continue;
            begin = std::min(begin, placements_[id].address);
            end = std::max(end, placements_[id].address + placements_[id].bytes.value());
        }
        return {begin, std::max(begin, end)};
    }

    std::int64_t copies(const Protocol& protocol) const {
        if (protocol.weight_copies != Protocol::kEnoughCopies) return protocol.weight_copies;
        const std::int64_t weights = std::max<std::int64_t>(1, weight_bytes());
        return std::clamp<std::int64_t>(ceil_div(spec_.shared_cache().capacity.value(), weights), 1,
                                        Protocol::kMostCopies);
    }

    /// The network again, once for each copy of the weights, and all of that as often as it is repeated.
    /// Copies lie behind all tensors and the room for sums of parts.
    void add_runs(const Protocol& protocol, ChipPlan& chip) const {
        const auto [begin, end] = weights();
        const std::int64_t count = copies(protocol), step = round_up(end - begin, alignment_);
        const std::int64_t first = round_up(end_ + sums_, alignment_) - begin;
        const auto room = checked_mul(count - 1, step);
        if (!room || *room > spec_.memory.capacity().value() - first - begin)
            throw UserError(
                fmt::format("{} copies of {} of weights do not fit into the memory of {} "
                            "(run.weight_copies)",
                            count, format_bytes(Bytes(step)), spec_.name));
        const std::vector<LayerPlan> once = chip.layers;
        const std::int64_t runs = protocol.repeat * count;
        if (const auto layers = runs * static_cast<std::int64_t>(once.size()); layers > kMostLayerRuns)
            throw UserError(fmt::format(
                "{} times a network of {} layers: at most {} layers are simulated in all (run.repeat, "
                "run.weight_copies)",
                with_thousands(runs), with_thousands(std::ssize(once)), with_thousands(kMostLayerRuns)));
        for (std::int64_t run = 1; run < runs; ++run)
            for (LayerPlan layer : once) {
                const std::int64_t copy = run % count;
                if (copy > 0)
                    for (MatrixPlace* place : weights_of(layer)) place->address += first + (copy - 1) * step;
                chip.layers.push_back(std::move(layer));
            }
        chip.turn = once.size() * static_cast<std::size_t>(count);
        chip.copies = count;
        chip.turns = {protocol.warm_turns, protocol.timed_turns};
        chip.first_reported = chip.layers.size() - once.size();
    }

    Transfer copy(TensorId id, bool inwards) const {
        const std::int64_t bytes = placements_[id].bytes.value();
        const Region host{Place::Host, placements_[id].address, bytes};
        const Region dram{Place::Dram, placements_[id].address, bytes};
        return {inwards ? host : dram, inwards ? dram : host, 1, bytes,
                inwards ? Operand::Activations : Operand::Outputs};
    }

    /// Of one layer, or of a chain.
    LayerPlan layer_plan(std::span<const Layer> layers) {
        const Layer& layer = layers.front();
        const Attention* attention = attention_of(layer);
        if (attention != nullptr && attention->part == Attention::Part::Whole) return attention_layer(layer);
        if (std::holds_alternative<Collective>(layer.op)) return collective_layer(layer);
        if (!on_tensor_cores(layer)) return vector_layer(layers);
        return product_layer(layer, product_shape(graph_, layer, spec_.sm));
    }

    LayerPlan product_layer(const Layer& layer, const GemmShape& shape) {
        const DType dtype = product_dtype(graph_, layer, spec_);
        LayerPlan plan{layer.name, op_name(layer), "", dtype, macs(layer.op), compulsory(layer), {}};
        GemmPlan gemm;
        const std::vector<TimedKernel> kernels = chooser_.weigh(shape);
        if (kernels.empty())
            throw UserError(
                layer.where,
                fmt::format(
                    "'{}': no kernel for {} fits an SM of {}: {}", layer.name, to_string(dtype), spec_.name,
                    what_is_too_small(spec_.sm, {dtype, shape.output, shape.epilogue, false, shape.blocks})));
        const auto* conv = std::get_if<Conv2d>(&layer.op);
        const Bytes room(spec_.memory.capacity().value() - end_ - 3 * alignment_);
        if (const auto winograd = conv != nullptr ? winograd_of(*conv, dtype, spec_, room) : std::nullopt) {
            const std::vector<TimedKernel> products = chooser_.weigh(product_of(*winograd));
            const double transforms = transforms_estimate(*winograd, plan.compulsory_dram, spec_);
            if (!products.empty() && products.front().estimate + transforms < kernels.front().estimate)
                return winograd_layer(layer, shape.epilogue, *winograd, products.front(), std::move(plan));
        }
        take(kernels.front(), gemm);
        gemm.a = place(layer.inputs.at(0), Operand::Activations);
        gemm.b = place(second_operand(layer),
                       layer.weights ? Operand::Weights : operand_of(second_operand(layer)));
        // Pixels that windows of one pixel pass over are not read (conv_gather.h).
        if (std::holds_alternative<Conv2d>(layer.op) && !shape.gather)
            gemm.a.bytes =
                std::min(gemm.a.bytes, Bytes(ceil_div(shape.a_elements() * bits_of(dtype).value(), 8)));
        gemm.b.bytes = touched(graph_, layer, second_operand(layer));
        gemm.c = place(layer.output, Operand::Outputs);
        if (layer.scales) gemm.columns.push_back(columns_of("scales", layer, *layer.scales));
        if (layer.bias) gemm.columns.push_back(columns_of("bias", layer, *layer.bias));
        if (layer.joined) gemm.other = place(layer.inputs.back(), Operand::Activations);
        if (gemm.kernel.swapped) std::swap(gemm.a, gemm.b);
        room_ = end_;
        if (gemm.kernel.split_k > 1 || gemm.kernel.streams > 0) gemm.sums = place_of_sums(layer, gemm.kernel);
        if (const Bytes padded = padded_bytes(shape); padded > Bytes(0)) {
            const MatrixPlace map = gemm.a;
            gemm.a = room_for(layer, padded, "its input with padded channels", Operand::Activations);
            plan.kernels.emplace_back(pad_channels(shape, map, gemm.a, spec_.sm));
        }
        pad({&gemm.a, &gemm.b, &gemm.c, &gemm.sums, &gemm.other});
        plan.mapping = mapping_of(gemm);
        plan.kernels.emplace_back(gemm);
        if (gemm.kernel.split_k > 1) plan.kernels.emplace_back(sum_of_parts(gemm, spec_.sm));
        return plan;
    }

    static void take(const TimedKernel& timed, GemmPlan& gemm) {
        gemm.kernel = timed.kernel;
        gemm.timing = timed.timing;
        gemm.estimate = timed.estimate;
    }

    LayerPlan winograd_layer(const Layer& layer, const Epilogue& epilogue, const Winograd& winograd,
                             const TimedKernel& product, LayerPlan plan) {
        const WinogradBytes bytes = bytes_of(winograd);
        room_ = end_;
        const auto room = [&](Bytes size, const std::string& what) {
            return room_for(layer, size, what, Operand::PartialSums);
        };
        WinogradPlaces at;
        at.weights = place(*layer.weights, Operand::Weights);
        at.map = place(layer.inputs.at(0), Operand::Activations);
        at.out = place(layer.output, Operand::Outputs);
        if (layer.bias) at.columns.push_back(columns_of("bias", layer, *layer.bias));
        if (layer.joined) at.other = place(layer.inputs.back(), Operand::Activations);
        at.filters = room(bytes.filters, "its transformed weights");
        at.data = room(bytes.data, "its transformed input");
        at.products = room(bytes.products, "its products");
        if (product.kernel.split_k > 1 || product.kernel.streams > 0)
            at.sums = place_of_sums(layer, product.kernel);
        plan.macs = winograd.macs();
        plan.kernels = winograd_kernels(winograd, product, at, epilogue, spec_.sm);
        plan.mapping = fmt::format("Winograd F(4x4, {0}x{0}): {1} products, {2}", winograd.taps,
                                   winograd.points(), to_string(product.kernel));
        return plan;
    }

    ColumnValues columns_of(const std::string& name, const Layer& layer, TensorId id) const {
        ColumnValues values{name, place(id, Operand::Weights), bits_of(graph_.tensors[id].dtype).value() / 8};
        values.place.bytes = touched(graph_, layer, id);
        return values;
    }

    LayerPlan attention_layer(const Layer& layer) {
        const DType dtype = product_dtype(graph_, layer, spec_);
        AttentionPlan attention = attentions_.plan(layer, dtype, graph_.tensors[layer.output].dtype,
                                                   operand_of(layer.inputs.at(1)) == Operand::KvCache);
        LayerPlan plan{layer.name, op_name(layer), "", dtype, macs(layer.op), compulsory(layer), {}};
        attention.q = place(layer.inputs.at(0), Operand::Activations);
        attention.k = place(layer.inputs.at(1), operand_of(layer.inputs.at(1)));
        if (!attention.kernel.shape.shared)
            attention.v = place(layer.inputs.at(2), operand_of(layer.inputs.at(2)));
        else
            plan.compulsory_dram = plan.compulsory_dram - stored_bytes(graph_.tensors[layer.inputs.at(2)]);
        attention.out = place(layer.output, Operand::Outputs);
        room_ = end_;
        if (attention.kernel.splits > 1)
            attention.sums =
                room_for(layer, sums_of_attention(attention.kernel),
                         fmt::format("the sums of {} parts of the keys", attention.kernel.splits),
                         Operand::PartialSums);
        attention.estimate =
            std::max(attention.estimate, static_cast<double>(plan.compulsory_dram.value()) /
                                             static_cast<double>(spec_.memory.peak().value()) *
                                             static_cast<double>(spec_.core_clock.value()));
        pad({&attention.q, &attention.k, &attention.v, &attention.out, &attention.sums});
        plan.mapping = mapping_of(attention);
        const bool joins = attention.kernel.splits > 1;
        plan.kernels.emplace_back(attention);
        if (joins) plan.kernels.emplace_back(join_of_parts(attention, spec_));
        return plan;
    }

    Operand operand_of(TensorId id) const {
        return graph_.tensors[id].role == TensorRole::KvCache ? Operand::KvCache : Operand::Activations;
    }

    LayerPlan vector_layer(std::span<const Layer> layers) {
        room_ = end_;
        LayerPlan plan = vectors_.layer_plan(layers, [&](Bytes bytes, const std::string& what) {
            return room_for(layers.front(), bytes, what, Operand::PartialSums);
        });
        auto& vector = std::get<VectorPlan>(plan.kernels.front());
        // What a second kernel goes on with stays as it is.
        std::vector<MatrixPlace*> matrices;
        if (plan.kernels.size() == 1) matrices.push_back(&vector.to.place);
        for (VectorOperand& operand : vector.in) matrices.push_back(&operand.place);
        pad(matrices);
        return plan;
    }

    LayerPlan collective_layer(const Layer& layer) const {
        const DType dtype = graph_.tensors[layer.inputs.at(0)].dtype;
        CollectivePlan collective = plan_collective(layer, bits_of(dtype), spec_);
        LayerPlan plan{layer.name, op_name(layer),    "", slots_of(dtype, spec_.sm),
                       Macs(0),    compulsory(layer), {}};
        collective.from = place(layer.inputs.at(0), Operand::Activations);
        collective.to = place(layer.output, Operand::Outputs);
        pad({&collective.from, &collective.to});
        plan.mapping = to_string(collective);
        plan.kernels.emplace_back(collective);
        return plan;
    }

    Bytes compulsory(const Layer& layer) const {
        Bytes bytes = touched(graph_, layer, layer.output);
        for (const TensorId id : layer.inputs) bytes += touched(graph_, layer, id);
        if (layer.weights) bytes += touched(graph_, layer, *layer.weights);
        for (const auto& columns : {layer.bias, layer.scales})
            if (columns) bytes += touched(graph_, layer, *columns);
        return bytes;
    }

    std::string mapping_of(const GemmPlan& gemm) const {
        return fmt::format("{}{}, {}", to_string(gemm.kernel), to_string(gemm.kernel.shape.epilogue),
                           waves_text(gemm.kernel.ctas(), spec_.sm.for_clusters(gemm.kernel.tile.cluster()),
                                      gemm.timing.resident, spec_.sm));
    }

    std::string mapping_of(const AttentionPlan& attention) const {
        return fmt::format(
            "{}, {}", to_string(attention.kernel),
            waves_text(attention.kernel.ctas(), spec_.sm.count, attention.timing.resident, spec_.sm));
    }

    MatrixPlace place(TensorId id, Operand operand) const {
        return {placements_[id].address, operand, placements_[id].bytes, Bytes(0)};
    }

    /// Where a matrix ends within a stripe of the memory, channels would get different shares. Where that is
    /// nothing beside what the kernel moves, all of the stripe passes.
    void pad(const std::vector<MatrixPlace*>& matrices) const {
        std::int64_t moved = 0;
        for (const MatrixPlace* matrix : matrices) moved += matrix->bytes.value();
        for (MatrixPlace* matrix : matrices) {
            const std::int64_t end = matrix->address + matrix->bytes.value();
            const std::int64_t padding = stripe_ > 0 ? round_up(end, stripe_) - end : 0;
            if (padding <= moved / kPaddingParts) matrix->padding = Bytes(padding);
        }
    }

    // What kernels of a layer leave for each other lies behind all tensors; every layer uses the same room.
    MatrixPlace room_for(const Layer& layer, std::optional<Bytes> bytes, const std::string& what,
                         Operand operand) {
        if (!bytes || bytes->value() > spec_.memory.capacity().value() - room_)
            throw UserError(layer.where,
                            fmt::format("'{}': the memory has no room for {}", layer.name, what));
        const std::int64_t at = room_;
        room_ = round_up(room_ + bytes->value(), alignment_);
        sums_ = std::max(sums_, room_ - end_);
        return {at, operand, *bytes, Bytes(0)};
    }

    MatrixPlace place_of_sums(const Layer& layer, const GemmKernel& kernel) {
        const auto bytes = kernel.streams > 0 ? workspace(kernel) : sums_of_parts(kernel);
        return room_for(layer, bytes,
                        kernel.streams > 0 ? "the sums of shares of K"
                                           : fmt::format("the sums of {} parts of K", kernel.split_k),
                        Operand::PartialSums);
    }

    const Graph& graph_;
    const SimtSpec& spec_;
    const std::vector<Placement>& placements_;
    KernelChooser& chooser_;
    VectorPlanner vectors_;
    AttentionPlanner attentions_;
    const std::int64_t alignment_, stripe_;
    const std::int64_t end_;  // of all tensors
    std::int64_t sums_ = 0;   // bytes behind them that some layer's kernels need most
    std::int64_t room_ = 0;   // free from here on, for the layer that is planned
};

}  // namespace

Graph fused_network(const Graph& graph, const SimtSpec& spec) {
    Graph fused = unfuse_attention(fuse(graph, possible_fusions(graph)), spec.sm);
    for (const Layer& layer : fused.layers) on_tensor_cores(layer);
    return fused;
}

ChipPlan plan_at(const PlacedTensors& placed, const Graph& fused, const SimtSpec& spec,
                 const Protocol& protocol, KernelChooser& chooser) {
    return Planner(fused, placed, spec, chooser).plan(protocol);
}

ChipPlan plan(const Graph& graph, const SimtSpec& spec, const Protocol& protocol, KernelChooser& chooser) {
    const Graph fused = fused_network(graph, spec);
    return plan_at(place_tensors(fused, spec), fused, spec, protocol, chooser);
}

}  // namespace systole::simt
