// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/core_share.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "sim/base/units.h"
#include "sim/workload/dtype.h"

namespace systole::systolic {
namespace {

/// Elements of which any number of any format fill whole bytes.
constexpr std::int64_t kShareGrain = 64;

std::int64_t grains(std::int64_t elements) {
    return elements % kShareGrain == 0 ? elements / kShareGrain : 0;
}

struct EvenParts {
    /// Windows of one pixel meet no other's; others stay inside their image, or volume.
    std::int64_t operator()(const Conv2d& op) const {
        const bool slices_alone = !op.depth || (op.depth->stride == 1 && op.depth->pad == 0);
        const bool pixels_alone = op.taps() == 1 && op.stride == 1 && op.stride_w() == 1 &&
                                  op.most_pad() == 0 && slices_alone && op.groups == 1;
        return pixels_alone ? op.pixels() : op.batch;
    }
    std::int64_t operator()(const MatMul& op) const {
        if (op.transposed_a) return 0;
        return op.shared_weights && op.experts == 0 ? op.batch * op.m : op.batch;
    }
    std::int64_t operator()(const Elementwise& op) const {
        return op.stored || op.times > 1 ? 0 : grains(op.elements);
    }
    std::int64_t operator()(const Activation& op) const { return grains(op.elements); }
    std::int64_t operator()(const Pool& op) const { return op.batch; }
    std::int64_t operator()(const Softmax& op) const { return op.rows; }
    std::int64_t operator()(const Norm& op) const { return op.rows; }
    std::int64_t operator()(const Reduce& op) const { return op.columns ? 0 : op.rows; }
    std::int64_t operator()(const TopK& op) const { return op.rows; }
    std::int64_t operator()(const LstmCell& op) const { return op.batch; }
    std::int64_t operator()(const GruCell& op) const { return op.batch; }
    std::int64_t operator()(const Attention& op) const { return op.batch; }
    template <class Other>
    std::int64_t operator()(const Other&) const {
        return 0;
    }
};

}  // namespace

Range CoreShare::of(std::int64_t units) const {
    const std::int64_t each = units / count, more = units % count;
    const auto begin = [&](std::int64_t core) { return core * each + std::min(core, more); };
    return {begin(index), begin(index + 1) - begin(index)};
}

const std::vector<std::string>& core_splits() {
    static const std::vector<std::string> names{"none", "m", "n", "batch"};
    return names;
}

std::string_view to_string(CoreSplit split) {
    return core_splits()[static_cast<std::size_t>(split)];
}

std::int64_t even_parts(const Operator& op) {
    return std::visit(EvenParts(), op);
}

bool shares_evenly(const Operator& op, int cores) {
    const std::int64_t parts = even_parts(op);
    return parts > 0 && parts % cores == 0;
}

bool gains_by_columns(const Graph& graph, const Layer& layer, int cores) {
    if (!layer.weights ||
        !(std::holds_alternative<MatMul>(layer.op) || std::holds_alternative<Conv2d>(layer.op)))
        return false;
    const auto bytes = [&](TensorId id) { return stored_bytes(graph.tensors[id]).value(); };
    // Every core reads all inputs then; results, and what joins them, cross once.
    std::int64_t activations = cores * bytes(layer.inputs.front()) + bytes(layer.output);
    if (layer.joined) activations += bytes(layer.inputs.back());
    return (cores - 1) * bytes(*layer.weights) > activations;
}

std::vector<bool> not_shared_evenly(const Graph& graph, int cores) {
    std::vector<bool> unfit(graph.tensors.size());
    const auto mark = [&](TensorId id) { unfit[graph.tensors[id].view_of.value_or(id)] = true; };
    for (const Layer& layer : graph.layers) {
        if (shares_evenly(layer.op, cores) && !gains_by_columns(graph, layer, cores)) continue;
        mark(layer.output);
        for (const TensorId input : layer.inputs) mark(input);
    }
    // Rows of numbers narrower than a byte may end inside one; and cores share a part of a tensor, if it is
    // one of the batch, but not in the way in which they share the whole.
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
        const Tensor& tensor = graph.tensors[id];
        const bool part =
            tensor.view_of && stored_bytes(tensor) != stored_bytes(graph.tensors[*tensor.view_of]);
        if (part || bits_of(tensor.dtype).value() % 8 != 0) mark(id);
    }
    return unfit;
}

}  // namespace systole::systolic
