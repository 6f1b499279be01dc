// SPDX-License-Identifier: Apache-2.0
// Every byte has two ends. The mover enters each transfer once; both ends count what passed through them on
// their own; at the end of the run the three must agree.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace systole {

/// Places between which bytes move.
enum class Place : std::uint8_t {
    Host,
    Dram,
    Scratchpad,
    WeightFifo,
    Array,
    Accumulator,
    Vector,
    ChipLink,
    L2,
    SharedMemory,
    MemorySideCache
};
constexpr std::size_t kPlaces = 11;
std::string_view to_string(Place place);

enum class Operand : std::uint8_t { Weights, Activations, PartialSums, Outputs, KvCache, OptimizerState };
constexpr std::size_t kOperands = 6;
std::string_view to_string(Operand operand);

/// One cell of the ledger.
struct Movement {
    Place from, to;
    Operand operand;
    Bytes bytes;
};

class ByteLedger {
public:
    explicit ByteLedger(std::size_t layers) : rows_(layers, Row{}) {}

    /// Entered by the mover, once, when the transfer is complete.
    void enter(std::size_t layer, Place from, Place to, Operand operand, Bytes bytes);

    Bytes moved(std::size_t layer, Place from, Place to, Operand operand) const;
    Bytes moved(std::size_t layer, Place from, Place to) const;  ///< all operands
    Bytes total(Place from, Place to) const;                     ///< all layers and operands
    Bytes out_of(Place place) const;                             ///< all layers
    Bytes into(Place place) const;
    Bytes out_of(std::size_t layer, Place place) const;
    Bytes into(std::size_t layer, Place place) const;
    std::vector<Movement> movements(std::size_t layer) const;  ///< non-zero cells, in the order of the enums
    std::vector<Movement> movements() const;                   ///< the same of all layers together
    std::size_t layers() const { return rows_.size(); }
    /// There are so many layers, if there were fewer.
    void lengthen(std::size_t layers) { rows_.resize(std::max(rows_.size(), layers)); }

private:
    using Row = std::array<std::int64_t, kPlaces * kPlaces * kOperands>;

    const Row& row(std::size_t layer) const;
    Row sum() const;

    std::vector<Row> rows_;
};

}  // namespace systole
