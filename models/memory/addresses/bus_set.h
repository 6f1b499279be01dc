// SPDX-License-Identifier: Apache-2.0
// A set of data buses, a bit each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace systole {

class BusSet {
public:
    BusSet() = default;
    /// Of buses 0 … buses - 1, and empty.
    explicit BusSet(int buses) : words_((static_cast<std::size_t>(buses) + 63) / 64) {}

    void insert(int bus) { words_[word(bus)] |= bit(bus); }
    bool contains(int bus) const { return (words_[word(bus)] & bit(bus)) != 0; }
    /// The lowest; -1 if there is none.
    int first() const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            if (words_[i] != 0) return static_cast<int>(i * 64) + std::countr_zero(words_[i]);
        return -1;
    }
    /// Whether both have a bus in common; both are of as many buses.
    bool meets(const BusSet& other) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            if ((words_[i] & other.words_[i]) != 0) return true;
        return false;
    }
    /// All that are in `other`, too.
    void remove(const BusSet& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
    }

private:
    static std::size_t word(int bus) { return static_cast<std::size_t>(bus) / 64; }
    static std::uint64_t bit(int bus) { return std::uint64_t{1} << (static_cast<unsigned>(bus) % 64); }

    std::vector<std::uint64_t> words_;
};

}  // namespace systole
