// SPDX-License-Identifier: Apache-2.0
// Transposes that move the last dimension: which dimensions change places, in which tiles, and what a warp
// does for them.
#include "models/devices/simt/kernels/turn.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <vector>

#include "models/devices/simt/kernels/time_vector.h"
#include "models/devices/simt/kernels/vector_program.h"
#include "sim/workload/graph.h"
#include "tests/unit/simt/instruction_counts.h"
#include "tests/unit/simt/sm_specs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::bytes_of;
using systole::simt::test::count_of;

namespace {

/// Where each element of the output was, index by index.
std::vector<std::int64_t> sources(const Transpose& transpose) {
    const std::size_t rank = transpose.shape.size();
    std::vector<std::int64_t> strides(rank, 1), from;
    for (std::size_t i = rank - 1; i > 0; --i) strides[i - 1] = strides[i] * transpose.shape[i];
    std::vector<std::int64_t> index(rank, 0);
    for (std::int64_t number = 0; number < elements(transpose.shape); ++number) {
        std::int64_t at = 0;
        for (std::size_t i = 0; i < rank; ++i)
            at += index[i] * strides[static_cast<std::size_t>(transpose.permutation[i])];
        from.push_back(at);
        for (std::size_t i = rank; i-- > 0;) {
            if (++index[i] < transpose.shape[static_cast<std::size_t>(transpose.permutation[i])]) break;
            index[i] = 0;
        }
    }
    return from;
}

/// The same, tile by tile; -1 where no tile has the element, and -2 where several have.
std::vector<std::int64_t> by_tiles(const Turn& turn, std::int64_t all) {
    std::vector<std::int64_t> from(static_cast<std::size_t>(all), -1);
    for (std::int64_t cta = 0; cta < turn.ctas(); ++cta) {
        const TurnTile tile = tile_of(turn, cta);
        for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row)
            for (std::int64_t col = tile.col; col < tile.col + tile.cols; ++col) {
                auto& own = from.at(static_cast<std::size_t>(tile.out + col * turn.col_stride + row));
                own = own == -1 ? tile.in + row * turn.row_stride + col : -2;
            }
    }
    return from;
}

}  // namespace

TEST_CASE("Rows that become columns are a matrix, and all other dimensions a batch of them") {
    const Turn matrix = turn_of({{100, 60}, {1, 0}}, DType::Fp16).value();
    CHECK(matrix.rows == 100);
    CHECK(matrix.cols == 60);
    CHECK(matrix.row_stride == 60);
    CHECK(matrix.col_stride == 100);
    CHECK(matrix.batch.empty());
    // Two elements a word, of which a tile has 32 along and 32 down: two of these.
    CHECK(matrix.word == 2);
    CHECK(matrix.tile_rows == 64);
    CHECK(matrix.tile_cols == 64);
    CHECK(matrix.ctas() == 2);
    // [items, rows, heads, dim] to [items, heads, dim, rows]: heads and dim are one.
    const Turn keys = turn_of({{2, 50, 3, 8}, {0, 2, 3, 1}}, DType::Fp32).value();
    CHECK(keys.rows == 50);
    CHECK(keys.cols == 24);
    CHECK(keys.word == 1);
    REQUIRE(keys.batch.size() == 1);
    CHECK(keys.batch[0] == Turn::Dim{2, 1200, 1200});
    // To [heads, items, dim, rows]: they are not.
    const Turn apart = turn_of({{2, 50, 3, 8}, {2, 0, 3, 1}}, DType::Fp32).value();
    CHECK(apart.cols == 8);
    CHECK(apart.col_stride == 50);
    REQUIRE(apart.batch.size() == 2);
    CHECK(apart.batch[0] == Turn::Dim{3, 8, 800});
    CHECK(apart.batch[1] == Turn::Dim{2, 1200, 400});
}

TEST_CASE("Where the last dimension stays, or there is nothing to turn, there is no tile") {
    CHECK_FALSE(turn_of({{2, 3, 4}, {1, 0, 2}}, DType::Fp16));
    CHECK_FALSE(turn_of({{1, 7}, {1, 0}}, DType::Fp16));
    CHECK_FALSE(turn_of({{7, 1}, {1, 0}}, DType::Fp16));
    CHECK_FALSE(turn_of({{5, 1, 7}, {0, 2, 1}}, DType::Fp16));
}

TEST_CASE("Words have as many elements as all rows and columns are multiples of") {
    CHECK(turn_of({{64, 64}, {1, 0}}, DType::Int8).value().word == 4);
    CHECK(turn_of({{64, 62}, {1, 0}}, DType::Int8).value().word == 2);
    CHECK(turn_of({{63, 64}, {1, 0}}, DType::Int8).value().word == 1);
    CHECK(turn_of({{64, 64}, {1, 0}}, DType::Int4).value().word == 4);
    CHECK(turn_of({{64, 64}, {1, 0}}, DType::Int32).value().word == 1);
    // Of images of odd size, whose second one begins within a word as it is written.
    CHECK(turn_of({{3, 5, 8, 6}, {0, 3, 1, 2}}, DType::Fp16).value().word == 2);
    CHECK(turn_of({{3, 5, 7, 6}, {0, 3, 1, 2}}, DType::Fp16).value().word == 1);
}

