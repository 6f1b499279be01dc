// SPDX-License-Identifier: Apache-2.0
// Where random machines and workloads get their numbers: from a seed, or from bytes that somebody chose, so
// that one byte changed is one thing changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string_view>

namespace systole::test {

/// Bytes that several dice use up together.
struct ChosenBytes {
    std::string_view bytes;
    std::size_t used = 0;
};

/// A generator as those of <random>.
class Dice {
public:
    using result_type = std::mt19937_64::result_type;

    explicit Dice(std::uint64_t seed) : generator_(seed) {}
    /// Two bytes are a number; once they are used up, numbers are those of a seed. `chosen` must outlive it.
    explicit Dice(ChosenBytes& chosen) : generator_(1), chosen_(&chosen) {}

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

    result_type operator()() {
        if (!chosen_ || chosen_->used + 2 > chosen_->bytes.size()) return generator_();
        const auto byte = [this] { return static_cast<unsigned char>(chosen_->bytes[chosen_->used++]); };
        const result_type low = byte(), number = low | result_type{byte()} << 8;
        // Whoever looks at the highest bits, and whoever at the lowest, sees what was chosen.
        constexpr result_type kEverywhere = 0x0001'0001'0001'0001;
        return number * kEverywhere;
    }

private:
    std::mt19937_64 generator_;
    ChosenBytes* chosen_ = nullptr;
};

/// Any of `low` to `high`, both among them.
inline std::int64_t between(Dice& dice, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(dice);
}

}  // namespace systole::test
