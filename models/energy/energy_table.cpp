// SPDX-License-Identifier: Apache-2.0
#include "models/energy/energy_table.h"

#include <cmath>

#include "sim/base/check.h"

namespace systole {
namespace {

Femtojoules rounded(double femtojoules) {
    return Femtojoules(std::llround(femtojoules));
}

double value(Femtojoules energy) {
    return static_cast<double>(energy.value());
}

}  // namespace

Femtojoules EnergyTable::mac(DType first, DType second) const {
    const auto& a = multiply[static_cast<std::size_t>(first)];
    const auto& b = multiply[static_cast<std::size_t>(second)];
    SYSTOLE_CHECK(a && b, "{} x {} has no energy", to_string(first), to_string(second));
    const bool floating = is_floating(first) || is_floating(second);
    return rounded(std::sqrt(value(*a) * value(*b))) + (floating ? add_fp32 : add_int32);
}

Femtojoules EnergyTable::sram_byte(Bytes size) const {
    constexpr double kBytes = 8;  // 64 bits
    if (size <= sram.front().size) return rounded(value(sram.front().of_64_bits) / kBytes);
    for (std::size_t i = 1; i < sram.size(); ++i) {
        if (size > sram[i].size) continue;
        const SramEnergy &small = sram[i - 1], &large = sram[i];
        const double share =
            std::log(static_cast<double>(size.value()) / static_cast<double>(small.size.value())) /
            std::log(static_cast<double>(large.size.value()) / static_cast<double>(small.size.value()));
        return rounded(value(small.of_64_bits) *
                       std::pow(value(large.of_64_bits) / value(small.of_64_bits), share) / kBytes);
    }
    return rounded(value(sram.back().of_64_bits) / kBytes);
}

Femtojoules EnergyTable::wire_byte(double millimetres) const {
    return rounded(8 * value(wire) * millimetres);
}

}  // namespace systole
