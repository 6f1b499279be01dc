// SPDX-License-Identifier: Apache-2.0
// Which layers run part by part of the batch.
#include "models/devices/systolic/lowering/batch_slices.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "models/devices/systolic/lowering/slice_estimate.h"
#include "tests/support/seeds.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::systolic;
using namespace systole::systolic::test;
using systole::test::graph_of;
using systole::test::trace_of;

namespace {

/// Room for so many KiB of activations.
SystolicSpec slicing_machine(std::int64_t kib) {
    SystolicSpec spec = large_machine();
    spec.placement.choose = true;
    spec.placement.slice = true;
    spec.vector.lanes = 1024;
    spec.placement.activation_bytes = Bytes(kib * 1024);
    return spec;
}

std::vector<SlicedRun> chosen(const Graph& graph, const SystolicSpec& spec) {
    return choose_slices(graph, spec, Protocol::of_op());
}

std::string conv(const std::string& name, int filters, int kernel) {
    return "  - {name: " + name + ", op: conv2d, filters: " + std::to_string(filters) +
           ", kernel: " + std::to_string(kernel) + ", pad: " + std::to_string(kernel / 2) + "}\n";
}

/// Sixteen images of 2 MiB and few weights, which memory holds up.
Graph wide(const std::string& more = "") {
    return graph_of(trace_of("[16, 128, 128, 64]",
                             conv("a", 64, 1) + conv("b", 64, 1) + more + conv("out", 64, 1), "bf16"));
}

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Network {
    const Graph& graph;
    const SystolicSpec& spec;
    SliceEstimate estimate{graph, spec, Protocol::of_op()};

    double cycles(const SlicedRun& wanted) const {
        GrowingRun run(graph, spec, estimate, wanted.first, wanted.count);
        for (std::size_t i = 0; i < wanted.layers; ++i) run.add_layer();
        return run.fits() ? run.cycles() : kNever;
    }

    /// Of layers from `first` to before `end`: every way to cut them into runs, each into every number of
    /// parts up to `most`.
    double best(std::size_t first, std::size_t end, std::int64_t most) const {
        double least = first == end ? 0 : kNever;
        for (std::int64_t count = 1; count <= most; ++count)
            for (std::size_t behind = first + 1; behind <= end; ++behind) {
                const auto batch = estimate.batch(behind - 1);
                if (count > 1 && (!batch || batch != estimate.batch(first) || *batch % count != 0)) break;
                const double own = cycles({first, behind - first, count});
                if (own < kNever) least = std::min(least, own + best(behind, end, most));
            }
        return least;
    }

    /// With these runs, and what is between them whole.
    double with(const std::vector<SlicedRun>& runs) const {
        double sum = 0;
        std::size_t next = 0;
        for (const SlicedRun& run : runs) {
            sum += best(next, run.first, 1) + cycles(run);
            next = run.first + run.layers;
        }
        return sum + best(next, graph.layers.size(), 1);
    }
};

/// Few layers of few channels, some of which read the layer before the one before them, too.
Graph random_network(std::mt19937_64& random) {
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
    };
    const std::int64_t side = 16 * pick(1, 5), channels = 16 << pick(0, 3);
    const std::string filters = std::to_string(channels);
    std::string layers, before = "x", last = "x";
    const std::int64_t count = pick(2, 5);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::string name = i + 1 == count ? "out" : "l" + std::to_string(i);
        const std::string kernel = pick(0, 1) == 0 ? "kernel: 1" : "kernel: 3, pad: 1";
        layers += pick(0, 2) == 0 ? "  - {name: " + name + ", op: elementwise, kind: add, in: [" + last +
                                        ", " + before + "]}\n"
                                  : "  - {name: " + name + ", op: conv2d, in: " + last +
                                        ", filters: " + filters + ", " + kernel + "}\n";
        before = last, last = name;
    }
    const std::string shape = "[" + std::to_string(1 << pick(1, 4)) + ", " + std::to_string(side) + ", " +
                              std::to_string(side) + ", " + filters + "]";
    return graph_of(trace_of(shape, layers, "bf16"));
}

}  // namespace

