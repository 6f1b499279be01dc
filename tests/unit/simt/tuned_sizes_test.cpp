// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/tuned_sizes.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "models/devices/simt/kernels/choose.h"
#include "tests/unit/simt/gpu_config.h"

namespace systole::simt {
namespace {

using test::gpu_spec;

const SimtSpec& mi210(const std::string& layers) {
    static std::map<std::string, SimtSpec> known;
    return known
        .try_emplace(layers, gpu_spec("device: Mine\nextends: mi210\nkernels: {layers: " + layers + "}\n"))
        .first->second;
}

GemmKernel taken(const SimtSpec& spec, DType dtype, const TunedSize& product) {
    KernelChooser chooser(spec);
    const GemmShape shape{
        .m = product.rows, .n = product.columns, .k = product.k, .dtype = dtype, .output = dtype};
    return chooser.weigh(shape).front().kernel;
}

}  // namespace

TEST_CASE("A product goes by the tuned size whose rows, columns and K lie nearest together") {
    // Of 32 rows: 7648^2 + 2 x 4096^2 are 92 million, 3840^2 + 9472^2 of 32 x 8448 x 2816 104 million.
    for (const std::int64_t rows : {32, 64, 128, 512, 1024, 4096})
        CHECK(rocblas_size(DType::Bf16, {rows, 12288, 12288}) == TunedSize{7680, 8192, 8192});
    CHECK(rocblas_size(DType::Bf16, {8192, 12288, 12288}) == TunedSize{8192, 8192, 8192});
    CHECK(rocblas_size(DType::Bf16, {32, 8448, 2816}) == TunedSize{32, 8448, 2816});
    CHECK(rocblas_size(DType::Bf16, {8192, 512, 512}) == TunedSize{8192, 256, 512});
    CHECK(rocblas_size(DType::Bf16, {8192, 2048, 2048}) == TunedSize{8192, 1536, 1536});
    CHECK(rocblas_size(DType::Bf16, {8192, 1024, 1024}) == TunedSize{8192, 1024, 1024});
}

TEST_CASE("Formats were tuned at sizes of their own") {
    CHECK(rocblas_size(DType::Fp16, {32, 12288, 12288}) == TunedSize{1024, 8200, 15296});
    CHECK(rocblas_size(DType::Fp16, {8192, 512, 512}) == TunedSize{8192, 768, 768});
    CHECK_FALSE(rocblas_size(DType::Fp8, {32, 12288, 12288}));
}

TEST_CASE("PyTorch's products of 2023 take the nearest size's kernel on an MI210, whatever their rows") {
    const SimtSpec& spec = mi210("pytorch_2023");
    for (const std::int64_t rows : {32, 128, 4096}) {
        const GemmKernel kernel = taken(spec, DType::Bf16, {rows, 12288, 12288});
        CHECK(kernel.tile == CtaTile{160, 256, 32, 2, 1, 4});
        CHECK((kernel.split_k == 1 && !kernel.swapped));
    }
    CHECK(taken(spec, DType::Fp16, {32, 12288, 12288}).tile == CtaTile{128, 128, 32, 2, 2, 2});
    CHECK(taken(spec, DType::Bf16, {8192, 1024, 1024}).tile == CtaTile{128, 128, 32, 1, 2, 2});
}

TEST_CASE("Others go by the estimate: later libraries, other chips, and sizes whose kernel is not known") {
    CHECK(taken(mi210("pytorch"), DType::Bf16, {32, 12288, 12288}).tile.m <= 64);
    CHECK(taken(mi210("pytorch_2023"), DType::Bf16, {32, 8448, 2816}).tile.m <= 64);
    for (const char* chip : {"a100", "mi300x"}) {
        const SimtSpec spec =
            gpu_spec(fmt::format("device: Mine\nextends: {}\nkernels: {{layers: pytorch_2023}}\n", chip));
        CHECK_FALSE(goes_by_tuned_sizes(spec, spec.sm.tensor.issue));
        CHECK(taken(spec, DType::Bf16, {32, 12288, 12288}).tile.m <= 64);
    }
}

}  // namespace systole::simt
