// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/spec/placement_config.h"

namespace systole::systolic {

PlacementSpec read_placement(config::Section placement) {
    PlacementSpec spec;
    const std::size_t home =
        placement.choice("activations",
                         "where activations live between layers; auto: those that save most traffic in the "
                         "scratchpad, as far as it goes, the others in DRAM",
                         {"dram", "scratchpad", "auto"});
    spec.activations = home == 1 ? Space::Scratchpad : Space::Dram;
    spec.choose = home == 2;
    const config::Limits size{1, std::int64_t{1} << 40};
    // With activations in DRAM a preset's space for them means nothing: it is read and left unused.
    if (home != 0 || placement.has("activation_space")) {
        const Bytes space = placement.bytes("activation_space", "scratchpad set aside for activations", size);
        spec.activation_bytes = home != 0 ? space : Bytes(0);
    }
    if (home != 1) {
        spec.input_buffer = placement.bytes("input_buffer", "scratchpad for staged input tiles", size);
        spec.output_buffer = placement.bytes("output_buffer", "scratchpad for tiles on their way out", size);
    }
    spec.weight_buffer = placement.bytes(
        "weight_buffer", "scratchpad for staged weights (biases and the like when tiles come from DRAM)",
        size);
    spec.fuse = placement.flag("fuse",
                               "elementwise work with the results of a matrix product is done while they "
                               "leave the accumulators",
                               false);
    const bool slice = placement.flag(
        "slice",
        "several layers may run for one part of the batch after the other, where what lies between them "
        "then stays in the scratchpad; used with activations: auto",
        false);
    spec.slice = slice && spec.choose;
    spec.trials = static_cast<int>(
        placement.count("trials",
                        "mappings of each matrix layer that are simulated, of which the fastest is kept; 1: "
                        "the estimate decides; 0: 8 of an operator by itself that takes at most 200,000 "
                        "cycles, otherwise 1",
                        {0, kMostTrials}, 1));
    return spec;
}

}  // namespace systole::systolic