TEST_CASE("layers that memory holds up run in as few parts as lie on chip together") {
    // Two tensors of 32 MiB live at once; seven eighths of the room are theirs.
    CHECK(chosen(wide(), slicing_machine(16 << 10)) == std::vector<SlicedRun>{{0, 3, 8}});
    CHECK(chosen(wide(), slicing_machine(9400)) == std::vector<SlicedRun>{{0, 3, 8}});
    CHECK(chosen(wide(), slicing_machine(9300)) == std::vector<SlicedRun>{{0, 3, 16}});
}

TEST_CASE("nothing is sliced that lies on chip whole, or whose parts do not") {
    CHECK(chosen(wide(), slicing_machine(80 << 10)).empty());
    CHECK(chosen(wide(), slicing_machine(2000)).empty());
}

TEST_CASE("weights that are read for every part make slices dear") {
    const std::string heavy =
        "  - {name: h1, op: conv2d, filters: 4096, kernel: 3, pad: 1}\n"
        "  - {name: out, op: conv2d, filters: 4096, kernel: 3, pad: 1}\n";
    CHECK(chosen(graph_of(trace_of("[16, 4, 4, 4096]", heavy, "bf16")), slicing_machine(16 << 10)).empty());
}

TEST_CASE("a layer that knows its whole batch ends a run") {
    // Rows of all images are drawn by one list of numbers.
    const std::string ends =
        "  - {name: turned, op: transpose, permutation: [1, 0, 2, 3]}\n"
        "  - {name: back, op: transpose, permutation: [1, 0, 2, 3]}\n";
    const std::vector<SlicedRun> runs = chosen(wide(ends), slicing_machine(16 << 10));
    REQUIRE(!runs.empty());
    for (const SlicedRun& run : runs) CHECK((run.first + run.layers <= 2 || run.first >= 4));
}

TEST_CASE("turns of which one stands for others stay whole") {
    const auto turns = [](int count) {
        return graph_of(trace_of("[16, 128, 128, 64]",
                                 "  - name: block\n    repeat: " + std::to_string(count) +
                                     "\n    layers: [{name: a, op: conv2d, filters: 64, kernel: 1}]\n" +
                                     conv("out", 64, 1),
                                 "bf16"));
    };
    CHECK(chosen(turns(15), slicing_machine(16 << 10)) == std::vector<SlicedRun>{{0, 16, 8}});
    CHECK(chosen(turns(16), slicing_machine(16 << 10)).empty());
}

TEST_CASE("a memory that takes no time leaves nothing to save") {
    SystolicSpec spec = slicing_machine(16 << 10);
    spec.memory.kind = DramSpec::Kind::Ideal;
    CHECK(chosen(wide(), spec).empty());
}

TEST_CASE("cores that share a part's images have as many each") {
    SystolicSpec spec = slicing_machine(4 << 10);
    spec.cores = 4;
    const std::vector<SlicedRun> runs = chosen(wide(), spec);
    REQUIRE(!runs.empty());
    CHECK(16 / runs.front().count % 4 == 0);
}

TEST_CASE("no other way to cut a network takes less time by the same estimate") {
    const auto seed = GENERATE(take(systole::test::enough(1000), random<std::uint64_t>(1, 1 << 30)));
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Graph graph = random_network(random);
    const SystolicSpec spec = slicing_machine(64 << (random() % 8));
    const Network network{graph, spec};
    const std::vector<SlicedRun> runs = chosen(graph, spec);
    const double best = network.best(0, graph.layers.size(), 64);
    const double whole = network.best(0, graph.layers.size(), 1);
    if (runs.empty())
        CHECK(best >= 0.98 * whole * (1 - 1e-9));  // saves less than the estimate can tell
    else
        CHECK(network.with(runs) == Approx(best));
}
