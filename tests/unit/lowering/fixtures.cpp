// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/lowering/fixtures.h"

#include <fmt/format.h>

#include "tests/support/complaint.h"

namespace systole::systolic::test {

SystolicSpec small_machine(int mxus) {
    SystolicSpec s;
    s.name = "small";
    s.core_clock = Hertz(1'000'000'000);
    s.mxu.count = mxus;
    s.mxu.rows = s.mxu.cols = 4;
    s.mxu.accumulator_rows = 32;
    s.mxu.rate[static_cast<std::size_t>(DType::Int8)] = MacRate{2};
    s.mxu.rate[static_cast<std::size_t>(DType::Bf16)] = MacRate{1};
    s.vector.lanes = 4;
    s.sequencer.queue_depth = 1;
    s.placement.input_buffer = Bytes(4096);
    s.placement.weight_buffer = Bytes(1024);
    s.placement.output_buffer = Bytes(1024);
    s.scratchpad.capacity = Bytes(16384);
    s.scratchpad.banks = 4;
    s.scratchpad.bank_bytes = Bytes(16);
    s.scratchpad.activation_ports = mxus;
    s.scratchpad.weight_port_bytes = Bytes(16);
    s.memory.clock = Hertz(1'000'000'000);
    s.memory.channels = 2;
    s.memory.rows = 1 << 16;
    s.memory.row_bytes = Bytes(64);
    s.memory.burst_bytes = Bytes(32);
    s.memory.timing["BL"] = 2;
    return s;
}

SystolicSpec large_machine() {
    SystolicSpec s = small_machine(4);
    s.name = "large";
    s.core_clock = Hertz(1'050'000'000);
    s.mxu.rows = s.mxu.cols = 128;
    s.mxu.accumulator_rows = 4096;
    s.mxu.weight_fifo_tiles = 4;
    s.sequencer.queue_depth = 8;
    s.placement.input_buffer = Bytes(12 << 20);
    s.placement.weight_buffer = Bytes(12 << 20);
    s.placement.output_buffer = Bytes(6 << 20);
    s.scratchpad.capacity = Bytes(32 << 20);
    s.scratchpad.banks = 64;
    s.scratchpad.bank_bytes = Bytes(64);
    s.scratchpad.weight_port_bytes = Bytes(256);
    s.memory.channels = 32;
    s.memory.banks_per_group = 16;
    s.memory.rows = 1 << 15;
    s.memory.row_bytes = Bytes(2048);
    s.memory.timing["BL"] = 1;
    s.memory.clock = Hertz(1'200'000'000);
    return s;
}

std::string message_of(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol) {
    return complaint([&] { lower(graph, spec, protocol); });
}

std::int64_t weights_read(const Program& program) {
    std::int64_t bytes = 0;
    for (const Transfer& t : program.transfers)
        if (t.from.place == Place::Dram && t.operand == Operand::Weights) bytes += t.bytes();
    return bytes;
}

TensorId GraphOf::tensor(Shape shape, DType type, TensorRole role) {
    graph.tensors.push_back({fmt::format("t{}", graph.tensors.size()), std::move(shape), type, role, {}});
    return graph.tensors.size() - 1;
}

TensorId GraphOf::input(Shape shape, DType type, TensorRole role) {
    const TensorId id = tensor(std::move(shape), type, role);
    graph.inputs.push_back(id);
    return id;
}

TensorId GraphOf::layer(Operator op, std::vector<TensorId> in, std::optional<Shape> weights, bool bias,
                        Shape out) {
    Layer l;
    l.name = fmt::format("layer{}", graph.layers.size());
    l.op = std::move(op);
    const DType type = dtype(in.at(0));
    if (bias)
        l.bias = tensor({out.back()}, type == DType::Int8 ? DType::Int32 : DType::Fp32, TensorRole::Weights);
    if (weights) l.weights = tensor(*weights, type, TensorRole::Weights);
    l.inputs = std::move(in);
    l.output = tensor(std::move(out), type, TensorRole::Activation);
    graph.layers.push_back(std::move(l));
    return graph.layers.back().output;
}

TensorId GraphOf::conv(TensorId in, Conv2d op) {
    const Shape weights{op.out_c, op.kernel_h, op.kernel_w, op.in_c / op.groups};
    return layer(op, {in}, weights, op.bias, {op.batch, op.out_h(), op.out_w(), op.out_c});
}

TensorId GraphOf::matmul(TensorId in, std::int64_t m, std::int64_t n, std::int64_t k, bool bias) {
    MatMul op;
    op.m = m;
    op.n = n;
    op.k = k;
    op.bias = bias;
    return layer(op, {in}, Shape{k, n}, bias, {m, n});
}

TensorId GraphOf::batched(TensorId a, TensorId b, MatMul op) {
    op.shared_weights = false;
    return layer(op, {a, b}, std::nullopt, false, {op.batch, op.m, op.n});
}

TensorId GraphOf::vector(std::vector<TensorId> in, Operator op, Shape shape) {
    return layer(std::move(op), std::move(in), std::nullopt, false, std::move(shape));
}

TensorId GraphOf::stored(TensorId in, Elementwise op, Shape shape) {
    op.stored = true;
    return layer(op, {in}, Shape{op.elements / op.times}, false, std::move(shape));
}

TensorId GraphOf::rotary(TensorId in, Rotary op) {
    return layer(op, {in}, Shape{op.seq, op.dim}, false, {op.outer, op.seq, op.heads, op.dim});
}

TensorId GraphOf::embedding(TensorId indices, Embedding op, DType type) {
    const TensorId out =
        layer(op, {indices}, Shape{op.vocabulary, op.width}, false, {op.lookups / op.bag, op.width});
    graph.tensors[out].dtype = graph.tensors[*graph.layers.back().weights].dtype = type;
    return out;
}

TensorId GraphOf::view(TensorId of, Shape shape) {
    const TensorId id = tensor(std::move(shape), dtype(of), TensorRole::Activation);
    graph.tensors[id].view_of = graph.tensors[of].view_of.value_or(of);
    return id;
}

Graph GraphOf::finish(TensorId output) {
    graph.name = "test";
    graph.outputs = {output};
    return graph;
}

}  // namespace systole::systolic::test
