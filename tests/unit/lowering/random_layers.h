// SPDX-License-Identifier: Apache-2.0
// Random layers that move, resize, repeat or reduce a feature map, for graphs that nobody thought of.
#pragma once

#include <cstdint>
#include <random>

#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic::test {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::int64_t pick(std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
    }
    bool coin() { return pick(0, 1) == 1; }

private:
    std::mt19937_64 random_;
};

/// A feature map on its way through layers.
struct Map {
    TensorId at = 0;
    std::int64_t batch = 1, h = 1, w = 1, c = 1;

    Shape shape() const { return {batch, h, w, c}; }
    std::int64_t elements() const { return batch * h * w * c; }
};

/// Of any dataflow, with buffers that are short of room.
SystolicSpec random_machine(Dice& dice);

/// The map behind a layer that no array works on.
Map random_vector_layer(GraphOf& graph, Map map, Dice& dice);

}  // namespace systole::systolic::test
