// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/operand_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole::systolic {
namespace {

/// Spreads positions over values (the finalizer of SplitMix64, Steele et al., OOPSLA 2014).
std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

std::int8_t value_at(std::uint64_t kind, std::int32_t layer, std::int64_t batch, std::int64_t row,
                     std::int64_t col) {
    std::uint64_t x = kind + static_cast<std::uint64_t>(layer);
    for (const std::int64_t part : {batch, row, col})
        x = mix(x + 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(part));
    return static_cast<std::int8_t>(static_cast<int>(x % 8) - 4);
}

template <class Value>
Matrix<std::int8_t> matrix(std::int64_t rows, std::int64_t cols, const Value& value) {
    Matrix<std::int8_t> result{cols, {}};
    result.values.reserve(static_cast<std::size_t>(rows * cols));
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t col = 0; col < cols; ++col) result.values.push_back(value(row, col));
    return result;
}

constexpr std::uint64_t kActivations = 0;
constexpr std::uint64_t kWeights = 1ULL << 40;

}  // namespace

std::int8_t activation_value(std::int32_t layer, std::int64_t batch, std::int64_t m, std::int64_t k) {
    return value_at(kActivations, layer, batch, m, k);
}

std::int8_t weight_value(std::int32_t layer, std::int64_t batch, std::int64_t k, std::int64_t n) {
    return value_at(kWeights, layer, batch, k, n);
}

PassValues values_of(Dataflow dataflow, std::int32_t layer, const MatrixPass& pass, std::int32_t fold) {
    const PassOrigin& at = pass.origin;
    const std::int64_t k0 = at.k0 + fold * pass.k;
    const auto input = [&](std::int64_t m, std::int64_t k) {
        return activation_value(layer, at.batch, at.m0 + m, k0 + k);
    };
    const auto weight = [&](std::int64_t k, std::int64_t n) {
        return weight_value(layer, at.batch, k0 + k, at.n0 + n);
    };
    const auto turned = [](const auto& value) {
        return [&value](std::int64_t row, std::int64_t col) { return value(col, row); };
    };
    switch (dataflow) {
        case Dataflow::WeightStationary:
            return {matrix(pass.k, pass.n, weight), matrix(pass.m, pass.k, input), {}};
        case Dataflow::OutputStationary:
            return {{}, matrix(pass.k, pass.m, turned(input)), matrix(pass.k, pass.n, weight)};
        case Dataflow::InputStationary:
            return {matrix(pass.k, pass.m, turned(input)), matrix(pass.n, pass.k, turned(weight)), {}};
    }
    return {};
}

DrainCheck::DrainCheck(const Program& program) : program_(program) {
    for (const Command& command : program.commands) {
        if (unit_kind(command.unit) != UnitKind::Matrix) continue;
        const MatrixPass& pass = program.pass(command);
        std::int64_t& depth = depth_[{command.layer, pass.origin.batch}];
        depth = std::max(depth, pass.origin.k0 + pass.k * pass.folds);
    }
}

std::optional<std::string> DrainCheck::fault(const Command& drain, const GridEngine& grid) const {
    const VectorWork& work = program_.vector(drain);
    const PassOrigin& at = work.origin;
    const auto known = depth_.find({drain.layer, at.batch});
    const std::int64_t depth = known == depth_.end() ? 0 : known->second;
    const bool turned =
        program_.dataflow_of(drain) == Dataflow::InputStationary;  // rows are columns of the output
    for (std::int64_t row = 0; row < work.accumulator_rows; ++row)
        for (int col = 0; col < work.cols; ++col) {
            const std::int64_t m = at.m0 + (turned ? col : row), n = at.n0 + (turned ? row : col);
            std::int32_t expected = 0;
            for (std::int64_t k = 0; k < depth; ++k)
                expected +=
                    activation_value(drain.layer, at.batch, m, k) * weight_value(drain.layer, at.batch, k, n);
            const std::int32_t found = grid.accumulator(work.accumulator_row + row, col);
            if (found != expected)
                return fmt::format(
                    "layer {} ('{}'): out[{}, {}] of batch item {} is {} when it is drained; the dot "
                    "product is {}",
                    drain.layer, program_.layers[static_cast<std::size_t>(drain.layer)].name, m, n, at.batch,
                    found, expected);
        }
    return std::nullopt;
}

}  // namespace systole::systolic
