// SPDX-License-Identifier: Apache-2.0
// Which operand of out[m, n] = sum over k of a[m, k] * w[k, n] stays in the PEs of an R x C array.
#pragma once

#include <cstdint>

namespace systole {

/// | dataflow          | rows R | columns C | streamed T | stays   | from the left | from above        |
/// | ----------------- | ------ | --------- | ---------- | ------- | ------------- | ----------------- |
/// | weight stationary | K      | N         | M          | weights | activations   | weights, shifted  |
/// | output stationary | M      | N         | K          | outputs | activations   | weights, streamed |
/// | input stationary  | K      | M         | N          | inputs  | weights       | inputs, shifted   |
enum class Dataflow : std::uint8_t { WeightStationary, OutputStationary, InputStationary };

/// "ws", "os", "is".
constexpr const char* to_string(Dataflow dataflow) {
    constexpr const char* kNames[] = {"ws", "os", "is"};
    return kNames[static_cast<int>(dataflow)];
}

}  // namespace systole
