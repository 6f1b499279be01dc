// SPDX-License-Identifier: Apache-2.0
// Arrangements against arrays: whatever is permuted and reshaped, each element is found where the tensor has
// it.
#include "sim/workload/importers/network/arrangement.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

using namespace systole;

namespace {

/// The elements of the value, row-major, as they are read from a tensor that holds 0, 1, 2, ….
std::vector<std::int64_t> read(const Arrangement& held) {
    const Shape shape = held.shape(), sizes = held.held();
    std::vector<std::int64_t> pitch(sizes.size(), 1);
    for (std::size_t f = sizes.size(); f-- > 1;) pitch[f - 1] = pitch[f] * sizes[f];
    std::vector<std::int64_t> all;
    for (std::int64_t number = 0; number < elements(shape); ++number) {
        std::int64_t rest = number, place = 0;
        for (std::size_t dim = shape.size(); dim-- > 0;) {
            std::int64_t index = rest % shape[dim];
            rest /= shape[dim];
            const Order factors = held.factors({dim});
            for (std::size_t i = factors.size(); i-- > 0;) {
                place += index % sizes[factors[i]] * pitch[factors[i]];
                index /= sizes[factors[i]];
            }
        }
        all.push_back(place);
    }
    return all;
}

/// What an array's transposition does.
std::vector<std::int64_t> turned(const std::vector<std::int64_t>& array, const Shape& shape,
                                 const Order& order) {
    Shape made;
    for (const std::size_t dim : order) made.push_back(shape[dim]);
    std::vector<std::int64_t> result;
    for (std::int64_t number = 0; number < elements(made); ++number) {
        std::vector<std::int64_t> index(shape.size());
        std::int64_t rest = number;
        for (std::size_t dim = made.size(); dim-- > 0; rest /= made[dim])
            index[order[dim]] = rest % made[dim];
        std::int64_t at = 0;
        for (std::size_t dim = 0; dim < shape.size(); ++dim) at = at * shape[dim] + index[dim];
        result.push_back(array[static_cast<std::size_t>(at)]);
    }
    return result;
}

Shape random_shape(std::mt19937_64& random, std::int64_t count) {
    Shape shape;
    for (std::int64_t left = count; left > 1 || shape.empty();) {
        std::vector<std::int64_t> divisors;
        for (std::int64_t d = 1; d <= left; ++d)
            if (left % d == 0) divisors.push_back(d);
        shape.push_back(divisors[random() % divisors.size()]);
        left /= shape.back();
        if (shape.size() == 5) shape.back() *= left, left = 1;
    }
    return shape;
}

}  // namespace

TEST_CASE("a feature map lies channels last, and its flattening is the same bytes") {
    const Arrangement map({2, 3, 4, 5}, {0, 2, 3, 1});
    CHECK(map.shape() == Shape{2, 3, 4, 5});
    CHECK(map.held() == Shape{2, 4, 5, 3});
    CHECK(!map.is_row_major());
    CHECK(map.are_last({1}));
    const auto flat = map.reshaped({2, 60});
    REQUIRE(flat);
    CHECK(flat->are_last({1}));
    CHECK(!flat->is_row_major());
    CHECK(read(*flat) == read(map));
    CHECK(Arrangement({2, 3, 1, 1}, {0, 2, 3, 1}).is_row_major());
}

TEST_CASE("what does not lie side by side cannot be cut across") {
    const Arrangement turned = Arrangement({2, 3}).permuted({1, 0});  // [3, 2]
    CHECK(!turned.reshaped({2, 3}));
    CHECK(turned.reshaped({3, 2, 1}));
    CHECK(Arrangement({2, 3}).reshaped({3, 2})->is_row_major());
}

TEST_CASE("permutations and reshapes in any order find each element") {
    const auto seed = GENERATE(take(200, random<std::uint64_t>(1, 1 << 30)));
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    Shape shape = random_shape(random, 360);
    Arrangement held(shape);
    std::vector<std::int64_t> array(static_cast<std::size_t>(elements(shape)));
    std::iota(array.begin(), array.end(), 0);
    for (int turn = 0; turn < 6; ++turn) {
        if (random() % 2 == 0) {
            Order order(shape.size());
            std::iota(order.begin(), order.end(), 0);
            std::shuffle(order.begin(), order.end(), random);
            array = turned(array, shape, order);
            held = held.permuted(order);
        } else if (const auto reshaped = held.reshaped(random_shape(random, 360))) {
            held = *reshaped;
        }
        shape = held.shape();
        REQUIRE(elements(shape) == 360);
        REQUIRE(read(held) == array);
        // The tensor of a transposed layer holds the same value.
        Order factors(held.held().size());
        std::iota(factors.begin(), factors.end(), 0);
        std::shuffle(factors.begin(), factors.end(), random);
        const Arrangement moved = held.moved(factors);
        CHECK(moved.shape() == shape);
        CHECK(moved.is_held([&] {
            Order all(factors.size());
            std::iota(all.begin(), all.end(), 0);
            return all;
        }()));
        for (const std::size_t most : {8U, 3U}) {
            const auto move = move_between(held, factors, most);
            if (!move) continue;
            Shape made;
            for (const std::size_t dim : move->permutation) made.push_back(move->shape[dim]);
            std::vector<std::int64_t> before(360);
            std::iota(before.begin(), before.end(), 0);
            const auto after = turned(before, move->shape, move->permutation);
            const auto places = read(moved);
            for (std::size_t i = 0; i < places.size(); ++i)
                REQUIRE(after[static_cast<std::size_t>(places[i])] == array[i]);
        }
    }
}

TEST_CASE("what is met again has an extent of 1 wherever the other has more") {
    const Arrangement map({2, 3, 4, 5}, {0, 2, 3, 1});
    CHECK(map.met_again({3, 1, 1}) == Shape{1, 1, 1, 3});
    CHECK(map.met_again({2, 1, 4, 1}) == Shape{2, 4, 1, 1});
    CHECK(map.met_again({1}) == Shape{1, 1, 1, 1});
}

TEST_CASE("factors are cut as another's are") {
    const Arrangement coarse({6, 5}), fine = *Arrangement({2, 3, 5}).permuted({1, 0, 2}).reshaped({6, 5});
    REQUIRE(fine.held() == Shape{2, 3, 5});
    const auto cut = coarse.cut_like(fine);
    REQUIRE(cut);
    CHECK(cut->factors({0}).size() == 2);
    CHECK(cut->shape() == Shape{6, 5});
    CHECK(read(*cut) == read(coarse));
    CHECK(!fine.cut_like(coarse));
}
