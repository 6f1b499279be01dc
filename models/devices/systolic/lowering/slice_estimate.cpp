// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/slice_estimate.h"

#include <algorithm>
#include <utility>

#include "models/devices/systolic/lowering/extents.h"
#include "models/devices/systolic/lowering/program_time.h"
#include "models/devices/systolic/lowering/real.h"
#include "models/devices/systolic/lowering/tiling.h"
#include "models/devices/systolic/lowering/vector_cost.h"

namespace systole::systolic {
namespace {

/// A part of the space is left for what zero padding reaches, and for gaps between tensors.
std::int64_t room(const SystolicSpec& spec) {
    return spec.placement.activation_bytes.value() / 8 * 7;
}

}  // namespace

SliceEstimate::SliceEstimate(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol)
    : graph_(graph), spec_(spec), inputs_from_host_(protocol.inputs_at == Protocol::Where::Host) {
    const double clock = real(spec.core_clock.value());
    bytes_per_cycle_ = kMemoryShare * real(spec.memory.peak().value()) / clock;
    host_bytes_per_cycle_ = real(spec.host.peak().value()) / clock;
    for (const Layer& layer : graph.layers) batches_.push_back(batch_of(graph, layer));
    last_read_.resize(graph.tensors.size(), graph.layers.size());  // nobody reads what an optimizer keeps
    for (std::size_t i = 0; i < graph.layers.size(); ++i)
        for (const TensorId input : graph.layers[i].inputs) last_read_[root(input)] = i;
    for (const TensorId output : graph.outputs) last_read_[root(output)] = graph.layers.size();
}

bool SliceEstimate::has_batches() const {
    return std::ranges::any_of(batches_, [](const auto& batch) { return batch.has_value(); });
}

double SliceEstimate::host_cycles(TensorId tensor) const {
    if (!inputs_from_host_ || std::ranges::find(graph_.inputs, tensor) == graph_.inputs.end()) return 0;
    return real(bytes(tensor)) / host_bytes_per_cycle_;
}

std::int64_t SliceEstimate::weight_bytes(const Layer& layer) const {
    std::int64_t sum = 0;
    for (const std::optional<TensorId>& stored : {layer.weights, layer.bias, layer.scales})
        if (stored) sum += bytes(*stored);
    return sum;
}

double SliceEstimate::unit_cycles(const Layer& layer, std::int64_t count) const {
    const MxuSpec& mxu = spec_.mxu;
    const Extents e = extents_of(layer.op);
    const double lanes = real(lane_work(layer)) / real(spec_.cores * spec_.vector.lanes);
    const Cycles start = spec_.vector.startup + spec_.dma.setup_cycles + spec_.sequencer.issue_cycles;
    if (e.m == 0) return lanes + real(count * start.value());
    const double passes = real(e.items * ceil_div(e.k, mxu.rows)) * real(ceil_div(e.n, mxu.cols));
    const double vectors = real(std::max<std::int64_t>(mxu.rows, ceil_div(e.m, count * spec_.cores)));
    const double parts = real(count);
    return parts * (2 * mxu.rows + mxu.cols) + std::max(parts * passes * vectors / mxu.count, lanes);
}

std::int64_t SliceEstimate::lane_work(const Layer& layer) const {
    const VectorSpec::Cost& cost = spec_.vector.cost;
    const std::int64_t out = elements(graph_.tensors[layer.output].shape);
    const auto post = [&](const auto& op) {
        const auto joined = layer.joined ? std::optional(layer.joined->post) : std::nullopt;
        return out * drain_cost(spec_.vector, op.bias ? 1 : 0, op.post, joined);
    };
    if (const auto* conv = std::get_if<Conv2d>(&layer.op))
        return conv->depthwise() ? out * conv->taps() * cost.mac : post(*conv);
    if (const auto* matmul = std::get_if<MatMul>(&layer.op)) return post(*matmul);
    if (const auto* pool = std::get_if<Pool>(&layer.op); pool && !pool->gradient)
        return out * pool->window_h * pool->window_w;
    if (const auto* norm = std::get_if<Norm>(&layer.op))
        return out * (norm->gradient ? norm_gradient_cost(cost, norm->kind) : norm_cost(cost, norm->kind));
    if (const auto* softmax = std::get_if<Softmax>(&layer.op))
        return out * (softmax->gradient ? softmax_gradient_cost(cost) : softmax_cost(cost));
    if (const auto* reduce = std::get_if<Reduce>(&layer.op))
        return reduce->items * reduce->rows * reduce->cols * cost.reduce;
    const auto* two = std::get_if<Elementwise>(&layer.op);
    if (two && (two->kind > Elementwise::Kind::Min || two->slope != Function::None))
        return out * (elementwise_cost(cost, two->kind) + slope_cost(cost, two->slope));
    if (const auto* activation = std::get_if<Activation>(&layer.op))
        return out * std::max<std::int64_t>(1, function_cost(cost, activation->function));
    return out;
}

void GrowingRun::add_layer() {
    const Layer& layer = graph_.layers[run_.first + run_.layers];
    Work work;
    work.units = estimate_.unit_cycles(layer, run_.count);
    work.bytes = real(estimate_.weight_bytes(layer) * run_.count * spec_.cores);
    for (const TensorId input : layer.inputs) {
        const TensorId tensor = estimate_.root(input);
        const auto born = std::ranges::find(born_, tensor);
        if (born != born_.end())
            work.reads.push_back(static_cast<std::size_t>(born - born_.begin()));
        else
            work.bytes += real(estimate_.bytes(tensor));
        host_ += estimate_.host_cycles(tensor);
    }
    work_.push_back(std::move(work));
    born_.push_back(layer.output);
    ++run_.layers;
}

bool GrowingRun::fits() const {
    const std::int64_t stripe =
        std::max<std::int64_t>(1, spec_.scratchpad.bank_bytes.value() * spec_.scratchpad.banks);
    std::vector<std::int64_t> change(run_.layers + 1);
    for (std::size_t i = 0; i < born_.size(); ++i) {
        if (!inner(born_[i])) continue;
        const std::size_t last = estimate_.last_read(born_[i]);
        const std::int64_t bytes =
            round_up(ceil_div(estimate_.bytes(born_[i]), run_.count * spec_.cores), stripe);
        change[i] += bytes;
        change[std::max(i, last - run_.first) + 1] -= bytes;
    }
    std::int64_t live = 0;
    for (const std::int64_t step : change) {
        live += step;
        if (live > room(spec_)) return false;
    }
    return true;
}

double GrowingRun::cycles() const {
    double sum = 0;
    for (std::size_t i = 0; i < work_.size(); ++i) {
        double bytes = work_[i].bytes;
        if (!inner(born_[i])) bytes += real(estimate_.bytes(born_[i]));
        for (const std::size_t read : work_[i].reads)
            if (!inner(born_[read])) bytes += real(estimate_.bytes(born_[read]));
        const double bus = estimate_.bus_cycles(bytes);
        sum += std::max(work_[i].units, bus) + kExposed * std::min(work_[i].units, bus);
    }
    return std::max(sum, host_);
}

}  // namespace systole::systolic
