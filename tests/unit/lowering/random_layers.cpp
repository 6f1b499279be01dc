// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/lowering/random_layers.h"

#include <algorithm>
#include <array>

namespace systole::systolic::test {
namespace {

/// Maps do not outgrow the smallest scratchpad.
constexpr std::int64_t kMostElements = 1200;

Map sliced(GraphOf& graph, Map map, Dice& dice) {
    const std::int64_t begin = dice.pick(0, map.h - 1), size = dice.pick(1, map.h - begin);
    const Slice op{map.batch, map.w * map.c, map.h, begin, size};
    map.h = size;
    map.at = graph.vector({map.at}, op, map.shape());
    return map;
}

Map joined(GraphOf& graph, Map map, Dice& dice) {
    if (2 * map.elements() > kMostElements) return sliced(graph, map, dice);
    const bool channels = dice.coin();
    const Concat op = channels ? Concat{map.batch * map.h * map.w, 1, {map.c, map.c}}
                               : Concat{map.batch, map.w * map.c, {map.h, map.h}};
    (channels ? map.c : map.h) *= 2;
    map.at = graph.vector({map.at, map.at}, op, map.shape());
    return map;
}

Map resized(GraphOf& graph, Map map, Dice& dice) {
    Resize op{dice.coin() ? Resize::Kind::Nearest : Resize::Kind::Bilinear, map.batch, map.h, map.w, map.c};
    op.out_h = dice.pick(1, 10);
    op.out_w = std::clamp<std::int64_t>(kMostElements / (map.batch * op.out_h * map.c), 1, dice.pick(1, 10));
    map.h = op.out_h;
    map.w = op.out_w;
    map.at = graph.vector({map.at}, op, map.shape());
    return map;
}

Map scaled(GraphOf& graph, Map map, Dice& dice) {
    const std::int64_t second = dice.coin() ? map.c : map.w * map.c;
    Elementwise op{Elementwise::Kind::Mul, map.elements(), Function::None, map.elements() / second, false};
    if (second <= 60) {
        map.at = graph.stored(map.at, op, map.shape());
    } else {
        const DType dtype = graph.graph.tensors[map.at].dtype;
        map.at = graph.vector({map.at, graph.input({second}, dtype)}, op, map.shape());
    }
    return map;
}

Map turned(GraphOf& graph, Map map, Dice& dice) {
    if (map.c % 2 != 0) return scaled(graph, map, dice);
    map.at = graph.rotary(map.at, {map.batch, map.h, map.w, map.c});
    return map;
}

Map greatest(GraphOf& graph, Map map, Dice& dice) {
    const TopK op{map.batch * map.h * map.w, map.c, dice.pick(1, map.c), false};
    map.c = op.k;
    map.at = graph.vector({map.at}, op, map.shape());
    return map;
}

Map gathered(GraphOf& graph, Map map, Dice& dice) {
    Gather op{map.batch * map.h * map.w, map.c, 0, dice.coin() ? Spread::Even : Spread::Random};
    map = {map.at, 1, dice.pick(1, 8), dice.pick(1, 8), map.c};
    op.lookups = map.h * map.w;
    const TensorId rows = graph.view(map.at, {op.rows, op.width});
    map.at = graph.vector({rows, graph.input({op.lookups}, DType::Int32)}, op, map.shape());
    return map;
}

}  // namespace

SystolicSpec random_machine(Dice& dice) {
    SystolicSpec s = small_machine(static_cast<int>(dice.pick(1, 5)));
    s.mxu.rows = static_cast<int>(dice.pick(2, 6));
    s.mxu.cols = static_cast<int>(dice.pick(2, 6));
    s.mxu.accumulator_rows = dice.pick(2, 60);
    s.mxu.im2col = dice.coin() ? Im2col::Packed : Im2col::PerTap;
    s.mxu.dataflow = static_cast<Dataflow>(dice.pick(0, 2));
    s.mxu.weight_fifo_tiles = static_cast<int>(dice.pick(0, 2));
    s.mxu.shadow_register = dice.coin();
    s.mxu.weight_source = s.mxu.direct() || dice.coin() ? Space::Scratchpad : Space::Dram;
    s.sequencer.issue_cycles = Cycles(dice.pick(0, 1));
    s.sequencer.queue_depth = kUnboundedQueue;  // with which folds come in runs where issuing is free
    s.sequencer.whole_tensors = dice.pick(0, 3) == 0;
    s.placement.input_buffer = Bytes(dice.pick(1500, 6000));
    s.placement.weight_buffer = Bytes(dice.pick(500, 2000));
    s.placement.output_buffer = Bytes(dice.pick(300, 2000));
    if (dice.pick(0, 2) == 0) {
        s.placement.activations = Space::Scratchpad;
        s.placement.activation_bytes = Bytes(16384);
        s.scratchpad.capacity = Bytes(32768);
    } else if (dice.coin()) {
        s.placement.choose = true;
        s.placement.activation_bytes = Bytes(dice.pick(64, 4096));
        s.scratchpad.capacity = Bytes(32768);
    }
    return s;
}

Map random_vector_layer(GraphOf& graph, Map map, Dice& dice) {
    constexpr std::array kLayers = {sliced, joined, resized, scaled, turned, greatest, gathered};
    return kLayers[static_cast<std::size_t>(dice.pick(0, kLayers.size() - 1))](graph, map, dice);
}

}  // namespace systole::systolic::test
