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

constexpr std::uint64_t kActivations = 0;
constexpr std::uint64_t kWeights = 1ULL << 40;

}  // namespace

std::int8_t activation_value(std::int32_t layer, std::int64_t batch, std::int64_t m, std::int64_t k) {
    return value_at(kActivations, layer, batch, m, k);
}

std::int8_t weight_value(std::int32_t layer, std::int64_t batch, std::int64_t k, std::int64_t n) {
    return value_at(kWeights, layer, batch, k, n);
}

Matrix<std::int8_t> activations_of(std::int32_t layer, const MatrixPass& pass) {
    Matrix<std::int8_t> values{pass.k, {}};
    const PassOrigin& at = pass.origin;
    for (std::int64_t t = 0; t < pass.m; ++t)
        for (std::int64_t k = 0; k < pass.k; ++k)
            values.values.push_back(activation_value(layer, at.batch, at.m0 + t, at.k0 + k));
    return values;
}

Matrix<std::int8_t> weights_of(std::int32_t layer, const MatrixPass& pass) {
    Matrix<std::int8_t> values{pass.n, {}};
    const PassOrigin& at = pass.origin;
    for (std::int64_t k = 0; k < pass.k; ++k)
        for (std::int64_t n = 0; n < pass.n; ++n)
            values.values.push_back(weight_value(layer, at.batch, at.k0 + k, at.n0 + n));
    return values;
}

DrainCheck::DrainCheck(const Program& program) : program_(program) {
    for (const Command& command : program.commands) {
        if (unit_kind(command.unit) != UnitKind::Matrix) continue;
        const MatrixPass& pass = program.pass(command);
        std::int64_t& depth = depth_[{command.layer, pass.origin.batch}];
        depth = std::max(depth, pass.origin.k0 + pass.k);
    }
}

std::optional<std::string> DrainCheck::fault(const Command& drain, const GridEngine& grid) const {
    const VectorWork& work = program_.vector(drain);
    const PassOrigin& at = work.origin;
    const auto known = depth_.find({drain.layer, at.batch});
    const std::int64_t depth = known == depth_.end() ? 0 : known->second;
    for (std::int64_t t = 0; t < work.accumulator_rows; ++t)
        for (int j = 0; j < work.cols; ++j) {
            std::int32_t expected = 0;
            for (std::int64_t k = 0; k < depth; ++k)
                expected += activation_value(drain.layer, at.batch, at.m0 + t, k) *
                            weight_value(drain.layer, at.batch, k, at.n0 + j);
            const std::int32_t found = grid.accumulator(work.accumulator_row + t, j);
            if (found != expected)
                return fmt::format(
                    "layer {} ('{}'): out[{}, {}] of batch item {} is {} when it is drained; the dot "
                    "product is {}",
                    drain.layer, program_.layers[static_cast<std::size_t>(drain.layer)].name, at.m0 + t,
                    at.n0 + j, at.batch, found, expected);
        }
    return std::nullopt;
}

}  // namespace systole::systolic
