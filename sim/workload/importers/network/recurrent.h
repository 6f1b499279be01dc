// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, step by step: of each step the products of input and state with the gates' weights, and a
// cell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/workload/importers/network/network.h"

namespace systole {

enum class Cell { Lstm, Gru, Simple };

struct Recurrence {
    Cell cell = Cell::Lstm;
    std::int64_t hidden = 1;
    bool bias = false;
    bool reverse = false;
    bool all_steps = false;  ///< somebody reads the state behind every step, not only the last one
};

/// What comes out of x [steps, batch, width]: states [steps, batch, hidden] (only if all are read), and the
/// last ones [batch, hidden]; c of an LSTM only.
struct Recurred {
    std::optional<Value> steps, h, c;
};

/// The products with x of all steps are one layer; then the steps, one behind the other: a block that is
/// repeated where only the last state is read, otherwise up to 512 of them written out. Each step stores
/// weights of its own, for no two layers of a trace share any: a note tells. `h`, `c`: the first states;
/// without them inputs.
Recurred recur(Network& network, const std::string& name, Value x, const Recurrence& how,
               std::optional<Value> h, std::optional<Value> c);

}  // namespace systole
