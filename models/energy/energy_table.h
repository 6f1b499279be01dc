// SPDX-License-Identifier: Apache-2.0
// What operations and bytes take in one process: published energies of arithmetic, SRAM and wires, and how
// those of other sizes follow from them. The same for every device kind.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "sim/base/units.h"
#include "sim/workload/dtype.h"

namespace systole {

/// An SRAM's size, and what 64 bits of it take.
struct SramEnergy {
    Bytes size;
    Femtojoules of_64_bits;
};

struct EnergyTable {
    std::array<std::optional<Femtojoules>, kDTypes> multiply{};  ///< of two numbers of a format
    Femtojoules add_int32, add_fp32;                             ///< also of fewer bits, into such a sum
    std::array<SramEnergy, 3> sram{};                            ///< read or written, smallest first
    Femtojoules wire;                                            ///< a bit, along a millimetre
    /// Of one thread: fetched, decoded and scheduled, without its registers.
    Femtojoules instruction;

    /// A multiplication and its addition into an int32 or fp32 sum. Multipliers of two formats take what
    /// their widths' product says: the geometric mean of both. Both must have a figure.
    Femtojoules mac(DType first, DType second) const;
    /// A multiply-add in fp32, of which every table has the figures.
    Femtojoules fp32_operation() const { return mac(DType::Fp32, DType::Fp32); }
    /// A byte of an SRAM, read or written. Between the sizes that are known it goes by a power of the size;
    /// smaller ones take what the smallest does, larger ones are built of the largest.
    Femtojoules sram_byte(Bytes size) const;
    /// A byte along so many millimetres.
    Femtojoules wire_byte(double millimetres) const;
};

}  // namespace systole
