// SPDX-License-Identifier: Apache-2.0
// Turns of repeated blocks that are computed again on the way back (Chen et al., "Training deep nets with
// sublinear memory cost", 2016): from what entered the turn, just before somebody needs it, and no more of
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/workload/training/appended_graph.h"

namespace systole {

class ComputedAgain {
public:
    /// Of the turns of `blocks`, all of whose layers stand in `graph` so far.
    ComputedAgain(AppendedGraph& graph, const std::vector<RepeatedBlock>& blocks);

    /// The layer that the way back is at.
    void stand_at(std::size_t layer) { turn_ = turns_[layer]; }
    /// What stands for a tensor of the network there: itself, unless the same turn makes it.
    TensorId operator()(TensorId tensor);

private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    /// The layer of this turn that makes the tensor's bytes, or kNone.
    std::size_t maker(TensorId tensor) const;
    void compute(std::size_t layer);
    std::string name_of(std::size_t layer) const;

    AppendedGraph& graph_;
    std::size_t tensors_;                        // of the network
    std::vector<std::size_t> makers_;            // by tensor: the layer that writes it
    std::vector<std::size_t> turns_;             // by layer, counted over all blocks
    std::vector<std::string> prefixes_;          // of names, by turn
    std::vector<std::optional<TensorId>> done_;  // by tensor
    std::vector<bool> wanted_;                   // by layer
    std::size_t turn_ = kNone;
};

}  // namespace systole
