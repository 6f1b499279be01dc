// SPDX-License-Identifier: Apache-2.0
// Which activations stay in the scratchpad between layers, and where: those that save most traffic for the
// room and time that they take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace systole {

/// A tensor's bytes, in use from layer `born`, which writes it, up to layer `last`, both included.
struct Lifetime {
    std::size_t born = 0, last = 0;
    std::int64_t bytes = 0;  ///< a positive multiple of the space's alignment
    std::int64_t saved =
        0;  ///< times that it passes the DRAM's bus if it stays there: its write, its readers
};

/// Tensors that wait for more layers than this stay in DRAM: they would keep room from many others.
constexpr std::size_t kLongestStay = 256;

/// For each of `lives` an address in a space of `capacity` bytes, or nothing: no two that live at the same
/// time share a byte. Those with the most reads and writes a layer of their life come first, those with none
/// have no place; of equals the one that is born first goes first. Not the best packing: each takes the
/// lowest place that those before have left.
std::vector<std::optional<std::int64_t>> choose_resident(const std::vector<Lifetime>& lives,
                                                         std::int64_t capacity);

}  // namespace systole
