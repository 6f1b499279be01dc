// SPDX-License-Identifier: Apache-2.0
// Gradients of what is only moved: each number's goes back to where the number came from, and those of a
// number that went to several places come together.
#include <algorithm>

#include "sim/base/check.h"
#include "sim/workload/training/gradient_rules.h"

namespace systole {
namespace {

void give(WayBack& back, const Layer& layer, std::size_t input, const char* part, Operator op,
          std::vector<TensorId> inputs) {
    const Tensor& read = back.graph().tensor(layer.inputs[input]);
    const TensorId own = back.add(layer, part, std::move(op), std::move(inputs), read.shape, read.dtype);
    back.give(layer, layer.inputs[input], own);
}

}  // namespace

void add_concat_gradients(WayBack& back, const Layer& layer, TensorId gradient) {
    const auto& op = std::get<Concat>(layer.op);
    const auto count = static_cast<std::int64_t>(op.sizes.size());
    // Copies of one tensor are summed at once.
    const bool copies = count > 1 && std::ranges::count(layer.inputs, layer.inputs[0]) == count;
    if (copies)
        return give(back, layer, 0, "input_gradient",
                    Reduce{Reduce::Kind::Sum, count, op.sizes[0] * op.inner, true, op.outer}, {gradient});
    std::int64_t in = 0, begin = 0;
    for (const std::int64_t size : op.sizes) in += size;
    for (std::size_t i = 0; i < op.sizes.size(); ++i) {
        if (back.wants(layer.inputs[i]))
            give(back, layer, i, "part_gradient", Slice{op.outer, op.inner, in, begin, op.sizes[i]},
                 {gradient});
        begin += op.sizes[i];
    }
}

/// Slices that are all of a tensor are joined again, once all of their gradients are there. What nobody took
/// has none.
void add_slice_gradients(WayBack& back, const Layer& layer, TensorId gradient) {
    Slice own = std::get<Slice>(layer.op);
    const Relatives::Parts* parts = back.relatives().parts_with(layer.output);
    if (!parts) {
        own.gradient = true;
        return give(back, layer, 0, "input_gradient", own, {gradient});
    }
    if (layer.output != parts->first) return;
    Concat joined{own.outer, own.inner, {}};
    std::vector<TensorId> gradients;
    for (const TensorId output : parts->outputs) {
        const auto part = back.of_output(output);
        SYSTOLE_CHECK(part.has_value(), "a slice of what '{}' reads has no gradient", layer.name);
        gradients.push_back(*part);
        joined.sizes.push_back(elements(back.graph().shape(output)) / own.outer / own.inner);
    }
    give(back, layer, 0, "input_gradient", joined, gradients);
}

void add_gather_gradients(WayBack& back, const Layer& layer, TensorId gradient) {
    const auto& op = std::get<Gather>(layer.op);
    give(back, layer, 0, "input_gradient", EmbeddingGradient{op.rows, op.width, op.lookups, op.spread},
         {gradient, layer.inputs[1]});
}

/// Where the greatest stood a layer of the network may have said already.
void add_top_k_gradients(WayBack& back, const Layer& layer, TensorId gradient) {
    TopK own = std::get<TopK>(layer.op);
    auto indices = back.relatives().indices_of(layer.inputs[0], own.k);
    if (!indices) {
        own.indices = true;
        indices = back.add(layer, "indices", own, {layer.inputs[0]}, back.graph().shape(layer.output),
                           DType::Int32);
        own.indices = false;
    }
    own.gradient = true;
    give(back, layer, 0, "input_gradient", own, {gradient, *indices});
}

}  // namespace systole
