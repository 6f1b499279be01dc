// SPDX-License-Identifier: Apache-2.0
// Which tiles the libraries have, and which chips and products are offered them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/devices/simt/kernels/choose.h"
#include "tests/unit/simt/gpu_config.h"

using namespace systole;
using namespace systole::simt;
using systole::test::gpu_spec;
using systole::test::shipped_gpu;

namespace {

GemmShape shape_of(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {.m = m, .n = n, .k = k};
}

}  // namespace

TEST_CASE("Every tile of the catalogue divides and fits an SM of the chips that have it") {
    const std::pair<const char*, Library> had[] = {
        {"a100", Library::PyTorch}, {"h100", Library::PyTorch}, {"h100", Library::Vllm}};
    for (const auto& [name, library] : had) {
        const SimtSpec spec = shipped_gpu(name);
        KernelChooser chooser(spec);
        for (const CtaTile& tile : catalogue(spec.sm.tensor.issue, false, library)) {
            // Those before nvjet are of whole instructions, and a CTA has one tile.
            if (library == Library::Vllm) CHECK((tile.m >= 64 && tile.n >= 64 && !tile.persistent));
            INFO(name << ": " << tile.m << " x " << tile.n << " x " << tile.k << ", " << tile.stages
                      << " stages");
            CHECK(divides(tile, {}, spec.sm.tensor.issue));
            const Bytes most = spec.sm.shared.most_of_cta;
            const bool offered = (tile.shared_below == 0 || most < Bytes(tile.shared_below)) &&
                                 most >= Bytes(tile.shared_from);
            CHECK(chooser.timing(tile, {}).has_value() == offered);
        }
    }
}

TEST_CASE("Products of up to 16 rows are given tiles of 16 where profiles name no others") {
    KernelChooser ada(shipped_gpu("l40s")), ampere(shipped_gpu("a100"));
    int of_wmma = 0;
    for (const CtaTile& tile : catalogue(TensorIssue::Warp)) {
        if (!tile.wmma) continue;
        ++of_wmma;
        CHECK(ada.timing(tile, {}).has_value());
        CHECK_FALSE(ampere.timing(tile, {}).has_value());
    }
    CHECK(of_wmma == 3);
    for (const std::int64_t rows : {1, 7, 16})
        for (const bool turned : {false, true})
            for (const TimedKernel& one :
                 ada.weigh(turned ? shape_of(1000, rows, 2048) : shape_of(rows, 1000, 2048)))
                if (one.kernel.on_tensor_cores()) CHECK((one.kernel.tile.wmma && one.kernel.tile.m == 16));
    const auto wider = [](KernelChooser& chooser, std::int64_t rows) {
        const std::vector<TimedKernel> all = chooser.weigh(shape_of(rows, 1000, 2048));
        return std::any_of(all.begin(), all.end(),
                           [](const TimedKernel& one) { return one.kernel.tile.m > 16; });
    };
    CHECK(wider(ada, 17));
    CHECK(wider(ampere, 16));
}

TEST_CASE("Narrow pairs of Blackwell whose names all have splitK are taken for parts of K only") {
    // 64x32 is seen without in clusters of 2x1 and 2x4, 64x16 in those of 2x4.
    KernelChooser chooser(shipped_gpu("b200"));
    using Tiles = std::map<std::tuple<std::int64_t, int, int>, bool>;  // by columns and cluster
    Tiles whole;
    for (const TimedKernel& one : chooser.weigh(shape_of(256, 1024, 16384))) {
        const CtaTile& tile = one.kernel.tile;
        if (!tile.pair || tile.m != 64 || tile.n > 32) continue;
        whole[{tile.n, tile.cluster_m, tile.cluster_n}] |= one.kernel.split_k == 1;
    }
    const Tiles wide{{{32, 2, 1}, true}, {{32, 2, 2}, false}, {{32, 2, 4}, true}};
    Tiles named{{{16, 2, 1}, false}, {{16, 2, 2}, false}, {{16, 2, 4}, true}};
    named.insert(wide.begin(), wide.end());
    CHECK(whole == named);
}

TEST_CASE("Chips with 100 KiB of shared memory are offered shorter stages where those of 64 do not fit") {
    const auto tiles = [](const std::string& shared) {
        std::vector<CtaTile> all;
        KernelChooser chooser(gpu_spec("device: Mine\nextends: a100\n" + shared));
        for (const TimedKernel& one : chooser.weigh(shape_of(4096, 4096, 4096)))
            all.push_back(one.kernel.tile);
        return all;
    };
    const auto has = [](const std::vector<CtaTile>& all, std::int64_t m, std::int64_t n, std::int64_t k) {
        return std::any_of(all.begin(), all.end(),
                           [&](const CtaTile& one) { return one.m == m && one.n == n && one.k == k; });
    };
    const std::vector<CtaTile> a100 = tiles(""),
                               ada = tiles("sm: {shared: {capacity: 100 KiB, most_of_cta: 99 KiB}}\n");
    CHECK(has(a100, 256, 128, 64));
    CHECK_FALSE(has(a100, 256, 128, 32));
    CHECK_FALSE(has(a100, 64, 256, 32));
    CHECK_FALSE(has(ada, 256, 128, 64));
    CHECK(has(ada, 256, 128, 32));
    CHECK(has(ada, 64, 256, 32));
    CHECK(has(ada, 128, 64, 64));
}
