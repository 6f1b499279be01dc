// SPDX-License-Identifier: Apache-2.0
// What lowering a layer gives: its steps, and what reports say about it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/devices/systolic/lowering/pipeline.h"

namespace systole::systolic {

struct LayerPlan {
    /// Bytes of a tensor that the layer has to touch at least once.
    struct Touched {
        TensorId tensor;
        std::int64_t bytes;
    };
    std::shared_ptr<Steps> steps;
    std::string mapping;
    DType dtype = DType::Bf16;          ///< of the activations
    std::optional<DType> second_dtype;  ///< of a second operand of the matrix units, where it is another
    std::vector<Touched> touched;
    double cycles = 0;  ///< estimate, of what is mapped onto matrix units
    /// The steps are the core's share already. Otherwise they are those of all, and any range of them can be
    /// one core's.
    bool dealt = false;
};

/// Of any layer.
LayerPlan plan(Workspace& workspace, std::int32_t index);

// Each plans what the workspace's core does; `mapping` is said for all cores by the plan of the first one.

/// Conv2d (all but depthwise) and MatMul: on the matrix units.
LayerPlan plan_matrix(Workspace& workspace, std::int32_t layer);
/// Depthwise Conv2d, Pool, Elementwise, Activation, Softmax, Norm: on the vector unit.
LayerPlan plan_vector(Workspace& workspace, std::int32_t layer);
/// Transpose: gathered by the DMA, turned by the vector unit.
LayerPlan plan_transpose(Workspace& workspace, std::int32_t layer);
/// Elementwise whose second operand is stored or repeated: on the vector unit.
LayerPlan plan_broadcast(Workspace& workspace, std::int32_t layer);
/// Rotary: on the vector unit, with a stored table.
LayerPlan plan_rotary(Workspace& workspace, std::int32_t layer);
/// Resize: on the vector unit.
LayerPlan plan_resize(Workspace& workspace, std::int32_t layer);
/// Concat, Slice: copied by the DMA, or by the vector unit where activations live on chip.
LayerPlan plan_movement(Workspace& workspace, std::int32_t layer);
/// Attention, fused: on the matrix units and the vector unit.
LayerPlan plan_attention(Workspace& workspace, std::int32_t layer);
/// CacheAppend: copied by the DMA.
LayerPlan plan_kv_cache(Workspace& workspace, std::int32_t layer);
/// ConvTranspose: on the matrix units, phase by phase.
LayerPlan plan_conv_transpose(Workspace& workspace, std::int32_t layer);
/// Scaling: on the vector unit, with stored scales.
LayerPlan plan_scaling(Workspace& workspace, std::int32_t layer);
/// Collective: over the chip link, sums on the vector unit.
LayerPlan plan_collective(Workspace& workspace, std::int32_t layer);
/// Embedding, Gather: fetched by the DMA; summed, or copied on chip, by the vector unit.
LayerPlan plan_lookup(Workspace& workspace, std::int32_t layer);
/// Optimizer: on the vector unit, in place.
LayerPlan plan_optimizer(Workspace& workspace, std::int32_t layer);
/// Refuses layers that use weights behind the optimizer that writes them.
void check_updates(const Graph& graph);
/// Reduce of columns: on the vector unit; of small matrices as rows, by plan_vector().
LayerPlan plan_column_sums(Workspace& workspace, std::int32_t layer);
/// EmbeddingGradient: fetched by the DMA, summed by the vector unit.
LayerPlan plan_embedding_gradient(Workspace& workspace, std::int32_t layer);

}  // namespace systole::systolic