TEST_CASE("Tiles of matrices with few rows or columns have more of the others") {
    const Turn image = turn_of({{224, 224, 3}, {2, 0, 1}}, DType::Fp32).value();
    CHECK(image.cols == 3);
    CHECK(image.tile_cols == 4);
    CHECK(image.tile_rows == 256);
    CHECK(image.ctas() == 196);
    CHECK(image.words_of_thread() == 4);
    const Turn back = turn_of({{3, 50176}, {1, 0}}, DType::Fp32).value();
    CHECK(back.tile_rows == 4);
    CHECK(back.tile_cols == 256);
    const Turn small = turn_of({{5, 6}, {1, 0}}, DType::Fp32).value();
    CHECK(small.ctas() == 1);
    CHECK(small.words_of_thread() == 1);
}

TEST_CASE("Each element is brought by one tile, from where the permutation says") {
    std::mt19937_64 random(7);
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    int turned = 0;
    for (int i = 0; i < 200; ++i) {
        Transpose transpose;
        const std::int64_t rank = between(2, 5);
        for (std::int64_t dim = 0; dim < rank; ++dim)
            transpose.shape.push_back(between(1, rank > 3 ? 9 : 70));
        transpose.permutation.resize(static_cast<std::size_t>(rank));
        std::iota(transpose.permutation.begin(), transpose.permutation.end(), 0);
        std::shuffle(transpose.permutation.begin(), transpose.permutation.end(), random);
        const DType dtype = std::array{DType::Int4, DType::Int8, DType::Bf16, DType::Fp32}.at(
            static_cast<std::size_t>(between(0, 3)));
        const auto turn = turn_of(transpose, dtype);
        INFO(fmt::format("[{}] by [{}]", fmt::join(transpose.shape, ", "),
                         fmt::join(transpose.permutation, ", ")));
        const std::vector<std::int64_t> from = sources(transpose);
        if (turn) CHECK(by_tiles(*turn, elements(transpose.shape)) == from);
        // Otherwise what lies one behind the other does so in the end, too.
        const std::int64_t last = transpose.shape[static_cast<std::size_t>(transpose.permutation.back())];
        if (!turn && last > 1) CHECK(from[1] == from[0] + 1);
        turned += turn ? 1 : 0;
    }
    CHECK(turned > 100);
}

TEST_CASE("A transpose's threads bring four words of rows through shared memory, and store four of columns") {
    const VectorKernel single =
        turn_kernel(turn_of({{1024, 1024}, {1, 0}}, DType::Fp32).value(), DType::Fp32, DType::Fp32);
    CHECK(single.ctas() == 1024);
    CHECK(single.steps() == 1);
    CHECK(single.threads() == 256);
    CtaProgram program = vector_program(single);
    CHECK(count_of(program, Op::GlobalLoad) == 4);
    CHECK(bytes_of(program, Op::GlobalLoad) == 4 * 32 * 4);
    CHECK(bytes_of(program, Op::SharedStore) == 4 * 32 * 4);
    CHECK(bytes_of(program, Op::SharedLoad) == 4 * 32 * 4);
    CHECK(bytes_of(program, Op::GlobalStore) == 4 * 32 * 4);
    CHECK(count_of(program, Op::Arrive) == 1);
    // 32 rows of 33 words.
    CHECK(program.shared == Bytes(32 * 33 * 4));
    // 16 to begin with, two for each load and store.
    CHECK(count_of(program, Op::Integer) == 16 + 2 * 8);
    // Of halves: tiles of 64 x 64 in eight words a thread, each of which one instruction puts together.
    const VectorKernel half =
        turn_kernel(turn_of({{8, 1024, 1024}, {0, 2, 1}}, DType::Fp16).value(), DType::Fp16, DType::Fp16);
    CHECK(half.ctas() == 8 * 256);
    program = vector_program(half);
    CHECK(bytes_of(program, Op::GlobalLoad) == 8 * 32 * 4);
    CHECK(program.shared == Bytes(64 * 66 * 2));
    // 22 for the matrix's place; eight words.
    CHECK(count_of(program, Op::Integer) == 16 + 22 + 2 * 16 + 8);
    // Four bytes: halves, then quarters.
    const VectorKernel bytes =
        turn_kernel(turn_of({{1024, 1024}, {1, 0}}, DType::Int8).value(), DType::Int8, DType::Int8);
    program = vector_program(bytes);
    CHECK(count_of(program, Op::GlobalLoad) == 16);
    CHECK(count_of(program, Op::Integer) == 16 + 2 * 32 + 2 * 16);
    CHECK(time_vector(*std::make_unique<VectorKernel>(bytes), systole::simt::test::warp_mma_sm()));
}

TEST_CASE("In wavefronts of 64 a tile has the same threads") {
    const VectorKernel kernel = with_warps_of(
        turn_kernel(turn_of({{1024, 1024}, {1, 0}}, DType::Fp16).value(), DType::Fp16, DType::Fp16), 64);
    CHECK(kernel.warps == 4);
    CHECK(bytes_of(vector_program(kernel), Op::GlobalLoad) == 8 * 64 * 4);
}
