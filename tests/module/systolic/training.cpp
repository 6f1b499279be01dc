// SPDX-License-Identifier: Apache-2.0
// A small step of training in the machine: every kind of layer that it has beside products, as a run that
// holds itself to its own accounts.
#include <catch2/catch.hpp>

#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/program/program_reader.h"
#include "sim/kernel/kernel.h"
#include "tests/support/machines.h"

namespace systole::systolic {
namespace {

class Step {
public:
    Graph graph;

    TensorId tensor(Shape shape, TensorRole role, DType dtype = DType::Bf16) {
        graph.tensors.push_back({"t" + std::to_string(graph.tensors.size()), std::move(shape), dtype, role});
        if (role == TensorRole::Input) graph.inputs.push_back(graph.tensors.size() - 1);
        return graph.tensors.size() - 1;
    }
    TensorId layer(Operator op, std::vector<TensorId> inputs, Shape shape,
                   std::optional<TensorId> weights = std::nullopt) {
        Layer added;
        added.name = "l" + std::to_string(graph.layers.size());
        added.op = std::move(op);
        added.inputs = std::move(inputs);
        added.weights = weights;
        added.output = tensor(std::move(shape), TensorRole::Activation);
        graph.layers.push_back(std::move(added));
        return graph.layers.back().output;
    }
    void learn(TensorId weights, TensorId gradient, Optimizer::Kind kind) {
        const Optimizer op{kind, elements(graph.tensors[weights].shape)};
        Tensor& state = graph.tensors[layer(op, {gradient}, {op.slots(), op.elements}, weights)];
        state.role = TensorRole::OptimizerState;
        state.dtype = DType::Fp32;
    }
};

Graph step_of(Spread spread) {
    Step s;
    const auto input = TensorRole::Input, stored = TensorRole::Weights;
    const TensorId w = s.tensor({24, 20}, stored), gains = s.tensor({20}, stored),
                   table = s.tensor({70, 12}, stored);
    const TensorId x = s.tensor({40, 24}, input), back = s.tensor({40, 20}, input),
                   dw = s.tensor({24, 20}, input);
    const TensorId indices = s.tensor({30}, input, DType::Int32), rows = s.tensor({30, 12}, input);
    MatMul product;
    product.m = 40, product.n = 20, product.k = 24;
    const TensorId y = s.layer(product, {x}, {40, 20}, w);
    Elementwise slope{Elementwise::Kind::Mul, 800};
    slope.slope = Function::Gelu;
    const TensorId a = s.layer(slope, {back, y}, {40, 20});
    const TensorId b = s.layer(Softmax{40, 20, true}, {a, y}, {40, 20});
    const TensorId c = s.layer(Norm{Norm::Kind::Layer, 40, 20, true}, {b, y}, {40, 20}, gains);
    Reduce columns{Reduce::Kind::Sum, 40, 20};
    columns.columns = true;
    const TensorId dgains = s.layer(columns, {b, y}, {20});
    const TensorId e = s.layer(Embedding{70, 12, 30, spread, 1}, {indices}, {30, 12}, table);
    const TensorId dtable = s.layer(EmbeddingGradient{70, 12, 30, spread, 1}, {rows, indices}, {70, 12});
    s.learn(w, dw, Optimizer::Kind::Adam);
    s.learn(gains, dgains, Optimizer::Kind::Momentum);
    s.learn(table, dtable, Optimizer::Kind::Sgd);
    s.graph.name = "step";
    s.graph.outputs = {c, e};
    return s.graph;
}

DeviceResult run(const Program& program, const SystolicSpec& spec) {
    const FreshKernel kernel;
    Machine machine("small", spec, program, {Protocol::of_run()});
    machine.run();
    REQUIRE(!machine.value_fault);
    return result_of(machine, spec, Protocol::of_run());
}

std::int64_t moved(const ResultRow& row, Place from, Place to, Operand operand) {
    for (const Movement& m : row.movements)
        if (m.from == from && m.to == to && m.operand == operand) return m.bytes.value();
    return 0;
}

TEST_CASE("A step of training runs, and its program reads back") {
    for (const Spread spread : {Spread::Even, Spread::Random})
        for (const int cores : {1, 2}) {
            SystolicSpec spec = test::small_machine(4, 4);
            spec.cores = cores;
            const Graph graph = step_of(spread);
            const Lowered lowered = lower(graph, spec, Protocol::of_run(), {.cores = cores});
            const DeviceResult result = run(lowered.program, spec);
            const std::int64_t w = 24 * 20, gains = 20, table = 70 * 12,
                               state = 4 * (3 * w + 2 * gains + table);
            CHECK(moved(result.total, Place::Dram, Place::Scratchpad, Operand::OptimizerState) == state);
            CHECK(moved(result.total, Place::Scratchpad, Place::Dram, Operand::OptimizerState) == state);
            CHECK(moved(result.total, Place::Scratchpad, Place::Dram, Operand::Weights) ==
                  2 * (w + gains + table));
            const Program read = parse_program(to_text(lowered.program), "step.program", spec);
            CHECK(run(read, spec).total.cycles == result.total.cycles);
        }
}

}  // namespace
}  // namespace systole::systolic
