// SPDX-License-Identifier: Apache-2.0
// Random valid devices and small workloads, as the documents a user would write. Grows with every feature:
// what the simulator can be configured to do, this should draw sometimes.
#pragma once

#include <random>
#include <string>

#include "tests/support/dice.h"

namespace systole::test {

class RandomMachine {
public:
    explicit RandomMachine(std::uint64_t seed)
        : random_(seed), banks_(seed), rates_(seed), formats_(seed), links_(seed) {}
    /// `chosen` must outlive it.
    explicit RandomMachine(ChosenBytes& chosen)
        : random_(chosen), banks_(chosen), rates_(chosen), formats_(chosen), links_(chosen) {}

    /// A device of kind systolic, as YAML; `memory:` names a shipped preset.
    std::string device();
    /// A trace of one to four layers of random operators, as YAML.
    std::string trace();

private:
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }
    bool coin() { return between(0, 1) == 1; }
    template <class... Choices>
    std::string one_of(Choices... choices) {
        const std::string all[] = {choices...};
        return all[static_cast<std::size_t>(between(0, sizeof...(Choices) - 1))];
    }
    std::string feature_layer(int index, int& channels);
    std::string row_layer(int index, std::int64_t& width);
    std::string weight_format(std::int64_t k);
    std::string bank_keys();
    std::string rate_keys();
    std::string some_resident();
    std::string collectives(int& layers);

    Dice random_, banks_, rates_, formats_, links_;
};

}  // namespace systole::test
