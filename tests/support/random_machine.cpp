// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_machine.h"

#include <fmt/format.h>

#include <utility>

namespace systole::test {

std::string RandomMachine::device() {
    const std::int64_t rows = between(2, 24), cols = between(2, 24);
    const bool resident = between(0, 3) == 0;
    const std::string dataflow = one_of("ws", "ws", "os", "is");
    const std::int64_t fifo_tiles = between(0, 4);
    const bool from_dram = dataflow == "ws" && fifo_tiles > 0 && between(0, 2) == 0;
    std::string text = fmt::format(
        "device: random\nkind: systolic\n"
        "core: {{clock: {} MHz}}\n"
        "mxu: {{count: {}, rows: {}, cols: {}, dataflow: {}, shadow_register: {}, weight_fifo_tiles: {}, "
        "weight_source: {}, unpack: {}, "
        "accumulator_rows: {}, accumulator_latency: {}, im2col: {}, rate: {{{}}}}}\n",
        between(50, 2000), between(1, 4), rows, cols, dataflow, coin() ? "on" : "off", fifo_tiles,
        from_dram ? "dram" : "scratchpad", 1 + formats_() % 32, between(8, 200), between(1, 8),
        one_of("packed", "per_tap"), rate_keys());
    text += fmt::format(
        "scratchpad: {{capacity: 2 MiB, banks: {}, bank_width: {} B, activation_ports: {}, "
        "weight_port_width: {} B, "
        "dma_port_width: {} B, latency: {}, {}}}\n",
        1 << between(0, 3), between(2, 64), between(1, 4), between(4, 64), between(8, 256), between(0, 5),
        bank_keys());
    text += fmt::format(
        "vector: {{lanes: {}, startup: {}, read_width: {} B, write_width: {} B, accumulator_rows_per_cycle: "
        "{}, "
        "cost: {{simple: 1, transcendental: {}, reduce: 1, mac: {}}}}}\n",
        between(1, 64), between(0, 8), between(8, 128), between(8, 128), between(1, 4), between(1, 8),
        between(1, 2));
    text +=
        fmt::format("sequencer: {{issue_cycles: {}, queue_depth: {}, launch_latency: {} ns, sync: {}}}\n",
                    between(0, 4), between(1, 16), between(0, 1000), banks_() % 4 == 0 ? "tensors" : "bytes");
    text += resident ? "placement: {activations: scratchpad, activation_space: 1 MiB"
                     : "placement: {input_buffer: 512 KiB, output_buffer: 512 KiB" + some_resident();
    text += ", weight_buffer: 512 KiB}\n";
    text += fmt::format("dma: {{setup_cycles: {}, in_flight: {} B, payload: {} B}}\n", between(0, 10),
                        between(64, 32768), between(64, 4096));
    text += fmt::format("host: {{bandwidth: {} GB/s, latency: {} ns}}\n", between(1, 32), between(0, 1000));
    text += fmt::format("chip_link: {{bandwidth: {} GB/s, latency: {} ns}}\n", 1 + links_() % 50,
                        links_() % 2000);
    text +=
        fmt::format("memory: {{preset: {}}}\n", one_of("ideal", "teaching", "ddr3_tpu_v1", "hbm2_tpu_v4"));
    return text;
}

/// Where activations live on a machine that can stage them. From the banks' dice, as below.
std::string RandomMachine::some_resident() {
    if (banks_() % 2 == 0) return ", activations: dram";
    return fmt::format(", activations: auto, activation_space: {} KiB", 1 << banks_() % 9);
}

/// From dice of their own: what else a seed gives does not depend on them.
std::string RandomMachine::bank_keys() {
    const char* const accesses[] = {"private", "split", "shared"};
    return fmt::format("bank_map: {}, bank_access: {}, bank_ports: {}",
                       banks_() % 2 == 0 ? "interleaved" : "xor", accesses[banks_() % 3], 1 + banks_() % 2);
}

/// Half of the machines take some cycles for a MAC. From dice of their own, too.
std::string RandomMachine::rate_keys() {
    const char* const rates[] = {"1", "1", "1", "1/2", "1/4", "1/3"};
    const std::uint64_t first = rates_(), second = rates_();
    return fmt::format("int8: {}, bf16: {}", rates[first % 6], rates[second % 6]);
}

/// Behind the layers of half of the traces: parts of all chips, of which a sum is whole again. From dice of
/// their own.
std::string RandomMachine::collectives(int& layers) {
    if (links_() % 2 == 0) return "";
    const std::uint64_t chips = 2 + links_() % 3;
    const char* const sums[] = {"all_reduce", "reduce_scatter, axis: 0"};
    std::string text =
        fmt::format("  - {{name: l{}, op: collective, kind: all_gather, axis: {}, chips: {}}}\n", layers,
                    links_() % 3, chips);
    // Only axis 0 is known to be a multiple of the chips, and only of what was gathered along it.
    const bool first = text.find("axis: 0") != std::string::npos;
    text += fmt::format("  - {{name: l{}, op: collective, kind: {}, chips: {}}}\n", layers + 1,
                        sums[first ? links_() % 2 : 0], chips);
    layers += 2;
    return text;
}

std::string RandomMachine::feature_layer(int index, int& channels) {
    const std::string head = fmt::format("  - {{name: l{}, ", index);
    switch (between(0, 4)) {
        case 0:
        case 1:
            channels = static_cast<int>(between(1, 40));
            return head + fmt::format(
                              "op: conv2d, filters: {}, kernel: {}, pad: 1, stride: {}, bias: {}, "
                              "activation: {}}}\n",
                              channels, between(1, 3), between(1, 2), coin() ? "true" : "false",
                              one_of("none", "relu", "gelu"));
        case 2:
            return head +
                   fmt::format("op: conv2d, filters: {}, kernel: 3, pad: 1, depthwise: true}}\n", channels);
        case 3:
            return head +
                   fmt::format("op: pool, kind: {}, window: 2, stride: 1}}\n", one_of("max", "average"));
        default:
            return head + fmt::format("op: activation, function: {}}}\n", one_of("relu", "tanh", "silu"));
    }
}

/// How the weights of a matmul are stored. From dice of their own.
std::string RandomMachine::weight_format(std::int64_t k) {
    const char* const scales[] = {"none", "tensor", "channel"};
    std::string text = fmt::format(", scales: {}", scales[formats_() % 3]);
    if (formats_() % 2 == 0) text += ", weight_dtype: int8";
    // Arrays of two or three rows take no pattern of four.
    if (k % 2 == 0 && formats_() % 2 == 0) text += ", sparsity: 1:2";
    return text;
}

std::string RandomMachine::row_layer(int index, std::int64_t& width) {
    const std::string head = fmt::format("  - {{name: l{}, ", index);
    switch (between(0, 3)) {
        case 0:
        case 1: {
            const std::int64_t k = std::exchange(width, between(1, 90));
            const char* const bias = coin() ? "true" : "false";
            return head + fmt::format("op: matmul, n: {}, bias: {}{}}}\n", width, bias, weight_format(k));
        }
        case 2:
            return head + "op: softmax}\n";
        default:
            return head + fmt::format("op: norm, kind: {}}}\n", one_of("layer", "rms"));
    }
}

std::string RandomMachine::trace() {
    std::string text = fmt::format("trace: random\nparams: {{batch: {}, dtype: {}}}\n", between(1, 3),
                                   one_of("int8", "bf16"));
    int layers = static_cast<int>(between(1, 4));
    if (coin()) {
        int channels = static_cast<int>(between(1, 20));
        text += fmt::format("inputs: {{x: {{shape: [batch, {}, {}, {}], dtype: dtype}}}}\nlayers:\n",
                            between(8, 16), between(8, 16), channels);
        for (int i = 0; i < layers; ++i) text += feature_layer(i, channels);
    } else {
        const std::int64_t rows = between(1, 40);
        std::int64_t width = between(1, 90);
        text +=
            fmt::format("inputs: {{x: {{shape: [batch, {}, {}], dtype: dtype}}}}\nlayers:\n", rows, width);
        for (int i = 0; i < layers; ++i) text += row_layer(i, width);
    }
    text += collectives(layers);
    return text + fmt::format("outputs: [l{}]\n", layers - 1);
}

}  // namespace systole::test
