// SPDX-License-Identifier: Apache-2.0
// The step model against its twin in warps (sm.engine): the same products, machine and kernels, of which one
// simulates groups of SMs by steps, and the other every instruction of every SM.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "models/devices/simt/simt_device.h"
#include "sim/workload/trace.h"
#include "tests/unit/simt/gpu_config.h"

namespace systole::test {
namespace {

struct Product {
    std::string gpu;
    int sms;  ///< 0: as shipped
    std::int64_t m, n, k, batch = 1;
    int repeat = 1;
};

// On few SMs products take several waves, with the ports and the memory of a whole chip.
const std::vector<Product> kProducts{{"a100", 4, 256, 256, 128},        {"a100", 4, 333, 517, 301},
                                     {"a100", 8, 1000, 520, 264},       {"a100", 8, 1, 1024, 512},
                                     {"a100", 16, 64, 64, 4096},        {"a100", 16, 640, 640, 200},
                                     {"a100", 4, 96, 160, 640, 3},      {"a100", 8, 500, 250, 128, 1, 2},
                                     {"a100", 2, 129, 257, 65},         {"a100", 0, 512, 512, 512},
                                     {"a100", 0, 128, 4096, 1024},      {"a100", 0, 33, 1000, 777},
                                     {"a100", 0, 16, 2048, 2048},       {"a100", 0, 1024, 1024, 512},
                                     {"a100", 0, 256, 256, 4096},       {"a100", 0, 7, 5, 9},
                                     {"h100", 4, 256, 256, 128},        {"h100", 4, 333, 517, 301},
                                     {"h100", 8, 1000, 520, 264},       {"h100", 8, 1, 1024, 512},
                                     {"h100", 16, 64, 64, 4096},        {"h100", 16, 640, 640, 200},
                                     {"h100", 4, 96, 160, 640, 3},      {"h100", 8, 500, 250, 128, 1, 2},
                                     {"h100", 2, 129, 257, 65},         {"h100", 0, 512, 512, 512},
                                     {"h100", 0, 128, 4096, 1024},      {"h100", 0, 33, 1000, 777},
                                     {"h100", 0, 16, 2048, 2048},       {"h100", 0, 1024, 1024, 512},
                                     {"h100", 0, 256, 256, 4096},       {"h100", 0, 7, 5, 9},
                                     {"h100", 0, 384, 3000, 1500, 1, 2}};

std::string to_string(const Product& product) {
    return fmt::format("{}, {} SMs: {}x{}x{} batch {} repeat {}", product.gpu, product.sms, product.m,
                       product.n, product.k, product.batch, product.repeat);
}

ResultRow run(const Product& product, const std::string& engine) {
    config::Config config = gpu_config("device: Mine\nextends: " + product.gpu + "\n");
    config.set("sm.engine", engine);
    if (product.sms > 0) config.set("sm.count", std::to_string(product.sms));
    const auto device = simt::make_simt_device(config, "mine");
    config.finish();
    const std::string trace = fmt::format(
        "trace: product\ninputs:\n  x: {{shape: [{0}, {1}, {3}], dtype: bf16}}\nlayers:\n  - {{name: y, op: "
        "matmul, in: x, n: {2}}}\noutputs: [y]\n",
        product.batch, product.m, product.n, product.k);
    const Graph graph = build_trace(config::parse_yaml(trace, "product.yaml"), {});
    Protocol protocol = Protocol::of_op();
    protocol.launch = Protocol::Launch::Graph;
    protocol.repeat = product.repeat;
    return device->run(graph, {protocol, false}).result.total;
}

std::int64_t bytes(const ResultRow& row, Place from, Place to) {
    std::int64_t sum = 0;
    for (const Movement& movement : row.movements)
        if (movement.from == from && movement.to == to) sum += movement.bytes.value();
    return sum;
}

}  // namespace

TEST_CASE("Steps take what the same kernels take warp instruction by warp instruction", "[simt]") {
    double sum = 0;
    for (const Product& product : kProducts) {
        const ResultRow steps = run(product, "steps"), warps = run(product, "warps");
        const double error =
            static_cast<double>(steps.time().value()) / static_cast<double>(warps.time().value()) - 1;
        CAPTURE(to_string(product), steps.mapping, steps.time().value(), warps.time().value(), error);
        CHECK(warps.matrix_macs == steps.matrix_macs);
        CHECK(bytes(warps, Place::SharedMemory, Place::L2) == bytes(steps, Place::SharedMemory, Place::L2));
        CHECK(warps.dram_read == steps.dram_read);
        CHECK(warps.dram_written == steps.dram_written);
        // A cluster's blocks pass once for all of it; by steps once for each group that has some of it.
        if (product.gpu == "a100")
            CHECK(bytes(warps, Place::L2, Place::SharedMemory) ==
                  bytes(steps, Place::L2, Place::SharedMemory));
        else
            CHECK(bytes(warps, Place::L2, Place::SharedMemory) <=
                  bytes(steps, Place::L2, Place::SharedMemory));
        CHECK(std::abs(error) < 0.20);
        sum += std::abs(error);
    }
    const double mean = sum / static_cast<double>(kProducts.size());
    CAPTURE(mean);
    CHECK(mean < 0.06);
}

}  // namespace systole::test
