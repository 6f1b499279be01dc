// SPDX-License-Identifier: Apache-2.0
// Layers of a network that have one gradient together, or know what another needs for its own.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/workload/training/gradient_path.h"

namespace systole {

class Relatives {
public:
    Relatives(const Graph& network, const GradientPath& path);

    /// Slices that are all of a tensor which no other layer with a gradient reads.
    struct Parts {
        std::vector<TensorId> outputs;  ///< as they lie in the tensor
        TensorId first = 0;             ///< of the layer that the way back meets last
    };
    /// Those with the slice whose output is `output`; nullptr: it has a gradient of its own.
    const Parts* parts_with(TensorId output) const;
    /// Where the `k` greatest of each row of a tensor stood, if a layer says so.
    std::optional<TensorId> indices_of(TensorId tensor, std::int64_t k) const;

private:
    void find_parts(const Graph& network, const GradientPath& path);

    std::vector<Parts> parts_;
    std::map<TensorId, std::size_t> parts_with_;  // by output
    std::map<std::pair<TensorId, std::int64_t>, TensorId> indices_;
};

}  // namespace systole
