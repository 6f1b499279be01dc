// SPDX-License-Identifier: Apache-2.0
// Random GPUs and networks for them, as settings and documents that a user would write. Which keys there are,
// and what each takes, is what the presets say of themselves: a new key is drawn without a line here.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.h"
#include "sim/device/device.h"
#include "tests/support/dice.h"

namespace systole::test {

class RandomGpu {
public:
    explicit RandomGpu(std::uint64_t seed) : random_(seed) {}
    /// `chosen` must outlive it.
    explicit RandomGpu(ChosenBytes& chosen) : random_(chosen) {}

    /// Paths and values, as `--set` takes them, of a device (of any kind) whose keys are `entries`: within
    /// what each key takes by itself, near what stands there or at its ends. Together they may be impossible.
    std::vector<std::pair<std::string, std::string>> settings(const std::vector<config::Entry>& entries);
    /// A trace of one to three products, with functions, biases and sums, as YAML.
    std::string network();
    Protocol protocol();

private:
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }
    /// As many from each power of two; `low` may be 0.
    std::int64_t spread(std::int64_t low, std::int64_t high);
    std::string value(const config::Entry& entry);
    std::string quantity(const std::string& now, const std::string& low, const std::string& high);

    template <class... Choices>
    std::string one_of(Choices... choices) {
        const std::string all[] = {choices...};
        return all[static_cast<std::size_t>(between(0, sizeof...(Choices) - 1))];
    }

    Dice random_;
};

}  // namespace systole::test
