// SPDX-License-Identifier: Apache-2.0
// A random life of one matrix unit: an array, tiles that arrive, passes that become ready. Printable, and
// small changes of it for shrinking a case that fails.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "models/devices/systolic/mxu/matrix_engine.h"

namespace systole::test {

enum class ValueType { Int8, Bf16, Fp16, Fp32 };

/// One pass, the cycle from which its operands lie ready, and (new tile only) its tile and when that
/// arrives.
struct Step {
    Dataflow dataflow = Dataflow::WeightStationary;  ///< another than before: the array is set up anew
    Pass pass;
    Cycles ready;
    Tile tile;
    Cycles arrives;
};

struct MxuCase {
    ArraySpec array;
    ValueType type = ValueType::Int8;
    bool arrivals_told_early = false;  ///< all arrivals are told in cycle 0, not when they happen
    std::uint64_t value_seed = 0;
    std::vector<Step> steps;
};

MxuCase random_case(std::mt19937_64& random);
/// Of a reconfigurable array: several lives of random_case() one behind the other, each in a dataflow of its
/// own.
MxuCase random_mixed_case(std::mt19937_64& random);
std::string to_string(const MxuCase& mxu_case);

/// The smallest case that one simplification after another leads to while `fails` stays true.
MxuCase shrink(MxuCase failing, const std::function<bool(const MxuCase&)>& fails);

}  // namespace systole::test
