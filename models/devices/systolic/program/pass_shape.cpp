// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/pass_shape.h"

namespace systole::systolic {

PassShape shape_of(Dataflow dataflow, const MacRate& rate, const MatrixPass& pass) {
    const std::int64_t k = ceil_div(pass.k, rate.macs * pass.sparsity);
    switch (dataflow) {
        case Dataflow::WeightStationary:
            return {pass.m, k, pass.n, pass.m};
        case Dataflow::OutputStationary:
            return {k, pass.m, pass.n, pass.m};
        case Dataflow::InputStationary:
            return {pass.n, k, pass.m, pass.n};
    }
    return {};
}

Cycles unpacking_cycles(std::int64_t per_cycle, const MatrixPass& pass) {
    return Cycles(ceil_div(pass.k / pass.sparsity * pass.n, per_cycle));
}

EdgeOperands operands_of(Dataflow dataflow, const MatrixPass& pass) {
    if (dataflow == Dataflow::InputStationary) return {pass.second, Operand::Activations};
    return {Operand::Activations, pass.second};
}

}  // namespace systole::systolic
