// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/replay.h"

namespace systole::systolic::test {

Lowered check(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol) {
    Lowered lowered = lower(graph, spec, protocol, {.cores = spec.cores});
    Replay replay(graph, spec, lowered);
    CHECK(replay.run() == std::vector<std::string>{});
    CHECK(replay.completes_with_shallow_queues());
    return lowered;
}

SystolicSpec resident_machine() {
    SystolicSpec s = small_machine(1);
    s.mxu.weight_source = Space::Dram;
    s.placement.activations = Space::Scratchpad;
    s.placement.activation_bytes = Bytes(8192);
    s.placement.input_buffer = Bytes(0);
    s.placement.weight_buffer = Bytes(512);
    s.placement.output_buffer = Bytes(0);
    return s;
}

namespace {

SystolicSpec per_tap_machine() {
    SystolicSpec s = small_machine(4);
    s.mxu.im2col = Im2col::PerTap;
    return s;
}

/// Activations stay on chip where all cores share them evenly.
SystolicSpec chip(SystolicSpec s, int cores) {
    s.cores = cores;
    s.placement.choose = true;
    s.placement.activation_bytes = Bytes(4096);
    s.scratchpad.capacity = Bytes(32768);
    return s;
}

}  // namespace

SystolicSpec direct_machine(Dataflow dataflow, bool resident) {
    SystolicSpec s = resident ? resident_machine() : small_machine(2);
    s.mxu.dataflow = dataflow;
    s.mxu.weight_fifo_tiles = 0;
    s.mxu.weight_source = Space::Scratchpad;
    s.sequencer.queue_depth = kUnboundedQueue;
    s.placement.weight_buffer = Bytes(1024);
    return s;
}

std::vector<SystolicSpec> machines() {
    std::vector<SystolicSpec> all{small_machine(1), small_machine(4), per_tap_machine(), resident_machine()};
    for (const Dataflow dataflow :
         {Dataflow::WeightStationary, Dataflow::OutputStationary, Dataflow::InputStationary})
        for (const bool resident : {false, true}) all.push_back(direct_machine(dataflow, resident));
    all.push_back(chip(small_machine(2), 2));
    for (const Dataflow dataflow :
         {Dataflow::WeightStationary, Dataflow::OutputStationary, Dataflow::InputStationary})
        all.push_back(chip(direct_machine(dataflow, false), 3));
    return all;
}

}  // namespace systole::systolic::test
