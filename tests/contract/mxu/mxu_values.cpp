// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/mxu/mxu_values.h"

#include <cmath>
#include <type_traits>

#include "models/devices/systolic/mxu/value_type.h"

namespace systole::test {

namespace {

template <class Operand>
Operand random_operand(ValueType type, std::mt19937_64& random) {
    if constexpr (std::is_same_v<Operand, std::int8_t>) {
        return static_cast<std::int8_t>(std::uniform_int_distribution<int>(-128, 127)(random));
    } else {
        const float size = std::ldexp(1.0F, std::uniform_int_distribution<int>(-12, 12)(random));
        const float value = std::uniform_real_distribution<float>(-size, size)(random);
        if (type == ValueType::Bf16) return round_to_bf16(value);
        return type == ValueType::Fp16 ? round_to_fp16(value) : value;
    }
}

template <class Operand>
Matrix<Operand> random_matrix(std::int64_t rows, std::int64_t cols, ValueType type, std::mt19937_64& random) {
    Matrix<Operand> made{cols, std::vector<Operand>(rows * cols)};
    for (Operand& value : made.values) value = random_operand<Operand>(type, random);
    return made;
}

template <class Sum, class Operand>
Sum product(Operand a, Operand b) {
    return static_cast<Sum>(a) * static_cast<Sum>(b);
}

/// Builds up what a case's accumulators hold, step by step.
template <class Operand, class Sum>
class Reference {
public:
    explicit Reference(const ArraySpec& array)
        : width_(array.cols), accumulators_(array.accumulator_rows * width_) {}

    /// Every vector is a sum of its own, over the rows of the tile, from +0.
    void stream_over_tile(const Pass& pass, const Tile& tile, const Matrix<Operand>& values,
                          const Matrix<Operand>& left) {
        for (std::int64_t t = 0; t < pass.vectors; ++t) {
            std::vector<Sum> sums(width_);
            for (int i = 0; i < tile.rows; ++i)
                for (int j = 0; j < tile.cols; ++j)
                    sums[j] = sums[j] +
                              product<Sum>(left.values[t * tile.rows + i], values.values[i * tile.cols + j]);
            write(pass, pass.accumulator_row + t, sums.data());
        }
    }
    /// Every output is a sum over the vectors of all passes of its tile, from +0; it leaves once.
    void stream_into_tile(const Pass& pass, const Tile& tile, const Matrix<Operand>& left,
                          const Matrix<Operand>& top) {
        if (pass.new_tile) outputs_.assign(static_cast<std::size_t>(tile.rows) * width_, Sum{});
        for (std::int64_t t = 0; t < pass.vectors; ++t)
            for (int i = 0; i < tile.rows; ++i)
                for (int j = 0; j < tile.cols; ++j) {
                    Sum& sum = outputs_[i * width_ + j];
                    sum = sum + product<Sum>(left.values[t * tile.rows + i], top.values[t * tile.cols + j]);
                }
        for (int i = 0; pass.last_use && i < tile.rows; ++i)
            write(pass, pass.accumulator_row + i, &outputs_[i * width_]);
    }
    const std::vector<Sum>& accumulators() const { return accumulators_; }

private:
    void write(const Pass& pass, std::int64_t row, const Sum* sums) {
        for (std::int64_t col = 0; col < width_; ++col) {
            Sum& target = accumulators_[row * width_ + col];
            target = pass.accumulate ? target + sums[col] : sums[col];
        }
    }

    std::int64_t width_;
    std::vector<Sum> accumulators_, outputs_;
};

}  // namespace

template <class Operand, class Sum>
CaseValues<Operand, Sum> values_of(const MxuCase& mxu_case) {
    std::mt19937_64 random(mxu_case.value_seed);
    const auto draw = [&](std::int64_t rows, std::int64_t cols) {
        return random_matrix<Operand>(rows, cols, mxu_case.type, random);
    };
    CaseValues<Operand, Sum> values;
    Reference<Operand, Sum> reference(mxu_case.array);
    Tile tile;
    for (const Step& step : mxu_case.steps) {
        const Pass& pass = step.pass;
        if (pass.new_tile) tile = step.tile;
        if (step.dataflow == Dataflow::OutputStationary) {
            values.tile.emplace_back();
            values.left.push_back(draw(pass.vectors, tile.rows));
            values.top.push_back(draw(pass.vectors, tile.cols));
            reference.stream_into_tile(pass, tile, values.left.back(), values.top.back());
        } else {
            values.tile.push_back(pass.new_tile ? draw(tile.rows, tile.cols) : values.tile.back());
            values.left.push_back(draw(pass.vectors, tile.rows));
            values.top.emplace_back();
            reference.stream_over_tile(pass, tile, values.tile.back(), values.left.back());
        }
    }
    values.accumulators = reference.accumulators();
    return values;
}

template CaseValues<std::int8_t, std::int32_t> values_of(const MxuCase&);
template CaseValues<float, float> values_of(const MxuCase&);

}  // namespace systole::test
