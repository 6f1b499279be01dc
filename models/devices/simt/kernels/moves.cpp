// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/moves.h"

#include <type_traits>

namespace systole::simt {
namespace {

// PyTorch's fused cells (RNN.cu): 512 threads of one element each.
constexpr int kCellWarps = 16;

DType dtype_of(const Graph& graph, TensorId tensor) {
    return graph.tensors[tensor].dtype;
}

InstructionMix times(int count, const InstructionMix& mix) {
    return {count * mix.fp32, count * mix.integer, count * mix.special};
}

/// A copy, element by element where these do not lie one behind the other.
VectorKernel copy(std::int64_t results, bool scattered, DType in, DType out) {
    VectorKernel kernel = elementwise_kernel(results, 1, {}, in, out);
    kernel.scattered = scattered;
    return kernel;
}

Move of(const Graph& graph, const Layer& layer, const Concat& concat) {
    const std::int64_t inner = concat.inner;
    std::int64_t columns = 0;
    for (const std::int64_t size : concat.sizes) columns += size * inner;
    Move move{copy(concat.outer * columns, concat.outer > 1, dtype_of(graph, layer.inputs.at(0)),
                   dtype_of(graph, layer.output)),
              {},
              {}};
    std::int64_t first = 0;
    for (std::size_t i = 0; i < concat.sizes.size(); ++i) {
        const std::int64_t until = first + concat.sizes[i] * inner;
        move.from.push_back({layer.inputs.at(i), {.row = columns, .first = first, .until = until}});
        first = until;
    }
    return move;
}

Move of(const Graph& graph, const Layer& layer, const Slice& slice) {
    const std::int64_t own = slice.size * slice.inner;
    const TensorId in = layer.inputs.at(0);
    return {
        copy(slice.outer * own, slice.outer > 1, dtype_of(graph, in), dtype_of(graph, layer.output)),
        {{in,
          {.offset = slice.begin * slice.inner, .dims = {{slice.outer, slice.in * slice.inner}, {own, 1}}}}},
        {}};
}

/// Rows go to other places as a whole, or, through tiles, become columns.
Move of(const Graph& graph, const Layer& layer, const Transpose& transpose) {
    const TensorId in = layer.inputs.at(0);
    if (auto turn = turn_of(transpose, dtype_of(graph, in)))
        return {
            turn_kernel(*std::move(turn), dtype_of(graph, in), dtype_of(graph, layer.output)), {{in}}, {}};
    std::vector<std::int64_t> strides(transpose.shape.size(), 1);
    for (std::size_t dim = strides.size() - 1; dim > 0; --dim)
        strides[dim - 1] = strides[dim] * transpose.shape[dim];
    OperandMap map;
    for (const std::int64_t dim : transpose.permutation) {
        const auto from = static_cast<std::size_t>(dim);
        map.dims.push_back({transpose.shape[from], strides[from]});
    }
    join_dims(map);
    return {copy(elements(transpose.shape), map.dims.size() > 1, dtype_of(graph, in),
                 dtype_of(graph, layer.output)),
            {{in, map}},
            {}};
}

Move of(const Graph& graph, const Layer& layer, const CacheAppend& append) {
    const TensorId in = layer.inputs.at(0);
    const std::int64_t old = append.length - append.rows;
    return {copy(append.batch * append.rows * append.heads * append.dim, true, dtype_of(graph, in),
                 dtype_of(graph, layer.output)),
            {{in}},
            {{.offset = old * append.dim,
              .dims = {{append.batch, append.heads * append.length * append.dim},
                       {append.rows, append.dim},
                       {append.heads, append.length * append.dim},
                       {append.dim, 1}}}}};
}

Move of(const Graph& graph, const Layer& layer, const Rotary& rotary) {
    const TensorId in = layer.inputs.at(0);
    return {rotary_kernel(rotary, dtype_of(graph, in), dtype_of(graph, layer.output)),
            {{in}, {layer.weights.value()}},
            {}};
}

/// Column `part` of `parts` in rows of so many times `hidden` elements.
OperandMap part_of(std::int64_t batch, std::int64_t hidden, std::int64_t part, std::int64_t parts) {
    return {.offset = part * hidden, .dims = {{batch, parts * hidden}, {hidden, 1}}};
}

VectorKernel cell(std::int64_t results, int operands, const InstructionMix& work, DType in, DType out) {
    VectorKernel kernel = elementwise_kernel(results, operands, work, in, out);
    kernel.warps = kCellWarps;
    kernel.vector = 1;
    return kernel;
}

// c' = f c + i g, h' = o tanh c'.
Move of(const Graph& graph, const Layer& layer, const LstmCell& lstm) {
    const TensorId gates = layer.inputs.at(0);
    const InstructionMix work = times(3, mix_of(Function::Sigmoid)) + times(2, mix_of(Function::Tanh)) +
                                times(3, mix_of(Elementwise::Kind::Mul));
    Move move{cell(lstm.batch * lstm.hidden, 5, work, dtype_of(graph, gates), dtype_of(graph, layer.output)),
              {},
              {}};
    for (int gate = 0; gate < 4; ++gate)
        move.from.push_back({gates, part_of(lstm.batch, lstm.hidden, gate, 4)});
    move.from.push_back({layer.inputs.at(1)});
    for (int state = 0; state < 2; ++state) move.to.push_back(part_of(lstm.batch, lstm.hidden, state, 2));
    move.kernel.stores = 2;
    return move;
}

// r = s(xr + hr), z = s(xz + hz), n = tanh(xn + r hn), h' = n + z (h - n).
Move of(const Graph& graph, const Layer& layer, const GruCell& gru) {
    const InstructionMix work = times(2, mix_of(Function::Sigmoid)) + mix_of(Function::Tanh) +
                                times(5, mix_of(Elementwise::Kind::Add));
    Move move{cell(gru.batch * gru.hidden, 7, work, dtype_of(graph, layer.inputs.at(0)),
                   dtype_of(graph, layer.output)),
              {},
              {}};
    for (const std::size_t side : {0U, 1U})
        for (int gate = 0; gate < 3; ++gate)
            move.from.push_back({layer.inputs.at(side), part_of(gru.batch, gru.hidden, gate, 3)});
    move.from.push_back({layer.inputs.at(2)});
    return move;
}

Move of(const Graph& graph, const Layer& layer, const Embedding& lookups) {
    const TensorId table = layer.weights.value();
    return {lookup_kernel({lookups.vocabulary, lookups.width, lookups.lookups, lookups.bag, lookups.spread},
                          dtype_of(graph, table), dtype_of(graph, layer.output)),
            {{layer.inputs.at(0)}, {table}},
            {}};
}

Move of(const Graph& graph, const Layer& layer, const Gather& lookups) {
    const TensorId table = layer.inputs.at(0);
    return {lookup_kernel({lookups.rows, lookups.width, lookups.lookups, 1, lookups.spread},
                          dtype_of(graph, table), dtype_of(graph, layer.output)),
            {{layer.inputs.at(1)}, {table}},
            {}};
}

template <class Op>
constexpr bool kMoves = requires(const Graph& graph, const Layer& layer, const Op& op) {
    of(graph, layer, op);
};

}  // namespace

bool is_move(const Operator& op) {
    return std::visit([](const auto& own) { return kMoves<std::remove_cvref_t<decltype(own)>>; }, op);
}

std::optional<Move> move_of(const Graph& graph, const Layer& layer) {
    return std::visit(
        [&](const auto& op) -> std::optional<Move> {
            if constexpr (kMoves<std::remove_cvref_t<decltype(op)>>)
                return of(graph, layer, op);
            else
                return std::nullopt;
        },
        layer.op);
}

Bytes touched(const Graph& graph, const Layer& layer, TensorId tensor) {
    const Bytes whole = stored_bytes(graph.tensors[tensor]);
    if (const auto* append = std::get_if<CacheAppend>(&layer.op); append && tensor == layer.output)
        return Bytes(whole.value() / append->length * append->rows);
    // Of experts, those that are met.
    if (const auto* matmul = std::get_if<MatMul>(&layer.op); matmul && matmul->experts > 0)
        return tensor == layer.weights || tensor == layer.scales || tensor == layer.bias
                   ? Bytes(whole.value() / matmul->experts * matmul->batch)
                   : whole;
    if (const auto* slice = std::get_if<Slice>(&layer.op); slice && tensor == layer.inputs.at(0))
        return Bytes(static_cast<std::int64_t>(Int128{whole.value()} * slice->size / slice->in));
    const auto move = move_of(graph, layer);
    if (!move || move->kernel.kind != VectorKernel::Kind::Lookup || tensor != move->from.back().tensor)
        return whole;
    return Bytes(distinct_rows(move->kernel.lookup) *
                 row_bytes(graph.tensors[tensor].dtype, move->kernel.lookup.width).value());
}

}  // namespace systole::simt
